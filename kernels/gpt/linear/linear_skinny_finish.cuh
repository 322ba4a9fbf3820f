/*
 * linear_skinny_finish.cuh - the end of products whose k is divided by warps and by the blocks of a
 * cluster: their sums are added through shared memory, in a fixed order, and stored.
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "linear.cuh"

enum { SKINNY_PARTS = 8 }; /* blocks of a cluster, at most */

static __device__ __forceinline__ void skinny_add(float4 &sum, float4 more)
{
    sum.x += more.x;
    sum.y += more.y;
    sum.z += more.z;
    sum.w += more.w;
}

template <typename T> static __device__ __forceinline__ void skinny_put_quad(T *y, float4 v)
{
    *(uint2 *)y = make_uint2(gpt_pack(T(), v.x, v.y), gpt_pack(T(), v.z, v.w));
}

static __device__ __forceinline__ void skinny_put_quad(float *y, float4 v)
{
    *(float4 *)y = v;
}

/* The first threads: have the biases of `columns` columns in L2 when they are needed. */
template <typename T>
static __device__ __forceinline__ void skinny_expect_bias(const struct linear_operands &operands,
                                                          int column0, int columns)
{
    const int64_t column = column0 + (int64_t)threadIdx.x;
    if (operands.bias && (int)threadIdx.x < columns && column < operands.n)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((const T *)operands.bias + column));
}

/* Four neighbouring outputs of a row, the first at a multiple of four. */
template <typename T, enum linear_finish FINISH>
static __device__ __forceinline__ void skinny_put(const struct linear_operands &operands,
                                                  int64_t row, int column, float4 sum)
{
    const T *bias = (const T *)operands.bias;
    const int n = (int)operands.n;
    float2 left = linear_bias_pair(bias, column, n), right = linear_bias_pair(bias, column + 2, n);
    sum = make_float4(sum.x + left.x, sum.y + left.y, sum.z + right.x, sum.w + right.y);
    sum = linear_act<FINISH>(sum);
    if (n % 4 == 0) {
        if (row < operands.m && column < n)
            skinny_put_quad((T *)operands.y + row * n + column, sum);
        return;
    }
    linear_write_pair<T>(operands, row, column, make_float2(sum.x, sum.y));
    linear_write_pair<T>(operands, row, column + 2, make_float2(sum.z, sum.w));
}

/* The sums of the block's warps, or of the cluster's blocks, to y: the first
 * `columns` of each row, a multiple of four. CONFIG says how they lie in shared memory
 * (skinny_config). */
template <typename CONFIG>
static __device__ __forceinline__ void skinny_finish(const struct linear_operands &operands,
                                                     int parts, float *shared, int64_t row0,
                                                     int column0, int rank,
                                                     int columns = 4 * CONFIG::QUADS)
{
    constexpr int count = 8 * CONFIG::ROWS * CONFIG::QUADS;
    auto place = [&](int i) { return i / CONFIG::QUADS * CONFIG::PITCH + i % CONFIG::QUADS * 4; };
    auto put = [&](int i, float4 sum) {
        if (i % CONFIG::QUADS * 4 >= columns) return;
        skinny_put<typename CONFIG::output, CONFIG::FINISH>(operands, row0 + i / CONFIG::QUADS,
                                                            column0 + i % CONFIG::QUADS * 4, sum);
    };
    __syncthreads();
    if (CONFIG::WARPS > 1 || parts == 1)
        for (int i = (int)threadIdx.x; i < count; i += CONFIG::THREADS) {
            float4 sum = *(const float4 *)(shared + place(i));
#pragma unroll
            for (int warp = 1; warp < CONFIG::WARPS; warp++)
                skinny_add(sum, *(const float4 *)(shared + warp * CONFIG::SUMS + place(i)));
            if (parts == 1)
                put(i, sum);
            else
                *(float4 *)(shared + place(i)) = sum;
        }
#ifdef HOPPER_CODE
    if (parts == 1) return;
    hopper_cluster_sync();
    for (int i = rank * CONFIG::THREADS + (int)threadIdx.x; i < count;
         i += parts * CONFIG::THREADS) {
        const uint32_t at = hopper_shared(shared + place(i));
        float4 of[SKINNY_PARTS]; /* all under way before the first is added */
#pragma unroll
        for (int part = 0; part < SKINNY_PARTS; part++)
            if (part < parts) of[part] = hopper_get_from(at, (uint32_t)part);
#pragma unroll
        for (int part = 1; part < SKINNY_PARTS; part++)
            if (part < parts) skinny_add(of[0], of[part]);
        put(i, of[0]);
    }
    hopper_cluster_sync_reads(); /* no block ends while another may still read from it */
#endif
}
