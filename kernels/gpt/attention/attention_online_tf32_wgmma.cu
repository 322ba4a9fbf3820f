/*
 * attention_online_tf32_wgmma.cu - one kernel on Hopper's tensor cores in tf32 (fp32 in memory): as
 * attention_online_wgmma.cu, but for what tf32 asks for.
 *
 * Values. In tf32 both operands of a product lie along k, which is the key in the second one. So a
 * warpgroup fetches the values through registers and writes them to shared memory transposed, with
 * the keys in the order in which a lane has the weights (attention_tf32_wgmma.cuh). A pass of its
 * own in front would read and write them all once more: at 1k tokens a third of the time.
 *
 * Computing. Scores, weights and sums of a tile are one after another in a warpgroup, in the same
 * registers, and three warpgroups fill each other's waits: in tf32 the products of a tile take
 * three times as long as its exponentials, not twice. Weights are rounded to nearest; q, k and v
 * are numbers of tf32.
 *
 * Operations: 4 d per pair in tf32, and an exponential. Bytes: q and y once; k and v once per 192
 * queries, from L2: 96 KiB for 192 x 96 pairs of 128 numbers.
 *
 * Predicted for 132 multiprocessors at 1.7 GHz: at head size 128 the products of three warpgroups
 * and a tile of 96 keys take 4608 cycles, and move 384 KiB of shared memory for wgmma and about 144
 * for fetching, 4220 cycles' worth. So shared memory is nearly as busy as the tensor cores: at 75 %
 * of their 460 TFLOP/s about 340 for 16k tokens, 3.6 TB/s from L2.
 *
 * Measured on an H200 on 23 November 2026, cold, while the compiler still waited for each product
 * of head size 128 and moved the descriptors of all to uniform registers, which it no longer does:
 * 1 x 8 heads x 16k tokens 280 TFLOP/s at 128 and 283 at 64 (online_tf32 155 and 146); 16 x 16 x 1k
 * x 128 208 (120); 8 x 12 x 1k x 64 153 (110); 8 x 12 x 128 x 64 8.67 us (10.1), but 8 x 4 x 128 x
 * 64, fewer works than multiprocessors, 7.42 us (5.95). As it is now:
 * 215 TFLOP/s at 1k x 128, 168 at 1k x 64, and with 16 heads 307 at 16k x 128.
 */
#include <stdlib.h>

#include "attention_tf32_wgmma.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/tensor_map.h"

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <typename layout>
static __global__ void __launch_bounds__(layout::threads, 1)
    online(const __grid_constant__ CUtensorMap queries, const __grid_constant__ CUtensorMap keys,
           const __grid_constant__ struct attention args,
           const __grid_constant__ struct attention_order order, int *taken, float scale)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char attention_memory[];
    const uint32_t start = hopper_kept(hopper_shared(attention_memory));
    const int warp = hopper_warp();
    tf32_memory<layout> memory = {(start + layout::slack - 1) / layout::slack * layout::slack};
    if (warp == 0 && hopper_elect()) {
        hopper_prefetch(&queries);
        hopper_prefetch(&keys);
        for (int tile = 0; tile < layout::tiles; tile++) {
            hopper_barrier_init(memory.query_there(tile), 1);
            hopper_barrier_init(memory.query_free(tile), 4);
        }
        for (int stage = 0; stage < layout::key_stages; stage++) {
            hopper_barrier_init(memory.key_there(stage), 1);
            hopper_barrier_init(memory.key_free(stage), 4 * layout::groups);
        }
        for (int stage = 0; stage < layout::value_stages; stage++) {
            hopper_barrier_init(memory.value_there(stage), 4);
            hopper_barrier_init(memory.value_free(stage), 4 * layout::groups);
        }
        hopper_barrier_publish();
    }
    __syncthreads();
    const int group = warp / (GROUP_THREADS / 32);
    if (group == layout::groups) {
        hopper_registers_give<layout::fetching_registers>();
        tf32_produce<layout>(memory, queries, keys, args, order, taken,
                             warp % (GROUP_THREADS / 32));
    } else {
        hopper_registers_take<layout::computing_registers>();
        tf32_consume<layout>(memory, args, order, scale, group);
    }
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- host side -- */

typedef void online_kernel(const CUtensorMap queries, const CUtensorMap keys,
                           const struct attention args, const struct attention_order order,
                           int *taken, float scale);

struct choice {
    online_kernel *kernel;
    int threads, queries, keys, bytes;
};

template <typename layout> static constexpr struct choice choice_of(void)
{
    return {online<layout>, layout::threads, layout::queries, layout::keys, layout::bytes};
}

struct plan {
    struct choice choice;
    struct attention_order order;
    int *taken; /* on the device: works taken beside the first ones; 0 between launches */
    int grid;
};

static const char *supports(const struct assay_shape *shape)
{
    const char *other = gpt_only(GPT_TF32, shape->value[ATTENTION_PRECISION]);
    if (other) return other;
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    return size == 64 || size == 128 ? NULL : "made for head sizes 64 and 128";
}

static int setup(struct assay_call *call)
{
    struct attention args = attention_args(call);
    struct plan *plan = (struct plan *)calloc(1, sizeof *plan);
    if (!plan) return assay_error("out of memory");
    call->state = plan;
    plan->choice = args.size == 64 ? choice_of<tf32_stages<64, 128, 3, 2, 8>>()
                                   : choice_of<tf32_stages<128, 96, 3, 1, 5>>();
    plan->order = attention_order_of(args.batch * args.heads, args.tokens, 8 * args.size,
                                     plan->choice.queries);
    int processors = assay_card()->multiprocessors;
    plan->grid = plan->order.works < processors ? plan->order.works : processors;
    if (cuda_allow_shared((const void *)plan->choice.kernel, plan->choice.bytes)) return -1;
    call->workspace_bytes += sizeof *plan->taken;
    if (assay_cuda(cudaMalloc((void **)&plan->taken, sizeof *plan->taken), "cudaMalloc")) return -1;
    return assay_cuda(cudaMemset(plan->taken, 0, sizeof *plan->taken), "cudaMemset");
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    struct attention args = attention_args(call);
    /* Tokens of all sequences as rows: keys behind a sequence's last are masked, whatever they
     * are. */
    struct tensor_map_matrix qkv = {(void *)args.qkv, (int64_t)args.batch * args.tokens,
                                    args.stride, 4};
    CUtensorMap queries, keys;
    if (tensor_map_init(&queries, &qkv, ROWS)) return -1;
    if (tensor_map_init(&keys, &qkv, plan->choice.keys)) return -1;
    plan->choice.kernel<<<plan->grid, plan->choice.threads, plan->choice.bytes,
                          (cudaStream_t)call->stream>>>(queries, keys, args, plan->order,
                                                        plan->taken, attention_scale(args.size));
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct plan *plan = (struct plan *)call->state;
    if (plan) (void)cudaFree(plan->taken);
    free(plan);
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "online_tf32_wgmma",
    .summary = "one kernel on Hopper's tensor cores in tf32, keys by TMA, values transposed",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
