/*
 * attention_tf32_wgmma.cuh - the parts of attention_online_tf32_wgmma.cu that run on the device:
 * shared memory, the warpgroup that fetches and the warpgroups that compute. `layout` is a
 * tf32_stages.
 */
#pragma once

#include "attention_wgmma.cuh"

/* The shared memory of a block. A panel is rows of 128 bytes, swizzled: 32 numbers of a tile's
 * keys, or 32 keys of all numbers of the transposed values. Queries of one unit of work, or of two
 * where there is room, a tile of ROWS for each warpgroup; a ring of panels of keys, and one of
 * values; barriers.
 *
 * SIZE: numbers per head; KEYS: of a tile; GROUPS: warpgroups that compute; STAGES: panels. */
template <int SIZE, int KEYS, int GROUPS, int KEY_STAGES, int VALUE_STAGES> struct tf32_stages {
    static const int size = SIZE, keys = KEYS, groups = GROUPS, panel = 32;
    static const int key_stages = KEY_STAGES, value_stages = VALUE_STAGES;
    static const int threads = GROUP_THREADS * (GROUPS + 1), queries = ROWS * GROUPS;
    static const int query_stages = 128 / SIZE, tiles = query_stages * GROUPS; /* of queries */
    static const int key_panels = SIZE / panel, value_panels = KEYS / panel;   /* of a tile */
    static const int query_bytes = ROWS * SIZE * 4, key_bytes = KEYS * SIZE * 4,
                     value_bytes = SIZE * 128;
    static const int keys_at = tiles * query_bytes, values_at = keys_at + KEY_STAGES * key_bytes;
    static const int barriers_at = values_at + VALUE_STAGES * value_bytes;
    static const int lift = 0;
    static const bool straddles = KEYS % ROWS != 0; /* 64 queries may be on two tiles' diagonals */
    static const int slack = 1024;                  /* to begin at a multiple of this */
    static const int bytes =
        slack + barriers_at + (3 * tiles + 2 * KEY_STAGES + 2 * VALUE_STAGES + 2) * 8;
    /* A lane's: scores and sums are 96 or 112 of them, a quarter of a panel of values 16 or 32. */
    static const int computing_registers = 144, fetching_registers = 80;
    /* What a block has at its launch, a multiple of 8 per lane; it would wait for more forever. */
    static const int registers = 65536 / threads / 8 * 8 * (GROUPS + 1);
    static_assert(GROUPS * computing_registers + fetching_registers <= registers);
    static_assert(VALUE_STAGES >= value_panels);
};

#ifdef HOPPER_CODE

/* Addresses of what is in shared memory. `tile` counts the tiles of queries, a warpgroup's of each
 * stage; `stage` the panels of a ring. */
template <typename layout> struct tf32_memory {
    uint32_t base;

    __device__ uint32_t query(int tile) const
    {
        return base + tile * layout::query_bytes;
    }
    __device__ uint32_t key(int stage) const
    {
        return base + layout::keys_at + stage * layout::key_bytes;
    }
    __device__ uint32_t value(int stage) const
    {
        return base + layout::values_at + stage * layout::value_bytes;
    }
    __device__ uint32_t barrier(int index) const
    {
        return base + layout::barriers_at + index * 8;
    }
    __device__ uint32_t query_there(int tile) const
    {
        return barrier(tile);
    }
    __device__ uint32_t query_free(int tile) const
    {
        return barrier(layout::tiles + tile);
    }
    __device__ uint32_t index(int tile) const
    {
        return barrier(2 * layout::tiles + tile); /* a word: the work whose queries are there */
    }
    __device__ uint32_t key_there(int stage) const
    {
        return barrier(3 * layout::tiles + stage);
    }
    __device__ uint32_t key_free(int stage) const
    {
        return key_there(layout::key_stages + stage);
    }
    __device__ uint32_t value_there(int stage) const
    {
        return key_there(2 * layout::key_stages + stage);
    }
    __device__ uint32_t value_free(int stage) const
    {
        return value_there(layout::value_stages + stage);
    }
    __device__ uint32_t next(int parity) const
    {
        return value_there(2 * layout::value_stages + parity); /* a word: the next work */
    }
};

/* A work as the kernel goes over it. Blocks of queries end where the sequence does, at a multiple
 * of ROWS, so the one with too few queries for all warpgroups is the first, which has the fewest
 * keys: its `first` may be negative. */
template <typename layout>
static __device__ __forceinline__ struct online_work tf32_work_at(
    const struct attention &args, const struct attention_order &order, int index)
{
    struct online_work work = online_work_at<layout>(args, order, index);
    work.first += (args.tokens + ROWS - 1) / ROWS * ROWS - order.blocks * layout::queries;
    int end = min(work.first + layout::queries, args.tokens);
    work.tiles = (end + layout::keys - 1) / layout::keys;
    return work;
}

/* ----------------------------------------------------------------- producer -- */

static __device__ __forceinline__ void tf32_put(uint32_t at, float a, float b, float c, float d)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(a), "f"(b), "f"(c),
                 "f"(d)
                 : "memory");
}

/* A thread's part of a panel of values: one or two blocks of four numbers of four keys. It
 * transposes them, so that the four keys of a number are a chunk of 16 bytes of the panel. The keys
 * are those of one parity of eight neighbours: the left operand of a product wants columns t and t
 * + 4 of its eight in a lane, which has the weights of keys 2t and 2t + 1.
 *
 * Eight neighbouring lanes have eight numbers and four chunks: they write to all banks, and a warp
 * reads whole lines. */
template <typename layout> struct tf32_values {
    static const int blocks = layout::size / 64, warps = layout::size / layout::panel;
    const float *from; /* of the sequence's first token */
    int number, key;   /* the first ones */
    uint32_t place;    /* in a panel */
    float4 v[blocks][4];

    __device__ tf32_values(int thread)
    {
        int lane = thread % 32, warp = thread / 32, chunk = lane / 2 % 4 + warp / warps * 4;
        number = (lane % 2 + lane / 8 * 2 + warp % warps * 8) * 4;
        key = chunk / 2 * 8 + chunk % 2;
        place = (uint32_t)(number * 128 + (chunk ^ number % 8) * 16);
    }
    __device__ void begin(const struct attention &args, const struct online_work &work)
    {
        from = attention_head<float>(args, work.batch * args.heads + work.head) +
               2 * args.stride_y + number;
    }
    /* Of the panel whose first key is `first`; zeros from the last token on. */
    __device__ void load(int block, int first, const struct attention &args)
    {
        int own = first + key + 16 * block;
        const float *at = from + own * args.stride;
#pragma unroll
        for (int i = 0; i < 4; i++, at += 2 * args.stride)
            v[block][i] = own + 2 * i < args.tokens ? __ldg((const float4 *)at)
                                                    : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    __device__ void store(int block, uint32_t panel) const
    {
        const float4(&o)[4] = v[block];
        uint32_t at = panel + place ^ block * 64;
        tf32_put(at, o[0].x, o[1].x, o[2].x, o[3].x);
        tf32_put((at ^ 16) + 128, o[0].y, o[1].y, o[2].y, o[3].y);
        tf32_put((at ^ 32) + 256, o[0].z, o[1].z, o[2].z, o[3].z);
        tf32_put((at ^ 48) + 384, o[0].w, o[1].w, o[2].w, o[3].w);
    }
};

/* All threads transpose values; one of them has queries and keys fetched by TMA, and asks for
 * work. */
template <typename layout>
static __device__ __forceinline__ void tf32_produce(
    const tf32_memory<layout> memory, const CUtensorMap &queries, const CUtensorMap &keys,
    const struct attention &args, const struct attention_order &order, int *taken, int warp)
{
    int thread = threadIdx.x % GROUP_THREADS, before = 0;
    bool speaker = thread % 32 == 0;
    online_ring<layout::query_stages> query = {0, 0};
    online_ring<layout::key_stages> key = {0, 0};
    online_ring<layout::value_stages> value = {0, 0};
    tf32_values<layout> values(thread);
    struct online_work work;

    auto fetch_queries = [&](int index, bool any) {
#pragma unroll 1
        for (int group = 0; group < layout::groups; group++) {
            int tile = query.stage * layout::groups + group;
            hopper_barrier_wait(memory.query_free(tile), query.phase ^ 1);
            hopper_put(memory.index(tile), index);
            hopper_barrier_expect(memory.query_there(tile), any ? layout::query_bytes : 0);
#pragma unroll 1
            for (int panel = 0; any && panel < layout::key_panels; panel++)
                hopper_load(memory.query(tile) + panel * ROWS * 128, &queries,
                            work.head * layout::size + panel * layout::panel,
                            work.batch * args.tokens + max(work.first + group * ROWS, 0),
                            memory.query_there(tile));
        }
        query.advance();
    };
    auto fetch_keys = [&](int tile) {
        hopper_barrier_wait(memory.key_free(key.stage), key.phase ^ 1);
        hopper_barrier_expect(memory.key_there(key.stage), layout::key_bytes);
#pragma unroll 1
        for (int panel = 0; panel < layout::key_panels; panel++)
            hopper_load(memory.key(key.stage) + panel * layout::keys * 128, &keys,
                        (args.heads + work.head) * layout::size + panel * layout::panel,
                        work.batch * args.tokens + tile * layout::keys,
                        memory.key_there(key.stage));
        key.advance();
    };
    /* The next panel is on its way while this one waits for its place. */
    auto fetch_values = [&](int next) {
        hopper_barrier_wait(memory.value_free(value.stage), value.phase ^ 1);
#pragma unroll
        for (int block = 0; block < values.blocks; block++) {
            values.store(block, memory.value(value.stage));
            values.load(block, next, args);
        }
        hopper_store_fence();
        __syncwarp();
        if (speaker) hopper_barrier_arrive(memory.value_there(value.stage));
        value.advance();
    };

    int index = (int)blockIdx.x;
    for (int parity = 0; index < order.works; parity ^= 1) {
        work = tf32_work_at<layout>(args, order, index);
        int last = (work.tiles - 1) * layout::keys;
        values.begin(args, work);
#pragma unroll
        for (int block = 0; block < values.blocks; block++)
            values.load(block, last, args);
        if (warp == 0 && hopper_elect()) {
            before = atomicAdd(taken, 1); /* asked early, so that the answer is there when wanted */
            fetch_queries(index, true);
            fetch_keys(work.tiles - 1);
        }
        __syncwarp();
        for (int tile = work.tiles - 1; tile >= 0; tile--) {
            int first = tile * layout::keys;
#pragma unroll 1
            for (int panel = 1; panel <= layout::value_panels; panel++)
                fetch_values(panel < layout::value_panels ? first + panel * layout::panel
                             : tile > 0                   ? first - layout::keys
                                                          : args.tokens);
            if (warp == 0 && tile > 0 && hopper_elect()) fetch_keys(tile - 1);
            __syncwarp();
        }
        if (warp == 0 && hopper_elect())
            hopper_put(memory.next(parity), online_next(taken, order.works, before));
        __syncwarp();
        hopper_turn_wait(1, GROUP_THREADS);
        index = hopper_get(memory.next(parity));
    }
    if (warp == 0 && hopper_elect()) fetch_queries(index, false); /* none: the work is over */
}

/* ---------------------------------------------------------------- consumers -- */

/* The stage of a ring so many panels behind `first`. */
template <int STAGES> static __device__ __forceinline__ int tf32_stage(int first, int panel)
{
    int stage = first + panel;
    return stage < STAGES ? stage : stage - STAGES;
}

/* Weights to tf32, ties away from 0: the tensor cores take no notice of the 13 lowest bits. And to
 * the order of a left operand's registers: rows g and g + 8 of key 2t, then of key 2t + 1. */
template <int COUNT> static __device__ __forceinline__ void tf32_round(float (&s)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
        const float next = s[i + 1];
        s[i + 1] = s[i + 2], s[i + 2] = next;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        s[i] = __uint_as_float(__float_as_uint(s[i]) + 0x1000);
}

/* Sums over the sum of weights. */
template <typename layout>
static __device__ __forceinline__ void tf32_store(const struct attention &args,
                                                  const struct online_work &work, int row, int lane,
                                                  const float (&sum)[layout::size / 2],
                                                  const struct online_rows &rows)
{
    float *y = attention_out<float>(args, work.batch * args.heads + work.head) + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float inverse = 1.0f / attention_row_sum(rows.total[half]);
        if (row + 8 * half >= args.tokens) continue;
#pragma unroll
        for (int i = 2 * half; i < layout::size / 2; i += 4)
            *(float2 *)(y + (row + 8 * half) * args.stride_y + i / 4 * 8) =
                make_float2(sum[i] * inverse, sum[i + 1] * inverse);
    }
}

/* Scores, weights and sums of a tile one after another: while one warpgroup computes weights, the
 * products of the others run. */
template <typename layout>
static __device__ __forceinline__ void tf32_consume(const tf32_memory<layout> memory,
                                                    const struct attention &args,
                                                    const struct attention_order &order,
                                                    float scale, int group)
{
    const int keys = layout::keys;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    bool speaker = lane == 0;
    online_ring<layout::key_stages> key = {0, 0};
    online_ring<layout::value_stages> value = {0, 0};
    auto key_free = [&](int stage) {
        if (speaker) hopper_barrier_arrive(memory.key_free(stage));
    };
    auto value_free = [&](int stage) {
        if (speaker) hopper_barrier_arrive(memory.value_free(stage));
    };

    for (online_ring<layout::query_stages> query = {0, 0};; query.advance()) {
        int mine = query.stage * layout::groups + group;
        hopper_barrier_wait(memory.query_there(mine), query.phase);
        /* Only the lane that releases the queries reads it, as nothing else orders reads of other
         * lanes before the next unit of work is written there. */
        int index = speaker ? hopper_get(memory.index(mine)) : 0;
        index = __shfl_sync(0xffffffffu, index, 0);
        if (index >= order.works) break;
        struct online_work work = tf32_work_at<layout>(args, order, index);
        int own = work.first + group * ROWS, row = own + warp * 16 + lane / 4;
        int top = own >= 0 ? min((own + ROWS - 1) / keys, work.tiles - 1) : -1;
        float s[keys / 2] = {}, sum[layout::size / 2] = {}, keep[2];
        struct online_rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};

        /* Tiles for other warpgroups: one lane waits, and the rest for it. */
        for (int tile = work.tiles - 1; tile > top; tile--) {
            if (speaker) hopper_barrier_wait(memory.key_there(key.stage), key.phase);
            key_free(key.stage);
            key.advance();
            for (int panel = 0; panel < layout::value_panels; panel++, value.advance()) {
                if (speaker) hopper_barrier_wait(memory.value_there(value.stage), value.phase);
                value_free(value.stage);
            }
        }
        __syncwarp();
        if (top < 0 && speaker) hopper_barrier_arrive(memory.query_free(mine));

        for (int tile = top; tile >= 0; tile--) {
            hopper_barrier_wait(memory.key_there(key.stage), key.phase);
            uint64_t q = wgmma_tile(memory.query(mine));
            uint64_t k = wgmma_tile(memory.key(key.stage));
            wgmma_pin(s);
            wgmma_begin();
#pragma unroll
            for (int step = 0; step < layout::size / 8; step++) {
                int panel = step * 8 / layout::panel, inside = step % (layout::panel / 8);
                wgmma_step(float(), s, wgmma_ahead(q + panel * ROWS * 128 / 16, inside),
                           wgmma_ahead(k + panel * keys * 128 / 16, inside), step > 0);
            }
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_pin(s);
            key_free(key.stage);
            key.advance();
            if (tile == 0 && speaker) hopper_barrier_arrive(memory.query_free(mine));
            if ((tile + 1) * keys > own) online_mask(s, row - tile * keys - lane % 4 * 2);
            online_softmax<layout>(s, rows, keep, scale);
            if (__any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f))
#pragma unroll
                for (int i = 0; i < layout::size / 2; i++)
                    sum[i] *= keep[i % 4 / 2];

            wgmma_pin(rows.total); /* of all weights: they come before the wait for values */
            tf32_round(s);
            int value_at = value.stage;
            uint64_t v[layout::value_panels];
#pragma unroll
            for (int panel = 0; panel < layout::value_panels; panel++, value.advance()) {
                v[panel] = wgmma_tile(memory.value(value.stage));
                hopper_barrier_wait(memory.value_there(value.stage), value.phase);
            }
            wgmma_pin(sum);
            wgmma_pin(s);
            wgmma_begin();
#pragma unroll
            for (int step = 0; step < layout::keys / 8; step++) {
                int panel = step * 8 / layout::panel, inside = step % (layout::panel / 8);
                uint32_t p[4];
#pragma unroll
                for (int i = 0; i < 4; i++)
                    p[i] = __float_as_uint(s[4 * step + i]);
                wgmma_loaded(float(), sum, p, wgmma_ahead(v[panel], inside), 1);
            }
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_pin(sum);
            wgmma_pin(s);
            for (int panel = 0; panel < layout::value_panels; panel++)
                value_free(tf32_stage<layout::value_stages>(value_at, panel));
        }
        if (top >= 0) tf32_store<layout>(args, work, row, lane, sum, rows);
    }
}

#endif
