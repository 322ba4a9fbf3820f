/*
 * model_persistent.cuh - all layers of one token in one launch, one block per multiprocessor.
 *
 * Each block has the same columns of every product. A step is: wait for the words of the step
 * before (model_persistent_words.cuh), which each block reads whole, into shared memory as fp32;
 * normalise them where a norm is due; multiply them with the block's rows of the weight, which lie
 * in shared memory already (model_persistent_ring.cuh); add bias and residual, and hand over the
 * words. Nothing else holds the blocks together.
 *
 * Multiplying. The rows in a round of up to eight groups of four are cut into units of a group and
 * 512 bytes of k. Each warp takes as many neighbouring ones. Its lanes have sixteen bytes of each
 * row, all in fp32. The sums of warps that share a group are added in shared memory, always in the
 * same order.
 */
#pragma once

#include "model_persistent_rows.cuh"

enum {
    PERSISTENT_THREADS = PERSISTENT_LANES + 32,
    PERSISTENT_SLOTS = 64,                                    /* at most */
    PERSISTENT_PARTS = PERSISTENT_GROUPS + PERSISTENT_WARPS,  /* sums of warps, at most */
    PERSISTENT_OUTPUTS = PERSISTENT_GROUPS * PERSISTENT_GROUP /* of a round, per sequence */
};

/* A warp's units of a round: the first, and how many. */
struct persistent_share {
    int group, unit, count, unused;
};

/* A thread's output of a round is a sum of `parts`, of which the first is `part`. */
struct persistent_output {
    short part, parts;
};

/* What a block keeps in shared memory behind its ring; B as below. */
template <typename T, int B> struct persistent_memory {
    uint64_t full[PERSISTENT_SLOTS], empty[PERSISTENT_SLOTS];
    struct persistent_share share[MODEL_PRODUCTS][PERSISTENT_WARPS]; /* of the first round */
    struct persistent_output output[MODEL_PRODUCTS][PERSISTENT_OUTPUTS * B];
    float4 measured[2 * PERSISTENT_WARPS];
    float part[2][PERSISTENT_PARTS * PERSISTENT_GROUP * B];
    unsigned char step[MODEL_PRODUCTS][(sizeof(persistent_step<T>) + 15) / 16 * 16];
    float x[4]; /* args.x_floats of them */
};

/* Sixteen bytes as floats. */
static __device__ __forceinline__ void persistent_widen(const unsigned char *from, float (&out)[4])
{
    const float4 raw = *(const float4 *)from;
    out[0] = raw.x, out[1] = raw.y, out[2] = raw.z, out[3] = raw.w;
}

static __device__ __forceinline__ void persistent_widen(const unsigned char *from, float (&out)[8])
{
    const uint4 raw = *(const uint4 *)from;
    const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[2 * i] = __uint_as_float(word[i] << 16);
        out[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
    }
}

/* One block; B and PAIRED as for its rows. */
template <typename T, int B, bool PAIRED> struct persistent_block {
    static const int WIDTH = 16 / (int)sizeof(T), UNIT = persistent_step<T>::UNIT,
                     UNITS = persistent_step<T>::UNITS, SUMS = PERSISTENT_GROUP * B;
    const struct persistent_args &args;
    persistent_memory<T, B> *memory;
    struct persistent_ring ring;
    persistent_rows<T, B, PAIRED> rows;
    struct persistent_place at; /* of the next slot */
    int odd;                    /* which half of `part` is next */
    int lane, warp;

    __device__ __forceinline__ const persistent_step<T> &step_of(int product) const
    {
        return *(const persistent_step<T> *)memory->step[product];
    }

    /* ------------------------------------------------------------- shares -- */

    static __device__ __forceinline__ int units_of(const persistent_step<T> &step, int from)
    {
        int left = min(step.round, step.rows - from);
        return (left + PERSISTENT_GROUP - 1) / PERSISTENT_GROUP * step.units;
    }

    /* Each warp has as many neighbouring units of the round that begins with row `from`; or where
     * there are few, the first warps one each. */
    static __device__ __forceinline__ struct persistent_share share_of(
        const persistent_step<T> &step, int from, int warp)
    {
        int total = units_of(step, from);
        bool many = total >= PERSISTENT_WARPS;
        int begin = many ? total * warp / PERSISTENT_WARPS : warp;
        int end = many ? total * (warp + 1) / PERSISTENT_WARPS : min(warp + 1, total);
        return {begin / step.units, begin % step.units, max(end - begin, 0), 0};
    }

    /* An output is in its group's parts of the warps from first to last. */
    static __device__ __forceinline__ struct persistent_output output_of(
        const persistent_step<T> &step, int from, int index, int batch)
    {
        int total = units_of(step, from), own = index / B, group = index / SUMS;
        int first = group * step.units, last = first + step.units - 1;
        if (own >= min(step.round, step.rows - from) || index % B >= batch) return {0, 0};
        if (total >= PERSISTENT_WARPS) {
            first = ((first + 1) * PERSISTENT_WARPS - 1) / total;
            last = ((last + 1) * PERSISTENT_WARPS - 1) / total;
        }
        return {(short)((group + first) * SUMS + index % SUMS), (short)(last - first + 1)};
    }

    /* All that is divided, once: a step has no time for it. */
    __device__ __forceinline__ void plan(void)
    {
        int products = args.vocabulary > 0 ? (int)MODEL_PRODUCTS : (int)MODEL_P_HEAD;
        if ((int)threadIdx.x < products)
            *(persistent_step<T> *)memory->step[threadIdx.x] =
                persistent_step<T>(args, (enum model_product)threadIdx.x,
                                   threadIdx.x == MODEL_P_HEAD ? args.layers : 0);
        persistent_sync();
        for (int p = 0; p < products; p++) {
            const persistent_step<T> &step = step_of(p);
            if (lane == 0) memory->share[p][warp] = share_of(step, 0, warp);
            if ((int)threadIdx.x < PERSISTENT_OUTPUTS * B)
                memory->output[p][threadIdx.x] = output_of(step, 0, (int)threadIdx.x, args.batch);
        }
        persistent_sync();
    }

    /* ----------------------------------------------------------- products -- */

    /* Add to the sums a unit that begins `at` elements into rows of `length` in a slot. */
    __device__ __forceinline__ void add_unit(float (&sum)[SUMS], const unsigned char *slot,
                                             int length, int at, const float *from, int apart) const
    {
        float w[PERSISTENT_GROUP][WIDTH];
#pragma unroll
        for (int row = 0; row < PERSISTENT_GROUP; row++)
            persistent_widen(slot + (row * length + at) * sizeof(T), w[row]);
#pragma unroll
        for (int b = 0; b < B; b++)
#pragma unroll
            for (int half = 0; half < WIDTH / 4; half++) {
                const float4 v = *(const float4 *)(from + b * apart + half * 128 + 4 * lane);
#pragma unroll
                for (int row = 0; row < PERSISTENT_GROUP; row++) {
                    float &to = sum[row * B + b];
                    to = fmaf(w[row][4 * half], v.x, to);
                    to = fmaf(w[row][4 * half + 1], v.y, to);
                    to = fmaf(w[row][4 * half + 2], v.z, to);
                    to = fmaf(w[row][4 * half + 3], v.w, to);
                }
            }
    }

    /* The warp's share of a round whose slots begin with `begin`. Its sums for group g become part
     * g + warp, which no other warp writes. */
    __device__ __forceinline__ void multiply(const persistent_step<T> &step,
                                             const struct persistent_share &share,
                                             struct persistent_place begin, float *to) const
    {
        int unit = share.unit, left = share.count, units = step.units, k = step.k;
        for (int group = share.group; left > 0; group++, unit = 0) {
            int end = min(units, unit + left), slot = group * step.pieces;
            for (int piece = unit / UNITS; piece * UNITS < end; piece++)
                ring.wait(ring.after(begin, slot + piece));
            left -= end - unit;
            float sum[SUMS] = {};
#pragma unroll(B <= 2 ? 2 : 1)
            for (; unit < end; unit++) {
                int piece = unit / UNITS,
                    length = min(k - piece * PERSISTENT_PIECE, (int)PERSISTENT_PIECE);
                int from = unit % UNITS * UNIT + lane * WIDTH;
                if (from < length)
                    add_unit(sum, ring.slot(ring.after(begin, slot + piece)), length, from,
                             rows.x + unit * UNIT, rows.pitch(k));
            }
            __syncwarp();
            float own = warp_sums(sum);
            if (lane < SUMS) to[(group + warp) * SUMS + lane] = own;
        }
    }

    /* A sum of parts. */
    static __device__ __forceinline__ float gather(struct persistent_output output,
                                                   const float *from)
    {
        const int SOME = 4; /* parts, read at once */
        float sum = 0.0f;
        from += output.part;
        for (int first = 0; first < output.parts; first += SOME) {
            float part[SOME];
#pragma unroll
            for (int i = 0; i < SOME; i++)
                part[i] = first + i < output.parts ? from[(first + i) * SUMS] : 0.0f;
#pragma unroll
            for (int i = 0; i < SOME; i++)
                sum += part[i];
        }
        return sum;
    }

    /* -------------------------------------------------------------- steps -- */

    __device__ __forceinline__ T *cache_of(int layer) const
    {
        return (T *)((char *)args.cache + layer * args.cache_bytes);
    }

    /* What is added to an output, asked for before anything is waited for and not looked at till
     * the end: bias, and residual, which the block has written itself. */
    struct added {
        T bias;
        uint64_t residual;
    };

    __device__ __forceinline__ struct added ask(const persistent_step<T> &step, int product,
                                                int layer, int row, int column) const
    {
        struct added added = {T(0), 0};
        if (step.bias)
            added.bias =
                __ldg(step.bias + (int64_t)layer * MODEL_BIAS_LAYER * args.channels + column);
        int at = (PAIRED ? row / 2 : row) * args.channels + column;
        if (product == MODEL_P_PROJ && layer == 0) {
            float first = rows.input(row, column);
            added.residual = PAIRED ? word_of_pair(first, first, 0) : word_of(first, 0);
        } else if (step.residual)
            added.residual = word_get(step.residual + at);
        return added;
    }

    /* Hand a thread's output over, if it has one; threads side by side have rows side by side. */
    __device__ __forceinline__ void put(const persistent_step<T> &step, int product, int layer,
                                        uint32_t tag, int row, int column, float y, bool mine) const
    {
        if (product == MODEL_P_FC) y = gpt_gelu_fast(y);
        float next = PAIRED ? __shfl_xor_sync(0xffffffffu, y, 1) : 0.0f;
        if (!mine) return;
        if (layer + (product == MODEL_P_FC2 && args.vocabulary == 0) == args.layers) {
            gpt_put((T *)args.y + (int64_t)row * step.n + column, y);
            return;
        }
        if (!PAIRED)
            word_put(step.to + row * step.n + column, word_of(y, tag));
        else if (row % 2 == 0)
            word_put(step.to + row / 2 * step.n + column, word_of_pair(y, next, tag));
        int c = args.channels;
        if (product == MODEL_P_QKV && column >= c)
            gpt_put(cache_of(layer) + ((int64_t)(row + 1) * args.tokens - 1) * 3 * c + column, y);
    }

    __device__ __forceinline__ void run(int product, int layer, uint32_t tag)
    {
        const persistent_step<T> step = step_of(product); /* in registers */
        if (step.rows == 0) return;
        int index = (int)threadIdx.x, row = index % B, column = step.first + index / B;
        struct persistent_share share = memory->share[product][warp];
        struct persistent_output output = {0, 0};
        struct added added = {T(0), 0};
        if (index < PERSISTENT_OUTPUTS * B) output = memory->output[product][index];
        if (output.parts > 0) added = ask(step, product, layer, row, column);
        if (step.norms)
            rows.load_normed(step, layer == 0 && product == MODEL_P_QKV,
                             product == MODEL_P_FC ? tag : tag - 1, ring, at);
        else if (product == MODEL_P_FC2)
            rows.template load<PAIRED>(step.from, step.k, tag);
        else if (args.pieces == 1)
            rows.template load<false>(step.from, step.k, tag);
        else
            rows.load_attended(step.k, tag);
        persistent_sync();
        int used = step.norms;
        for (int from = 0;;) {
            float *parts = memory->part[odd];
            odd ^= 1;
            multiply(step, share, ring.after(at, used), parts);
            persistent_sync();
            used += (min(step.round, step.rows - from) + PERSISTENT_GROUP - 1) / PERSISTENT_GROUP *
                    step.pieces;
            if (index < used) ring.give_back(ring.after(at, index));
            at = ring.after(at, used);
            used = 0;
            if (index / 32 * 32 < PERSISTENT_OUTPUTS * B)
                put(step, product, layer, tag, row, column + from,
                    gather(output, parts) + gpt_float(added.bias) +
                        word_number<PAIRED>(added.residual, row % 2),
                    output.parts > 0);
            from += step.round;
            if (from >= step.rows) return;
            share = share_of(step, from, warp);
            output = output_of(step, from, index, args.batch);
            if (output.parts > 0) added = ask(step, product, layer, row, column + from);
        }
    }

    __device__ __forceinline__ void run_all(void)
    {
        uint32_t last = *(volatile uint32_t *)args.last;
        plan();
        const struct persistent_item item = persistent_item_of(args, blockIdx.x);
        int steps = 4 * args.layers + (args.vocabulary > 0);
#pragma unroll 1 /* one copy of the code, which stays in the instruction cache */
        for (int i = 0; i < steps; i++) {
            int layer = i / 4, product = layer == args.layers ? (int)MODEL_P_HEAD : i % 4;
            uint32_t tag = last + 1 + layer;
            if (product == MODEL_P_QKV) persistent_ask(args, item, cache_of(layer));
            run(product, layer, tag);
            if (product == MODEL_P_QKV)
                persistent_attend_all<T, PAIRED>(args, item, cache_of(layer), tag, rows.x);
        }
        /* Block 0 has a column of every product, and cannot be here before all blocks have begun
         * and read `last`: each has made a word that was waited for. */
        if (blockIdx.x == 0 && threadIdx.x == 0) *args.last = last + args.layers;
    }
};

template <typename T, int B, bool PAIRED>
static __global__ void __launch_bounds__(PERSISTENT_THREADS, 1)
    persistent(const __grid_constant__ struct persistent_args args)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char persistent_slots[];
    persistent_memory<T, B> *memory =
        (persistent_memory<T, B> *)(persistent_slots + args.slots * args.slot_bytes);
    const struct persistent_ring ring = {persistent_slots, hopper_shared(memory->full),
                                         hopper_shared(memory->empty), args.slots, args.slot_bytes};
    if (threadIdx.x == 0) {
        for (int i = 0; i < args.slots; i++) {
            hopper_barrier_init(ring.full + 8 * i, 1);
            hopper_barrier_init(ring.empty + 8 * i, 1);
        }
        hopper_barrier_publish();
    }
    __syncthreads();
    if (threadIdx.x == PERSISTENT_LANES) ring.fetch_all<T>(args);
    if (threadIdx.x >= PERSISTENT_LANES) return;
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    persistent_block<T, B, PAIRED> block = {
        args, memory, ring, {args, memory->x, memory->measured, lane, warp}, {0, 0}, 0, lane, warp};
    block.run_all();
#endif
}
