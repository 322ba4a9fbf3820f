/*
 * model_persistent_attend.cuh - the attention of the new token: a block takes a piece of the
 * context of one head of one sequence, and 8 or 16 lanes four keys at a time, of which each has
 * eight elements. Keys and values of the context are loaded before q is there. The token itself
 * is the last key. Who has the last piece of the context joins the others to it.
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

/* Ask a layer's keys and values into L2; one warp. */
template <typename T>
static __device__ __forceinline__ void persistent_ask(const struct persistent_args &args,
                                                      struct persistent_item item, const T *cache,
                                                      int lane)
{
    const int LINE = 128 / (int)sizeof(T);
    for (int i = blockIdx.x; i < persistent_items(args); i += gridDim.x) {
        if (i >= (int)gridDim.x) item = persistent_item_of(args, i);
        int64_t c = args.channels;
        const T *from = cache + persistent_key_at(args, item);
        for (int key = item.first + lane; key < item.end; key += 32)
            for (int at = 0; at < args.size; at += LINE) {
                const T *k = from + 3 * key * c + at;
                asm volatile("prefetch.global.L2 [%0];" ::"l"(k));
                asm volatile("prefetch.global.L2 [%0];" ::"l"(k + c));
            }
    }
}

/* Lanes that share a key have a softmax over the keys that they meet, in powers of 2. */
struct persistent_softmax {
    static const int OWN = 8;  /* elements of a lane */
    static const int SOME = 4; /* keys at a time */
    float sum[OWN] = {}, peak = -INFINITY, total = 0.0f;

    /* The score of a key that is not there is -INFINITY, but not of the first. */
    __device__ __forceinline__ void add(const float (&score)[SOME], const float (&v)[SOME][OWN])
    {
        float most = peak;
#pragma unroll
        for (int j = 0; j < SOME; j++)
            most = fmaxf(most, score[j]);
        float keep = gpt_exp2(peak - most);
        peak = most;
        total *= keep;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            sum[i] *= keep;
#pragma unroll
        for (int j = 0; j < SOME; j++) {
            float weight = gpt_exp2(score[j] - most);
            total += weight;
#pragma unroll
            for (int i = 0; i < OWN; i++)
                sum[i] = fmaf(weight, v[j][i], sum[i]);
        }
    }

    /* Join the softmaxes of a warp, in which L lanes share a key. Each of lanes L apart is left
     * with as many sums, `sum[0]` on; returns which, counted from 0. */
    template <int L> __device__ __forceinline__ int join(void)
    {
        int lane = threadIdx.x % 32, first = 0;
        float most = peak;
#pragma unroll
        for (int step = L; step < 32; step *= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
        float keep = peak == -INFINITY ? 0.0f : gpt_exp2(peak - most);
        peak = most;
        total *= keep;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            sum[i] *= keep;
#pragma unroll
        for (int step = L, half = OWN / 2; step < 32; step *= 2, half /= 2) {
            bool upper = lane & step;
            total += __shfl_xor_sync(0xffffffffu, total, step);
#pragma unroll
            for (int i = 0; i < OWN / 2; i++) {
                if (i >= half) continue;
                float kept = upper ? sum[i + half] : sum[i];
                float given = upper ? sum[i] : sum[i + half];
                sum[i] = kept + __shfl_xor_sync(0xffffffffu, given, step);
            }
            first += upper ? half : 0;
        }
        return first;
    }
};

/* What one block attends to, of heads up to 8 L elements. W: the format of the weights, which has
 * words in an order of its own. */
template <typename T, typename W, int L> struct persistent_attention {
    static const int OWN = persistent_softmax::OWN, SOME = persistent_softmax::SOME, KEYS = 32 / L;
    const struct persistent_args &args;
    const struct persistent_item &item;
    const T *cache;
    float *own, *joined; /* the warp's memory, q, k and v; and the block's */
    int lane, warp;

    /* Element i of a lane, from 0 to OWN. */
    __device__ __forceinline__ int element(int i) const
    {
        return i / 4 * 4 * L + lane % L * 4 + i % 4;
    }

    typedef persistent_stored<T> stored[SOME][OWN / 4];

    /* A lane's elements of k or v of the context. */
    __device__ __forceinline__ void load(const T *head, persistent_stored<T> (&to)[OWN / 4]) const
    {
#pragma unroll
        for (int i = 0; i < OWN / 4; i++)
            if (element(4 * i) < args.size)
                to[i].words = *(const decltype(to[i].words) *)(head + element(4 * i));
    }

    static __device__ __forceinline__ void numbers(const stored &from, float (&to)[SOME][OWN])
    {
#pragma unroll
        for (int j = 0; j < SOME; j++)
#pragma unroll
            for (int i = 0; i < OWN / 4; i++) {
                const float4 v = from[j][i].numbers();
                to[j][4 * i] = v.x, to[j][4 * i + 1] = v.y;
                to[j][4 * i + 2] = v.z, to[j][4 * i + 3] = v.w;
            }
    }

    /* A key and those that are KEYS apart behind it. Numbers are made of them when all have been
     * asked for, so that no load waits for another one. */
    __device__ __forceinline__ void load_keys(int key, float (&k)[SOME][OWN],
                                              float (&v)[SOME][OWN]) const
    {
        int c = args.channels;
        const T *head = cache + persistent_key_at(args, item) + 3LL * key * c;
        stored of_k = {}, of_v = {};
#pragma unroll
        for (int j = 0; j < SOME; j++, key += KEYS, head += 3 * KEYS * c) {
            if (key >= item.end) break;
            load(head, of_k[j]);
            load(head + c, of_v[j]);
        }
        numbers(of_k, k);
        numbers(of_v, v);
    }

    /* Of q, or of k or v of the token itself. */
    __device__ __forceinline__ void take(int which, float (&to)[OWN]) const
    {
#pragma unroll
        for (int i = 0; i < OWN; i += 4) {
            float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (element(i) < args.size) v = *(const float4 *)(own + which * args.size + element(i));
            to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
        }
    }

    /* Wait for q, and in the warp that has the token itself for its k and v. */
    __device__ __forceinline__ void wait(bool whole, uint32_t turn) const
    {
        int size = args.size, c = args.channels;
        const uint32_t *words =
            args.words[PERSISTENT_QKV] + 2 * ((int64_t)item.batch * 3 * c + item.head * size);
        bool mine = 4 * lane < size;
        words += 2 * 4 * lane;
        uint4 out[3];
        words_wait([=](int i) { return mine && (whole || i == 0) ? words + 2 * i * c : NULL; },
                   turn, out);
        __syncwarp(); /* the item before is read */
#pragma unroll
        for (int i = 0; i < 3; i++)
            if (mine && (whole || i == 0))
                *(float4 *)(own + i * size + 4 * lane) = word_numbers(out[i]);
        __syncwarp();
    }

    __device__ __forceinline__ void add_keys(uint32_t turn, struct persistent_softmax &softmax)
    {
        const int OF_WARP = SOME * KEYS, STEP = PERSISTENT_WARPS * OF_WARP;
        int itself = item.piece == args.pieces - 1 ? args.tokens - 1 : -1;
        int end = itself >= 0 ? itself + 1 : item.end, first = item.first + warp * OF_WARP;
        float q[OWN], k[SOME][OWN], v[SOME][OWN];
        load_keys(first + lane / L, k, v);
        wait(itself >= 0 && (itself - item.first) / OF_WARP % PERSISTENT_WARPS == warp, turn);
        take(0, q);
        for (int from = first; from < end; from += STEP) {
            float score[SOME] = {};
            int key = from + lane / L;
#pragma unroll
            for (int j = 0; j < SOME; j++)
                if (key + j * KEYS == itself) take(1, k[j]), take(2, v[j]);
#pragma unroll
            for (int i = 0; i < OWN; i++)
#pragma unroll
                for (int j = 0; j < SOME; j++)
                    score[j] = fmaf(q[i], k[j][i], score[j]);
#pragma unroll
            for (int step = 1; step < L; step *= 2)
#pragma unroll
                for (int j = 0; j < SOME; j++)
                    score[j] += __shfl_xor_sync(0xffffffffu, score[j], step);
#pragma unroll
            for (int j = 0; j < SOME; j++)
                score[j] = key + j * KEYS < end ? score[j] * args.scale_of_scores : -INFINITY;
            if (score[0] != -INFINITY) softmax.add(score, v);
            if (from + STEP < end) load_keys(from + STEP + lane / L, k, v);
        }
    }

    /* One item. */
    __device__ __forceinline__ void run(uint32_t turn)
    {
        const int WARPS = PERSISTENT_WARPS;
        struct persistent_softmax softmax;
        add_keys(turn, softmax);
        int first = softmax.template join<L>(), size = args.size;
        float *peaks = joined, *totals = peaks + WARPS, *sums = totals + WARPS;
        if (lane == 0) peaks[warp] = softmax.peak, totals[warp] = softmax.total;
#pragma unroll
        for (int i = 0; i < OWN / KEYS; i++)
            if (element(first + i) < size) sums[warp * size + element(first + i)] = softmax.sum[i];
        persistent_sync();
        int i = (int)threadIdx.x;
        if (i >= size) return;
        float most = -INFINITY, all = 0.0f, value = 0.0f;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            most = fmaxf(most, peaks[w]);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            float of = gpt_exp2(peaks[w] - most);
            all = fmaf(totals[w], of, all);
            value = fmaf(sums[w * size + i], of, value);
        }
        if (args.pieces > 1) {
            if (item.piece < args.pieces - 1) {
                uint32_t *to = piece_at(item.piece);
                word_put(to + i, value, turn);
                if (i < 2) word_put(to + size + i, i == 0 ? most : all, turn);
                return;
            }
            for (int piece = 0; piece < args.pieces - 1; piece++) {
                const uint32_t *from = piece_at(piece);
                uint32_t other[3];
                words_wait([=](int j) { return from + (j == 0 ? i : size + j - 1); }, turn, other);
                float peak = fmaxf(most, word_number(other[1]));
                float keep = gpt_exp2(most - peak);
                float of = gpt_exp2(word_number(other[1]) - peak);
                most = peak;
                all = fmaf(all, keep, word_number(other[2]) * of);
                value = fmaf(value, keep, word_number(other[0]) * of);
            }
        }
        int at = item.batch * args.channels + item.head * size + i;
        word_put(args.words[PERSISTENT_ATTENDED] + word_place(W::order(at)), __fdividef(value, all),
                 turn);
    }

    /* The words of a piece but the last: sums, peak and total. */
    __device__ __forceinline__ uint32_t *piece_at(int piece) const
    {
        int row = (piece * args.batch + item.batch) * args.heads + item.head;
        return args.words[PERSISTENT_PIECES] + (int64_t)row * (args.size + 2);
    }
};

/* The block's items of a layer. `joined` holds size + 2 floats per warp. */
template <typename T, typename W, int L>
static __device__ __forceinline__ void persistent_attend(const struct persistent_args &args,
                                                         struct persistent_item item,
                                                         const T *cache, uint32_t turn, float *own,
                                                         float *joined)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    for (int i = blockIdx.x; i < persistent_items(args); i += gridDim.x) {
        if (i >= (int)gridDim.x) {
            persistent_sync(); /* `joined` is read */
            item = persistent_item_of(args, i);
        }
        struct persistent_attention<T, W, L> attention = {
            args, item, cache, own, joined, lane, warp
        };
        attention.run(turn);
    }
}

template <typename T, typename W>
static __device__ __forceinline__ void persistent_attend_all(const struct persistent_args &args,
                                                             const struct persistent_item &item,
                                                             const T *cache, uint32_t turn,
                                                             float *own, float *joined)
{
    if (args.size <= 64)
        persistent_attend<T, W, 8>(args, item, cache, turn, own, joined);
    else
        persistent_attend<T, W, 16>(args, item, cache, turn, own, joined);
}
