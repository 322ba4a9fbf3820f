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

#include "model_persistent_attend.cuh"
#include "model_persistent_ring.cuh"

enum {
    PERSISTENT_THREADS = PERSISTENT_LANES + 32,
    PERSISTENT_SLOTS = 64,                                  /* at most */
    PERSISTENT_BARRIERS = 2 * PERSISTENT_SLOTS * 8,         /* bytes */
    PERSISTENT_PARTS = PERSISTENT_GROUPS + PERSISTENT_WARPS /* sums of warps, at most */
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

/* What a warp and a thread have to do in a round. */
struct persistent_round {
    int groups;                 /* 0: nothing is left */
    struct persistent_place at; /* the slot of the first group */
    int group, unit, count;     /* the warp's first unit, and how many it has */
    int part, parts;            /* the thread's output is a sum of so many, SUMS apart, and this */
    float added;
};

/* One block; B: 1, 2, 4 or 8, at least the sequences. PAIRED: two of them share a word, but not of
 * the attention, which each has for itself. */
template <typename T, int B, bool PAIRED> struct persistent_block {
    static const int WIDTH = 16 / (int)sizeof(T), UNIT = persistent_step<T>::UNIT,
                     UNITS = persistent_step<T>::UNITS, SUMS = PERSISTENT_GROUP * B;
    const struct persistent_args &args;
    struct persistent_ring ring;
    const unsigned char *slots; /* of the ring */
    float *x, *part;            /* [B][units of k], [2][PERSISTENT_PARTS][SUMS] */
    struct persistent_place at; /* of the next slot */
    int odd;                    /* which half of `part` is next */
    int lane, warp;

    /* ------------------------------------------------------------- input -- */

    /* Where element i of a row lies. A lane reads eight numbers for eight bf16: in two halves, so
     * that lanes side by side read what lies side by side. */
    static __device__ __forceinline__ int place(int i)
    {
        if (WIDTH == 4) return i;
        return (i & ~(UNIT - 1)) | (i & 4) << 5 | (i & (UNIT - 8)) >> 1 | (i & 3);
    }

    static __device__ __forceinline__ int pitch(int k)
    {
        return (k + UNIT - 1) / UNIT * UNIT;
    }

    /* Element i of the stream as the first layer finds it. */
    __device__ __forceinline__ float input(int row, int i) const
    {
        int c = args.channels;
        int64_t token = (int64_t)row * args.tokens + args.tokens - 1;
        if (args.vocabulary == 0) return gpt_float(((const T *)args.in)[token * c + i]);
        return gpt_float(
                   ((const T *)args.wte)[(int64_t)((const int32_t *)args.in)[token] * c + i]) +
               gpt_float(((const T *)args.wpe)[(int64_t)(args.tokens - 1) * c + i]);
    }

    /* Fill x by a function of row and element. */
    template <typename OF> __device__ __forceinline__ void fill(int k, OF of) const
    {
        for (int at = threadIdx.x; at < args.batch * k; at += PERSISTENT_LANES)
            x[at / k * pitch(k) + place(at % k)] = of(at / k, at % k);
    }

    /* Fill x with words. */
    template <bool PAIRS>
    __device__ __forceinline__ void fill_words(const uint64_t *words, int k, uint32_t tag)
    {
        const int SOME = 8; /* at a time */
        const int count = (PAIRS ? (args.batch + 1) / 2 : args.batch) * k;
        /* Rows by a product, exact where rows fit in shared memory: count k < 2^32. */
        const uint32_t reciprocal = 0xffffffffu / (uint32_t)k + 1;
        for (int first = threadIdx.x; first < count; first += SOME * PERSISTENT_LANES) {
            uint64_t out[SOME] = {};
            words_wait<PAIRS>(
                [=](int i) {
                    int index = first + i * PERSISTENT_LANES;
                    return index < count ? words + index : NULL;
                },
                tag, out);
#pragma unroll
            for (int i = 0; i < SOME; i++) {
                int index = first + i * PERSISTENT_LANES;
                if (index >= count) continue;
                int row = B == 1 ? 0 : (int)__umulhi((uint32_t)index, reciprocal);
                float *to = x + (PAIRS ? 2 : 1) * row * pitch(k) + place(index - row * k);
                to[0] = word_number<PAIRS>(out[i], 0);
                if (PAIRS) to[pitch(k)] = word_number<PAIRS>(out[i], 1);
            }
        }
    }

    /* Normalise x, one warp per row. Every lane has four neighbouring elements of each 128. */
    __device__ __forceinline__ void normalise(const persistent_step<T> &step)
    {
        int k = step.k;
        for (int row = warp; row < args.batch; row += PERSISTENT_WARPS) {
            float *of = x + row * pitch(k), sum = 0.0f, squares = 0.0f;
            for (int i = 4 * lane; i < k; i += 128) {
                const float4 v = *(const float4 *)(of + place(i));
                sum += (v.x + v.y) + (v.z + v.w);
            }
            float mean = gpt_warp_sum(sum) / (float)k;
            for (int i = 4 * lane; i < k; i += 128) {
                const float4 v = *(const float4 *)(of + place(i));
                squares += (v.x - mean) * (v.x - mean) + (v.y - mean) * (v.y - mean) +
                           ((v.z - mean) * (v.z - mean) + (v.w - mean) * (v.w - mean));
            }
            float r = rsqrtf(gpt_warp_sum(squares) / (float)k + GPT_LAYERNORM_EPSILON);
            for (int piece = 0; piece < step.norms; piece++) {
                const struct persistent_place in = ring.after(at, piece);
                ring.wait(in);
                const T *scale = (const T *)(slots + in.slot * ring.slot_bytes);
                int length = step.length(piece);
                for (int i = 4 * lane; i < length; i += 128) {
                    float *to = of + place(piece * PERSISTENT_PIECE + i);
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        to[j] = (to[j] - mean) * r * gpt_float(scale[i + j]) +
                                gpt_float(scale[length + i + j]);
                }
            }
        }
    }

    /* ---------------------------------------------------------- products -- */

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

    /* The warp's units of a round. Its sums for group g become part g + warp, which no other warp
     * writes. */
    __device__ __forceinline__ void multiply(const persistent_step<T> &step,
                                             const struct persistent_round &round, float *to) const
    {
        int unit = round.unit, left = round.count;
        for (int group = round.group; left > 0; group++, unit = 0) {
            int end = min(step.units, unit + left), slot = group * step.pieces;
            for (int piece = unit / UNITS; piece * UNITS < end; piece++)
                ring.wait(ring.after(round.at, slot + piece));
            left -= end - unit;
            float sum[SUMS] = {};
#pragma unroll(B <= 2 ? 2 : 1)
            for (; unit < end; unit++) {
                int piece = unit / UNITS, length = step.length(piece);
                int from = unit % UNITS * UNIT + lane * WIDTH;
                const unsigned char *in =
                    slots + ring.after(round.at, slot + piece).slot * ring.slot_bytes;
                if (from < length) add_unit(sum, in, length, from, x + unit * UNIT, pitch(step.k));
            }
            __syncwarp();
            float own = warp_sums(sum);
            if (lane < SUMS) to[(group + warp) * SUMS + lane] = own;
        }
    }

    /* This thread's output of a round. */
    __device__ __forceinline__ float gather(const struct persistent_round &round,
                                            const float *from) const
    {
        const int SOME = 8; /* parts, read at once */
        float sum = round.added;
        for (int first = 0; first < round.parts; first += SOME) {
            float part[SOME];
#pragma unroll
            for (int i = 0; i < SOME; i++)
                part[i] = first + i < round.parts ? from[round.part + (first + i) * SUMS] : 0.0f;
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

    /* Fill x with what the step multiplies. */
    __device__ __forceinline__ void load(enum model_product product, int layer, uint32_t tag, int k)
    {
        bool stream = product == MODEL_P_QKV || product == MODEL_P_HEAD;
        if (stream && layer == 0)
            fill(k, [=](int row, int i) { return input(row, i); });
        else if (product == MODEL_P_PROJ && args.pieces > 1)
            fill(k, [=](int row, int i) { return persistent_attended(args, row, i, tag); });
        else if (product == MODEL_P_PROJ)
            fill_words<false>(args.words[PERSISTENT_ATTENDED], k, tag);
        else
            fill_words<PAIRED>(args.words[stream                  ? PERSISTENT_X
                                          : product == MODEL_P_FC ? PERSISTENT_MIDDLE
                                                                  : PERSISTENT_FC],
                               k, stream ? tag - 1 : tag);
    }

    /* What is added to an output: bias and residual, which the block has written itself, so that
     * there is nothing to wait for. */
    __device__ __forceinline__ float start(const persistent_step<T> &step,
                                           enum model_product product, int layer, int row,
                                           int column) const
    {
        int at = (PAIRED ? row / 2 : row) * args.channels + column;
        auto number = [=](enum persistent_words kind) {
            return word_number<PAIRED>(word_get(args.words[kind] + at), row % 2);
        };
        float bias = step.bias ? gpt_float(__ldg(step.bias + column)) : 0.0f;
        if (product == MODEL_P_FC2) return bias + number(PERSISTENT_MIDDLE);
        if (product != MODEL_P_PROJ) return bias;
        return bias + (layer == 0 ? input(row, column) : number(PERSISTENT_X));
    }

    /* Hand a thread's output over, if it has one; threads side by side have rows side by side. */
    __device__ __forceinline__ void put(enum model_product product, int layer, uint32_t tag,
                                        int row, int column, float y, bool mine) const
    {
        int c = args.channels, last = args.vocabulary > 0 ? (int)MODEL_P_HEAD : (int)MODEL_P_FC2;
        int n = product == MODEL_P_QKV ? 3 * c : product == MODEL_P_FC ? 4 * c : c;
        if (product == MODEL_P_FC) y = gpt_gelu_fast(y);
        float next = PAIRED ? __shfl_xor_sync(0xffffffffu, y, 1) : 0.0f;
        if (!mine) return;
        if (product == last && layer + (product == MODEL_P_FC2) == args.layers) {
            int64_t width = args.vocabulary > 0 ? args.vocabulary : c;
            gpt_put((T *)args.y + row * width + column, y);
            return;
        }
        uint64_t *to = args.words[product == MODEL_P_QKV    ? PERSISTENT_QKV
                                  : product == MODEL_P_PROJ ? PERSISTENT_MIDDLE
                                  : product == MODEL_P_FC   ? PERSISTENT_FC
                                                            : PERSISTENT_X];
        if (!PAIRED)
            word_put(to + (int64_t)row * n + column, word_of(y, tag));
        else if (row % 2 == 0)
            word_put(to + (int64_t)row / 2 * n + column, word_of_pair(y, next, tag));
        if (product == MODEL_P_QKV && column >= c)
            gpt_put(cache_of(layer) + ((int64_t)(row + 1) * args.tokens - 1) * 3 * c + column, y);
    }

    /* Who does what in the round that begins with row `from`, and the slots before it read. */
    __device__ __forceinline__ struct persistent_round round_of(const persistent_step<T> &step,
                                                                enum model_product product,
                                                                int layer, int from,
                                                                int slots_before) const
    {
        struct persistent_round round = {};
        int rows = min(step.round, step.rows - from);
        if (rows <= 0) return round;
        round.groups = (rows + PERSISTENT_GROUP - 1) / PERSISTENT_GROUP;
        round.at = ring.after(at, slots_before);
        /* Each warp has as many neighbouring units, or the first warps one each. */
        int total = round.groups * step.units, own = (int)threadIdx.x / B,
            row = (int)threadIdx.x % B;
        bool many = total >= PERSISTENT_WARPS;
        int begin = many ? total * warp / PERSISTENT_WARPS : warp;
        round.count = many ? total * (warp + 1) / PERSISTENT_WARPS - begin : warp < total ? 1 : 0;
        round.group = begin / step.units;
        round.unit = begin % step.units;
        /* The thread's output is in a group's parts of the warps from first to last. */
        int group = own / PERSISTENT_GROUP, first = group * step.units,
            last = first + step.units - 1;
        if (many) {
            first = ((first + 1) * PERSISTENT_WARPS - 1) / total;
            last = ((last + 1) * PERSISTENT_WARPS - 1) / total;
        }
        round.part = (group + first) * SUMS + (int)threadIdx.x % SUMS;
        round.parts = own < rows && row < args.batch ? last - first + 1 : 0;
        if (round.parts > 0)
            round.added = start(step, product, layer, row, step.first + from + own);
        return round;
    }

    __device__ __forceinline__ void run(enum model_product product, int layer, uint32_t tag)
    {
        const persistent_step<T> step(args, product, layer);
        if (step.rows == 0) return;
        /* Divided, and bias and residual asked for, before anything is waited for. */
        struct persistent_round round = round_of(step, product, layer, 0, step.norms);
        load(product, layer, tag, step.k);
        persistent_sync();
        if (step.norms) {
            normalise(step);
            persistent_sync();
        }
        int used = step.norms;
        for (int from = 0; from < step.rows; from += step.round) {
            float *parts = part + odd * (PERSISTENT_PARTS * SUMS);
            odd ^= 1;
            multiply(step, round, parts);
            persistent_sync();
            used += round.groups * step.pieces;
            if ((int)threadIdx.x < used) ring.give_back(ring.after(at, (int)threadIdx.x));
            at = ring.after(at, used);
            used = 0;
            put(product, layer, tag, (int)threadIdx.x % B, step.first + from + (int)threadIdx.x / B,
                gather(round, parts), round.parts > 0);
            round = round_of(step, product, layer, from + step.round, 0);
        }
    }

    __device__ __forceinline__ void run_all(void)
    {
        uint32_t last = *(volatile uint32_t *)args.last;
        int steps = 4 * args.layers + (args.vocabulary > 0);
#pragma unroll 1 /* one copy of the code, which stays in the instruction cache */
        for (int i = 0; i < steps; i++) {
            int layer = i / 4;
            uint32_t tag = last + 1 + layer;
            enum model_product product =
                layer == args.layers ? MODEL_P_HEAD : (enum model_product)(i % 4);
            if (product == MODEL_P_QKV) persistent_ask(args, cache_of(layer));
            run(product, layer, tag);
            if (product == MODEL_P_QKV)
                persistent_attend_all<T, PAIRED>(args, cache_of(layer), tag, x);
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
    extern __shared__ __align__(128) unsigned char persistent_memory[];
    unsigned char *barriers = persistent_memory + args.slots * args.slot_bytes;
    float *x = (float *)(barriers + PERSISTENT_BARRIERS);
    uint32_t full = hopper_shared(barriers);
    const struct persistent_ring ring = {hopper_shared(persistent_memory), full,
                                         full + 8 * PERSISTENT_SLOTS, args.slots, args.slot_bytes};
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
    persistent_block<T, B, PAIRED> block = {args,
                                            ring,
                                            persistent_memory,
                                            x,
                                            x + args.x_floats,
                                            {0, 0},
                                            0,
                                            (int)threadIdx.x % 32,
                                            (int)threadIdx.x / 32};
    block.run_all();
#endif
}
