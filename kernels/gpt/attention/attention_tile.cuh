/*
 * attention_tile.cuh - what the attention kernels with tiles of keys share (attention_fp32.cuh,
 * attention_tf32.cuh): copying rows of q, k and v through shared memory, and combining the
 * softmaxes of warps that had different keys of the same queries.
 */
#pragma once

#include "attention.cuh"
#include "kernels/gpt/mma.cuh"

/* Copy rows first to first + COUNT - 1 of q, k or v to shared memory; zeros after the last token,
 * and behind the head, which has at most SIZE numbers. Rows that do not begin on 16 bytes are
 * copied number by number.
 */
template <int SIZE, int PITCH, int COUNT, int THREADS>
static __device__ __forceinline__ void attention_rows(float *to, const float *from, int first,
                                                      const struct attention &args)
{
    if (args.size % 4) {
        for (int i = threadIdx.x; i < COUNT * SIZE; i += THREADS) {
            int row = i / SIZE, column = i % SIZE;
            bool valid = first + row < args.tokens && column < args.size;
            to[row * PITCH + column] =
                valid ? __ldg(from + (first + row) * args.stride + column) : 0.0f;
        }
        return;
    }
    const int chunks = SIZE / 4;
#pragma unroll 4
    for (int i = threadIdx.x; i < COUNT * chunks; i += THREADS) {
        int row = i / chunks, chunk = i % chunks;
        bool valid = first + row < args.tokens && 4 * chunk < args.size;
        const float *at = valid ? from + (first + row) * args.stride + 4 * chunk : from;
        mma_copy(mma_shared(to + row * PITCH + 4 * chunk), at, valid);
    }
}

static __device__ __forceinline__ void vector_get(float out[4], const float *at)
{
    float4 v = *(const float4 *)at;
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
}

static __device__ __forceinline__ void vector_get(float out[2], const float *at, int)
{
    float2 v = *(const float2 *)at;
    out[0] = v.x, out[1] = v.y;
}

/* Neighbours of a row of y, from number `column` on, as far as there are any: two, `column` even,
 * or four, `column` a multiple of 4. */
static __device__ __forceinline__ void attention_put(float *row, int column, int size, float2 value)
{
    if (column >= size) return;
    if (size % 2 == 0) {
        *(float2 *)(row + column) = value;
        return;
    }
    row[column] = value.x;
    if (column + 1 < size) row[column + 1] = value.y;
}

static __device__ __forceinline__ void attention_put(float *row, int column, int size, float4 value)
{
    if (size % 4) {
        attention_put(row, column, size, make_float2(value.x, value.y));
        attention_put(row, column + 2, size, make_float2(value.z, value.w));
    } else if (column < size) {
        *(float4 *)(row + column) = value;
    }
}

/* How many floats attention_join needs: every warp but the first one of its queries passes on, for
 * each lane, `rows` peaks, totals and rows of `sums`. */
static constexpr int attention_join_floats(int rows, int sums, int warps_q, int warps_k)
{
    return (warps_k - 1) * warps_q * 32 * rows * (2 + sums);
}

/* Combine the peaks, totals and sums of the WARPS_K warps that have the same queries and different
 * keys, in the lanes of the first of these warps. Returns true there, false in the others.
 * `sum(row, i)` is a reference to a lane's own sum. */
template <int ROWS, int SUMS, int WARPS_Q, int WARPS_K, typename Sum>
static __device__ __forceinline__ bool attention_join(float *shared, float scale, float *peak,
                                                      float *total, Sum sum)
{
    const int row_floats = 2 + SUMS, handed = 32 * ROWS * row_floats; /* by a warp */
    int warp = threadIdx.x / 32, part = warp / WARPS_Q;
    if (WARPS_K == 1) return true;
    __syncthreads();
    float *mine = shared + warp % WARPS_Q * handed + threadIdx.x % 32;
    if (part > 0) {
        float *to = mine + (part - 1) * WARPS_Q * handed;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float *row = to + 32 * r * row_floats;
            row[0] = peak[r];
            row[32] = total[r];
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                row[32 * (2 + i)] = sum(r, i);
        }
    }
    __syncthreads();
    if (part > 0) return false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const float *from = mine + 32 * r * row_floats;
        float most = peak[r];
#pragma unroll
        for (int w = 0; w < WARPS_K - 1; w++)
            most = fmaxf(most, from[w * WARPS_Q * handed]);
        float keep = gpt_exp2((peak[r] - most) * scale);
        total[r] *= keep;
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sum(r, i) *= keep;
#pragma unroll
        for (int w = 0; w < WARPS_K - 1; w++) {
            const float *other = from + w * WARPS_Q * handed;
            float add = gpt_exp2((other[0] - most) * scale);
            total[r] = fmaf(other[32], add, total[r]);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                sum(r, i) = fmaf(other[32 * (2 + i)], add, sum(r, i));
        }
    }
    return true;
}
