/*
 * model_persistent_attend.cuh - the attention of the new token: a block takes a piece of the
 * context of one head of one sequence, and 8 or 16 lanes four keys at a time, of which each has
 * eight elements. Keys and values of the context are loaded before q is there. Who has the last
 * piece of the context has the token itself, too, and joins the others to it.
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

    /* The score of a key that is not there is -INFINITY. */
    __device__ __forceinline__ void add(const float (&score)[SOME], const float (&v)[SOME][OWN])
    {
        float most = peak;
#pragma unroll
        for (int j = 0; j < SOME; j++)
            most = fmaxf(most, score[j]);
        float keep = gpt_exp2(peak - most);
        peak = most;
        if (most == -INFINITY) keep = most = 0.0f; /* no key so far */
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
    float *joined; /* the block's memory */
    int lane, warp;

    /* Element i of a lane, from 0 to OWN. */
    __device__ __forceinline__ int element(int i) const
    {
        return i / 4 * 4 * L + lane % L * 4 + i % 4;
    }

    typedef persistent_stored<T> stored[SOME][OWN / 4];

    /* Where four of a lane's elements are in a head. Behind it, where q is 0, they are the first.
     */
    __device__ __forceinline__ int place(int four) const
    {
        return element(4 * four) < args.size ? element(4 * four) : 0;
    }

    /* Of k or v of the context. */
    __device__ __forceinline__ void load(const T *head, persistent_stored<T> (&to)[OWN / 4]) const
    {
#pragma unroll
        for (int i = 0; i < OWN / 4; i++)
            to[i] = persistent_four(head + place(i));
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

    /* A key and those that are KEYS apart behind it; behind the last one it again. Numbers are made
     * of them when all have been asked for, so that no load waits for another one. */
    __device__ __forceinline__ void load_keys(int key, float (&k)[SOME][OWN],
                                              float (&v)[SOME][OWN]) const
    {
        int c = args.channels;
        const T *from = cache + persistent_key_at(args, item);
        stored of_k = {}, of_v = {};
        if (item.end > item.first) {
#pragma unroll
            for (int j = 0; j < SOME; j++) {
                const T *head = from + 3LL * min(key + j * KEYS, item.end - 1) * c;
                load(head, of_k[j]);
                load(head + c, of_v[j]);
            }
        }
        numbers(of_k, k);
        numbers(of_v, v);
    }

    /* Wait for q of the token, and if `whole` for its k and v. */
    __device__ __forceinline__ void wait(bool whole, uint32_t turn, float (&token)[3][OWN]) const
    {
        const int FOURS = OWN / 4;
        int c = args.channels, size = args.size;
        const uint32_t *words = args.words[PERSISTENT_QKV];
        words += 2 * (item.batch * 3 * c + item.head * size);
        uint4 out[3 * FOURS];
        words_wait([=](int i) { return words + 2 * (i / FOURS * c + place(i % FOURS)); },
                   whole ? 3 * FOURS : FOURS, turn, out);
#pragma unroll
        for (int i = 0; i < 3 * FOURS; i++) {
            const float4 v = word_numbers(out[i], element(i % FOURS * 4) < size);
            float *to = token[i / FOURS] + i % FOURS * 4;
            to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        }
    }

    /* The keys of the context in order; but where the token itself is one, it is the last of those
     * that the warps have first, so that its place is known before. */
    __device__ __forceinline__ void add_keys(uint32_t turn, struct persistent_softmax &softmax)
    {
        const int OF_WARP = SOME * KEYS, STEP = PERSISTENT_WARPS * OF_WARP;
        bool ends = item.piece == args.pieces - 1;
        bool has_itself = ends && warp == PERSISTENT_WARPS - 1;
        bool itself = has_itself && lane / L == KEYS - 1;
        int keys = item.end - item.first, places = ends ? max(keys + 1, STEP) : keys;
        int from = warp * OF_WARP, key = item.first + from + lane / L;
        float token[3][OWN], k[SOME][OWN], v[SOME][OWN];
        const float(&q)[OWN] = token[0];
        load_keys(key, k, v);
        wait(has_itself, turn, token);
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (itself) k[SOME - 1][i] = token[1][i], v[SOME - 1][i] = token[2][i];
        for (; from < places; from += STEP) {
            float score[SOME] = {};
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
            for (int j = 0; j < SOME; j++) {
                bool there = key + j * KEYS < item.end || (j == SOME - 1 && itself);
                score[j] = there ? score[j] * args.scale_of_scores : -INFINITY;
            }
            softmax.add(score, v);
            key += from < STEP && ends ? STEP - 1 : STEP, itself = false;
            if (from + STEP < places) load_keys(key, k, v);
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
        if (32 * warp >= size) return;
        int i = min((int)threadIdx.x, size - 1);
        bool mine = i == (int)threadIdx.x;
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
                if (mine) word_put(to + i, value, turn);
                if (mine && i < 2) word_put(to + size + i, i == 0 ? most : all, turn);
                return;
            }
            for (int piece = 0; piece < args.pieces - 1; piece++) {
                const uint32_t *from = piece_at(piece);
                uint32_t other[3];
                words_wait([=](int j) { return from + (j == 0 ? i : size + j - 1); }, 3, turn,
                           other);
                float both = fmaxf(most, word_number(other[1]));
                float keep = gpt_exp2(most - both);
                float of = gpt_exp2(word_number(other[1]) - both);
                most = both;
                all = fmaf(all, keep, word_number(other[2]) * of);
                value = fmaf(value, keep, word_number(other[0]) * of);
            }
        }
        int at = item.batch * args.channels + item.head * size + i;
        uint32_t *to = args.words[PERSISTENT_ATTENDED] + word_place(W::order(at));
        if (mine) word_put(to, __fdividef(value, all), turn);
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
                                                         const T *cache, uint32_t turn,
                                                         float *joined)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    for (int i = blockIdx.x; i < persistent_items(args); i += gridDim.x) {
        if (i >= (int)gridDim.x) {
            persistent_sync(); /* `joined` is read */
            item = persistent_item_of(args, i);
        }
        struct persistent_attention<T, W, L> attention = {
            args, item, cache, joined, lane, warp
        };
        attention.run(turn);
    }
}

template <typename T, typename W>
static __device__ __forceinline__ void persistent_attend_all(const struct persistent_args &args,
                                                             const struct persistent_item &item,
                                                             const T *cache, uint32_t turn,
                                                             float *joined)
{
    if (args.size <= 64)
        persistent_attend<T, W, 8>(args, item, cache, turn, joined);
    else
        persistent_attend<T, W, 16>(args, item, cache, turn, joined);
}
