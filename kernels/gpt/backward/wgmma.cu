/*
 * wgmma.cu - attention_backward on Hopper's tensor cores, after Dao, "FlashAttention-2" (ICLR
 * 2024, section 3.1.2) and Shah and others, "FlashAttention-3" (NeurIPS 2024), without atomics.
 *
 * Two launches. The first has delta = dy . y of each query, beside its lse in powers of 2. In the
 * second, half of the blocks have 128 keys each and go over the queries from these on, for dk and
 * dv; the other half have 128 queries and go over the keys up to these, for dq. Scores and weights
 * of a pair are thus computed twice: seven products in place of five. In return no sum goes through
 * memory, every launch gives the same bits, nothing has to be cleared before nor converted after,
 * and nothing is written to shared memory but by TMA. Papers have dq added to memory by atomics
 * (section 3.1.2): a float per query, number and tile of keys.
 *
 * One thread of a further warpgroup fetches the block's own rows and the tiles of the others by
 * TMA into a ring of stages, as in attention_online_wgmma.cu. Of two warpgroups one computes
 * weights while the other's products run. Blocks with the most tiles come first, and as many heads
 * together as fit L2 (attention_order.h).
 *
 * Operations: 14 d per pair in bf16, of which 10 d count, and two exponentials. Bytes: both rows
 * of each token once per block of 128, from L2.
 *
 * Predicted for an H200, head size 128: a tile of 64 x 64 takes a warpgroup 1024 cycles of products
 * in the pass of keys and 768 in that of queries; at 80 % of the tensor cores' 4096 operations per
 * cycle and 1.7 GHz that is 735 TFLOP/s of products, 525 of counted operations. Nobody has measured
 * it yet.
 */
#include <limits.h>
#include <stdlib.h>

#include "wgmma.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/tensor_map.h"

/* ------------------------------------------------------------------ kernels -- */

enum { ROW_THREADS = 256 };

/* lse and delta of each query, and of the room behind the last: eight numbers of a row per lane.
 * Rows in the order of memory: sequence, token, head. */
template <int SIZE>
static __global__ void __launch_bounds__(ROW_THREADS)
    prepare(const struct backward_plan plan, int64_t count)
{
    const int lanes = SIZE / 8, padded = plan.padded;
    const struct attention &forward = plan.args.forward;
    int64_t index = ((int64_t)blockIdx.x * ROW_THREADS + threadIdx.x) / lanes;
    int64_t token = index / forward.heads % padded, batch = index / forward.heads / padded;
    int64_t line = batch * forward.heads + index % forward.heads;
    bool is_query = index < count && token < forward.tokens;
    float delta = 0.0f;
    if (is_query) {
        int64_t at = (batch * forward.tokens + token) * forward.stride_y +
                     index % forward.heads * SIZE + threadIdx.x % lanes * 8;
        uint4 y = __ldg((const uint4 *)((const uint16_t *)forward.y + at));
        uint4 dy = __ldg((const uint4 *)((const uint16_t *)plan.args.dy + at));
        const uint32_t a[] = {y.x, y.y, y.z, y.w}, b[] = {dy.x, dy.y, dy.z, dy.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            delta = fmaf(gpt_float((uint16_t)a[i]), gpt_float((uint16_t)b[i]), delta);
            delta =
                fmaf(gpt_float((uint16_t)(a[i] >> 16)), gpt_float((uint16_t)(b[i] >> 16)), delta);
        }
    }
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2)
        delta += __shfl_xor_sync(0xffffffffu, delta, step);
    if (index >= count || threadIdx.x % lanes) return;
    float lse = is_query ? plan.args.lse[line * forward.tokens + token] : INFINITY;
    plan.lse[line * padded + token] = lse * 1.4426950408889634f;
    plan.delta[line * padded + token] = delta;
}

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <typename KEY_PASS, typename QUERY_PASS>
static __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    both_passes(const __grid_constant__ struct backward_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char backward_shared[];
    const uint32_t slack = KEY_PASS::slack;
    uint32_t base = (hopper_shared(backward_shared) + slack - 1) / slack * slack;
    int index = (int)blockIdx.x;
    if (index < plan.order.works)
        backward_run<KEY_PASS>(plan, base, index);
    else
        backward_run<QUERY_PASS>(plan, base, index - plan.order.works);
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- host side -- */

typedef void both_kernel(const struct backward_plan plan);

struct choice {
    both_kernel *kernel;
    int bytes;
};

template <typename KEY_PASS, typename QUERY_PASS> static struct choice choice_of(void)
{
    return (struct choice){both_passes<KEY_PASS, QUERY_PASS>, KEY_PASS::bytes > QUERY_PASS::bytes
                                                                  ? KEY_PASS::bytes
                                                                  : QUERY_PASS::bytes};
}

/* The largest tiles for which registers suffice. */
static struct choice choose(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_HEAD_SIZE] == 64)
        return choice_of<backward_pass<64, 64, true, false>,
                         backward_pass<64, 128, false, false>>();
    return choice_of<backward_pass<128, 64, true, true>, backward_pass<128, 128, false, true>>();
}

static int64_t padded_of(const struct assay_shape *shape)
{
    return (shape->value[ATTENTION_TOKENS] + OWN - 1) / OWN * OWN;
}

static int64_t lines_of(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS];
}

static const char *supports(const struct assay_shape *shape)
{
    if (backward_precision(shape) != GPT_BF16) return "bf16 only";
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    if (size != 64 && size != 128) return "made for head sizes 64 and 128";
    return lines_of(shape) * padded_of(shape) > INT_MAX / 16 ? "more than 134217727 tokens of heads"
                                                             : NULL;
}

static int setup(struct assay_call *call)
{
    struct choice choice = choose(call->shape);
    int64_t rows = lines_of(call->shape) * padded_of(call->shape);
    if (cuda_allow_shared((const void *)choice.kernel, choice.bytes)) return -1;
    return device_memory(call, &call->state, 2 * rows * (int64_t)sizeof(float), "lse and delta");
}

template <int SIZE> static int enqueue(const struct assay_call *call)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    struct backward_plan plan = {};
    const struct attention &forward = (plan.args = backward_args(call)).forward;
    plan.padded = (int)padded_of(call->shape);
    int64_t count = lines_of(call->shape) * plan.padded;
    plan.lse = (float *)call->state;
    plan.delta = plan.lse + count;
    plan.scale = attention_scale(SIZE);
    plan.order = attention_order_of(forward.batch * forward.heads, forward.tokens, 4 * SIZE, OWN);
    struct tensor_map_heads heads = {forward.qkv,       forward.batch, forward.tokens,
                                     3 * forward.heads, SIZE,          forward.stride};
    if (tensor_map_init_heads(&plan.qkv, &heads, BOX)) return -1;
    heads.base = plan.args.dy, heads.heads = forward.heads, heads.stride = forward.stride_y;
    if (tensor_map_init_heads(&plan.dy, &heads, BOX)) return -1;
    prepare<SIZE>
        <<<gpt_blocks(count, ROW_THREADS / (SIZE / 8)), ROW_THREADS, 0, stream>>>(plan, count);
    struct choice choice = choose(call->shape);
    choice.kernel<<<2 * plan.order.works, BLOCK_THREADS, choice.bytes, stream>>>(plan);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    return call->shape->value[ATTENTION_HEAD_SIZE] == 128 ? enqueue<128>(call) : enqueue<64>(call);
}

static const struct assay_variant variant = {
    .operation = "attention_backward",
    .name = "wgmma",
    .summary = "keys and queries in passes of their own, on Hopper's tensor cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
