/*
 * wgmma.cuh - the parts of wgmma.cu that run on the device: one pass over all pairs of the tokens
 * that a block has and those that it goes over.
 *
 * A pass has OWN tokens, of which each warpgroup has 64, and fetches tiles of the others. Rows of
 * a warpgroup's accumulators are its own tokens, columns the tile's:
 *
 *   pass      own    tiles   s          dp         sums of
 *   of keys   k, v   q, dy   k q^T      v dy^T     dv += p dy, dk += ds q
 *   of queries q, dy k, v    q k^T      dy v^T                 dq += ds k
 *
 * so both are the same code: s and dp are products of the first and of the second operands, both
 * in shared memory; p and ds, packed in pairs, are the left operands of the sums without being
 * moved (Shah and others, "FlashAttention-3", NeurIPS 2024, section 3).
 */
#pragma once

#include "backward.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "kernels/gpt/attention/attention_order.h"

enum {
    BOX = 64,   /* tokens of a warpgroup, of a box that TMA fetches, and numbers of a panel */
    GROUPS = 2, /* warpgroups that compute */
    OWN = GROUPS * BOX,
    BLOCK_THREADS = (GROUPS + 1) * WGMMA_THREADS,
    BLOCK_BYTES = 227 * 1024, /* of shared memory, on sm_90 */
    PRODUCER_REGISTERS = 24,
    CONSUMER_REGISTERS = 240,
};

/* p = exp2(s scale - lse), ds = p (dp - delta); lse and delta are arrays of [line][padded], and
 * lse, times log2 e, is infinite behind the last query of a sequence, so that p is 0. */
struct backward_plan {
    CUtensorMap qkv, dy;
    struct backward args;
    struct attention_order order;
    float *lse, *delta;
    float *sums; /* of dq, for passes that are ATOMIC: wgmma_atomic.cu; else NULL */
    int *taken;  /* works taken beside the first ones; 0 before the passes */
    int padded;  /* tokens, to a multiple of OWN */
    float scale;
};

/* What a pass does beside its own sums. LATE: dp of a tile is computed when the sums of the tile
 * before are there, in registers that these have used. ATOMIC: a pass of keys that adds to dq. */
enum backward_way { BACKWARD_AHEAD, BACKWARD_LATE, BACKWARD_ATOMIC };

/* One pass, over tiles of COLUMNS tokens. Shared memory: barriers, of each pass its own; ds of two
 * tiles, where it is ATOMIC; both own operands; STAGES tiles of both others; lse and delta of a
 * tile of queries. */
template <int SIZE_, int COLUMNS_, bool KEYS_, enum backward_way WAY>
struct backward_pass {
    static const bool KEYS = KEYS_, LATE = WAY == BACKWARD_LATE;
    static const int SIZE = SIZE_, COLUMNS = COLUMNS_;
    static const int align = 1024; /* of the shared memory, and of tiles in it */
    static const int own_bytes = OWN * SIZE * 2;
    static const int tile_bytes = COLUMNS * SIZE * 2;
    static const int sums = COLUMNS * SIZE / GROUPS; /* of dq, that a warpgroup has of a tile */
    static const int row_bytes = KEYS ? COLUMNS * (int)sizeof(float) : 0;
    static const int ds_bytes = WAY == BACKWARD_ATOMIC ? OWN * COLUMNS * 2 : 0;
    static const int barriers_at = KEYS ? 0 : align / 2;
    static const int ds_at = align, own_at = ds_at + 2 * ds_bytes;
    static const int tiles_at = own_at + 2 * own_bytes;
    static const int fit = (BLOCK_BYTES - align - tiles_at) / (2 * (tile_bytes + row_bytes));
    static const int STAGES = fit < 4 ? fit : 4;
    static const int rows_at = tiles_at + STAGES * 2 * tile_bytes;
    static const int bytes = align + rows_at + STAGES * 2 * row_bytes;
};

/* A thread's sums to rows `row` and row + 8 of part 0 (dq), 1 or 2 of a line, from number `column`
 * of the head on: 64 bytes of a row by its four lanes at a time. */
template <int COUNT>
static __device__ __forceinline__ void backward_store(const struct backward_plan &plan, int line,
                                                      int part, int column, int row,
                                                      const float (&sum)[COUNT], float scale)
{
    const struct attention &forward = plan.args.forward;
    const int lane = threadIdx.x % 32;
    int64_t head = attention_head<uint16_t>(forward, line) - (const uint16_t *)forward.qkv;
    uint16_t *to =
        (uint16_t *)plan.args.dqkv + head + part * forward.stride_y + column + lane % 4 * 8;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        bool valid = row + 8 * half < forward.tokens;
        uint16_t *at = to + (row + 8 * half) * forward.stride;
#pragma unroll
        for (int i = 2 * half; i < COUNT; i += 16) {
            uint32_t word[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                word[j] = gpt_pack(sum[i + 4 * j] * scale, sum[i + 4 * j + 1] * scale);
            attention_transpose(word, lane);
            if (valid)
                *(uint4 *)(at + i / 16 * 32) = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }
}

#ifdef HOPPER_CODE

/* Addresses in shared memory, of a block that has done `works` and gone over `tiles` in this pass;
 * n counts the tiles of the next work. */
template <typename PASS> struct backward_memory {
    uint32_t base;
    int works, tiles;

    __device__ int stage(int n) const
    {
        return (tiles + n) % PASS::STAGES;
    }
    __device__ int phase(int n) const
    {
        return (tiles + n) / PASS::STAGES % 2;
    }
    __device__ uint32_t own(int operand) const
    {
        return base + PASS::own_at + operand * PASS::own_bytes;
    }
    __device__ uint32_t tile(int n, int operand) const
    {
        return base + PASS::tiles_at + (2 * stage(n) + operand) * PASS::tile_bytes;
    }
    __device__ uint32_t ds(int n) const
    {
        return base + PASS::ds_at + (tiles + n) % 2 * PASS::ds_bytes;
    }
    __device__ uint32_t lse(int n) const
    {
        return base + PASS::rows_at + stage(n) * 2 * PASS::row_bytes;
    }
    __device__ uint32_t delta(int n) const
    {
        return lse(n) + PASS::row_bytes;
    }
    __device__ uint32_t barrier(int index) const
    {
        return base + PASS::barriers_at + index * 8;
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
        return barrier(3 + PASS::STAGES + stage(n));
    }
};

/* A block's tokens and the tiles that it goes over. */
struct backward_work {
    int line, batch, head;
    int own;         /* its first token */
    int tile, tiles; /* the first one's number, and how many */
};

template <typename PASS>
static __device__ __forceinline__ struct backward_work backward_work_at(
    const struct backward_plan &plan, int index)
{
    const struct attention &forward = plan.args.forward;
    struct attention_work at = attention_order_at(&plan.order, index);
    struct backward_work work = {at.line, at.line / forward.heads, at.line % forward.heads};
    if (PASS::KEYS) { /* the first keys have the most queries */
        work.own = (plan.order.blocks - 1) * OWN - at.first;
        work.tile = work.own / PASS::COLUMNS;
        work.tiles = (forward.tokens + PASS::COLUMNS - 1) / PASS::COLUMNS - work.tile;
    } else {
        work.own = at.first;
        work.tile = 0;
        work.tiles = (min(work.own + OWN, forward.tokens) + PASS::COLUMNS - 1) / PASS::COLUMNS;
    }
    return work;
}

/* ----------------------------------------------------------------- producer -- */

/* Works from `index` on, of those numbered begin to end - 1; returns the first one behind them. */
template <typename PASS>
static __device__ __forceinline__ int backward_produce(const struct backward_plan &plan,
                                                       uint32_t base, int index, int begin, int end)
{
    backward_memory<PASS> memory = {base, 0, 0};
    struct backward_work work;
    const int heads = plan.args.forward.heads;
    auto fetch = [&](uint32_t to, uint32_t there, const CUtensorMap *map, int head, int first,
                     int tokens) {
#pragma unroll
        for (int panel = 0; panel < PASS::SIZE / BOX; panel++)
            for (int row = 0; row < tokens; row += BOX)
                hopper_load(to + (panel * tokens + row) * WGMMA_ROW_BYTES, map, there, panel * BOX,
                            head, first + row, work.batch);
    };
    /* The second operand is v beside k, dy beside q. */
    auto fetch_pair = [&](uint32_t to, uint32_t second, uint32_t there, bool keys, int first,
                          int tokens) {
        fetch(to, there, &plan.qkv, work.head + (keys ? heads : 0), first, tokens);
        fetch(second, there, keys ? &plan.qkv : &plan.dy, work.head + (keys ? 2 * heads : 0), first,
              tokens);
    };
    while (index < end) {
        int before = atomicAdd(plan.taken, 1); /* asked early */
        work = backward_work_at<PASS>(plan, index - begin);
        hopper_barrier_wait(memory.own_free(), memory.works % 2 ^ 1);
        hopper_put(memory.index(), index - begin);
        hopper_barrier_expect(memory.own_there(), 2 * PASS::own_bytes);
        fetch_pair(memory.own(0), memory.own(1), memory.own_there(), PASS::KEYS, work.own, OWN);
        for (int n = 0; n < work.tiles; n++) {
            int first = (work.tile + n) * PASS::COLUMNS;
            hopper_barrier_wait(memory.free(n), memory.phase(n) ^ 1);
            hopper_barrier_expect(memory.there(n), 2 * (PASS::tile_bytes + PASS::row_bytes));
            fetch_pair(memory.tile(n, 0), memory.tile(n, 1), memory.there(n), !PASS::KEYS, first,
                       PASS::COLUMNS);
            if (!PASS::KEYS) continue;
            int64_t row = (int64_t)work.line * plan.padded + first;
            hopper_load_bytes(memory.lse(n), plan.lse + row, PASS::row_bytes, memory.there(n));
            hopper_load_bytes(memory.delta(n), plan.delta + row, PASS::row_bytes, memory.there(n));
        }
        memory.works++;
        memory.tiles += work.tiles;
        index = (int)gridDim.x + before;
    }
    hopper_barrier_wait(memory.own_free(), memory.works % 2 ^ 1); /* all is read */
    hopper_put(memory.index(), -1);
    hopper_barrier_arrive(memory.own_there());
    return index;
}

/* ---------------------------------------------------------------- consumers -- */

/* A product of a warpgroup's 64 own tokens and a tile's, over the numbers of the head. */
template <int SIZE, int COUNT>
static __device__ __forceinline__ void backward_scores(float (&s)[COUNT], uint32_t own,
                                                       uint32_t tile)
{
    const int columns = 2 * COUNT;
    uint64_t a = wgmma_tile(own), b = wgmma_tile(tile);
#pragma unroll
    for (int step = 0; step < SIZE / 16; step++) {
        int panel = step * 16 / BOX, inside = step * 16 % BOX * 2;
        wgmma_step(uint16_t(), s, a + (panel * OWN * WGMMA_ROW_BYTES + inside) / 16,
                   b + (panel * columns * WGMMA_ROW_BYTES + inside) / 16, step > 0);
    }
    wgmma_commit();
}

/* sum += weights times the rows of a tile. */
template <int SIZE, int COUNT>
static __device__ __forceinline__ void backward_add(float (&sum)[SIZE / 2],
                                                    uint32_t (&weight)[COUNT], uint32_t tile)
{
    const int columns = 4 * COUNT;
    uint64_t b = wgmma_tile_across(tile, columns * WGMMA_ROW_BYTES);
    wgmma_pin(sum);
    wgmma_pin(weight);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < columns / 16; step++)
        wgmma_across(uint16_t(), sum, weight + 4 * step, wgmma_down(b, step));
    wgmma_commit();
}

template <int COUNT>
static __device__ __forceinline__ void backward_pack(uint32_t (&to)[COUNT],
                                                     const float (&from)[2 * COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = gpt_pack(from[2 * i], from[2 * i + 1]);
}

/* A warp has read the last tile of a work, and with it its own operands. */
template <typename PASS>
static __device__ __forceinline__ void backward_release(const backward_memory<PASS> memory, int n)
{
    if (threadIdx.x % 32) return;
    hopper_barrier_arrive(memory.free(n));
    hopper_barrier_arrive(memory.own_free());
}

/* lse or delta of the column of sum i: of the tile's token in the pass of keys, `at` shared memory;
 * else of the thread's own one. Columns come in pairs: 8 j + lane % 4 * 2 and the next one. */
template <typename PASS> struct backward_column {
    uint32_t at;
    float own[2];
    float2 pair;

    __device__ __forceinline__ float of(int i)
    {
        if (!PASS::KEYS) return own[i % 4 / 2];
        if (i % 4 == 0)
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(pair.x), "=f"(pair.y)
                         : "r"(at + (i / 4 * 8 + threadIdx.x % 4 * 2) * 4)
                         : "memory");
        return i % 2 ? pair.y : pair.x;
    }
};

/* Weights in place of scores; those of keys behind their query, which only tiles on the diagonal
 * have, are 0. `first` is the warpgroup's first token. */
template <typename PASS>
static __device__ __forceinline__ void backward_weigh(float (&s)[PASS::COLUMNS / 2],
                                                      backward_column<PASS> lse, float scale,
                                                      int first, int tile)
{
    const int COUNT = PASS::COLUMNS / 2, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        s[i] = attention_exp2(fmaf(s[i], scale, -lse.of(i)));
    if (PASS::KEYS ? tile >= first + BOX - 1 : tile + PASS::COLUMNS - 1 <= first) return;
    int column = tile + lane % 4 * 2 - (first + threadIdx.x / 32 % 4 * 16 + lane / 4);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        int ahead = column + i / 4 * 8 + i % 2 - i % 4 / 2 * 8;
        if (PASS::KEYS ? ahead < 0 : ahead > 0) s[i] = 0.0f;
    }
}

/* ds in place of dp. */
template <typename PASS>
static __device__ __forceinline__ void backward_differ(float (&dp)[PASS::COLUMNS / 2],
                                                       const float (&p)[PASS::COLUMNS / 2],
                                                       backward_column<PASS> delta)
{
#pragma unroll
    for (int i = 0; i < PASS::COLUMNS / 2; i++)
        dp[i] = p[i] * (dp[i] - delta.of(i));
}

/* A warpgroup's part of a pass. The sums of a tile run beside the weights of the next one. The wait
 * for them is at the head of the loop, as in attention_wgmma.cuh: elsewhere the assembler would
 * serialise all products. */
template <typename PASS>
static __device__ __forceinline__ void backward_consume(const struct backward_plan &plan,
                                                        const backward_memory<PASS> memory,
                                                        const struct backward_work &work, int group)
{
    const int SIZE = PASS::SIZE, COLUMNS = PASS::COLUMNS, SUMS = PASS::KEYS ? 2 : 1;
    const int lane = threadIdx.x % 32, first = work.own + group * BOX;
    const int row = first + threadIdx.x / 32 % 4 * 16 + lane / 4;
    const uint32_t own0 = memory.own(0) + group * BOX * WGMMA_ROW_BYTES;
    const uint32_t own1 = memory.own(1) + group * BOX * WGMMA_ROW_BYTES;
    float s[COLUMNS / 2], dp[COLUMNS / 2], by_ds[SIZE / 2], by_p[SIZE / 2];
    uint32_t p[COLUMNS / 4], ds[COLUMNS / 4];
    backward_column<PASS> lse = {}, delta = {};
#pragma unroll
    for (int i = 0; i < SIZE / 2; i++)
        by_ds[i] = by_p[i] = 0.0f;
    if (!PASS::KEYS)
#pragma unroll
        for (int half = 0; half < 2; half++) { /* there is room for all of OWN */
            int64_t at = (int64_t)work.line * plan.padded + row + 8 * half;
            lse.own[half] = plan.lse[at];
            delta.own[half] = plan.delta[at];
        }

    auto wait_sums = [&]() {
        wgmma_wait<0>();
        wgmma_pin(by_ds);
        if (PASS::KEYS) wgmma_pin(by_p);
    };
    auto begin_scores = [&](int n) {
        hopper_barrier_wait(memory.there(n), memory.phase(n));
        wgmma_pin(s);
        if (!PASS::LATE) wgmma_pin(dp);
        wgmma_begin();
        backward_scores<SIZE>(s, own0, memory.tile(n, 0));
        if (!PASS::LATE) backward_scores<SIZE>(dp, own1, memory.tile(n, 1));
    };
    auto begin_sums = [&](int n) {
        if (PASS::KEYS) backward_add<SIZE>(by_p, p, memory.tile(n, 1));
        backward_add<SIZE>(by_ds, ds, memory.tile(n, 0));
    };
    auto weigh = [&](int n) {
        lse.at = memory.lse(n), delta.at = memory.delta(n);
        wgmma_pin(s);
        backward_weigh(s, lse, plan.scale, first, (work.tile + n) * COLUMNS);
    };
    auto late = [&](int n) {
        wgmma_pin(dp);
        wgmma_begin();
        backward_scores<SIZE>(dp, own1, memory.tile(n, 1));
        wgmma_wait<0>();
    };
    auto differ = [&]() {
        wgmma_pin(dp);
        backward_differ<PASS>(dp, s, delta);
    };
    auto settle = [&](int n) { /* the sums of the tile before n; n's weights for its own */
                               wait_sums();
                               if (n > 0 && lane == 0) hopper_barrier_arrive(memory.free(n - 1));
                               if (PASS::KEYS) backward_pack(p, s);
                               backward_pack(ds, dp);
    };

    begin_scores(0);
    wgmma_wait<0>();
    weigh(0);
    if (PASS::LATE) late(0);
    differ();
    int n = 0;
    for (; n + 1 < work.tiles; n++) {
        settle(n);
        begin_scores(n + 1);
        begin_sums(n);
        wgmma_wait<PASS::LATE ? SUMS : SUMS + 1>();
        weigh(n + 1);
        if (PASS::LATE) {
            wait_sums();
            late(n + 1);
        } else {
            wgmma_wait<SUMS>();
        }
        differ();
    }
    settle(n);
    begin_sums(n);
    wait_sums();
    backward_release(memory, n);
    backward_store(plan, work.line, PASS::KEYS ? 1 : 0, 0, row, by_ds, rsqrtf((float)SIZE));
    if (PASS::KEYS) backward_store(plan, work.line, 2, 0, row, by_p, 1.0f);
}

/* Each work of a pass that the producer announces, by consume(memory, work, group). */
template <typename PASS, typename CONSUME>
static __device__ __forceinline__ void backward_works(const struct backward_plan &plan,
                                                      uint32_t base, CONSUME consume)
{
    backward_memory<PASS> memory = {base, 0, 0};
    for (;; memory.works++) {
        hopper_barrier_wait(memory.own_there(), memory.works % 2);
        /* By the lane that releases it, because nothing else orders reads of others before the next
         * one is written there. */
        int index = threadIdx.x % 32 == 0 ? hopper_get(memory.index()) : 0;
        index = __shfl_sync(0xffffffffu, index, 0);
        if (index < 0) break;
        const struct backward_work work = backward_work_at<PASS>(plan, index);
        consume(memory, work);
        memory.tiles += work.tiles;
    }
}

template <typename PASS> static __device__ __forceinline__ void backward_barriers(uint32_t base)
{
    const backward_memory<PASS> memory = {base, 0, 0};
    hopper_barrier_init(memory.own_there(), 1);
    hopper_barrier_init(memory.own_free(), 4 * GROUPS);
    for (int stage = 0; stage < PASS::STAGES; stage++) {
        hopper_barrier_init(memory.there(stage), 1);
        hopper_barrier_init(memory.free(stage), 4 * GROUPS);
    }
}

/* A block: `produce` in one thread, consume(group) in the warpgroups that compute. */
template <typename INIT, typename PRODUCE, typename CONSUME>
static __device__ __forceinline__ void backward_block(INIT init, PRODUCE produce, CONSUME consume)
{
    if (threadIdx.x == 0) {
        init();
        hopper_barrier_publish();
    }
    __syncthreads();
    int group = __shfl_sync(0xffffffffu, threadIdx.x / WGMMA_THREADS, 0);
    if (group == GROUPS) {
        hopper_registers_give<PRODUCER_REGISTERS>();
        if (threadIdx.x % WGMMA_THREADS == 0) produce();
    } else {
        hopper_registers_take<CONSUMER_REGISTERS>();
        consume(group);
    }
}

#endif
