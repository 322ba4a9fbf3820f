/*
 * wgmma_prepare.cuh - what comes before the passes on Hopper's tensor cores: lse and delta of each
 * query, and the plan of a launch.
 */
#pragma once

#include <limits.h>

#include "wgmma.cuh"
#include "kernels/cuda/tensor_map.h"

enum { ROW_THREADS = 256 };

/* lse and delta of each query, and of the room behind the last: eight numbers of a row per lane.
 * The sums of dq are cleared, whatever their order. Rows in the order of memory: sequence, token,
 * head. */
template <int SIZE>
static __global__ void __launch_bounds__(ROW_THREADS)
    backward_rows(const struct backward_plan plan, int64_t count)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *plan.taken = 0;
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
    if (index >= count) return;
    if (plan.sums) {
        float4 *sums = (float4 *)(plan.sums + index * SIZE + threadIdx.x % lanes * 8);
        sums[0] = sums[1] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    if (threadIdx.x % lanes) return;
    float lse = is_query ? plan.args.lse[line * forward.tokens + token] : INFINITY;
    plan.lse[line * padded + token] = lse * 1.4426950408889634f;
    plan.delta[line * padded + token] = delta;
}

/* ---------------------------------------------------------------- host side -- */

static inline int64_t backward_padded(const struct assay_shape *shape)
{
    return (shape->value[ATTENTION_TOKENS] + OWN - 1) / OWN * OWN;
}

static inline int64_t backward_lines(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS];
}

static inline const char *backward_wgmma_supports(const struct assay_shape *shape)
{
    if (backward_precision(shape) != GPT_BF16) return "bf16 only";
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    if (size != 64 && size != 128) return "made for head sizes 64 and 128";
    return backward_lines(shape) * backward_padded(shape) > INT_MAX / 16
               ? "more than 134217727 tokens of heads"
               : NULL;
}

/* Of what a plan points to: lse, delta, taken. */
static inline int64_t backward_row_bytes(const struct assay_shape *shape)
{
    return 2 * backward_lines(shape) * backward_padded(shape) * (int64_t)sizeof(float) +
           (int64_t)sizeof(int);
}

/* Blocks stay, and take one work after the other. */
static inline unsigned backward_grid(int works)
{
    int processors = assay_card()->multiprocessors;
    return (unsigned)(works < processors ? works : processors);
}

/* Make the plan, and enqueue lse and delta, in memory as backward_row_bytes says; `sums` may be
 * NULL, else it has room for SIZE floats per padded token of a line. */
template <int SIZE>
static int backward_prepare(const struct assay_call *call, struct backward_plan *plan, void *rows,
                            float *sums)
{
    int64_t padded = backward_padded(call->shape), count = backward_lines(call->shape) * padded;
    memset(plan, 0, sizeof *plan);
    const struct attention &forward = (plan->args = backward_args(call)).forward;
    plan->lse = (float *)rows;
    plan->delta = plan->lse + count;
    plan->sums = sums;
    plan->taken = (int *)(plan->delta + count);
    plan->padded = (int)padded;
    plan->scale = attention_scale(SIZE);
    int token_bytes = (sums ? 8 : 4) * SIZE; /* of q, dy and sums, or k and v */
    plan->order =
        attention_order_of(forward.batch * forward.heads, forward.tokens, token_bytes, OWN);
    struct tensor_map_heads heads = {forward.qkv,       forward.batch, forward.tokens,
                                     3 * forward.heads, SIZE,          forward.stride};
    if (tensor_map_init_heads(&plan->qkv, &heads, BOX)) return -1;
    heads.base = plan->args.dy, heads.heads = forward.heads, heads.stride = forward.stride_y;
    if (tensor_map_init_heads(&plan->dy, &heads, BOX)) return -1;
    backward_rows<SIZE><<<gpt_blocks(count, ROW_THREADS / (SIZE / 8)), ROW_THREADS, 0,
                          (cudaStream_t)call->stream>>>(*plan, count);
    return assay_launched();
}
