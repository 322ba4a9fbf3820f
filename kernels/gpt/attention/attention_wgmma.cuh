/*
 * attention_wgmma.cuh - the parts of attention_online_wgmma.cu that run on the device: the
 * thread that fetches and the warpgroups that compute. `layout` is an online_layout
 * (attention_stages.cuh).
 */
#pragma once

#include "attention.cuh"
#include "attention_order.h"
#include "attention_stages.cuh"
#include "kernels/cuda/wgmma.cuh"

#ifdef HOPPER_CODE

/* A work as the kernel goes over it. */
struct online_work {
    int batch, head;
    int first; /* query */
    int tiles; /* of keys */
};

template <typename layout>
static __device__ __forceinline__ struct online_work online_work_at(
    const struct attention &args, const struct attention_order &order, int index)
{
    struct attention_work at = attention_order_at(&order, index);
    int keys = min(at.first + order.queries, args.tokens);
    return (struct online_work){at.line / args.heads, at.line % args.heads, at.first,
                                (keys + layout::keys - 1) / layout::keys};
}

/* The next unit of work that no block has taken, by the value of `taken` before this block added 1;
 * the first units go by the number of the block. There are as many requests as units of work, for
 * any grid, and the last one resets the count for the next launch. */
static __device__ __forceinline__ int online_next(int *taken, int works, int before)
{
    if (before == works - 1) *taken = 0;
    return (int)gridDim.x + before;
}

/* ----------------------------------------------------------------- producer -- */

template <typename layout>
static __device__ __forceinline__ void online_produce(
    const online_memory<layout> memory, const CUtensorMap &queries, const CUtensorMap &tiles,
    const struct attention &args, const struct attention_order &order, int *taken)
{
    online_ring<layout::stages> key = {0, 0}, value = {0, 0};
    online_ring<layout::query_stages> query = {0, 0};
    int index = (int)blockIdx.x, before;
    for (; index < order.works; index = online_next(taken, order.works, before)) {
        before = atomicAdd(taken, 1); /* asked early, so that the answer is there when wanted */
        struct online_work work = online_work_at<layout>(args, order, index);

        auto fetch = [&](uint32_t to, uint32_t there, int head, int tile) {
            hopper_barrier_expect(there, layout::key_bytes);
#pragma unroll
            for (int panel = 0; panel < layout::panels; panel++)
                hopper_load(to + panel * layout::keys * 128, &tiles, there, panel * PANEL, head,
                            tile * layout::keys, work.batch);
        };
        auto fetch_key = [&](int tile) {
            hopper_barrier_wait(memory.key_free(key.stage), key.phase ^ 1);
            fetch(memory.key(key.stage), memory.key_there(key.stage), args.heads + work.head, tile);
            key.advance();
        };
        auto fetch_value = [&](int tile) {
            hopper_barrier_wait(memory.value_free(value.stage), value.phase ^ 1);
            fetch(memory.value(value.stage), memory.value_there(value.stage),
                  2 * args.heads + work.head, tile);
            value.advance();
        };

        fetch_key(work.tiles - 1);
        hopper_barrier_wait(memory.query_free(query.stage), query.phase ^ 1);
        hopper_put(memory.index(query.stage), index);
        hopper_barrier_expect(memory.query_there(query.stage),
                              layout::groups * layout::query_bytes);
        for (int group = 0; group < layout::groups; group++)
#pragma unroll
            for (int panel = 0; panel < layout::panels; panel++)
                hopper_load(memory.query(query.stage, group) + panel * ROWS * 128, &queries,
                            memory.query_there(query.stage), panel * PANEL, work.head,
                            work.first + group * ROWS, work.batch);
        query.advance();
        for (int tile = work.tiles - 1; tile >= 0; tile--) {
            if (tile > 0) fetch_key(tile - 1);
            fetch_value(tile);
        }
    }
    hopper_barrier_wait(memory.query_free(query.stage), query.phase ^ 1);
    hopper_put(memory.index(query.stage), index);
    hopper_barrier_arrive(memory.query_there(query.stage)); /* no queries: the work is over */
}

/* ---------------------------------------------------------------- consumers -- */

/* Scores of 64 queries and a tile of keys. */
template <typename layout>
static __device__ __forceinline__ void online_scores(float (&s)[layout::keys / 2], uint32_t query,
                                                     uint32_t key)
{
    uint64_t a = wgmma_tile(query), b = wgmma_tile(key);
    wgmma_pin(s);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < layout::size / 16; step++) {
        int panel = step * 16 / PANEL, inside = step * 16 % PANEL * 2;
        wgmma_step(typename layout::element(), s, a + (panel * ROWS * 128 + inside) / 16,
                   b + (panel * layout::keys * 128 + inside) / 16, step > 0);
    }
    wgmma_commit();
}

/* Adds the weighted values of a tile. */
template <typename layout>
static __device__ __forceinline__ void online_weigh(float (&sum)[layout::size / 2],
                                                    uint32_t (&p)[layout::keys / 4], uint32_t value)
{
    uint64_t b = wgmma_tile_across(value, layout::keys * 128);
    wgmma_pin(sum);
    wgmma_pin(p);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < layout::keys / 16; step++)
        wgmma_across(typename layout::element(), sum, p + 4 * step, wgmma_down(b, step));
    wgmma_commit();
}

/* A thread's two rows: largest score and sum of weights of its own columns. */
struct online_rows {
    float peak[2], total[2];
};

/* Scores to weights against the largest score so far; `keep` is what older weights are
 * multiplied with. Where 64 queries straddle two tiles, a row may have seen no key yet. */
template <typename layout>
static __device__ __forceinline__ void online_softmax(float (&s)[layout::keys / 2],
                                                      struct online_rows &rows, float (&keep)[2],
                                                      float scale)
{
    /* Columns 0 and 1 of every pair apart: twice as many chains, half as long. */
    float most[2][2] = {{rows.peak[0], rows.peak[0]}, {rows.peak[1], rows.peak[1]}};
    float fresh[2][2] = {}, shift[2];
#pragma unroll
    for (int i = 0; i < layout::keys / 2; i++)
        most[i % 4 / 2][i % 2] = fmaxf(most[i % 4 / 2][i % 2], s[i]);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float peak = attention_row_max(fmaxf(most[half][0], most[half][1]));
        float seen = layout::straddles && peak == -INFINITY ? 0.0f : peak;
        keep[half] = gpt_exp2((rows.peak[half] - seen) * scale);
        shift[half] = seen * scale - (float)layout::lift;
        rows.peak[half] = peak;
    }
#pragma unroll
    for (int i = 0; i < layout::keys / 2; i++) {
        s[i] = gpt_exp2(fmaf(s[i], scale, -shift[i % 4 / 2]));
        fresh[i % 4 / 2][i % 2] += s[i];
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
        rows.total[half] = fmaf(rows.total[half], keep[half], fresh[half][0] + fresh[half][1]);
}

/* The accumulators of the first product, in pairs, are the left operand of the second. */
template <typename layout>
static __device__ __forceinline__ void online_pack(uint32_t (&p)[layout::keys / 4],
                                                   const float (&s)[layout::keys / 2])
{
#pragma unroll
    for (int i = 0; i < layout::keys / 4; i++)
        p[i] = gpt_pack(typename layout::element(), s[2 * i], s[2 * i + 1]);
}

/* Wait for the product in flight, scale its sums to the latest largest score, and pack the weights
 * for the next product. */
template <typename layout>
static __device__ __forceinline__ void online_settle(float (&sum)[layout::size / 2],
                                                     uint32_t (&p)[layout::keys / 4],
                                                     float (&s)[layout::keys / 2],
                                                     const float (&keep)[2])
{
    wgmma_pin(s);
    wgmma_wait<0>();
    wgmma_pin(sum);
    wgmma_pin(p);
    if (__any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f))
#pragma unroll
        for (int i = 0; i < layout::size / 2; i++)
            sum[i] *= keep[i % 4 / 2];
    online_pack<layout>(p, s);
    wgmma_pin(sum);
    wgmma_pin(p);
}

/* Mask the keys behind a thread's queries. `key` is the last column that its first row sees, less
 * the thread's first column. */
template <int COUNT> static __device__ __forceinline__ void online_mask(float (&s)[COUNT], int key)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (i / 4 * 8 + i % 2 > key + i % 4 / 2 * 8) s[i] = -INFINITY;
}

/* Sums over the sum of weights, 64 bytes of a row by its four lanes at a time, up to the end of
 * the head. */
template <typename layout>
static __device__ __forceinline__ void online_store(const struct attention &args,
                                                    const struct online_work &work, int row,
                                                    int lane, const float (&sum)[layout::size / 2],
                                                    const struct online_rows &rows)
{
    const int count = layout::size / 2;
    int column = lane % 4 * 8;
    uint16_t *y = (uint16_t *)args.y + (int64_t)work.batch * args.tokens * args.stride_y +
                  work.head * args.size + column;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float inverse = 1.0f / attention_row_sum(rows.total[half]);
        bool valid = row + 8 * half < args.tokens;
        uint16_t *to = y + (row + 8 * half) * args.stride_y;
#pragma unroll
        for (int i = 2 * half; i < count; i += 16) {
            uint32_t word[4] = {};
#pragma unroll
            for (int j = 0; j < 4 && i + 4 * j < count; j++)
                word[j] = gpt_pack(typename layout::element(), sum[i + 4 * j] * inverse,
                                   sum[i + 4 * j + 1] * inverse);
            attention_transpose(word, lane);
            if (valid && i / 16 * 32 + column < args.size)
                *(uint4 *)(to + i / 16 * 32) = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }
}

/* Two warpgroups issue their products in turns, one per tile, so that the exponentials of one run
 * beside the products of the other; three fall into such an order without that. */
template <typename layout>
static __device__ __forceinline__ void online_consume(const online_memory<layout> memory,
                                                      const struct attention &args,
                                                      const struct attention_order &order,
                                                      float scale, int group, int groups)
{
    const bool turns = layout::groups == 2 && groups == 2;
    const int keys = layout::keys;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    bool speaker = lane == 0;
    online_ring<layout::stages> ring = {0, 0}; /* of the values; keys are one tile ahead */
    int last = 0; /* stage of the values that the product under way reads */
    if (turns && group == 1) hopper_turn_pass(1, 2 * GROUP_THREADS);

    for (online_ring<layout::query_stages> query = {0, 0};; query.advance()) {
        hopper_barrier_wait(memory.query_there(query.stage), query.phase);
        /* Only the lane that releases the stage reads it, because nothing else would order
         * reads of other lanes before the next unit of work is written there. */
        int index = speaker ? hopper_get(memory.index(query.stage)) : 0;
        index = __shfl_sync(0xffffffffu, index, 0);
        if (index >= order.works) break;
        struct online_work work = online_work_at<layout>(args, order, index);
        int own = work.first + group * ROWS, row = own + warp * 16 + lane / 4;
        int top = min((own + ROWS - 1) / keys, work.tiles - 1);
        float s[keys / 2], sum[layout::size / 2], keep[2];
        uint32_t p[keys / 4] = {};
        struct online_rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
#pragma unroll
        for (int i = 0; i < layout::size / 2; i++)
            sum[i] = 0.0f;

        for (int tile = work.tiles - 1; tile > top; tile--) { /* for other warpgroups */
            hopper_barrier_wait(memory.key_there(ring.stage), ring.phase);
            hopper_barrier_wait(memory.value_there(ring.stage), ring.phase);
            __syncwarp(); /* or a lane might still wait for a phase that is long over */
            if (speaker) hopper_barrier_arrive(memory.key_free(ring.stage));
            if (speaker) hopper_barrier_arrive(memory.value_free(ring.stage));
            if (turns) hopper_turn_wait(1 + group, 2 * GROUP_THREADS);
            if (turns) hopper_turn_pass(2 - group, 2 * GROUP_THREADS);
            ring.advance();
        }

        hopper_barrier_wait(memory.key_there(ring.stage), ring.phase);
        if (turns) hopper_turn_wait(1 + group, 2 * GROUP_THREADS);
        online_scores<layout>(s, memory.query(query.stage, group), memory.key(ring.stage));
        if (turns) hopper_turn_pass(2 - group, 2 * GROUP_THREADS);
        wgmma_wait<0>();
        wgmma_pin(s);
        if (speaker) hopper_barrier_arrive(memory.key_free(ring.stage));
        online_mask(s, row - top * keys - lane % 4 * 2);
        online_softmax<layout>(s, rows, keep, scale);

        /* The wait for the older product is at the head of the loop: within the body the
         * assembler would move it to before the exponentials. */
        for (int tile = top; tile > 0; tile--) {
            online_ring<layout::stages> next = ring;
            next.advance();
            online_settle<layout>(sum, p, s, keep);
            if (speaker && tile < top) hopper_barrier_arrive(memory.value_free(last));
            hopper_barrier_wait(memory.key_there(next.stage), next.phase);
            if (turns) hopper_turn_wait(1 + group, 2 * GROUP_THREADS);
            online_scores<layout>(s, memory.query(query.stage, group), memory.key(next.stage));
            hopper_barrier_wait(memory.value_there(ring.stage), ring.phase);
            online_weigh<layout>(sum, p, memory.value(ring.stage));
            if (turns) hopper_turn_pass(2 - group, 2 * GROUP_THREADS);
            wgmma_wait<1>();
            wgmma_pin(s);
            if (speaker) hopper_barrier_arrive(memory.key_free(next.stage));
            if (layout::straddles && tile * keys > own)
                online_mask(s, row - (tile - 1) * keys - lane % 4 * 2);
            online_softmax<layout>(s, rows, keep, scale);
            last = ring.stage;
            ring = next;
        }

        if (speaker) hopper_barrier_arrive(memory.query_free(query.stage));
        online_settle<layout>(sum, p, s, keep);
        if (speaker && top > 0) hopper_barrier_arrive(memory.value_free(last));
        hopper_barrier_wait(memory.value_there(ring.stage), ring.phase);
        online_weigh<layout>(sum, p, memory.value(ring.stage));
        wgmma_wait<0>();
        wgmma_pin(sum);
        if (speaker) hopper_barrier_arrive(memory.value_free(ring.stage));
        ring.advance();
        online_store<layout>(args, work, row, lane, sum, rows);
    }
    if (turns && group == 0) hopper_turn_wait(1, 2 * GROUP_THREADS); /* the turn passed last */
}

#endif
