/*
 * wgmma.cuh - the parts of wgmma.cu that run on the device: the shared memory of a block, the
 * thread that fetches, and the warpgroups that compute.
 *
 * A block has 128 keys, each warpgroup 64 of them, and goes over tiles of COLUMNS queries (above
 * 128 numbers of a head: wgmma_wide.cuh). Rows of a warpgroup's accumulators are its keys, columns
 * the tile's queries: s = k q^T, dp = v dy^T, both operands in shared memory. p and ds, packed in
 * pairs, are the left operands of dv += p dy and dk += ds q without being moved (Shah and others,
 * "FlashAttention-3", NeurIPS 2024, section 3).
 *
 * SIZE is the numbers of a head that are computed, a multiple of 16. A head may have fewer unless
 * it is FULL: TMA fills the rest of a box with zeros, and sums of it are neither added nor stored.
 * Asking for that costs 5 to 12 % of the time.
 */
#pragma once

#include "backward.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "kernels/gpt/attention/attention_order.h"

enum {
    BOX = 64,     /* tokens of a warpgroup, of a box that TMA fetches, and numbers of a panel */
    GROUPS = 2,   /* warpgroups that compute */
    COLUMNS = 64, /* queries of a tile */
    COMPUTING = GROUPS * WGMMA_THREADS,
    BLOCK_THREADS = COMPUTING + WGMMA_THREADS,
    BLOCK_BYTES = 227 * 1024, /* of shared memory, on sm_90 */
    PRODUCER_REGISTERS = 24,
    CONSUMER_REGISTERS = 240,
    MEETING = 1, /* named barrier of the warpgroups that compute */
};

/* p = exp2(s scale - lse), ds = p (dp - delta); lse and delta are arrays of [line][padded], and
 * lse, times log2 e, is infinite behind the last query of a sequence, so that p is 0. */
struct backward_plan {
    CUtensorMap qkv, dy;
    struct backward args;
    struct attention_order order;
    float *sums; /* of dq: [line][tile of queries][d / 8][thread][4] */
    float *lse, *delta;
    int *taken; /* works taken beside the first ones; 0 before the launch */
    int padded; /* tokens, to a multiple of 128 */
    float scale;
};

/* The shared memory of a block: barriers; ds of two tiles; keys and values; STAGES tiles of queries
 * and dy; lse and delta of these. */
template <int SIZE> struct backward_layout {
    static const int align = 1024; /* of the shared memory, and of tiles in it */
    static const int own = SIZE <= 128 ? GROUPS * BOX : BOX; /* keys of a block */
    static const int part = SIZE <= 128 ? SIZE : SIZE / 2; /* numbers before a panel begins anew */
    static const int panels = SIZE / part * ((part + BOX - 1) / BOX);
    /* Numbers of dq that a warpgroup has. */
    static const int half = SIZE > 128 ? part : SIZE > BOX ? BOX : BOX / 2;
    static const int own_bytes = own * panels * WGMMA_ROW_BYTES;
    static const int tile_bytes = COLUMNS * panels * WGMMA_ROW_BYTES;
    static const int row_bytes = COLUMNS * (int)sizeof(float);
    static const int ds_bytes = GROUPS * BOX * COLUMNS * 2; /* above 128, p and ds */
    static const int ds_at = align, own_at = ds_at + 2 * ds_bytes;
    static const int tiles_at = own_at + 2 * own_bytes;
    static const int fit = (BLOCK_BYTES - align - tiles_at) / (2 * (tile_bytes + row_bytes));
    static const int STAGES = fit < 4 ? fit : 4;
    static const int rows_at = tiles_at + STAGES * 2 * tile_bytes;
    static const int bytes = align + rows_at + STAGES * 2 * row_bytes;
};

/* Where the sums of dq lie that a warpgroup has of a tile of queries, `column` its first number. */
static __device__ __forceinline__ float *backward_sums(const struct backward_plan &plan, int line,
                                                       int tile, int column, int size)
{
    int64_t tiles = (int64_t)line * (plan.padded / COLUMNS) + tile;
    return plan.sums + (tiles * size + column) * COLUMNS + threadIdx.x % WGMMA_THREADS * 4;
}

/* A thread's sums to rows `row` and row + 8 of part 0 (dq), 1 or 2 of a line, from number `column`
 * of the head on: 64 bytes of a row by its four lanes at a time. */
template <bool FULL, int COUNT>
static __device__ __forceinline__ void backward_store(const struct backward_plan &plan, int line,
                                                      int part, int column, int row,
                                                      const float (&sum)[COUNT], float scale)
{
    const struct attention &forward = plan.args.forward;
    const int lane = threadIdx.x % 32;
    int64_t head = attention_head<uint16_t>(forward, line) - (const uint16_t *)forward.qkv;
    column += lane % 4 * 8;
    uint16_t *to = (uint16_t *)plan.args.dqkv + head + part * forward.stride_y + column;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        bool valid = row + 8 * half < forward.tokens;
        uint16_t *at = to + (row + 8 * half) * forward.stride;
#pragma unroll
        for (int i = 2 * half; i < COUNT; i += 16) {
            uint32_t word[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                word[j] = i + 4 * j < COUNT
                              ? bf16_pair(sum[i + 4 * j] * scale, sum[i + 4 * j + 1] * scale)
                              : 0;
            attention_transpose(word, lane);
            if (valid && (FULL || column + i / 16 * 32 < forward.size))
                *(uint4 *)(at + i / 16 * 32) = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }
}

#ifdef HOPPER_CODE

/* Addresses in shared memory, of a block that has done `works` and gone over `tiles`; n counts the
 * tiles of the next work. Operand 0 is k or q, operand 1 v or dy. */
template <int SIZE> struct backward_memory {
    typedef backward_layout<SIZE> layout;
    uint32_t base;
    int works, tiles;

    __device__ int stage(int n) const
    {
        return (tiles + n) % layout::STAGES;
    }
    __device__ int phase(int n) const
    {
        return (tiles + n) / layout::STAGES % 2;
    }
    __device__ uint32_t own(int operand) const
    {
        return base + layout::own_at + operand * layout::own_bytes;
    }
    __device__ uint32_t tile(int n, int operand) const
    {
        return base + layout::tiles_at + (2 * stage(n) + operand) * layout::tile_bytes;
    }
    __device__ uint32_t ds(int n) const
    {
        return base + layout::ds_at + (tiles + n) % 2 * layout::ds_bytes;
    }
    __device__ uint32_t lse(int n) const
    {
        return base + layout::rows_at + stage(n) * 2 * layout::row_bytes;
    }
    __device__ uint32_t delta(int n) const
    {
        return lse(n) + layout::row_bytes;
    }
    __device__ uint32_t barrier(int index) const
    {
        return base + index * 8;
    }
    __device__ uint32_t index(void) const
    {
        return barrier(0); /* no barrier: the work whose own operands are there, or -1 */
    }
    __device__ uint32_t own_there(void) const
    {
        return barrier(1);
    }
    __device__ uint32_t own_free(void) const
    {
        return barrier(2);
    }
    __device__ uint32_t there(int n) const
    {
        return barrier(3 + stage(n));
    }
    __device__ uint32_t free(int n) const
    {
        return barrier(3 + layout::STAGES + stage(n));
    }
};

/* A block's keys and the tiles that it goes over. */
struct backward_work {
    int line, batch, head;
    int own;         /* its first key */
    int tile, tiles; /* the first one's number, and how many */
};

/* The order is that of queries, of which the last have the most keys: here the first keys have the
 * most queries. */
template <int SIZE>
static __device__ __forceinline__ struct backward_work backward_work_at(
    const struct backward_plan &plan, int index)
{
    const struct attention &forward = plan.args.forward;
    struct attention_work at = attention_order_at(&plan.order, index);
    int own = (plan.order.blocks - 1) * backward_layout<SIZE>::own - at.first;
    int tile = own / COLUMNS;
    int tiles = (forward.tokens + COLUMNS - 1) / COLUMNS - tile;
    return {at.line, at.line / forward.heads, at.line % forward.heads, own, tile, tiles};
}

/* ----------------------------------------------------------------- producer -- */

template <int SIZE>
static __device__ __forceinline__ void backward_produce(const struct backward_plan &plan,
                                                        uint32_t base)
{
    typedef backward_layout<SIZE> layout;
    const int heads = plan.args.forward.heads;
    backward_memory<SIZE> memory = {base, 0, 0};
    struct backward_work work;
    auto fetch = [&](uint32_t to, uint32_t there, const CUtensorMap *map, int head, int first,
                     int tokens) {
#pragma unroll
        for (int panel = 0; panel < layout::panels; panel++)
            for (int row = 0; row < tokens; row += BOX)
                hopper_load(to + (panel * tokens + row) * WGMMA_ROW_BYTES, map, there,
                            panel / 2 * layout::part + panel % 2 * BOX, head, first + row,
                            work.batch);
    };
    int index = (int)blockIdx.x;
    while (index < plan.order.works) {
        int before = atomicAdd(plan.taken, 1); /* asked early */
        work = backward_work_at<SIZE>(plan, index);
        uint32_t there = memory.own_there();
        hopper_barrier_wait(memory.own_free(), memory.works % 2 ^ 1);
        hopper_put(memory.index(), index);
        hopper_barrier_expect(there, 2 * layout::own_bytes);
        fetch(memory.own(0), there, &plan.qkv, heads + work.head, work.own, layout::own);
        fetch(memory.own(1), there, &plan.qkv, 2 * heads + work.head, work.own, layout::own);
        for (int n = 0; n < work.tiles; n++) {
            int first = (work.tile + n) * COLUMNS;
            int64_t row = (int64_t)work.line * plan.padded + first;
            there = memory.there(n);
            hopper_barrier_wait(memory.free(n), memory.phase(n) ^ 1);
            hopper_barrier_expect(there, 2 * (layout::tile_bytes + layout::row_bytes));
            fetch(memory.tile(n, 0), there, &plan.qkv, work.head, first, COLUMNS);
            fetch(memory.tile(n, 1), there, &plan.dy, work.head, first, COLUMNS);
            hopper_load_bytes(memory.lse(n), plan.lse + row, layout::row_bytes, there);
            hopper_load_bytes(memory.delta(n), plan.delta + row, layout::row_bytes, there);
        }
        memory.works++;
        memory.tiles += work.tiles;
        index = (int)gridDim.x + before;
    }
    hopper_barrier_wait(memory.own_free(), memory.works % 2 ^ 1);
    hopper_put(memory.index(), -1);
    hopper_barrier_arrive(memory.own_there());
}

/* ---------------------------------------------------------------- consumers -- */

/* A product of a warpgroup's keys and a tile's queries, over the numbers of the head. */
template <int SIZE, int COUNT>
static __device__ __forceinline__ void backward_scores(float (&s)[COUNT], uint32_t own,
                                                       uint32_t tile)
{
    typedef backward_layout<SIZE> layout;
    uint64_t a = wgmma_tile(own), b = wgmma_tile(tile);
#pragma unroll
    for (int step = 0; step < SIZE / 16; step++) {
        int number = step * 16 % layout::part, inside = number % BOX * 2;
        int panel = step * 16 / layout::part * 2 + number / BOX;
        wgmma_step(uint16_t(), s, a + (panel * layout::own * WGMMA_ROW_BYTES + inside) / 16,
                   b + (panel * COLUMNS * WGMMA_ROW_BYTES + inside) / 16, step > 0);
    }
    wgmma_commit();
}

/* sum += weights times the rows of a tile. */
template <int SIZE>
static __device__ __forceinline__ void backward_add(float (&sum)[SIZE / 2],
                                                    uint32_t (&weight)[COLUMNS / 4], uint32_t tile)
{
    uint64_t b = wgmma_tile_across(tile, COLUMNS * WGMMA_ROW_BYTES);
    wgmma_pin(sum);
    wgmma_pin(weight);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < COLUMNS / 16; step++)
        wgmma_across(uint16_t(), sum, weight + 4 * step, wgmma_down(b, step));
    wgmma_commit();
}

template <int COUNT>
static __device__ __forceinline__ void backward_pack(uint32_t (&to)[COUNT / 2],
                                                     const float (&from)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT / 2; i++)
        to[i] = bf16_pair(from[2 * i], from[2 * i + 1]);
}

/* lse or delta, `at` in shared memory, of the query of sum i. Queries come in pairs: 8 j + lane % 4
 * * 2 and the next one. */
struct backward_column {
    uint32_t at;
    float2 pair;

    __device__ __forceinline__ float of(int i)
    {
        if (i % 4 == 0)
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(pair.x), "=f"(pair.y)
                         : "r"(at + (i / 4 * 8 + threadIdx.x % 4 * 2) * 4)
                         : "memory");
        return i % 2 ? pair.y : pair.x;
    }
};

/* Weights in place of scores; those of queries before their key, which only tiles on the diagonal
 * have, are 0. `first` is the warpgroup's first key, `tile` the first query. */
template <int COUNT>
static __device__ __forceinline__ void backward_weigh(float (&s)[COUNT], uint32_t lse_at,
                                                      float scale, int first, int tile)
{
    const int lane = threadIdx.x % 32;
    struct backward_column lse = {lse_at};
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        s[i] = gpt_exp2(fmaf(s[i], scale, -lse.of(i)));
    if (tile >= first + BOX - 1) return;
    int query = tile + lane % 4 * 2 - (first + threadIdx.x / 32 % 4 * 16 + lane / 4);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (query + i / 4 * 8 + i % 2 < i % 4 / 2 * 8) s[i] = 0.0f;
}

/* ds in place of dp. */
template <int COUNT>
static __device__ __forceinline__ void backward_differ(float (&dp)[COUNT], const float (&p)[COUNT],
                                                       uint32_t delta_at)
{
    struct backward_column delta = {delta_at};
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        dp[i] = p[i] * (dp[i] - delta.of(i));
}

/* A thread's ds to shared memory: its words are queries 8 (j + chunk) + lane % 4 * 2 and the next
 * one, of the keys lane / 4 and that plus 8. */
template <int COUNT>
static __device__ __forceinline__ void backward_put(uint32_t to, const uint32_t (&ds)[COUNT],
                                                    int row, int lane, int chunk)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        hopper_put(to + (row + i % 2 * 8) * WGMMA_ROW_BYTES + (i / 2 + chunk ^ lane / 4) * 16 +
                       lane % 4 * 4,
                   (int)ds[i]);
}

/* To the sums of dq, of the first `numbers`; of all where they are FULL. */
template <bool FULL, int COUNT>
static __device__ __forceinline__ void backward_sum(float *to, const float (&sum)[COUNT],
                                                    int numbers)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        if (FULL || 2 * i < numbers)
            asm volatile(
                "red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + i * WGMMA_THREADS),
                "f"(sum[i]), "f"(sum[i + 1]), "f"(sum[i + 2]), "f"(sum[i + 3])
                : "memory");
}

/* A warpgroup's part of a work: its rows of dk and dv, and half of the numbers of dq. */
template <int SIZE, bool FULL>
static __device__ __forceinline__ void backward_consume(const struct backward_plan &plan,
                                                        const backward_memory<SIZE> memory,
                                                        const struct backward_work &work, int group)
{
    typedef backward_layout<SIZE> layout;
    const int lane = threadIdx.x % 32, size = FULL ? SIZE : plan.args.forward.size;
    const int first = work.own + group * BOX, warp_row = threadIdx.x / 32 % 4 * 16 + lane / 4;
    const int panel = layout::own * WGMMA_ROW_BYTES; /* of own operands, and of ds */
    const uint32_t own0 = memory.own(0) + group * BOX * WGMMA_ROW_BYTES;
    const uint32_t own1 = memory.own(1) + group * BOX * WGMMA_ROW_BYTES;
    /* Half of the numbers of the keys: a panel, or half of the only one. */
    const int column = group * layout::half;
    const uint64_t keys =
        wgmma_tile_across(memory.own(0) + (layout::panels > 1 ? group * panel : 2 * column), panel);
    float s[COLUMNS / 2], dp[COLUMNS / 2], dk[SIZE / 2], dv[SIZE / 2], dq[layout::half / 2];
    uint32_t p[COLUMNS / 4], ds[COLUMNS / 4];
#pragma unroll
    for (int i = 0; i < SIZE / 2; i++)
        dk[i] = dv[i] = 0.0f;

    for (int n = 0; n < work.tiles; n++) {
        int tile = work.tile + n;
        hopper_barrier_wait(memory.there(n), memory.phase(n));
        wgmma_pin(s);
        wgmma_pin(dp);
        wgmma_begin();
        backward_scores<SIZE>(s, own0, memory.tile(n, 0));
        backward_scores<SIZE>(dp, own1, memory.tile(n, 1));
        wgmma_wait<1>();
        wgmma_pin(s);
        backward_weigh(s, memory.lse(n), plan.scale, first, tile * COLUMNS);
        backward_pack(p, s);
        backward_add<SIZE>(dv, p, memory.tile(n, 1));
        wgmma_wait<1>();
        wgmma_pin(dp);
        backward_differ(dp, s, memory.delta(n));
        backward_pack(ds, dp);
        backward_put(memory.ds(n), ds, group * BOX + warp_row, lane, 0);
        hopper_store_fence();
        hopper_turn_wait(MEETING, COMPUTING);

        uint64_t a = wgmma_tile_across(memory.ds(n), panel);
        wgmma_pin(dq);
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < layout::own / 16; step++)
            wgmma_step(wgmma_bf16_both_across(), dq, wgmma_down(a, step), wgmma_down(keys, step),
                       step > 0);
        wgmma_commit();
        backward_add<SIZE>(dk, ds, memory.tile(n, 0));
        wgmma_wait<1>();
        wgmma_pin(dq);
        /* The same place; the machine code of FULL heads is so that which was measured. */
        const int64_t at = (int64_t)work.line * (plan.padded / COLUMNS) + tile;
        float *to = FULL ? plan.sums + (at * GROUPS + group) * (layout::half * COLUMNS) +
                               threadIdx.x % WGMMA_THREADS * 4
                         : backward_sums(plan, work.line, tile, column, size);
        backward_sum<FULL>(to, dq, size - column);
        wgmma_wait<0>();
        wgmma_pin(dk);
        wgmma_pin(dv);
        if (lane == 0) hopper_barrier_arrive(memory.free(n));
    }
    if (lane == 0) hopper_barrier_arrive(memory.own_free());
    backward_store<FULL>(plan, work.line, 1, 0, first + warp_row, dk, rsqrtf((float)size));
    backward_store<FULL>(plan, work.line, 2, 0, first + warp_row, dv, 1.0f);
}

#endif
