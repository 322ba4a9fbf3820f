/*
 * model_persistent_attend.cuh - the attention of the new token: a block takes a piece of the
 * context of one head of one sequence, a warp some of its keys at a time, the lanes the elements of
 * the head. Keys and values of the context are loaded before q is there.
 *
 * Operations: 4 size per key, and an exponential. Bytes: k and v once; they were asked into L2 when
 * the layer began.
 */
#pragma once

#include "model_attend.cuh"
#include "model_persistent_words.cuh"

/* What a block attends to. */
struct persistent_item {
    int batch, head, piece, first, end; /* keys of the context */
};

static __device__ __forceinline__ int persistent_items(const struct persistent_args &args)
{
    return args.batch * args.heads * args.pieces;
}

static __device__ __forceinline__ struct persistent_item persistent_item_of(
    const struct persistent_args &args, int index)
{
    int64_t keys = args.tokens - 1;
    int piece = index % args.pieces, row = index / args.pieces;
    return {row / args.heads, row % args.heads, piece, (int)(keys * piece / args.pieces),
            (int)(keys * (piece + 1) / args.pieces)};
}

/* Of the first key's k in a layer's cache; v is c elements on, the next key 3 c. */
static __device__ __forceinline__ int64_t persistent_key_at(const struct persistent_args &args,
                                                            const struct persistent_item &item)
{
    int64_t c = args.channels;
    return ((int64_t)item.batch * args.tokens * 3 + 1) * c + (int64_t)item.head * args.size;
}

/* Words of a sequence: its heads, and of several pieces the peak and the total of each head. */
static __device__ __forceinline__ int persistent_attended_row(const struct persistent_args &args)
{
    return args.channels + (args.pieces > 1 ? 2 * args.heads : 0);
}

/* Ask this layer's keys and values into L2. */
template <typename T>
static __device__ __forceinline__ void persistent_ask(const struct persistent_args &args,
                                                      struct persistent_item item, const T *cache)
{
    const int LINE = 128 / (int)sizeof(T);
    for (int i = blockIdx.x; i < persistent_items(args); i += gridDim.x) {
        if (i >= (int)gridDim.x) item = persistent_item_of(args, i);
        int c = args.channels, lines = (args.size + LINE - 1) / LINE;
        const T *from = cache + persistent_key_at(args, item);
        for (int at = threadIdx.x; at < 2 * lines * (item.end - item.first);
             at += PERSISTENT_LANES) {
            int key = item.first + at / (2 * lines), half = at / lines % 2, line = at % lines;
            asm volatile(
                "prefetch.global.L2 [%0];" ::"l"(from + (3LL * key + half) * c + line * LINE));
        }
    }
}

/* A warp's share of a softmax over keys, in powers of 2. */
template <int LANE> struct persistent_softmax {
    float q[LANE], sum[LANE] = {}, peak = -INFINITY, total = 0.0f;

    /* `count` of KEYS keys, at least one. */
    template <int KEYS>
    __device__ __forceinline__ void add(const float (&k)[KEYS][LANE], const float (&v)[KEYS][LANE],
                                        int count)
    {
        float score[KEYS];
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            score[j] = 0.0f;
#pragma unroll
            for (int i = 0; i < LANE; i++)
                score[j] = fmaf(q[i], k[j][i], score[j]);
        }
        float own = warp_sums(score);
        if ((int)threadIdx.x % KEYS >= count) own = -INFINITY;
        float most = own;
#pragma unroll
        for (int step = 1; step < KEYS; step *= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        most = fmaxf(most, peak);
        float keep = attention_exp2(peak - most), weight = attention_exp2(own - most);
        peak = most;
        total *= keep;
#pragma unroll
        for (int i = 0; i < LANE; i++)
            sum[i] *= keep;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            float of = __shfl_sync(0xffffffffu, weight, j);
            total += of;
#pragma unroll
            for (int i = 0; i < LANE; i++)
                sum[i] = fmaf(of, v[j][i], sum[i]);
        }
    }
};

/* One block and item, for heads up to 32 LANE. `scratch` holds size + 2 floats per warp. */
template <typename T, bool PAIRED, int LANE>
static __device__ __forceinline__ void persistent_attend(const struct persistent_args &args,
                                                         const struct persistent_item &item,
                                                         const T *cache, uint32_t tag,
                                                         float *scratch)
{
    const int KEYS = LANE <= 2 ? 8 : LANE == 4 ? 4 : 2, WARPS = PERSISTENT_WARPS;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, size = args.size, c = args.channels;
    const T *from = cache + persistent_key_at(args, item);
    int words = PAIRED ? item.batch / 2 : item.batch;
    const uint64_t *own =
        args.words[PERSISTENT_QKV] + (int64_t)words * 3 * c + item.head * size + lane;
    float k[KEYS][LANE], v[KEYS][LANE];
    auto load = [&](int key) {
        const T *at = from + 3LL * key * c + lane;
#pragma unroll
        for (int j = 0; j < KEYS; j++)
#pragma unroll
            for (int i = 0; i < LANE; i++) {
                bool inside = key + j < item.end && lane + 32 * i < size;
                k[j][i] = inside ? gpt_float(at[3 * j * c + 32 * i]) : 0.0f;
                v[j][i] = inside ? gpt_float(at[(3 * j + 1) * c + 32 * i]) : 0.0f;
            }
    };
    int key = item.first + warp * KEYS;
    load(key);
    uint64_t token[3 * LANE] = {}; /* q, k and v of the token itself */
    words_wait<PAIRED>(
        [=](int i) {
            int at = 32 * (i % LANE);
            return lane + at < size ? own + i / LANE * c + at : NULL;
        },
        tag, token);
    auto number = [&](int i) { return word_number<PAIRED>(token[i], item.batch % 2); };
    struct persistent_softmax<LANE> softmax;
#pragma unroll
    for (int i = 0; i < LANE; i++)
        softmax.q[i] = number(i) * args.scale_of_scores;
    while (key < item.end) {
        softmax.add(k, v, item.end - key);
        key += WARPS * KEYS;
        if (key < item.end) load(key);
    }
    if (warp == WARPS - 1 && item.piece == args.pieces - 1) {
        float k[1][LANE], v[1][LANE];
#pragma unroll
        for (int i = 0; i < LANE; i++)
            k[0][i] = number(LANE + i), v[0][i] = number(2 * LANE + i);
        softmax.add(k, v, 1);
    }
    float *peaks = scratch, *totals = peaks + WARPS, *sums = totals + WARPS;
    if (lane == 0) peaks[warp] = softmax.peak, totals[warp] = softmax.total;
#pragma unroll
    for (int i = 0; i < LANE; i++)
        if (lane + 32 * i < size) sums[warp * size + lane + 32 * i] = softmax.sum[i];
    persistent_sync();
    if (32 * warp < size) {
        float of = lane < WARPS ? peaks[lane] : -INFINITY, most = of;
#pragma unroll
        for (int step = 1; step < WARPS; step *= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        most = __shfl_sync(0xffffffffu, most, 0);
        of = attention_exp2(of - most);
        float all = gpt_warp_sum(lane < WARPS ? totals[lane] * of : 0.0f);
        uint64_t *to =
            args.words[PERSISTENT_ATTENDED] +
            (int64_t)(item.piece * args.batch + item.batch) * persistent_attended_row(args);
        int i = (int)threadIdx.x;
        float value = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            float share = __shfl_sync(0xffffffffu, of, w);
            if (i < size) value = fmaf(sums[w * size + i], share, value);
        }
        if (i < size) word_put(to + item.head * size + i, word_of(__fdividef(value, all), tag));
        if (args.pieces > 1 && threadIdx.x < 2)
            word_put(to + c + 2 * item.head + threadIdx.x, word_of(threadIdx.x ? all : most, tag));
    }
    persistent_sync();
}

/* The block's items of a layer. */
template <typename T, bool PAIRED>
static __device__ __forceinline__ void persistent_attend_all(const struct persistent_args &args,
                                                             struct persistent_item item,
                                                             const T *cache, uint32_t tag,
                                                             float *scratch)
{
    for (int i = blockIdx.x; i < persistent_items(args); i += gridDim.x) {
        if (i >= (int)gridDim.x) item = persistent_item_of(args, i);
        if (args.size <= 32)
            persistent_attend<T, PAIRED, 1>(args, item, cache, tag, scratch);
        else if (args.size <= 64)
            persistent_attend<T, PAIRED, 2>(args, item, cache, tag, scratch);
        else if (args.size <= 128)
            persistent_attend<T, PAIRED, 4>(args, item, cache, tag, scratch);
        else
            persistent_attend<T, PAIRED, MODEL_MAX_HEAD / 32>(args, item, cache, tag, scratch);
    }
}

/* Element i of a row of what all pieces attended to together. */
static __device__ __forceinline__ float persistent_attended(const struct persistent_args &args,
                                                            int row, int i, uint32_t tag)
{
    const int SOME = 2; /* pieces at a time */
    int width = persistent_attended_row(args), apart = args.batch * width, pieces = args.pieces;
    int weights = args.channels + i / args.size * 2;
    const uint64_t *row_at = args.words[PERSISTENT_ATTENDED] + row * width;
    float most = -INFINITY, all = 0.0f, sum = 0.0f;
    for (int first = 0; first < pieces; first += SOME) {
        const uint64_t *from = row_at + (int64_t)first * apart;
        auto at = [=](int which) { /* a piece's element, peak and total */
                                   int j = which / 3, part = which % 3;
                                   return first + j < pieces
                                              ? from + j * apart + (part ? weights + part - 1 : i)
                                              : NULL;
        };
        uint64_t out[3 * SOME] = {};
        auto number = [&](int i) { return word_number<false>(out[i], 0); };
#pragma unroll
        for (int j = 0; j < SOME; j++)
            out[3 * j + 1] = __float_as_uint(-INFINITY);
        words_wait<false>(at, tag, out);
        float before = most;
#pragma unroll
        for (int j = 0; j < SOME; j++)
            most = fmaxf(most, number(3 * j + 1));
        float keep = attention_exp2(before - most);
        all *= keep, sum *= keep;
#pragma unroll
        for (int j = 0; j < SOME; j++) {
            float weight = number(3 * j + 2) * attention_exp2(number(3 * j + 1) - most);
            all += weight;
            sum = fmaf(weight, number(3 * j), sum);
        }
    }
    return sum / all;
}
