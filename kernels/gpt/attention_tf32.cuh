/*
 * attention_tf32.cuh - causal attention on the tensor cores in tf32, fp32 in memory, by
 * mma.sync.m16n8k8; tiles, softmax, and the division of a block among its warps as in
 * attention_fp32.cuh.
 *
 * A warp has 16 TILES queries and 8 COLUMNS keys. q and k come by ldmatrix. Accumulators hold
 * columns 2t and 2t + 1 of the weights where the second product's left operand wants t and
 * t + 4: the values are read in that order instead. Column g of four tiles of y is
 * 4g to 4g + 3 in memory, so that one load of four numbers of v serves four products; q, k, p
 * and v are truncated by the tensor cores, all sums are fp32.
 *
 * Operations: 4 d a pair of the tiles touched, and an exponential. Bytes: q and y once, k and v
 * once a block of queries, from L2.
 */
#ifndef ATTENTION_TF32_CUH
#define ATTENTION_TF32_CUH

#include "attention_tile.cuh"
#include "model_launch.cuh"

template <int SIZE, int TILES, int COLUMNS, int WARPS_Q, int WARPS_K> struct tf32_layout {
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

template <int SIZE, int TILES, int COLUMNS, int WARPS_Q, int WARPS_K, int BLOCKS>
static __global__ void __launch_bounds__(32 * WARPS_Q * WARPS_K, BLOCKS)
    attention_tf32(const __grid_constant__ struct attention args, float scale)
{
    typedef tf32_layout<SIZE, TILES, COLUMNS, WARPS_Q, WARPS_K> layout;
    const int wide = layout::wide, vectors = layout::vectors, pitch = layout::pitch;
    extern __shared__ __align__(16) float attention_floats[];
    float *queries = attention_floats, *keys = queries + layout::queries * pitch;
    float *values = keys + layout::keys * pitch;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    int part = warp / WARPS_Q;                                  /* of the tile's keys */
    int first = (gridDim.y - 1 - blockIdx.y) * layout::queries; /* the longest first */
    int own = first + warp % WARPS_Q * layout::warp_queries;
    model_release();
    model_wait();
    const float *head = attention_head<float>(args, blockIdx.x);
    const float *k = head + args.stride_y, *v = k + args.stride_y;

    attention_rows<SIZE, pitch, layout::queries, layout::threads>(queries, head, first, args);
    attention_rows<SIZE, pitch, layout::keys, layout::threads>(keys, k, 0, args);
    mma_copy_commit();
    attention_rows<SIZE, pitch, layout::keys, layout::threads>(values, v, 0, args);
    mma_copy_commit();

    /* Tile `wide` x + i has in column g what is column 8 wide x + wide g + i of y. */
    float sum[TILES][vectors][wide][4] = {}, peak[TILES][2], total[TILES][2] = {};
#pragma unroll
    for (int m = 0; m < TILES; m++)
        peak[m][0] = peak[m][1] = -INFINITY;
    struct mma_place at_a = mma_place_a(lane), at_b = mma_place_b(lane);
    uint32_t my_queries = mma_shared(
        queries + (warp % WARPS_Q * layout::warp_queries + at_a.row) * pitch + 4 * at_a.chunk);
    uint32_t my_keys =
        mma_shared(keys + (part * layout::warp_keys + at_b.row) * pitch + 4 * at_b.chunk);
    const float *my_values = values + (part * layout::warp_keys + 2 * t) * pitch + wide * g;
    int end = min(first + layout::queries, args.tokens);

    for (int tile = 0; tile < end; tile += layout::keys) {
        int key0 = tile + part * layout::warp_keys;
        bool idle = key0 >= own + layout::warp_queries;
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
#pragma unroll
            for (int step = 0; step < SIZE / 8; step++) {
                uint32_t q4[TILES][4];
#pragma unroll
                for (int m = 0; m < TILES; m++)
                    mma_load(q4[m], my_queries + 4 * (16 * m * pitch + 8 * step));
#pragma unroll
                for (int j = 0; j < COLUMNS / 2; j++) {
                    uint32_t k4[4];
                    mma_load(k4, my_keys + 4 * (16 * j * pitch + 8 * step));
#pragma unroll
                    for (int m = 0; m < TILES; m++) {
                        mma_step(float(), s[m][2 * j], q4[m], k4[0], k4[1]);
                        mma_step(float(), s[m][2 * j + 1], q4[m], k4[2], k4[3]);
                    }
                }
            }
            if (key0 + layout::warp_keys > own)
#pragma unroll
                for (int m = 0; m < TILES; m++)
#pragma unroll
                    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
                        for (int i = 0; i < 4; i++)
                            if (key0 + 8 * j + mma_column(lane, i) >
                                own + 16 * m + mma_row(lane, i))
                                s[m][j][i] = -INFINITY;
#pragma unroll
            for (int m = 0; m < TILES; m++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    float most = peak[m][half];
#pragma unroll
                    for (int j = 0; j < COLUMNS; j++)
                        most = fmaxf(most, fmaxf(s[m][j][2 * half], s[m][j][2 * half + 1]));
                    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
                    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
                    float shift = most == -INFINITY ? 0.0f : most * scale; /* no key yet */
                    float keep = attention_exp2(fmaf(peak[m][half], scale, -shift));
                    peak[m][half] = most;
                    total[m][half] *= keep;
#pragma unroll
                    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
                        for (int i = 2 * half; i < 2 * half + 2; i++) {
                            s[m][j][i] = attention_exp2(fmaf(s[m][j][i], scale, -shift));
                            total[m][half] += s[m][j][i];
                        }
#pragma unroll
                    for (int x = 0; x < vectors; x++)
#pragma unroll
                        for (int i = 0; i < wide; i++) {
                            sum[m][x][i][2 * half] *= keep;
                            sum[m][x][i][2 * half + 1] *= keep;
                        }
                }
        }
        mma_copy_wait<0>();
        __syncthreads(); /* the values are there; the keys are read */
        if (tile + layout::keys < end) {
            attention_rows<SIZE, pitch, layout::keys, layout::threads>(keys, k, tile + layout::keys,
                                                                       args);
            mma_copy_commit();
        }
        if (idle) continue;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
#pragma unroll
            for (int x = 0; x < vectors; x++) {
                float v0[wide], v1[wide];
                const float *at = my_values + 8 * j * pitch + 8 * wide * x;
                if constexpr (wide == 4) {
                    vector_get(v0, at);
                    vector_get(v1, at + pitch);
                } else {
                    vector_get(v0, at, 0);
                    vector_get(v1, at + pitch, 0);
                }
#pragma unroll
                for (int m = 0; m < TILES; m++) {
                    const uint32_t p[4] = {__float_as_uint(s[m][j][0]), __float_as_uint(s[m][j][2]),
                                           __float_as_uint(s[m][j][1]),
                                           __float_as_uint(s[m][j][3])};
#pragma unroll
                    for (int i = 0; i < wide; i++)
                        mma_step(float(), sum[m][x][i], p, __float_as_uint(v0[i]),
                                 __float_as_uint(v1[i]));
                }
            }
    }

#pragma unroll
    for (int m = 0; m < TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            total[m][half] += __shfl_xor_sync(0xffffffffu, total[m][half], 1);
            total[m][half] += __shfl_xor_sync(0xffffffffu, total[m][half], 2);
        }
    auto sum_of = [&](int row, int i) -> float & {
        return sum[row / 2][i / 2 / wide][i / 2 % wide][2 * (row % 2) + i % 2];
    };
    if (!attention_join<2 * TILES, SIZE / 4, WARPS_Q, WARPS_K>(attention_floats, scale, peak[0],
                                                               total[0], sum_of))
        return;

    /* A lane has columns 2t and 2t + 1 of every tile: 2 `wide` neighbours of y. */
    float *y = attention_out<float>(args, blockIdx.x) + 2 * wide * t;
#pragma unroll
    for (int m = 0; m < TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int query = own + 16 * m + g + 8 * half;
            if (query >= args.tokens) continue;
            float inverse = 1.0f / total[m][half];
            float *to = y + query * args.stride_y;
#pragma unroll
            for (int x = 0; x < vectors; x++)
#pragma unroll
                for (int e = 0; e < 2; e++)
#pragma unroll
                    for (int i = 0; i < wide; i += 2)
                        *(float2 *)(to + 8 * wide * x + wide * e + i) =
                            make_float2(sum[m][x][i][2 * half + e] * inverse,
                                        sum[m][x][i + 1][2 * half + e] * inverse);
        }
}

#endif
