/*
 * model_persistent_rows.cuh - what a warp multiplies: its units of k of the words of the step
 * before. No warp waits for the units of another one.
 *
 * Where a norm is due, with n = (x - mean) r scale + shift, the warps multiply by (x - from) scale,
 * and measure x - from as they do: sum and squares. What is left, r and mean, is known when the
 * sums of all warps are added, and is brought in there (persistent_fold). `from` is only there to
 * keep the numbers small: the mean of the norm before, which is near; in the first layer, x[0].
 */
#pragma once

#include "model_persistent_attend.cuh"
#include "model_persistent_ring.cuh"

/* Element i of the stream as the first layer finds it. */
template <typename T>
static __device__ __forceinline__ float persistent_input(const struct persistent_args &args,
                                                         int row, int i)
{
    int c = args.channels;
    int64_t token = (int64_t)row * args.tokens + args.tokens - 1;
    if (args.vocabulary == 0) return gpt_float(((const T *)args.in)[token * c + i]);
    int64_t id = ((const int32_t *)args.in)[token];
    return gpt_float(((const T *)args.wte)[id * c + i]) +
           gpt_float(((const T *)args.wpe)[(int64_t)(args.tokens - 1) * c + i]);
}

/* A lane has four neighbouring elements of each APART-th unit of a sequence; B: 1, 2, 4 or 8, at
 * least the sequences. Lanes 4 g to 4 g + 3 have all of a unit, of sequence g % B. */
template <typename T, int B, int APART> struct persistent_rows {
    const struct persistent_args &args;
    int lane;

    __device__ __forceinline__ int sequence(void) const
    {
        return lane / 4 % B;
    }

    /* Of the first of its units. */
    __device__ __forceinline__ int turn(void) const
    {
        return lane / 4 / B % APART;
    }

    /* The first of its elements, of a warp's from unit `unit` on. */
    __device__ __forceinline__ int first(int unit) const
    {
        return PERSISTENT_UNIT * (unit + turn()) + lane % 4 * 4;
    }

    /* This lane's elements of up to N of its units, from unit `unit` of a warp on, which ends
     * before `end`; zeros behind. Returns how many there are. */
    template <int N>
    __device__ __forceinline__ int get(const uint32_t *words, int k, int unit, int end,
                                       uint32_t turn, float4 (&x)[N]) const
    {
        int row = sequence(), at = first(unit); /* of k */
        const int STEP = PERSISTENT_UNIT * APART;
        int whole = min(PERSISTENT_UNIT * end, k);
        int count = row < args.batch ? min(N, (whole - at + STEP - 1) / STEP) : 0;
        /* Who has none, or no more, waits for what others of the warp wait for, too. */
        int64_t own = (int64_t)(row < args.batch ? row : 0) * k;
        own += at < whole ? at : PERSISTENT_UNIT * unit;
        uint4 out[N];
        words_wait([=](int i) { return words + 2 * (own + (i < count ? i * STEP : 0)); },
                   (end - unit + APART - 1) / APART, turn, out);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[i] = word_numbers(out[i], i < count);
        return count;
    }

    /* Measure `count` units, and multiply unit i with the norm's scale, scale(i). Those behind are
     * zeros, and stay so. */
    template <int N, typename SCALE>
    __device__ __forceinline__ void normalise(float4 (&x)[N], int count, float from,
                                              float2 &measured, SCALE scale) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float4 by = scale(i);
            const float less = i < count ? from : 0.0f;
            float4 &v = x[i];
            v.x -= less, v.y -= less, v.z -= less, v.w -= less;
            measured.x += v.x + v.y + (v.z + v.w);
            measured.y += v.x * v.x + v.y * v.y + (v.z * v.z + v.w * v.w);
            v.x *= by.x, v.y *= by.y, v.z *= by.z, v.w *= by.w;
        }
    }

    /* The sums of all lanes of a sequence, in each of them. */
    __device__ __forceinline__ float2 measured_by_all(float2 own) const
    {
#pragma unroll
        for (int step = 1; step < 4 * B * APART; step *= 2) {
            if (step >= 4 && step < 4 * B) continue;
            own.x += __shfl_xor_sync(0xffffffffu, own.x, step);
            own.y += __shfl_xor_sync(0xffffffffu, own.y, step);
        }
        return own;
    }
};
