/*
 * attention_fp32.cuh - causal attention in fp32 on CUDA cores, in register tiles. Keys and values
 * go through shared memory tile by tile, with an online softmax (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", NeurIPS 2022, algorithm
 * 1). q, k and v are read from the buffer of the layer before, without copies.
 *
 * A warp computes the scores of 4 ROWS queries and 8 COLUMNS keys of a tile. Lane 8 a + b has
 * queries a, a + 4, ... and keys b, b + 8, ... It reads a vector of four elements from each of its
 * ROWS rows of q and COLUMNS rows of k, and makes 4 ROWS COLUMNS multiply-adds of them: 256 for 16
 * loads where both are 8. No two rows that a warp reads at a time use the same bank. The weights
 * reach the lanes that need them through the warp's own part of shared memory, and the sums are a
 * product of the same shape.
 *
 * WARPS_Q warps have different queries of the block, WARPS_K warps different keys of the tile. The
 * latter combine their softmaxes at the end; that is for short sequences, where one block per head
 * would leave the device idle.
 *
 * The tile's values are loaded while its scores are computed, the next tile's keys while its sums
 * are.
 *
 * Operations: 4 d per pair of the tiles touched, and an exponential. Bytes: q and y once, k and v
 * once per block of queries, from L2.
 */
#pragma once

#include "attention_tile.cuh"
#include "kernels/cuda/dependent_launch.cuh"

template <int SIZE, int ROWS, int COLUMNS, int WARPS_Q, int WARPS_K> struct fp32_layout {
    static const int size = SIZE, rows = ROWS, columns = COLUMNS; /* of a lane: rows, columns */
    static const int threads = 32 * WARPS_Q * WARPS_K;
    static const int warp_queries = 4 * ROWS, warp_keys = 8 * COLUMNS;
    static const int queries = warp_queries * WARPS_Q, keys = warp_keys * WARPS_K;
    /* Floats from row to row: consecutive rows of q and k begin four banks apart, of the
     * weights eight. */
    static const int pitch = SIZE + 4, weight_pitch = warp_keys + 8;
    static const int weights = warp_queries * weight_pitch; /* of a warp */
    static const int floats = (queries + keys) * pitch + keys * SIZE + WARPS_Q * WARPS_K * weights;
    static const int bytes = 4 * floats;
    /* Columns of y that a lane has, in vectors of `wide`. */
    static const int wide = SIZE < 32 ? 2 : 4, vectors = SIZE / 8 / wide;
    static_assert(attention_join_floats(ROWS, vectors *wide, WARPS_Q, WARPS_K) <= floats);
};

/* The largest of the query's lanes, eight neighbours. */
static __device__ __forceinline__ float eight_max(float value)
{
#pragma unroll
    for (int step = 4; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

/* A lane's part of its queries so far. */
template <typename layout> struct fp32_rows {
    float peak[layout::rows], total[layout::rows];
    float sum[layout::rows][layout::vectors][layout::wide];
};

/* Products of the lane's rows of q and of k. */
template <typename layout>
static __device__ __forceinline__ void fp32_scores(float s[layout::rows][layout::columns],
                                                   const float *queries, const float *keys)
{
#pragma unroll 2
    for (int d = 0; d < layout::size; d += 4) {
        float q4[layout::rows][4], k4[layout::columns][4];
#pragma unroll
        for (int r = 0; r < layout::rows; r++)
            vector_get(q4[r], queries + 4 * r * layout::pitch + d);
#pragma unroll
        for (int c = 0; c < layout::columns; c++)
            vector_get(k4[c], keys + 8 * c * layout::pitch + d);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int r = 0; r < layout::rows; r++)
#pragma unroll
                for (int c = 0; c < layout::columns; c++)
                    s[r][c] = fmaf(q4[r][i], k4[c][i], s[r][c]);
    }
}

/* Turn scores into weights, which other lanes read; earlier sums are scaled to the new peaks. The
 * lane's first query is `query`, its first key `key`. */
template <typename layout>
static __device__ __forceinline__ void fp32_weigh(float s[layout::rows][layout::columns],
                                                  bool diagonal, int query, int key, float scale,
                                                  fp32_rows<layout> &own, float *weights)
{
#pragma unroll
    for (int r = 0; r < layout::rows; r++) {
        float most = own.peak[r];
#pragma unroll
        for (int c = 0; c < layout::columns; c++) {
            if (diagonal && key + 8 * c > query + 4 * r) s[r][c] = -INFINITY;
            most = fmaxf(most, s[r][c]);
        }
        most = eight_max(most);
        float shift = most == -INFINITY ? 0.0f : __fmul_rn(most, scale); /* no key yet */
        /* Both products rounded, as the weights have them: a fused one keeps what the other lost,
         * and where the peak stays all that is summed would grow by 2^-23 at every tile. */
        float keep = gpt_exp2(__fmul_rn(own.peak[r], scale) - shift);
        own.peak[r] = most;
        own.total[r] *= keep;
#pragma unroll
        for (int c = 0; c < layout::columns; c++) {
            float weight = gpt_exp2(fmaf(s[r][c], scale, -shift));
            own.total[r] += weight;
            weights[4 * r * layout::weight_pitch + 8 * c] = weight;
        }
#pragma unroll
        for (int x = 0; x < layout::vectors; x++)
#pragma unroll
            for (int e = 0; e < layout::wide; e++)
                own.sum[r][x][e] *= keep;
    }
}

/* Adds the tile's values, weighted. */
template <typename layout>
static __device__ __forceinline__ void fp32_add(fp32_rows<layout> &own, const float *weights,
                                                const float *values)
{
    const int wide = layout::wide;
#pragma unroll 2
    for (int j = 0; j < layout::warp_keys; j += 4) {
        float p4[layout::rows][4];
#pragma unroll
        for (int r = 0; r < layout::rows; r++)
            vector_get(p4[r], weights + 4 * r * layout::weight_pitch + j);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int x = 0; x < layout::vectors; x++) {
                float v4[wide];
                const float *at = values + (j + i) * layout::size + 8 * wide * x;
                if constexpr (wide == 4)
                    vector_get(v4, at);
                else
                    vector_get(v4, at, 0);
#pragma unroll
                for (int r = 0; r < layout::rows; r++)
#pragma unroll
                    for (int e = 0; e < wide; e++)
                        own.sum[r][x][e] = fmaf(p4[r][i], v4[e], own.sum[r][x][e]);
            }
    }
}

/* The lane's columns of y, from `column`, of its queries, from `query`, as far as there are any. */
template <typename layout>
static __device__ __forceinline__ void fp32_write(const fp32_rows<layout> &own, float *y,
                                                  int column, int query,
                                                  const struct attention &args)
{
#pragma unroll
    for (int r = 0; r < layout::rows; r++) {
        if (query + 4 * r >= args.tokens) continue;
        float inverse = 1.0f / own.total[r];
        float *to = y + (query + 4 * r) * args.stride_y;
#pragma unroll
        for (int x = 0; x < layout::vectors; x++) {
            const float *from = own.sum[r][x];
            if constexpr (layout::wide == 4)
                attention_put(to, column + 32 * x, args.size,
                              make_float4(from[0] * inverse, from[1] * inverse, from[2] * inverse,
                                          from[3] * inverse));
            else
                attention_put(to, column + 16 * x, args.size,
                              make_float2(from[0] * inverse, from[1] * inverse));
        }
    }
}

template <int SIZE, int ROWS, int COLUMNS, int WARPS_Q, int WARPS_K, int BLOCKS>
static __global__ void __launch_bounds__(32 * WARPS_Q * WARPS_K, BLOCKS)
    attention_fp32(const __grid_constant__ struct attention args, float scale)
{
    typedef fp32_layout<SIZE, ROWS, COLUMNS, WARPS_Q, WARPS_K> layout;
    const int wide = layout::wide, vectors = layout::vectors, pitch = layout::pitch;
    extern __shared__ __align__(16) float attention_floats[];
    float *queries = attention_floats, *keys = queries + layout::queries * pitch;
    float *values = keys + layout::keys * pitch;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, a = lane / 8, b = lane % 8;
    int part = warp / WARPS_Q; /* of the tile's keys */
    float *weights = values + layout::keys * SIZE + warp * layout::weights;
    int first = (gridDim.y - 1 - blockIdx.y) * layout::queries; /* the longest first */
    int first_own = first + warp % WARPS_Q * layout::warp_queries;
    dependent_release();
    dependent_wait();
    const float *head = attention_head<float>(args, blockIdx.x);
    const float *k = head + args.stride_y, *v = k + args.stride_y;

    attention_rows<SIZE, pitch, layout::queries, layout::threads>(queries, head, first, args);
    attention_rows<SIZE, pitch, layout::keys, layout::threads>(keys, k, 0, args);
    mma_copy_commit();
    attention_rows<SIZE, SIZE, layout::keys, layout::threads>(values, v, 0, args);
    mma_copy_commit();

    fp32_rows<layout> own = {};
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        own.peak[r] = -INFINITY;
    const float *my_queries = queries + (warp % WARPS_Q * layout::warp_queries + a) * pitch;
    const float *my_keys = keys + (part * layout::warp_keys + b) * pitch;
    const float *my_values = values + part * layout::warp_keys * SIZE + b * wide;
    int end = min(first + layout::queries, args.tokens);

    for (int tile = 0; tile < end; tile += layout::keys) {
        int key0 = tile + part * layout::warp_keys;
        bool idle = key0 >= first_own + layout::warp_queries;
        if (tile == 0) {
            mma_copy_wait<1>();
            __syncthreads();
        } else {
            mma_copy_wait<0>();
            __syncthreads(); /* the keys are there; the values of the tile before are read */
            attention_rows<SIZE, SIZE, layout::keys, layout::threads>(values, v, tile, args);
            mma_copy_commit();
        }

        float s[ROWS][COLUMNS] = {};
        if (!idle) {
            fp32_scores<layout>(s, my_queries, my_keys);
            bool diagonal = key0 + layout::warp_keys > first_own;
            fp32_weigh<layout>(s, diagonal, first_own + a, key0 + b, scale, own,
                               weights + a * layout::weight_pitch + b);
        }
        mma_copy_wait<0>();
        __syncthreads(); /* the values are there; the keys are read; so are the weights written */
        if (tile + layout::keys < end) {
            attention_rows<SIZE, pitch, layout::keys, layout::threads>(keys, k, tile + layout::keys,
                                                                       args);
            mma_copy_commit();
        }
        if (idle) continue;
        fp32_add<layout>(own, weights + a * layout::weight_pitch, my_values);
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++)
        own.total[r] = gpt_eight_sum(own.total[r]);
    auto sum_of = [&](int row, int i) -> float & { return own.sum[row][i / wide][i % wide]; };
    if (!attention_join<ROWS, vectors * wide, WARPS_Q, WARPS_K>(attention_floats, scale, own.peak,
                                                                own.total, sum_of))
        return;

    fp32_write<layout>(own, attention_out<float>(args, blockIdx.x), b * wide, first_own + a, args);
}
