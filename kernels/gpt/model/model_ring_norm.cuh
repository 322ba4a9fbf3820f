/*
 * model_ring_norm.cuh - normalises rows in shared memory, in place, before they are multiplied
 * (model_ring.cuh, model_whole.cuh). The rows are in boxes of 128 bytes of k, swizzled by 128
 * bytes.
 *
 * Eight lanes share a row, each with one unit of sixteen bytes of every box. They find its mean,
 * then the squares about it. A lane keeps its units of the first boxes in registers, 32 numbers of
 * each row, so shared memory is read once and written once (64 KiB each for 64 rows of 256 in fp32)
 * instead of being read three times. Further boxes are read again.
 */
#pragma once

#include "model_ring_box.h"
#include "kernels/gpt/gpt.cuh"
#include "kernels/gpt/row/row.cuh"

/* In pairs, so that few additions wait for each other. */
template <int COUNT> static __device__ __forceinline__ float ring_add_up(float (&v)[COUNT])
{
#pragma unroll
    for (int half = COUNT / 2; half > 0; half /= 2)
#pragma unroll
        for (int j = 0; j < half; j++)
            v[j] += v[j + half];
    return v[0];
}

/* The sums over eight neighbouring lanes, of several rows at a time. */
template <int COUNT> static __device__ __forceinline__ void ring_share(float (&sum)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        sum[i] = gpt_eight_sum(sum[i]);
}

/* ROWS rows of k from `rows`; scale and shift in shared memory too. The first KNOWN boxes are
 * whole: without conditions they are read at once. */
template <int ROWS, int KNOWN = 0, typename T>
static __device__ __forceinline__ void ring_normalise(unsigned char *rows, int k, const T *scale,
                                                      const T *shift)
{
    constexpr int WIDTH = row_piece<T>::WIDTH, BOX_K = RING_UNITS * WIDTH;
    constexpr int APART = RING_LANES / 8, COUNT = ROWS / APART, KEPT = 32 / WIDTH;
    static_assert(COUNT * APART == ROWS && APART % 8 == 0);
    struct unit {
        float v[WIDTH];
    };
    int row = threadIdx.x / 8, place = threadIdx.x % 8;
    int first = WIDTH * (place ^ row % 8); /* of k, before the swizzle */
    unsigned char *own = rows + row * RING_ROW_BYTES + 16 * place;
    unit kept[KEPT][COUNT];
    float mean[COUNT] = {};
    auto at = [&](int box, int i) -> uint4 & {
        return *(uint4 *)(own + (box * ROWS + i * APART) * RING_ROW_BYTES);
    };
    auto inside = [&](int box) { return box < KNOWN || first + box * BOX_K < k; };
    /* The lane's units less the mean, which is 0 until it is known. */
    auto every = [&](auto &&visit) {
#pragma unroll
        for (int box = 0; box < KEPT; box++)
            if (inside(box)) visit(box, kept[box]);
        for (int box = KEPT; first + box * BOX_K < k; box++) {
            unit read[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                row_unpack<T>(read[i].v, at(box, i));
#pragma unroll
                for (int j = 0; j < WIDTH; j++)
                    read[i].v[j] -= mean[i];
            }
            visit(box, read);
        }
    };
#pragma unroll
    for (int box = 0; box < KEPT; box++)
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (inside(box)) row_unpack<T>(kept[box][i].v, at(box, i));
    float sum[COUNT] = {}, squares[COUNT] = {}, factor[COUNT];
    every([&](int, const unit(&of)[COUNT]) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            unit sums = of[i];
            sum[i] += ring_add_up(sums.v);
        }
    });
    ring_share<COUNT>(sum);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        mean[i] = sum[i] / (float)k;
#pragma unroll
    for (int box = 0; box < KEPT; box++)
#pragma unroll
        for (int i = 0; i < COUNT; i++)
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                kept[box][i].v[j] -= mean[i];
    every([&](int, const unit(&of)[COUNT]) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            unit square;
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                square.v[j] = of[i].v[j] * of[i].v[j];
            squares[i] += ring_add_up(square.v);
        }
    });
    ring_share<COUNT>(squares);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        factor[i] = rsqrtf(squares[i] / (float)k + GPT_LAYERNORM_EPSILON);
    every([&](int box, const unit(&of)[COUNT]) {
        unit a, b, out;
        row_unpack<T>(a.v, *(const uint4 *)(scale + first + box * BOX_K));
        row_unpack<T>(b.v, *(const uint4 *)(shift + first + box * BOX_K));
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
#pragma unroll
            for (int j = 0; j < WIDTH; j++)
                out.v[j] = of[i].v[j] * factor[i] * a.v[j] + b.v[j];
            at(box, i) = row_pack(out.v, T());
        }
    });
}
