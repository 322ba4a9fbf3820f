/*
 * model_clusters_attend.cuh - the attention of the tokens of one block, 8 NT of a sequence, to all
 * keys up to them: a warp per head, or several that share its channels.
 *
 * Keys and values go through device memory, where they stay in L2: each block writes those of its
 * tokens, and when all of the cluster have, warps read what they need straight into the registers
 * of tensor cores. Two layers' take turns, for a block may still read the last layer's while
 * another writes. None can be two ahead: all meet once a layer.
 *
 * Both lie in blocks of 16 channels by 16 tokens, 512 bytes, a sequence's tokens side by side: so a
 * lane's loads are at fixed distances. Keys are [token][channel] in a block, values
 * [channel][token]. Of the 16 channels, word w of q and k has numbers w and w + 8 (a product's
 * outputs as a lane has them): scores do not ask for the order. A score's columns, which are keys,
 * are assigned so that a lane's, of 16 keys, are four neighbours: it multiplies them with four
 * values in a row.
 */
#pragma once

#include "kernels/gpt/attention/attention.cuh"
#include "kernels/gpt/mma.cuh"
#include "model_clusters_ring.cuh"

/* Arrive in block `rank`, and wait for all that arrive here, with what each block has written
 * before, to device memory too (hopper.cuh has the same without an order of writes). */
static __device__ __forceinline__ void clusters_arrive_release(uint32_t barrier, uint32_t rank)
{
    asm volatile("{\n"
                 " .reg .b32 remote;\n"
                 " mapa.shared::cluster.u32 remote, %0, %1;\n"
                 " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
                 "}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

static __device__ __forceinline__ void clusters_wait_acquire(uint32_t barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n"
                     " .reg .pred p;\n"
                     " mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     " selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

static __device__ __forceinline__ uint16_t clusters_bits(uint16_t, float value)
{
    return bf16_of(value);
}

static __device__ __forceinline__ uint16_t clusters_bits(fp16_t, float value)
{
    return fp16_of(value).bits;
}

/* Four numbers, from L2: other blocks wrote them during this launch. */
static __device__ __forceinline__ uint2 clusters_get(const uint16_t *from)
{
    return __ldcg((const uint2 *)from);
}

/* Where the block of this channel and token begins among keys or values. */
static __device__ __forceinline__ int64_t clusters_block_at(const struct clusters_args &args,
                                                            int layer, int sequence, int channel,
                                                            int token)
{
    const int64_t row = (int64_t)sequence * (args.channels / 16) + channel / 16;
    return layer % 2 * args.turn + (row * args.padded + token / 16 * 16) * 16;
}

/* One head. A lane has the queries lane / 4 and, with NT = 2, lane / 4 + 8 of the block. */
template <typename T, int NT> struct clusters_head {
    /* Steps of a head whose keys are under way at once, and whether values are before it is their
     * turn: what there are registers for. */
    enum { TOGETHER = NT == 1 ? 2 : 1, EARLY = NT == 1 };

    typedef uint2 operands[CLUSTERS_GROUPS][2];

    const struct clusters_args &args;
    const uint32_t *query;         /* shared, the block's first token and the head's first word */
    const uint16_t *keys, *values; /* the head's first block */
    int first;                     /* token of the block */
    int lane;

    /* Two for each group that the block's last token looks at, `apart` from one another; zeros for
     * the others. */
    __device__ __forceinline__ void load(operands &out, const uint16_t *from, int apart,
                                         bool any) const
    {
        const int last = any ? (first + 8 * NT + 15) / 16 : 0;
        asm("" : "+l"(from)); /* the address is computed once, not for each load */
#pragma unroll
        for (int g = 0; g < CLUSTERS_GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                out[g][e] = g < last ? clusters_get(from + 256 * g + e * apart) : make_uint2(0, 0);
    }

    /* Of 16 channels of the head, from `channel` on. */
    __device__ __forceinline__ void load_keys(operands &key, int channel) const
    {
        const int row = lane / 4;
        load(key, keys + (channel * args.padded + (row / 2 * 4 + row % 2) * 16 + lane % 4 * 4),
             2 * 16, channel < args.size);
    }

    __device__ __forceinline__ void load_values(operands &value, int channel) const
    {
        load(value, values + (channel * args.padded + lane / 4 * 16 + lane % 4 * 4), 8 * 16,
             channel < args.size);
    }

    __device__ __forceinline__ void score_step(float (&score)[CLUSTERS_GROUPS][2][4],
                                               const operands &key, int channel) const
    {
        uint32_t a[4] = {};
#pragma unroll
        for (int n = 0; n < NT; n++) {
            const uint2 words = *(const uint2 *)(query + (lane / 4 + 8 * n) * args.query_row +
                                                 channel / 2 + lane % 4 * 2);
            a[n] = words.x, a[2 + n] = words.y;
        }
#pragma unroll
        for (int g = 0; g < CLUSTERS_GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                mma_step(T(), score[g][e], a, key[g][e].x, key[g][e].y);
    }

    __device__ __forceinline__ void scores(float (&score)[CLUSTERS_GROUPS][2][4]) const
    {
        for (int channel = 0; channel < args.size; channel += 16 * TOGETHER) {
            operands key[TOGETHER];
#pragma unroll
            for (int i = 0; i < TOGETHER; i++)
                load_keys(key[i], channel + 16 * i);
#pragma unroll
            for (int i = 0; i < TOGETHER; i++)
                if (channel + 16 * i < args.size) score_step(score, key[i], channel + 16 * i);
        }
    }

    /* Scores become weights, not yet divided by their sum, which is returned. */
    __device__ __forceinline__ float weigh(float (&score)[CLUSTERS_GROUPS][2][4], int n) const
    {
        const int token = first + 8 * n + lane / 4;
        float peak = -INFINITY, sum = 0;
        auto each = [&](auto with) {
#pragma unroll
            for (int g = 0; g < CLUSTERS_GROUPS; g++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    with(score[g][i / 2][2 * n + i % 2], 16 * g + lane % 4 * 4 + i);
        };
        each([&](float &s, int key) {
            s = key <= token ? s : -INFINITY;
            peak = fmaxf(peak, s);
        });
#pragma unroll
        for (int step = 1; step < 4; step *= 2)
            peak = fmaxf(peak, __shfl_xor_sync(0xffffffffu, peak, step));
        each([&](float &s, int) {
            s = gpt_exp2((s - peak) * args.scale_of_scores);
            sum += s;
        });
#pragma unroll
        for (int step = 1; step < 4; step *= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        return sum;
    }

    /* 16 channels of the head, from `channel` on, to rows of `out`. */
    __device__ __forceinline__ void add_up(const uint32_t (&weight)[CLUSTERS_GROUPS][4],
                                           const operands &value, const float (&by)[NT],
                                           int channel, uint16_t *out) const
    {
        float sum[2][4] = {};
#pragma unroll
        for (int g = 0; g < CLUSTERS_GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                mma_step(T(), sum[e], weight[g], value[g][e].x, value[g][e].y);
#pragma unroll
        for (int n = 0; n < NT; n++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                *(uint32_t *)(out + (lane / 4 + 8 * n) * args.narrow_row + channel + 8 * e +
                              lane % 4 * 2) =
                    gpt_pack(T(), sum[e][2 * n] * by[n], sum[e][2 * n + 1] * by[n]);
    }

    /* Every `parts`-th 16 channels from `part` on. */
    __device__ __forceinline__ void run(int part, int parts, uint16_t *out) const
    {
        float score[CLUSTERS_GROUPS][2][4] = {}, by[NT];
        uint32_t weight[CLUSTERS_GROUPS][4] = {};
        operands value;
        scores(score);
        if (EARLY) load_values(value, 16 * part);
#pragma unroll
        for (int n = 0; n < NT; n++) {
            by[n] = 1.0f / weigh(score, n);
#pragma unroll
            for (int g = 0; g < CLUSTERS_GROUPS; g++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    weight[g][2 * e + n] =
                        gpt_pack(T(), score[g][e][2 * n], score[g][e][2 * n + 1]);
        }
        for (int channel = 16 * part; channel < args.size; channel += 16 * parts) {
            operands next;
            if (EARLY)
                load_values(next, channel + 16 * parts);
            else
                load_values(value, channel);
            add_up(weight, value, by, channel, out);
#pragma unroll
            for (int g = 0; EARLY && g < CLUSTERS_GROUPS; g++)
                value[g][0] = next[g][0], value[g][1] = next[g][1];
        }
    }
};
