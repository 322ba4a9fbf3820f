/*
 * attention_tf32.cuh - causal attention on the tensor cores in tf32 (fp32 in memory), by
 * mma.sync.m16n8k8. Tiles, softmax, and the distribution of a block's work among its warps are
 * those of attention_fp32.cuh.
 *
 * A warp has 16 TILES queries and 8 COLUMNS keys. q and k are loaded by ldmatrix. The accumulators
 * of a lane hold columns 2t and 2t + 1 of the weights, where the left operand of the second
 * product wants t and t + 4; so the values are read in that order instead. Column g of four tiles
 * of y is columns 4g to 4g + 3 in memory, so one load of four numbers of v serves four products.
 * q, k, p and v are truncated by the tensor cores; all sums are fp32.
 *
 * Operations: 4 d per pair of the tiles touched, and an exponential. Bytes: q and y once, k and v
 * once per block of queries, from L2.
 */
#pragma once

#include "attention_tile.cuh"
#include "kernels/cuda/dependent_launch.cuh"

template <int SIZE, int TILES, int COLUMNS, int WARPS_Q, int WARPS_K> struct tf32_layout {
    static const int size = SIZE, tiles = TILES, columns = COLUMNS;
    static const int threads = 32 * WARPS_Q * WARPS_K;
    static const int warp_queries = 16 * TILES, warp_keys = 8 * COLUMNS;
    static const int queries = warp_queries * WARPS_Q, keys = warp_keys * WARPS_K;
    /* Floats from row to row: eight consecutive rows of 16 bytes meet in no bank. */
    static const int pitch = SIZE + 4;
    static const int floats = (queries + 2 * keys) * pitch;
    static const int bytes = 4 * floats;
    static const int wide = SIZE < 32 ? 2 : 4, vectors = SIZE / 8 / wide;
    static_assert(attention_join_floats(2 * TILES, SIZE / 4, WARPS_Q, WARPS_K) <= floats);
};

/* A lane's part of its queries so far, two per tile. Column g of tile `wide` x + i of the sums is
 * column 8 wide x + wide g + i of y. */
template <typename layout> struct tf32_rows {
    float peak[layout::tiles][2], total[layout::tiles][2];
    float sum[layout::tiles][layout::vectors][layout::wide][4];
};

/* Products of the warp's queries and keys. */
template <typename layout>
static __device__ __forceinline__ void tf32_scores(float s[layout::tiles][layout::columns][4],
                                                   uint32_t queries, uint32_t keys)
{
#pragma unroll
    for (int step = 0; step < layout::size / 8; step++) {
        uint32_t q4[layout::tiles][4];
#pragma unroll
        for (int m = 0; m < layout::tiles; m++)
            mma_load(q4[m], queries + 4 * (16 * m * layout::pitch + 8 * step));
#pragma unroll
        for (int j = 0; j < layout::columns / 2; j++) {
            uint32_t k4[4];
            mma_load(k4, keys + 4 * (16 * j * layout::pitch + 8 * step));
#pragma unroll
            for (int m = 0; m < layout::tiles; m++) {
                mma_step(float(), s[m][2 * j], q4[m], k4[0], k4[1]);
                mma_step(float(), s[m][2 * j + 1], q4[m], k4[2], k4[3]);
            }
        }
    }
}

/* The diagonal tile: `query` and `key` are the warp's first. */
template <typename layout>
static __device__ __forceinline__ void tf32_mask(float s[layout::tiles][layout::columns][4],
                                                 int query, int key)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < layout::tiles; m++)
#pragma unroll
        for (int j = 0; j < layout::columns; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (key + 8 * j + mma_column(lane, i) > query + 16 * m + mma_row(lane, i))
                    s[m][j][i] = -INFINITY;
}

/* Turn scores into weights, in place; earlier sums are scaled to the new peaks. */
template <typename layout>
static __device__ __forceinline__ void tf32_weigh(float s[layout::tiles][layout::columns][4],
                                                  float scale, tf32_rows<layout> &own)
{
#pragma unroll
    for (int m = 0; m < layout::tiles; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float most = own.peak[m][half];
#pragma unroll
            for (int j = 0; j < layout::columns; j++)
                most = fmaxf(most, fmaxf(s[m][j][2 * half], s[m][j][2 * half + 1]));
            most = attention_row_max(most);
            float shift = most == -INFINITY ? 0.0f : __fmul_rn(most, scale); /* no key yet */
            /* Both products rounded, as the weights have them: a fused one keeps what the other
             * lost, and where the peak stays all that is summed would grow by 2^-23 at every tile.
             */
            float keep = gpt_exp2(__fmul_rn(own.peak[m][half], scale) - shift);
            own.peak[m][half] = most;
            own.total[m][half] *= keep;
#pragma unroll
            for (int j = 0; j < layout::columns; j++)
#pragma unroll
                for (int i = 2 * half; i < 2 * half + 2; i++) {
                    s[m][j][i] = gpt_exp2(fmaf(s[m][j][i], scale, -shift));
                    own.total[m][half] += s[m][j][i];
                }
#pragma unroll
            for (int x = 0; x < layout::vectors; x++)
#pragma unroll
                for (int i = 0; i < layout::wide; i++) {
                    own.sum[m][x][i][2 * half] *= keep;
                    own.sum[m][x][i][2 * half + 1] *= keep;
                }
        }
}

/* Adds the tile's values, weighted. */
template <typename layout>
static __device__ __forceinline__ void tf32_add(tf32_rows<layout> &own,
                                                const float s[layout::tiles][layout::columns][4],
                                                const float *values)
{
    const int wide = layout::wide, pitch = layout::pitch;
#pragma unroll
    for (int j = 0; j < layout::columns; j++)
#pragma unroll
        for (int x = 0; x < layout::vectors; x++) {
            float v0[wide], v1[wide];
            const float *at = values + 8 * j * pitch + 8 * wide * x;
            if constexpr (wide == 4) {
                vector_get(v0, at);
                vector_get(v1, at + pitch);
            } else {
                vector_get(v0, at, 0);
                vector_get(v1, at + pitch, 0);
            }
#pragma unroll
            for (int m = 0; m < layout::tiles; m++) {
                const uint32_t p[4] = {__float_as_uint(s[m][j][0]), __float_as_uint(s[m][j][2]),
                                       __float_as_uint(s[m][j][1]), __float_as_uint(s[m][j][3])};
#pragma unroll
                for (int i = 0; i < wide; i++)
                    mma_step(float(), own.sum[m][x][i], p, __float_as_uint(v0[i]),
                             __float_as_uint(v1[i]));
            }
        }
}

/* The lane's columns of y, 2t and 2t + 1 of every tile: 2 `wide` neighbours; `column` and `query`
 * are the lane's first. */
template <typename layout>
static __device__ __forceinline__ void tf32_write(const tf32_rows<layout> &own, float *y,
                                                  int column, int query,
                                                  const struct attention &args)
{
    const int wide = layout::wide;
#pragma unroll
    for (int m = 0; m < layout::tiles; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = query + 16 * m + 8 * half;
            if (row >= args.tokens) continue;
            float inverse = 1.0f / own.total[m][half];
            float *to = y + row * args.stride_y;
#pragma unroll
            for (int x = 0; x < layout::vectors; x++)
#pragma unroll
                for (int e = 0; e < 2; e++)
#pragma unroll
                    for (int i = 0; i < wide; i += 2)
                        attention_put(to, column + 8 * wide * x + wide * e + i, args.size,
                                      make_float2(own.sum[m][x][i][2 * half + e] * inverse,
                                                  own.sum[m][x][i + 1][2 * half + e] * inverse));
        }
}

template <int SIZE, int TILES, int COLUMNS, int WARPS_Q, int WARPS_K, int BLOCKS>
static __global__ void __launch_bounds__(32 * WARPS_Q * WARPS_K, BLOCKS)
    attention_tf32(const __grid_constant__ struct attention args, float scale)
{
    typedef tf32_layout<SIZE, TILES, COLUMNS, WARPS_Q, WARPS_K> layout;
    const int wide = layout::wide, pitch = layout::pitch;
    extern __shared__ __align__(16) float attention_floats[];
    float *queries = attention_floats, *keys = queries + layout::queries * pitch;
    float *values = keys + layout::keys * pitch;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    int part = warp / WARPS_Q;                                  /* of the tile's keys */
    int first = (gridDim.y - 1 - blockIdx.y) * layout::queries; /* the longest first */
    int first_own = first + warp % WARPS_Q * layout::warp_queries;
    dependent_release();
    dependent_wait();
    const float *head = attention_head<float>(args, blockIdx.x);
    const float *k = head + args.stride_y, *v = k + args.stride_y;

    attention_rows<SIZE, pitch, layout::queries, layout::threads>(queries, head, first, args);
    attention_rows<SIZE, pitch, layout::keys, layout::threads>(keys, k, 0, args);
    mma_copy_commit();
    attention_rows<SIZE, pitch, layout::keys, layout::threads>(values, v, 0, args);
    mma_copy_commit();

    tf32_rows<layout> own = {};
#pragma unroll
    for (int m = 0; m < TILES; m++)
        own.peak[m][0] = own.peak[m][1] = -INFINITY;
    struct mma_place at_a = mma_place_a(lane), at_b = mma_place_b(lane);
    uint32_t my_queries = mma_shared(
        queries + (warp % WARPS_Q * layout::warp_queries + at_a.row) * pitch + 4 * at_a.chunk);
    uint32_t my_keys =
        mma_shared(keys + (part * layout::warp_keys + at_b.row) * pitch + 4 * at_b.chunk);
    const float *my_values = values + (part * layout::warp_keys + 2 * t) * pitch + wide * g;
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
            attention_rows<SIZE, pitch, layout::keys, layout::threads>(values, v, tile, args);
            mma_copy_commit();
        }

        float s[TILES][COLUMNS][4] = {};
        if (!idle) {
            tf32_scores<layout>(s, my_queries, my_keys);
            if (key0 + layout::warp_keys > first_own) tf32_mask<layout>(s, first_own, key0);
            tf32_weigh<layout>(s, scale, own);
        }
        mma_copy_wait<0>();
        __syncthreads(); /* the values are there; the keys are read */
        if (tile + layout::keys < end) {
            attention_rows<SIZE, pitch, layout::keys, layout::threads>(keys, k, tile + layout::keys,
                                                                       args);
            mma_copy_commit();
        }
        if (idle) continue;
        tf32_add<layout>(own, s, my_values);
    }

#pragma unroll
    for (int m = 0; m < TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            own.total[m][half] = attention_row_sum(own.total[m][half]);
    auto sum_of = [&](int row, int i) -> float & {
        return own.sum[row / 2][i / 2 / wide][i / 2 % wide][2 * (row % 2) + i % 2];
    };
    if (!attention_join<2 * TILES, SIZE / 4, WARPS_Q, WARPS_K>(attention_floats, scale, own.peak[0],
                                                               own.total[0], sum_of))
        return;

    tf32_write<layout>(own, attention_out<float>(args, blockIdx.x), 2 * wide * t, first_own + g,
                       args);
}
