/*
 * attention_bf16.cuh - a block of attention_online_bf16.cu and of attention_fp8_mma.cu: its tiles
 * in shared memory, and what it does.
 */
#pragma once

#include "attention_tile.cuh"
#include "kernels/cuda/dependent_launch.cuh"

/* Chunks from row to row of a tile whose rows have SIZE numbers: the swizzle wants 2, 4 or a
 * multiple of 8. */
template <int SIZE> static constexpr int PITCH = SIZE <= 64 ? SIZE / 8 : SIZE <= 128 ? 16 : 32;

/* Where chunk `chunk` of row `row` lies in a tile. */
template <int SIZE> static __device__ __forceinline__ uint32_t place(int row, int chunk)
{
    const int chunks = PITCH<SIZE>;
    int at = chunks < 8 ? mma_swizzle_narrow(row, chunk, chunks) : mma_swizzle(row, chunk);
    return (row * chunks + at) * 16;
}

/* Rows first to `end`, zeros after them and behind `size` numbers of each. A thread keeps its chunk
 * and goes down the rows, where it can by a multiple of eight, which does not change the swizzle.
 * So one running address is enough, and registers are scarce. */
template <int SIZE, int ROWS, int THREADS>
static __device__ __forceinline__ void copy_tile(uint32_t to, const uint16_t *from, int first,
                                                 int end, int64_t stride, int size)
{
    const int chunks = PITCH<SIZE>, step = THREADS / chunks;
    static_assert(ROWS % step == 0 || ROWS < step);
    int row = threadIdx.x / chunks, chunk = threadIdx.x % chunks;
    if ((ROWS < step && row >= ROWS) || chunk >= SIZE / 8) return;
    const uint16_t *at = from + (first + row) * stride + chunk * 8;
    const uint32_t begin = to + place<SIZE>(row, chunk);
#pragma unroll
    for (int i = 0; i < (ROWS + step - 1) / step; i++) {
        bool valid = first + row + i * step < end && (size == SIZE || chunk * 8 < size);
        uint32_t there =
            step % 8 ? to + place<SIZE>(row + i * step, chunk) : begin + i * step * chunks * 16;
        mma_copy(there, valid ? at : from, valid);
        at += step * stride;
    }
}

/* TILE keys; WARPS of different queries, PARTS of a tile's keys. */
template <int SIZE, int TILE, int TILES, int WARPS, int PARTS> struct online_layout {
    static const int size = SIZE;
    static const int threads = 32 * WARPS * PARTS;
    static const int queries = 16 * TILES * WARPS;
    static const int tile = TILE, keys = TILE / PARTS; /* of a warp */
    static const int query_bytes = queries * PITCH<SIZE> * 16;
    static const int key_bytes = tile * PITCH<SIZE> * 16;
    static const int bytes = query_bytes + 4 * key_bytes; /* k and v, two stages */
    static_assert(4 * attention_join_floats(2 * TILES, SIZE / 4, WARPS, PARTS) <= bytes);
};

/* What a block does. T: uint16_t (bf16) or fp16_t. The weights' exponent is `scale` times a score,
 * y has the factor `factor`; a causal query sees keys up to itself, others all. A head has `size`
 * numbers, a multiple of 8 up to SIZE. */
template <typename T, int SIZE, int TILE, int TILES, int WARPS, int PARTS>
static __device__ __forceinline__ void online_block(const struct attention &args, float scale,
                                                    float factor, bool causal, int size)
{
    typedef online_layout<SIZE, TILE, TILES, WARPS, PARTS> layout;
    const int KEYS = layout::keys;
    extern __shared__ __align__(128) unsigned char attention_memory[];
    const uint32_t queries = mma_shared(attention_memory);
    const uint32_t stages = queries + layout::query_bytes;
    const uint16_t *head = attention_head<uint16_t>(args, blockIdx.x);
    const uint16_t *k = head + args.stride_y, *v = k + args.stride_y;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = (gridDim.y - 1 - blockIdx.y) * layout::queries;
    int line = warp % WARPS, part = warp / WARPS;
    int own = first + line * 16 * TILES; /* the warp's first query */
    /* Behind the last key that is seen. */
    int end = causal ? min(first + layout::queries, args.tokens) : args.tokens;
    int tiles = (end + layout::tile - 1) / layout::tile;

    dependent_release();
    dependent_wait();
    auto fetch = [&](int tile) {
        uint32_t stage = stages + tile % 2 * 2 * layout::key_bytes;
        if (tile < tiles) {
            int row = tile * layout::tile;
            copy_tile<SIZE, layout::tile, layout::threads>(stage, k, row, end, args.stride, size);
            copy_tile<SIZE, layout::tile, layout::threads>(stage + layout::key_bytes, v, row, end,
                                                           args.stride, size);
        }
        mma_copy_commit();
    };

    copy_tile<SIZE, layout::queries, layout::threads>(queries, head, first, end, args.stride, size);
    fetch(0); /* the queries are in its group */
    fetch(1);

    float sum[TILES][SIZE / 8][4] = {};
    float peak[TILES][2], total[TILES][2];
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            peak[t][half] = -INFINITY;
            total[t][half] = 0.0f;
        }
    struct mma_place at_a = mma_place_a(lane), at_b = mma_place_b(lane);
    struct mma_place at_v = mma_place_b_trans(lane);

    for (int tile = 0; tile < tiles; tile++) {
        if (tile == 0)
            mma_copy_wait<1>();
        else
            mma_copy_wait<0>();
        __syncthreads(); /* this tile is there for all, and the one before is read by all */
        if (tile > 0) fetch(tile + 1);
        int key0 = tile * layout::tile + part * KEYS;
        if (causal && key0 >= own + 16 * TILES) continue;
        uint32_t keys = stages + tile % 2 * 2 * layout::key_bytes;
        uint32_t values = keys + layout::key_bytes;

        float s[TILES][KEYS / 8][4] = {};
#pragma unroll
        for (int step = 0; step < SIZE / 16; step++) {
            uint32_t a[TILES][4];
#pragma unroll
            for (int t = 0; t < TILES; t++)
                mma_load(a[t], queries + place<SIZE>((line * TILES + t) * 16 + at_a.row,
                                                     2 * step + at_a.chunk));
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                uint32_t b[4];
                mma_load(
                    b, keys + place<SIZE>(part * KEYS + 16 * j + at_b.row, 2 * step + at_b.chunk));
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    mma_step(T(), s[t][2 * j], a[t], b[0], b[1]);
                    mma_step(T(), s[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }

        if (key0 + KEYS - 1 > (causal ? own : args.tokens - 1))
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        if (key0 + 8 * j + mma_column(lane, i) >
                            (causal ? own + 16 * t + mma_row(lane, i) : args.tokens - 1))
                            s[t][j][i] = -INFINITY;

#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                /* Key 0 is seen by every query, so from the first tile on this is a number, but in
                 * the later parts. */
                float most = peak[t][half];
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
                    most = fmaxf(most, fmaxf(s[t][j][2 * half], s[t][j][2 * half + 1]));
                most = attention_row_max(most);
                float seen = PARTS > 1 && most == -INFINITY ? 0.0f : most;
                float keep = gpt_exp2((peak[t][half] - seen) * scale), shift = seen * scale;
                float fresh = 0.0f;
                peak[t][half] = most;
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                    for (int i = 2 * half; i < 2 * half + 2; i++) {
                        s[t][j][i] = gpt_exp2(fmaf(s[t][j][i], scale, -shift));
                        fresh += s[t][j][i];
                    }
                total[t][half] = fmaf(total[t][half], keep, fresh);
#pragma unroll
                for (int d = 0; d < SIZE / 8; d++) {
                    sum[t][d][2 * half] *= keep;
                    sum[t][d][2 * half + 1] *= keep;
                }
            }

#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) {
            uint32_t a[TILES][4];
#pragma unroll
            for (int t = 0; t < TILES; t++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    a[t][i] = gpt_pack(T(), s[t][2 * j + i / 2][i % 2 * 2],
                                       s[t][2 * j + i / 2][i % 2 * 2 + 1]);
#pragma unroll
            for (int d = 0; d < SIZE / 16; d++) {
                uint32_t b[4];
                mma_load_trans(
                    b, values + place<SIZE>(part * KEYS + 16 * j + at_v.row, 2 * d + at_v.chunk));
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    mma_step(T(), sum[t][2 * d], a[t], b[0], b[1]);
                    mma_step(T(), sum[t][2 * d + 1], a[t], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            total[t][half] = attention_row_sum(total[t][half]);
    auto sum_of = [&](int row, int i) -> float & {
        return sum[row / 2][i / 2][row % 2 * 2 + i % 2];
    };
    if (!attention_join<2 * TILES, SIZE / 4, WARPS, PARTS>((float *)attention_memory, scale,
                                                           peak[0], total[0], sum_of))
        return;

    uint16_t *y = attention_out<uint16_t>(args, blockIdx.x);
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int query = own + 16 * t + mma_row(lane, 2 * half);
            float inverse = factor / total[t][half];
            if (query >= args.tokens) continue;
            uint16_t *to = y + query * args.stride_y + mma_column(lane, 0);
#pragma unroll
            for (int d = 0; d < SIZE / 8; d++)
                if (size == SIZE || 8 * d < size)
                    *(uint32_t *)(to + 8 * d) = gpt_pack(T(), sum[t][d][2 * half] * inverse,
                                                         sum[t][d][2 * half + 1] * inverse);
        }
}
