/*
 * attention_fp8_wgmma.cuh - the parts of attention_fp8_wgmma.cu that run on the device: the thread
 * that fetches, the warps that turn values round, and the warpgroups that compute. `layout` is an
 * fp8_layout (attention_fp8_stages.cuh).
 */
#pragma once

#include "attention_fp8_stages.cuh"
#include "attention_wgmma.cuh"
#include "kernels/gpt/mma.cuh"

/* What is the same for all units of work. */
struct fp8_attention {
    struct attention of; /* qkv in e4m3, y in bf16 */
    struct attention_order order;
    const float *scales; /* of heads, of q, then of k, then of v */
    float scale;         /* of scores beside them */
    bool causal;
};

#ifdef HOPPER_CODE

template <typename layout>
static __device__ __forceinline__ struct online_work fp8_work_at(const struct fp8_attention &args,
                                                                 int index)
{
    struct online_work work = online_work_at<layout>(args.of, args.order, index);
    if (!args.causal) work.tiles = (args.of.tokens + layout::keys - 1) / layout::keys;
    return work;
}

/* ----------------------------------------------------------------- producer -- */

template <typename layout>
static __device__ __forceinline__ void fp8_produce(const fp8_memory<layout> memory,
                                                   const CUtensorMap &queries,
                                                   const CUtensorMap &tiles,
                                                   const CUtensorMap &values,
                                                   const struct fp8_attention &args, int *taken)
{
    const int heads = args.of.heads, works = args.order.works;
    online_ring<layout::stages> key = {0, 0}, value = {0, 0};
    online_ring<layout::query_stages> query = {0, 0};
    int index = (int)blockIdx.x, before;
    for (; index < works; index = online_next(taken, works, before)) {
        before = atomicAdd(taken, 1); /* asked early, so that the answer is there when wanted */
        struct online_work work = fp8_work_at<layout>(args, index);

        auto fetch_key = [&](int tile) {
            hopper_barrier_wait(memory.key_free(key.stage), key.phase ^ 1);
            hopper_barrier_expect(memory.key_there(key.stage), layout::key_bytes);
            hopper_load(memory.key(key.stage), &tiles, memory.key_there(key.stage), 0,
                        heads + work.head, tile * layout::keys, work.batch);
            key.advance();
        };
        auto fetch_value = [&](int tile) {
            if (layout::turned) {
                hopper_barrier_wait(memory.value_free(value.stage), value.phase ^ 1);
                hopper_barrier_expect(memory.value_there(value.stage), layout::value_bytes);
                hopper_load(memory.value(value.stage), &values, tile * layout::keys,
                            (work.batch * heads + work.head) * layout::size,
                            memory.value_there(value.stage));
                value.advance();
                return;
            }
            hopper_barrier_wait(memory.raw_free(value.stage), value.phase ^ 1);
            hopper_put(memory.more(value.stage), 1);
            hopper_barrier_expect(memory.raw_there(value.stage), layout::key_bytes);
            hopper_load(memory.raw(value.stage), &tiles, memory.raw_there(value.stage), 0,
                        2 * heads + work.head, tile * layout::keys, work.batch);
            value.advance();
        };

        fetch_key(work.tiles - 1);
        hopper_barrier_wait(memory.query_free(query.stage), query.phase ^ 1);
        hopper_put(memory.index(query.stage), index);
        hopper_barrier_expect(memory.query_there(query.stage),
                              layout::groups * layout::query_bytes);
        for (int group = 0; group < layout::groups; group++)
            hopper_load(memory.query(query.stage, group), &queries, memory.query_there(query.stage),
                        0, work.head, work.first + group * ROWS, work.batch);
        query.advance();
        for (int tile = work.tiles - 1; tile >= 0; tile--) {
            if (tile > 0) fetch_key(tile - 1);
            fetch_value(tile);
        }
    }
    /* Neither queries nor values: the work is over. */
    hopper_barrier_wait(memory.query_free(query.stage), query.phase ^ 1);
    hopper_put(memory.index(query.stage), index);
    hopper_barrier_arrive(memory.query_there(query.stage));
    if (layout::turned) return;
    hopper_barrier_wait(memory.raw_free(value.stage), value.phase ^ 1);
    hopper_put(memory.more(value.stage), 0);
    hopper_barrier_arrive(memory.raw_there(value.stage));
}

/* ------------------------------------------------------------------- turning -- */

/*
 * Twice 32 keys of 16 numbers of the head, from rows of keys to rows of numbers. Each of the four 8
 * x 8 matrices of pairs of bytes is eight keys: transposed, a lane has of keys 2 q and 2 q + 1 the
 * numbers 2 g and 2 g + 1, q = lane % 4, g = lane / 4. Bytes of two matrices make the words of a
 * row, in which keys have the order of the left operand: in the 32 bytes of a step of k, byte
 * 16 h + 4 q + e is key 8 (2 h + e / 2) + 2 q + e % 2, which is where a lane has its scores
 * (fp8_pack). So no lane asks another for anything.
 *
 * Rows of even and odd numbers are in one matrix that is stored, or two of its rows would be in the
 * same banks.
 */
static __device__ __forceinline__ void fp8_turn(uint32_t from, uint32_t to, uint32_t even_first)
{
    uint32_t r[2][4], word[4]; /* two of them, so that one is read while the other is stored */
    mma_load_trans(r[0], from);
    mma_load_trans(r[1], from + 32 * 128);
#pragma unroll
    for (int part = 0; part < 2; part++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            word[i] = __byte_perm(r[part][i % 2 * 2], r[part][i % 2 * 2 + 1],
                                  i / 2 ? even_first ^ 0x1111 : even_first);
        hopper_matrices_put(to ^ part * 32, word);
    }
}

/* 16 numbers of the head, for all keys of a tile, by a warp. */
static __device__ __forceinline__ void fp8_turn_chunk(uint32_t raw, uint32_t turned, int chunk,
                                                      int lane)
{
    const int matrix = lane / 8, row = lane % 8;
    const uint32_t even_first = lane / 16 ? 0x7531 : 0x6420;
    const int number = 2 * row + (matrix / 2 ^ row / 4);
    const uint32_t from = raw + lane * 128 + (chunk ^ row) * 16;
    const uint32_t to = turned + (chunk * 16 + number) * 128 + (matrix % 2 ^ number % 8) * 16;
    fp8_turn(from, to, even_first);
    fp8_turn(from + 64 * 128, to ^ 64, even_first);
}

/* One of the warps that turn values round, until there are no more. */
template <typename layout>
static __device__ __forceinline__ void fp8_turn_all(const fp8_memory<layout> memory, int warp,
                                                    int lane)
{
    const bool speaker = lane == 0;
    for (online_ring<layout::stages> ring = {0, 0};; ring.advance()) {
        hopper_barrier_wait(memory.raw_there(ring.stage), ring.phase);
        int more = speaker ? hopper_get(memory.more(ring.stage)) : 0;
        if (!__shfl_sync(0xffffffffu, more, 0)) return;
        hopper_barrier_wait(memory.value_free(ring.stage), ring.phase ^ 1);
#pragma unroll 1
        for (int chunk = warp; chunk < layout::size / 16; chunk += layout::turning_warps)
            fp8_turn_chunk(memory.raw(ring.stage), memory.value(ring.stage), chunk, lane);
        hopper_store_fence();
        __syncwarp();
        if (speaker) hopper_barrier_arrive(memory.raw_free(ring.stage));
        if (speaker) hopper_barrier_arrive(memory.value_there(ring.stage));
    }
}

/* A tile of values of one head, turned round to rows of numbers in memory: a block per tile. */
template <typename layout>
static __device__ __forceinline__ void fp8_turn_tile(uint32_t raw, const CUtensorMap &tiles,
                                                     const CUtensorMap &values, int heads)
{
    const int tile = (int)blockIdx.x, head = (int)blockIdx.y, batch = (int)blockIdx.z;
    const uint32_t turned = raw + layout::key_bytes, there = turned + layout::value_bytes;
    if (threadIdx.x == 0) {
        hopper_barrier_init(there, 1);
        hopper_barrier_publish();
        hopper_barrier_expect(there, layout::key_bytes);
        hopper_load(raw, &tiles, there, 0, 2 * heads + head, tile * layout::keys, batch);
    }
    __syncthreads();
    hopper_barrier_wait(there, 0);
    fp8_turn_chunk(raw, turned, (int)threadIdx.x / 32, (int)threadIdx.x % 32);
    hopper_store_fence();
    __syncthreads();
    if (threadIdx.x != 0) return;
    hopper_store(&values, turned, tile * layout::keys, (batch * heads + head) * layout::size);
    hopper_store_wait<0>();
}

/* ---------------------------------------------------------------- consumers -- */

/* Scores of 64 queries and a tile of keys. */
template <typename layout>
static __device__ __forceinline__ void fp8_scores(float (&s)[layout::keys / 2], uint32_t query,
                                                  uint32_t key)
{
    uint64_t a = wgmma_tile(query), b = wgmma_tile(key);
    wgmma_pin(s);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < layout::size / 32; step++)
        wgmma_step(wgmma_e4m3(), s, wgmma_ahead(a, step), wgmma_ahead(b, step), step > 0);
    wgmma_commit();
}

/* The weighted values of a tile. */
template <typename layout>
static __device__ __forceinline__ void fp8_weigh(float (&fresh)[layout::size / 2],
                                                 uint32_t (&p)[layout::keys / 8], uint32_t value)
{
    uint64_t b = wgmma_tile(value);
    wgmma_pin(fresh);
    wgmma_pin(p);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < layout::keys / 32; step++)
        wgmma_loaded(wgmma_e4m3(), fresh, p + 4 * step, wgmma_ahead(b, step), step > 0);
    wgmma_commit();
}

/* Two weights, the first in the lower byte. */
static __device__ __forceinline__ uint32_t fp8_pair(float first, float second)
{
    uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    return pair;
}

/* The accumulators of the first product are the left operand of the second, keys in the order that
 * fp8_turn gives them. */
template <typename layout>
static __device__ __forceinline__ void fp8_pack(uint32_t (&p)[layout::keys / 8],
                                                const float (&s)[layout::keys / 2])
{
#pragma unroll
    for (int i = 0; i < layout::keys / 8; i++) {
        const int at = i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;
        p[i] = fp8_pair(s[at], s[at + 1]) | fp8_pair(s[at + 4], s[at + 5]) << 16;
    }
}

/* Wait for the product in flight, add its sums in fp32 to those so far, which `held` brings to the
 * largest score that its weights were taken against, and pack the weights for the next product. */
template <typename layout>
static __device__ __forceinline__ void fp8_settle(float (&sum)[layout::size / 2],
                                                  float (&fresh)[layout::size / 2],
                                                  uint32_t (&p)[layout::keys / 8],
                                                  float (&s)[layout::keys / 2],
                                                  const float (&held)[2])
{
    wgmma_pin(s);
    wgmma_wait<0>();
    wgmma_pin(fresh);
    wgmma_pin(p);
#pragma unroll
    for (int i = 0; i < layout::size / 2; i++)
        sum[i] = fmaf(sum[i], held[i % 4 / 2], fresh[i]);
    fp8_pack<layout>(p, s);
    wgmma_pin(p);
}

/* Mask the keys that a thread's rows do not see: the last ones that they see, less the thread's
 * first column. */
template <int COUNT>
static __device__ __forceinline__ void fp8_mask(float (&s)[COUNT], int upper, int lower)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (i / 4 * 8 + i % 2 > (i % 4 / 2 ? lower : upper)) s[i] = -INFINITY;
}

/* As online_consume: the warpgroups issue their products in turns, so that the exponentials of one
 * run beside the products of the other. */
template <typename layout>
static __device__ __forceinline__ void fp8_consume(const fp8_memory<layout> memory,
                                                   const struct fp8_attention &args, int group)
{
    const int keys = layout::keys, turn = 2 * GROUP_THREADS;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    bool speaker = lane == 0;
    online_ring<layout::stages> ring = {0, 0}; /* of the values; keys are one tile ahead */
    int last = 0; /* stage of the values that the product under way reads */
    if (group == 1) hopper_turn_pass(1, turn);

    for (online_ring<layout::query_stages> query = {0, 0};; query.advance()) {
        hopper_barrier_wait(memory.query_there(query.stage), query.phase);
        /* Only the lane that releases the stage reads it, because nothing else would order
         * reads of other lanes before the next unit of work is written there. */
        int index = speaker ? hopper_get(memory.index(query.stage)) : 0;
        index = __shfl_sync(0xffffffffu, index, 0);
        if (index >= args.order.works) break;
        struct online_work work = fp8_work_at<layout>(args, index);
        const float *scales = args.scales + work.head;
        const float scale = args.scale * __ldg(scales) * __ldg(scales + args.of.heads);
        int own = work.first + group * ROWS, row = own + warp * 16 + lane / 4;
        int top = args.causal ? min((own + ROWS - 1) / keys, work.tiles - 1) : work.tiles - 1;
        float s[keys / 2], sum[layout::size / 2], fresh[layout::size / 2], keep[2];
        float held[2] = {1.0f, 1.0f};
        uint32_t p[keys / 8] = {};
        struct online_rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
#pragma unroll
        for (int i = 0; i < layout::size / 2; i++)
            sum[i] = fresh[i] = 0.0f;

        for (int tile = work.tiles - 1; tile > top; tile--) { /* for the other warpgroup */
            hopper_barrier_wait(memory.key_there(ring.stage), ring.phase);
            hopper_barrier_wait(memory.value_there(ring.stage), ring.phase);
            __syncwarp(); /* or a lane might still wait for a phase that is long over */
            if (speaker) hopper_barrier_arrive(memory.key_free(ring.stage));
            if (speaker) hopper_barrier_arrive(memory.value_free(ring.stage));
            hopper_turn_wait(1 + group, turn);
            hopper_turn_pass(2 - group, turn);
            ring.advance();
        }

        hopper_barrier_wait(memory.key_there(ring.stage), ring.phase);
        hopper_turn_wait(1 + group, turn);
        fp8_scores<layout>(s, memory.query(query.stage, group), memory.key(ring.stage));
        hopper_turn_pass(2 - group, turn);
        wgmma_wait<0>();
        wgmma_pin(s);
        if (speaker) hopper_barrier_arrive(memory.key_free(ring.stage));
        const int column = top * keys + lane % 4 * 2, end = args.of.tokens - 1;
        fp8_mask(s, (args.causal ? row : end) - column, (args.causal ? row + 8 : end) - column);
        online_softmax<layout>(s, rows, keep, scale);

        /* As there, the wait for the older product is at the head of the loop. */
        for (int tile = top; tile > 0; tile--) {
            online_ring<layout::stages> next = ring;
            next.advance();
            fp8_settle<layout>(sum, fresh, p, s, held);
            held[0] = keep[0], held[1] = keep[1];
            if (speaker && tile < top) hopper_barrier_arrive(memory.value_free(last));
            hopper_barrier_wait(memory.key_there(next.stage), next.phase);
            hopper_turn_wait(1 + group, turn);
            fp8_scores<layout>(s, memory.query(query.stage, group), memory.key(next.stage));
            hopper_barrier_wait(memory.value_there(ring.stage), ring.phase);
            fp8_weigh<layout>(fresh, p, memory.value(ring.stage));
            hopper_turn_pass(2 - group, turn);
            wgmma_wait<1>();
            wgmma_pin(s);
            if (speaker) hopper_barrier_arrive(memory.key_free(next.stage));
            online_softmax<layout>(s, rows, keep, scale);
            last = ring.stage;
            ring = next;
        }

        if (speaker) hopper_barrier_arrive(memory.query_free(query.stage));
        fp8_settle<layout>(sum, fresh, p, s, held);
        if (speaker && top > 0) hopper_barrier_arrive(memory.value_free(last));
        hopper_barrier_wait(memory.value_there(ring.stage), ring.phase);
        fp8_weigh<layout>(fresh, p, memory.value(ring.stage));
        wgmma_wait<0>();
        wgmma_pin(fresh);
        if (speaker) hopper_barrier_arrive(memory.value_free(ring.stage));
        ring.advance();
        /* Found again from its number, because all that the loop need not keep is a register. */
        asm volatile("" : "+r"(index));
        work = fp8_work_at<layout>(args, index);
        row = work.first + group * ROWS + warp * 16 + lane / 4;
        const float of_values = __ldg(args.scales + 2 * args.of.heads + work.head);
#pragma unroll
        for (int i = 0; i < layout::size / 2; i++)
            sum[i] = fmaf(sum[i], keep[i % 4 / 2], fresh[i]) * of_values;
        online_store<layout>(args.of, work, row, lane, sum, rows);
    }
    if (group == 0) hopper_turn_wait(1, turn); /* the turn passed last */
}

#endif
