/*
 * model_ring_norm.cuh - normalises rows in shared memory, in place, before they are multiplied
 * (model_ring.cuh). The rows are in boxes of 32 of k, swizzled by 128 bytes.
 *
 * Eight lanes share a row, each with one unit of sixteen bytes of every box. They find its mean,
 * then the squares about it. A lane keeps its units of the first eight boxes in registers, so
 * shared memory is read once and written once (64 KiB each for 64 rows of 256) instead of being
 * read three times. Further boxes are read again.
 */
#pragma once

#include "model_ring_box.h"
#include "kernels/gpt/gpt.cuh"

/* ROWS rows of k from `rows`; scale and shift in shared memory too. */
template <int ROWS>
static __device__ __forceinline__ void ring_normalise(unsigned char *rows, int k,
                                                      const float *scale, const float *shift)
{
    const int APART = RING_LANES / 8, COUNT = ROWS / APART, KEPT = 8, BOX = ROWS * RING_ROW_BYTES;
    static_assert(COUNT * APART == ROWS && APART % 8 == 0);
    int row = threadIdx.x / 8, unit = threadIdx.x % 8;
    int first = 4 * (unit ^ row % 8); /* of k, before the swizzle */
    unsigned char *own = rows + row * RING_ROW_BYTES + 16 * unit;
    float4 kept[KEPT][COUNT];
    float mean[COUNT] = {}, factor[COUNT] = {};
    auto at = [&](int box, int i) -> float4 & {
        return *(float4 *)(own + box * BOX + i * APART * RING_ROW_BYTES);
    };
    auto every = [&](auto &&visit) {
#pragma unroll
        for (int box = 0; box < KEPT; box++)
            if (first + box * RING_BOX < k) visit(box, kept[box]);
        for (int box = KEPT; first + box * RING_BOX < k; box++) {
            float4 v[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                v[i] = at(box, i);
            visit(box, v);
        }
    };
#pragma unroll
    for (int box = 0; box < KEPT; box++)
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (first + box * RING_BOX < k) kept[box][i] = at(box, i);
    every([&](int, const float4(&v)[COUNT]) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            mean[i] += v[i].x + v[i].y + (v[i].z + v[i].w);
    });
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        mean[i] = gpt_eight_sum(mean[i]) / (float)k;
    every([&](int, const float4(&v)[COUNT]) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            float x = v[i].x - mean[i], y = v[i].y - mean[i];
            float z = v[i].z - mean[i], w = v[i].w - mean[i];
            factor[i] += x * x + y * y + (z * z + w * w);
        }
    });
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        factor[i] = rsqrtf(gpt_eight_sum(factor[i]) / (float)k + GPT_LAYERNORM_EPSILON);
    every([&](int box, const float4(&v)[COUNT]) {
        float4 a = *(const float4 *)(scale + first + box * RING_BOX);
        float4 b = *(const float4 *)(shift + first + box * RING_BOX);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            float m = mean[i], r = factor[i];
            at(box, i) = make_float4((v[i].x - m) * r * a.x + b.x, (v[i].y - m) * r * a.y + b.y,
                                     (v[i].z - m) * r * a.z + b.z, (v[i].w - m) * r * a.w + b.w);
        }
    });
}
