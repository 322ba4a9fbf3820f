/*
 * model_persistent_rows.cuh - what a step multiplies: the words of the step before, all of them, as
 * fp32 in shared memory, normalised where a norm is due.
 *
 * Where it is, as many warps share a row (or the two rows that share words) as there are. Each
 * measures its part, mean and squared distances from it, the parts are joined (Chan, Golub and
 * LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979), and
 * each warp normalises its own part.
 */
#pragma once

#include "model_persistent_attend.cuh"
#include "model_persistent_ring.cuh"

/* One block; B: 1, 2, 4 or 8, at least the sequences. PAIRED: two of them share a word, but not of
 * the attention, which each has for itself. */
template <typename T, int B, bool PAIRED> struct persistent_rows {
    static const int WIDTH = 16 / (int)sizeof(T), UNIT = persistent_step<T>::UNIT;
    static const int SHARE = PAIRED ? 2 : 1;                /* rows of a word */
    static const int TEAM = PERSISTENT_WARPS / (B / SHARE); /* warps of a row that is measured */
    static const int SOME = 3;                              /* pairs of words asked for at once */
    const struct persistent_args &args;
    float *x;       /* [B][pitch] */
    float4 *shares; /* [B][TEAM]: elements, mean, squares */
    int lane, warp;

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

    /* Two neighbouring elements, of each row that shares their words. */
    template <bool PAIRS>
    __device__ __forceinline__ void keep(float *to, int apart, const uint64_t (&word)[2]) const
    {
#pragma unroll
        for (int r = 0; r < (PAIRS ? 2 : 1); r++)
            *(float2 *)(to + r * apart) =
                make_float2(word_number<PAIRS>(word[0], r), word_number<PAIRS>(word[1], r));
    }

    /* Fill x with words, PAIRS or not. */
    template <bool PAIRS>
    __device__ __forceinline__ void load(const uint64_t *words, int k, uint32_t tag) const
    {
        const int count = (PAIRS ? (args.batch + 1) / 2 : args.batch) * k / 2;
        /* Rows by a product, exact where rows fit in shared memory: 2 count k < 2^32. */
        const uint32_t reciprocal = B == 1 ? 0 : 0xffffffffu / (uint32_t)k + 1;
        for (int at = threadIdx.x; at < count; at += SOME * PERSISTENT_LANES) {
            uint64_t out[SOME][2];
            int left = (count - at + PERSISTENT_LANES - 1) / PERSISTENT_LANES;
            words_wait_pairs<PAIRS>(words + 2 * at, 2 * PERSISTENT_LANES, left, tag, out);
#pragma unroll
            for (int i = 0; i < SOME; i++) {
                int index = 2 * (at + i * PERSISTENT_LANES);
                int row = B == 1 ? 0 : (int)__umulhi((uint32_t)index, reciprocal);
                if (i < left)
                    keep<PAIRS>(x + (PAIRS ? 2 : 1) * row * pitch(k) + place(index - row * k),
                                pitch(k), out[i]);
            }
        }
    }

    /* Fill x with what all pieces of the context attended to. */
    __device__ __forceinline__ void load_attended(int k, uint32_t tag) const
    {
        for (int at = threadIdx.x; at < args.batch * k; at += PERSISTENT_LANES)
            x[at / k * pitch(k) + place(at % k)] = persistent_attended(args, at / k, at % k, tag);
    }

    /* Fill x with normalised words, or in the first layer with the normalised input. `in` is where
     * the ring has scale and shift. */
    __device__ __forceinline__ void load_normed(const persistent_step<T> &step, bool input_itself,
                                                uint32_t tag, const struct persistent_ring &ring,
                                                struct persistent_place in) const
    {
        int k = step.k, row = warp / TEAM * SHARE, first = warp % TEAM * 32, apart = pitch(k);
        int end = row < args.batch ? k / 2 : 0; /* in pairs of elements */
        float *own = x + row * apart;
        float sum[SHARE] = {}, squares[SHARE] = {};
        const uint64_t *words = step.from + (int64_t)(warp / TEAM) * k;
        for (int at = first + lane; at < end; at += SOME * TEAM * 32) {
            uint64_t out[SOME][2];
            int left = (end - at + TEAM * 32 - 1) / (TEAM * 32);
            if (!input_itself)
                words_wait_pairs<PAIRED>(words + 2 * at, 2 * TEAM * 32, left, tag, out);
#pragma unroll
            for (int i = 0; i < SOME; i++) {
                int index = 2 * (at + i * TEAM * 32);
                if (i >= left) break;
                float *to = own + place(index);
#pragma unroll
                for (int r = 0; r < SHARE; r++) {
                    float2 v = input_itself
                                   ? make_float2(input(min(row + r, args.batch - 1), index),
                                                 input(min(row + r, args.batch - 1), index + 1))
                                   : make_float2(word_number<PAIRED>(out[i][0], r),
                                                 word_number<PAIRED>(out[i][1], r));
                    *(float2 *)(to + r * apart) = v;
                    sum[r] += v.x + v.y;
                }
            }
        }
        int count = 0; /* elements of this warp */
        for (int at = first; at < end; at += TEAM * 32)
            count += 2 * min(32, end - at);
        float one = count > 0 ? __fdividef(1.0f, (float)count) : 0.0f;
#pragma unroll
        for (int r = 0; r < SHARE; r++)
            sum[r] = gpt_warp_sum(sum[r]) * one; /* the mean */
        for (int at = first + lane; at < end; at += TEAM * 32)
#pragma unroll
            for (int r = 0; r < SHARE; r++) {
                const float2 v = *(const float2 *)(own + r * apart + place(2 * at));
                squares[r] += (v.x - sum[r]) * (v.x - sum[r]) + (v.y - sum[r]) * (v.y - sum[r]);
            }
#pragma unroll
        for (int r = 0; r < SHARE; r++) {
            squares[r] = gpt_warp_sum(squares[r]);
            if (lane == 0)
                shares[(row + r) * TEAM + warp % TEAM] =
                    make_float4((float)count, sum[r], squares[r], 0.0f);
        }
        persistent_sync();
        for (int piece = 0; piece < step.norms; piece++)
            ring.wait(ring.after(in, piece));
        float r[SHARE];
#pragma unroll
        for (int i = 0; i < SHARE; i++) {
            const float4 part = lane < TEAM ? shares[(row + i) * TEAM + lane] : float4{};
            float mean = gpt_warp_sum(part.x * part.y) * args.per_channel, off = part.y - mean;
            float all = gpt_warp_sum(part.z + part.x * off * off) * args.per_channel;
            r[i] = rsqrtf(all + GPT_LAYERNORM_EPSILON);
            sum[i] = mean;
        }
        for (int at = first + lane; at < end; at += TEAM * 32) {
            int piece = 2 * at / PERSISTENT_PIECE, index = 2 * at - piece * PERSISTENT_PIECE;
            const T *scale = (const T *)ring.slot(ring.after(in, piece)) + index;
            const T *shift = scale + step.length(piece);
#pragma unroll
            for (int i = 0; i < SHARE; i++) {
                float *v = own + i * apart + place(2 * at);
#pragma unroll
                for (int j = 0; j < 2; j++)
                    v[j] = (v[j] - sum[i]) * r[i] * gpt_float(scale[j]) + gpt_float(shift[j]);
            }
        }
    }
};
