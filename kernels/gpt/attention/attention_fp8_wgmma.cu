/*
 * attention_fp8_wgmma.cu - `attention_fp8` in one kernel on Hopper's tensor cores, after Shah and
 * others, "FlashAttention-3" (NeurIPS 2024), section 3.3; the rest of it as in
 * attention_online_wgmma.cu, whose softmax and stores these are.
 *
 * Products of 8-bit numbers want both operands along k. Scores have them so as q and k lie. For the
 * sums of v, tiles of values are turned round, by ldmatrix, byte_perm and stmatrix: where a query
 * has many keys in a launch before, and else by three warps beside the thread that fetches, while
 * the warpgroups compute; and weights, in the registers where scores were, meet the keys in the
 * order in which they have them.
 *
 * Weights are rounded to e4m3 as 2^8 exp(s - peak). The tensor cores add 14 bits, so that sums of
 * thousands of keys would lose some percent, all in one direction: those of a tile of 128 keys
 * leave them, and are added in fp32, which also brings older sums to the latest peak.
 *
 * Operations: 4 d per pair in FP8, and an exponential; a causal mask's tile on the diagonal is
 * computed whole. Bytes: qkv and y once; k and v once per 128 queries, from L2: 32 KiB for 128 x
 * 128 pairs of 128 numbers, 3.9 TB/s at 1 PFLOP/s.
 *
 * Measured on an H200, 16 heads of 128: 0.98 PFLOP/s at 16384 tokens, 0.80 at 4096 causal. 64
 * queries and 128 keys take about 970 cycles, of which the tensor cores need 512. Left out one by
 * one: without exponentials 860, with values turned beside 1,100, products alone 535. A warpgroup's
 * chain, from its products over the largest score, 64 exponentials of 8 cycles per warp and
 * conversions of 4 to the next products, is about 1,900, in which the other's products fit twice.
 * Exponentials by polynomial, and weights against an older largest score, are no faster.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_fp8.h"
#include "attention_fp8_wgmma.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/tensor_map.h"

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <typename layout>
static __global__ void __launch_bounds__(layout::threads, 1)
    attention_fp8(const __grid_constant__ CUtensorMap queries,
                  const __grid_constant__ CUtensorMap tiles,
                  const __grid_constant__ CUtensorMap values,
                  const __grid_constant__ struct fp8_attention args, int *taken)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char attention_memory[];
    uint32_t start = hopper_shared(attention_memory);
    fp8_memory<layout> memory = {{(start + layout::slack - 1) / layout::slack * layout::slack}};
    if (threadIdx.x == 0) {
        hopper_prefetch(&queries);
        hopper_prefetch(&tiles);
        memory.begin();
    }
    __syncthreads();
    int group = __shfl_sync(0xffffffffu, threadIdx.x / GROUP_THREADS, 0);
    if (group == layout::groups) {
        hopper_registers_give<24>();
        int warp = threadIdx.x % GROUP_THREADS / 32, lane = threadIdx.x % 32;
        if (warp > 0 && !layout::turned)
            fp8_turn_all<layout>(memory, warp - 1, lane);
        else if (warp == 0 && lane == 0)
            fp8_produce<layout>(memory, queries, tiles, values, args, taken);
    } else {
        hopper_registers_take<240>();
        fp8_consume<layout>(memory, args, group);
    }
#else
    __trap();
#endif
}

template <typename layout>
static __global__ void __launch_bounds__(2 * layout::size)
    fp8_turn_values(const __grid_constant__ CUtensorMap tiles,
                    const __grid_constant__ CUtensorMap values, int heads)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char attention_memory[];
    uint32_t start = hopper_shared(attention_memory);
    fp8_turn_tile<layout>((start + layout::slack - 1) / layout::slack * layout::slack, tiles,
                          values, heads);
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- host side -- */

typedef void fp8_kernel(const CUtensorMap queries, const CUtensorMap tiles,
                        const CUtensorMap values, const struct fp8_attention args, int *taken);
typedef void turn_kernel(const CUtensorMap tiles, const CUtensorMap values, int heads);

struct choice {
    fp8_kernel *kernel;
    turn_kernel *turn; /* NULL: beside the products */
    int threads, queries, keys, size, bytes, turn_bytes;
};

template <int SIZE, bool TURNED> static constexpr struct choice choice_of(void)
{
    typedef fp8_layout<SIZE, 3, TURNED> layout;
    return {attention_fp8<layout>, TURNED ? fp8_turn_values<layout> : NULL,
            layout::threads,       layout::queries,
            layout::keys,          layout::size,
            layout::bytes,         layout::slack + layout::key_bytes + layout::value_bytes + 8};
}

/* Keys of a query from which turning values in a launch before is faster: that launch moves 256
 * bytes per key, and what it saves is a tenth of the products. */
enum { TURNED_KEYS = 1280 };

struct plan {
    struct choice choice;
    struct fp8_attention args;
    CUtensorMap queries, tiles, values;
    void *turned; /* on the device: values as rows of numbers of a head */
    int *taken;   /* on the device: works taken beside the first ones; 0 between launches */
    int grid;
};

static const char *supports(const struct assay_shape *shape)
{
    int64_t size = shape->value[AFP8_HEAD_SIZE];
    if (size % 16 || size > 128) return "made for head sizes in multiples of 16 up to 128";
    return NULL;
}

static struct attention shape_of(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t width = value[AFP8_HEADS] * value[AFP8_HEAD_SIZE];
    return (struct attention){call->buffer[AFP8_QKV],
                              call->buffer[AFP8_Y],
                              3 * width,
                              width,
                              (int)value[AFP8_BATCH],
                              (int)value[AFP8_HEADS],
                              (int)value[AFP8_TOKENS],
                              (int)value[AFP8_HEAD_SIZE]};
}

/* Memory for values that are turned round, whole tiles of them, and its map. */
static int prepare_turned(struct plan *plan, struct assay_call *call)
{
    const struct attention *of = &plan->args.of;
    const struct choice *choice = &plan->choice;
    const int64_t tiles = (of->tokens + choice->keys - 1) / choice->keys;
    const int64_t rows = (int64_t)of->batch * of->heads * choice->size;
    const size_t bytes = (size_t)(rows * tiles * choice->keys);
    if (assay_cuda(cudaMalloc(&plan->turned, bytes), "cudaMalloc")) return -1;
    call->workspace_bytes += (int64_t)bytes;
    const struct tensor_map_matrix values = {plan->turned, rows, tiles * choice->keys, 1};
    if (tensor_map_init(&plan->values, &values, choice->size)) return -1;
    return cuda_allow_shared((const void *)choice->turn, choice->turn_bytes);
}

static int prepare(struct plan *plan, struct assay_call *call)
{
    struct fp8_attention *args = &plan->args;
    args->of = shape_of(call);
    args->scales = (const float *)call->buffer[AFP8_SCALES];
    args->scale = attention_scale(args->of.size);
    args->causal = call->shape->value[AFP8_MASK] == AFP8_CAUSAL;
    const bool turned = args->of.tokens / (args->causal ? 2 : 1) >= TURNED_KEYS;
    if (args->of.size <= 64)
        plan->choice = turned ? choice_of<64, true>() : choice_of<64, false>();
    else
        plan->choice = turned ? choice_of<128, true>() : choice_of<128, false>();
    args->order = attention_order_of(args->of.batch * args->of.heads, args->of.tokens,
                                     2 * args->of.size, plan->choice.queries);
    int processors = assay_card()->multiprocessors;
    plan->grid = args->order.works < processors ? args->order.works : processors;
    /* Heads of q, then of k, then of v. */
    const struct tensor_map_heads heads = {args->of.qkv,
                                           args->of.batch,
                                           args->of.tokens,
                                           3 * args->of.heads,
                                           args->of.size,
                                           args->of.stride,
                                           1};
    if (tensor_map_init_heads(&plan->queries, &heads, ROWS)) return -1;
    if (tensor_map_init_heads(&plan->tiles, &heads, plan->choice.keys)) return -1;
    if (plan->choice.turn && prepare_turned(plan, call)) return -1;
    return cuda_allow_shared((const void *)plan->choice.kernel, plan->choice.bytes);
}

static int setup(struct assay_call *call)
{
    struct plan *plan = (struct plan *)aligned_alloc(alignof(struct plan), sizeof *plan);
    if (!plan) return assay_error("out of memory");
    memset(plan, 0, sizeof *plan); /* a gate compares arguments whole, gaps too */
    call->state = plan;
    if (prepare(plan, call)) return -1;
    (void)snprintf(call->note, sizeof call->note, "%dx%d, values turned %s", plan->choice.queries,
                   plan->choice.keys, plan->choice.turn ? "before" : "beside");
    call->workspace_bytes += sizeof *plan->taken;
    if (assay_cuda(cudaMalloc((void **)&plan->taken, sizeof *plan->taken), "cudaMalloc")) return -1;
    return assay_cuda(cudaMemset(plan->taken, 0, sizeof *plan->taken), "cudaMemset");
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    const struct choice *choice = &plan->choice;
    const struct attention *of = &plan->args.of;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (choice->turn) {
        dim3 grid((unsigned)((of->tokens + choice->keys - 1) / choice->keys), (unsigned)of->heads,
                  (unsigned)of->batch);
        choice->turn<<<grid, 2 * choice->size, choice->turn_bytes, stream>>>(
            plan->tiles, plan->values, of->heads);
    }
    choice->kernel<<<plan->grid, choice->threads, choice->bytes, stream>>>(
        plan->queries, plan->tiles, plan->values, plan->args, plan->taken);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct plan *plan = (struct plan *)call->state;
    if (plan) (void)cudaFree(plan->taken);
    if (plan) (void)cudaFree(plan->turned);
    free(plan);
}

static const struct assay_variant variant = {
    .operation = "attention_fp8",
    .name = "wgmma",
    .summary = "one kernel on Hopper's tensor cores, tiles by TMA, values turned round beside them",
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
