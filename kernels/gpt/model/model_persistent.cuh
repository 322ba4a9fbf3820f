/*
 * model_persistent.cuh - all layers of one token in one launch, one block per multiprocessor.
 *
 * Each block has the same columns of every product, each warp the same part of k. A step of a warp
 * is: take the block's rows of the weight into registers, out of shared memory, where they are
 * already (model_persistent_ring.cuh); wait for its part of the words of the step before
 * (model_persistent_rows.cuh); multiply; leave its sums in shared memory. After the step's one
 * barrier a warp per sequence adds those of all warps, always in the same order, brings in norm,
 * bias and residual, and hands over the words: for one sequence a warp of its own. Nothing else
 * holds the blocks together.
 *
 * Several sequences on tensor cores have pairs of blocks, which share their columns and have half
 * of k each, so that each block reads half of the words. Their sums go to the block that finishes
 * the column, through distributed shared memory.
 */
#pragma once

#include "model_persistent_memory.cuh"
#include "model_persistent_rows.cuh"

/* One block; W: the format of the weights. B: 1, 2, 4 or 8, at least the sequences. TENSOR: by
 * tensor cores, in pairs. */
template <typename T, typename W, int B, bool TENSOR> struct persistent_block {
    static const int PAIR = persistent_pair(TENSOR);
    /* Units of a warp at a time, of one group of rows per block of the cluster. */
    static const int MOST = TENSOR ? 24 / PAIR : persistent_units(B);
    const struct persistent_args &args;
    struct persistent_ring<T, W> ring;
    persistent_rows<T, B, persistent_sums<T, B, 1, TENSOR>::APART> rows;
    struct persistent_place at; /* of the next slot */
    int odd;                    /* which half of `part` is next */
    int lane, warp;

    static __device__ __forceinline__ persistent_memory<T, W, B, PAIR> &memory(void)
    {
        return *(persistent_memory<T, W, B, PAIR> *)persistent_shared();
    }

    static __device__ __forceinline__ typename W::memory &format(void)
    {
        return memory();
    }

    static __device__ __forceinline__ int rank(void)
    {
        return PAIR == 2 ? (int)hopper_cluster_rank() : 0;
    }

    __device__ __forceinline__ int slot_of_warp(void) const
    {
        return rank() * PERSISTENT_WARPS + warp;
    }

    /* All warps of the cluster meet; without a pair, all but the one that fetches. A pair has time
     * between the two. */
    static __device__ __forceinline__ void come(void)
    {
        if (PAIR == 2) asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    }

    static __device__ __forceinline__ void meet(void)
    {
        if (PAIR == 2)
            asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
        else
            hopper_turn_wait(2, PERSISTENT_MEET);
    }

    /* Of codewords: its address in shared memory, in front of the ring. */
    static __device__ __forceinline__ uint32_t table(void)
    {
        return hopper_shared(persistent_shared()) + (uint32_t)sizeof(memory());
    }

    __device__ __forceinline__ T *scale(void) const
    {
        return (T *)ring.slot(args.slots);
    }

    __device__ __forceinline__ float *joined(void) const
    {
        return (float *)(scale() + args.channels);
    }

    __device__ __forceinline__ float *own(void) const
    {
        return joined() + PERSISTENT_WARPS * (args.size + 2) + warp * args.warp_floats;
    }

    __device__ __forceinline__ float *stream(void) const
    {
        return joined() + PERSISTENT_WARPS * (args.size + 2 + args.warp_floats);
    }

    /* What is known before the token, once: a step has no time for it. */
    __device__ __forceinline__ void plan(void)
    {
        int i = (int)threadIdx.x;
        if (i < ring.products())
            ring.steps()[i] = persistent_step<T, W>(args, (enum model_product)i, PAIR);
        if (i <= PERSISTENT_SLOTS) hopper_barrier_init(ring.full(i), 1); /* and `scaled` */
        if (i == 0) ring.base().read = 0, format().begin();
        hopper_barrier_publish();
        if (i < args.batch) memory().from[i] = persistent_input<T>(args, i, 0);
        /* What is multiplied by the zeros behind a row has to be a number. */
        if (W::TOGETHER == 1 && args.channels % PERSISTENT_UNIT)
            for (int at = i; at < args.slots * args.slot_bytes / 16; at += blockDim.x)
                ((uint4 *)ring.slot(0))[at] = make_uint4(0, 0, 0, 0);
        hopper_store_fence();
        __syncthreads();
        if (PAIR == 2) hopper_cluster_sync();
    }

    /* After the barrier of a step behind a norm. */
    __device__ __forceinline__ void fetch_scale(int norm) const
    {
        if (lane > 0 || norm >= 2 * args.layers + (args.vocabulary > 0)) return;
        uint32_t scaled = hopper_shared(&ring.base().scaled);
        if (norm > 0) hopper_barrier_wait(scaled, (norm - 1) & 1); /* where no row was there */
        ring.fetch(scale(), (const T *)args.scale + (int64_t)norm * args.channels,
                   args.channels * (uint32_t)sizeof(T), scaled);
    }

    /* ----------------------------------------------------------- products -- */

    /* The sums of a round of `count` rows, up to GROUPS groups, UNITS units at a time, whose slots
     * are the next, with words of this turn; `norm` is which norm they go through, or -1. */
    template <int GROUPS, int UNITS>
    __device__ __forceinline__ void multiply(const persistent_step<T, W> &step, int count,
                                             uint32_t turn, int norm)
    {
        const int AHEAD =
            PAIR == 2 && sizeof(T) == 4 && UNITS > 4 ? UNITS / 2 : UNITS; /* before the words */
        const int APART = persistent_sums<T, B, GROUPS, TENSOR>::APART;
        const int MINE = (UNITS + APART - 1) / APART;
        const int PIECE = PERSISTENT_PIECE / PAIR / PERSISTENT_UNIT;
        typedef persistent_sums<T, B, GROUPS, TENSOR> sums_type;
        sums_type sums;
        float2 measured = make_float2(0.0f, 0.0f); /* by all lanes of a sequence */
        int quad = lane % 4 * 4, last = W::part(step.units, warp + 1, PERSISTENT_WARPS);
        if (norm >= 0) hopper_barrier_wait_all(hopper_shared(&ring.base().scaled), norm & 1);
        for (int unit = W::part(step.units, warp, PERSISTENT_WARPS), end; unit < last; unit = end) {
            int piece = unit / PIECE, skip = unit % PIECE * PERSISTENT_UNIT + quad;
            end = min(min(unit + UNITS, last), (piece + 1) * PIECE);
            struct persistent_place begin = ring.after(at, piece * count);
            ring.wait(ring.after(begin, min(lane, count - 1)));
            if (PAIR == 2 && count > 32) ring.wait(ring.after(begin, min(lane + 32, count - 1)));
            __syncwarp();
            const typename W::element *from[GROUPS];
#pragma unroll
            for (int r = 0; r < GROUPS; r++) {
                int row = min(lane / 4 + PERSISTENT_GROUP * r, count - 1);
                from[r] = (const typename W::element *)ring.slot(ring.after(begin, row).slot) +
                          W::place(skip);
            }
            auto take = [&](int i, typename sums_type::weight(&w)[GROUPS]) {
#pragma unroll
                for (int r = 0; r < GROUPS; r++)
                    if constexpr (W::TOGETHER == 1)
                        w[r] = sums_type::of(persistent_four(from[r] + i * PERSISTENT_UNIT));
            };
            typename sums_type::weight w[UNITS][GROUPS] = {};
            if constexpr (W::TOGETHER == 1) {
#pragma unroll
                for (int i = 0; i < AHEAD; i++)
                    take(i, w[i]);
            } else {
#pragma unroll
                for (int i = 0; i < UNITS; i += W::TOGETHER)
                    if (unit + i < end)
                        W::template take<sums_type>(args.constants, table(), i, from, w);
            }
            int first = rows.first(step.skip + unit);
            /* Behind the row's end another one, which is a number, too. */
            auto scale = [&](int i) {
                int at = first + i * APART * PERSISTENT_UNIT;
                return persistent_four(this->scale() + (at < step.k ? at : 0)).numbers();
            };
            float4 x[MINE];
            int mine = rows.get(step.from, step.k, step.skip + unit, step.skip + end, turn, x);
            if (norm >= 0) rows.normalise(x, mine, memory().from[rows.sequence()], measured, scale);
            if constexpr (TENSOR) {
#pragma unroll
                for (int i = 0; i < UNITS; i++) {
                    if (i >= AHEAD) take(i, w[i]);
                    if (unit + i < end) sums.add(i, w, x, lane);
                }
            } else {
                const int PITCH = UNITS * PERSISTENT_UNIT;
                float *stage = own();
                __syncwarp(); /* what was there is read */
#pragma unroll
                for (int i = 0; i < MINE; i++) {
                    int which = rows.turn() + i * APART;
                    if (which < UNITS)
                        *(float4 *)(stage + rows.sequence() * PITCH + which * PERSISTENT_UNIT +
                                    quad) = x[i];
                }
                __syncwarp();
#pragma unroll
                for (int i = 0; i < UNITS; i++) {
                    if (unit + i >= end) break;
                    sums.add(w[i], stage + i * PERSISTENT_UNIT + quad, PITCH);
                }
            }
        }
        if constexpr (!TENSOR) sums.put(memory().part[odd][warp], lane);
        if (norm >= 0) {
            measured = rows.measured_by_all(measured);
            float2 *to = &memory().measured[odd][slot_of_warp()][lane / 4];
            if (lane % 4 == 0 && lane < 4 * B) {
                *to = measured;
                if (PAIR == 2) {
                    int other = (int)hopper_cluster_rank() ^ 1;
                    persistent_give(&to->x, other, measured.x);
                    persistent_give(&to->y, other, measured.y);
                }
            }
        }
        if constexpr (TENSOR) sums.put(memory().part[odd][slot_of_warp()], count, lane);
    }

    /* -------------------------------------------------------------- steps -- */

    __device__ __forceinline__ T *cache_of(int layer) const
    {
        return (T *)((char *)args.cache + layer * args.cache_bytes);
    }

    /* The first row of a round that this block finishes, and how many. */
    static __device__ __forceinline__ int first_of(int count)
    {
        return PAIR == 2 ? rank() * ((count + 1) / 2) : 0;
    }

    static __device__ __forceinline__ int rows_of(int count)
    {
        return PAIR == 2 ? (count + 1 - rank()) / 2 : count;
    }

    /* A lane's output of a sequence, from the sums of all warps. `factor` is of the format. */
    __device__ __forceinline__ float gather(int sequence, struct persistent_fold brought,
                                            float factor, bool normed, bool last) const
    {
        float sum = 0.0f;
#pragma unroll
        for (int w = 0; w < PAIR * PERSISTENT_WARPS; w++)
            sum += memory().part[odd][w][sequence][lane];
        sum = W::times(sum, factor);
        if (!normed) return sum + brought.shift;
        float mean = 0.0f, square = 0.0f;
#pragma unroll
        for (int w = 0; w < PAIR * PERSISTENT_WARPS; w++) {
            const float2 own = memory().measured[odd][w][sequence];
            mean += own.x, square += own.y;
        }
        mean *= args.per_channel;
        float r =
            rsqrtf(fmaxf(square * args.per_channel - mean * mean, 0.0f) + GPT_LAYERNORM_EPSILON);
        if (last && lane == 0) memory().from[sequence] += mean;
        return fmaf(sum - mean * brought.scale, r, brought.shift);
    }

    /* Where output `row` of this block (or pair) goes. */
    __device__ __forceinline__ struct persistent_output output(int product, int layer, int sequence,
                                                               int row) const
    {
        int c = args.channels;
        const persistent_step<T, W> &step = ring.steps()[product];
        struct persistent_output out = {};
        int column = step.first + row, at = sequence * step.n + column;
        if (product == MODEL_P_PROJ || product == MODEL_P_FC2)
            out.stream = stream() + sequence * args.stream_rows + row;
        bool ordered = product != MODEL_P_QKV; /* by the attention they are read as they are */
        if (product != MODEL_P_HEAD) out.words = step.to + word_place(ordered ? W::order(at) : at);
        if (layer + (product == MODEL_P_FC2 && args.vocabulary == 0) == args.layers)
            out.y = (T *)args.y + at;
        if (product == MODEL_P_QKV && column >= c)
            out.y = cache_of(layer) + ((int64_t)(sequence + 1) * args.tokens - 1) * 3 * c + column;
        return out;
    }

    /* Step i of a warp that multiplies. */
    __device__ __forceinline__ void run(int product, int layer, struct persistent_turns turns)
    {
        const persistent_step<T, W> &step = ring.steps()[product];
        bool stream = product == MODEL_P_QKV || product == MODEL_P_HEAD;
        int norm = step.fold ? 2 * layer + (product == MODEL_P_FC) : -1;
        uint32_t read = stream ? turns.of_stream(layer) : turns.of_layer(layer);
        uint32_t turn = turns.of_output(product, layer);
        for (int from = 0; from < step.rows; from += step.round) {
            int count = min(step.round, step.rows - from);
            if (count > 2 * PAIR * PERSISTENT_GROUP)
                multiply<3 * PAIR, MOST / 3>(step, count, read, norm);
            else if (count > PAIR * PERSISTENT_GROUP)
                multiply<2 * PAIR, W::units(MOST / 2)>(step, count, read, norm);
            else if (step.units > MOST / 3 * PERSISTENT_WARPS)
                multiply<PAIR, MOST>(step, count, read, norm);
            else
                multiply<PAIR, MOST / 3>(step, count, read, norm);
            come();
            struct persistent_output out = {};
            bool own = B > 1 && warp < args.batch, mine = own && lane < rows_of(count);
            if (mine) out = output(product, layer, warp, from + first_of(count) + lane);
            meet();
            /* Lane 0 keeps the mean, also in the block of a pair that finishes no row. */
            if (mine || (own && lane == 0))
                out.put<T>(product == MODEL_P_FC, turn,
                           gather(warp, memory().brought[odd][lane], format().factor(odd),
                                  norm >= 0, from + step.round >= step.rows));
            at = ring.after(at, count * step.pieces);
            odd ^= 1;
        }
    }

    /* The warp beside those that multiply: it brings what goes into the next outputs, and finishes
     * those of one sequence, for which it has made all ready when the sums are there. In a pair it
     * fills, behind each barrier, what was read before it. */
    __device__ __forceinline__ void bring_all(struct persistent_item item,
                                              struct persistent_turns turns)
    {
        int slots = 0, read = 0;
        if (PAIR == 2) {
            ring.find(ring.layer, ring.product, ring.item);
            ring.ask(at, args.slots, lane);
        }
        fetch_scale(0);
        for (int i = 0; i < ring.all_steps(); i++) {
            int product = ring.product_of(i);
            const persistent_step<T, W> &step = ring.steps()[product];
            uint32_t turn = turns.of_output(product, i / 4);
            float factor = W::factor(args, i);
            if (product == MODEL_P_QKV) persistent_ask(args, item, cache_of(i / 4), lane);
            for (int from = 0; from < step.rows; from += step.round) {
                int count = min(step.round, step.rows - from), row = from + first_of(count) + lane;
                bool mine = lane < rows_of(count), last = from + step.round >= step.rows;
                bool normed = step.fold != NULL;
                struct persistent_fold brought = {0.0f, 0.0f};
                struct persistent_output out = {};
                if (mine) brought = ring.brought(i, row);
                if (mine && B == 1) out = output(product, i / 4, 0, row);
                if (PAIR == 2)
                    ring.ask(at, slots, lane); /* what was read before the last barrier */
                at = ring.after(at, slots);
                if (mine && B > 1) memory().brought[odd][lane] = brought;
                if (B > 1 && lane == 0) format().bring(odd, factor);
                slots = count * step.pieces, read += slots;
                come(), meet();
                bool tell = PAIR == 1 && lane == 0; /* in fp32, weights are waited for */
                if (tell && sizeof(T) == 4) hopper_put(hopper_shared(&ring.base().read), read);
                if (mine && B == 1)
                    out.put<T>(product == MODEL_P_FC, turn,
                               gather(0, brought, factor, normed, last));
                if (tell && sizeof(T) < 4) hopper_put(hopper_shared(&ring.base().read), read);
                odd ^= 1;
            }
            if (step.fold) fetch_scale(2 * (i / 4) + 1 + (product == MODEL_P_FC));
        }
        /* Block 0 has a column of every product, and cannot be here before all blocks have begun
         * and read `launches`: each has made a word that its warps have waited for. */
        if (blockIdx.x == 0 && lane == 0) *args.launches = turns.launch + 1;
    }

    /* Hand over what the first layer finds. */
    __device__ __forceinline__ void begin(uint32_t turn) const
    {
        const persistent_step<T, W> &step = ring.steps()[MODEL_P_FC2];
        for (int i = threadIdx.x; i < step.rows * args.batch; i += PERSISTENT_LANES) {
            int row = i / step.rows, own = i % step.rows, column = step.first + own;
            float x = persistent_input<T>(args, row, column);
            word_put(step.to + word_place(W::order(row * step.n + column)), x, turn);
            stream()[row * args.stream_rows + own] = x;
        }
    }

    __device__ __forceinline__ void run_all(void)
    {
        uint32_t launch = *(volatile uint32_t *)args.launches;
        const struct persistent_turns turns = {launch, (uint32_t)args.layers};
        struct persistent_item item = persistent_item_of(args, blockIdx.x);
        asm volatile("" /* divided once */
                     : "+r"(item.batch), "+r"(item.head), "+r"(item.piece), "+r"(item.first),
                       "+r"(item.end));
        plan();
        if (threadIdx.x == 0) format().fetch(args, table());
        if (warp == PERSISTENT_WARPS) return bring_all(item, turns);
        if (warp > PERSISTENT_WARPS) return ring.ask_all(lane);
        begin(turns.of_stream(0));
        format().wait();
#pragma unroll 1 /* one copy of the code, which stays in the instruction cache */
        for (int i = 0; i < ring.all_steps(); i++) {
            int layer = i / 4, product = ring.product_of(i);
            run(product, layer, turns);
            if (product == MODEL_P_QKV)
                persistent_attend_all<T, W>(args, item, cache_of(layer), turns.of_layer(layer),
                                            joined());
        }
    }
};
