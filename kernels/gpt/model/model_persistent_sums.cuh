/*
 * model_persistent_sums.cuh - a warp's sums over its units of k, on CUDA cores and on tensor cores.
 *
 * Lane 4 g + t has elements 4 t to 4 t + 3 of a unit of k, of rows g, g + 8, ... On CUDA cores it
 * multiplies them with those of each sequence, which the warp's lanes pass on through shared
 * memory. For several sequences, where operands may be rounded, the tensor cores multiply; then g
 * is also the sequence whose words the lane waits for, and they stay in registers.
 */
#pragma once

#include "kernels/gpt/mma.cuh"
#include "model_persistent_words.cuh"

enum {
    PERSISTENT_PITCH = 28 /* of the rows of a round: what lanes store side by side is apart */
};

/* A lane's weights of a unit and row, and sums with them, on CUDA cores. */
template <typename T, int B, int GROUPS, bool TENSOR> struct persistent_sums {
    float sum[GROUPS][B] = {};
    typedef float4 weight;

    static __device__ __forceinline__ weight get(const T *from)
    {
        return persistent_four(from);
    }

    /* `x` is this unit of each sequence, `apart` elements from one to the next. */
    __device__ __forceinline__ void add(const weight (&w)[GROUPS], const float *x, int apart)
    {
#pragma unroll
        for (int b = 0; b < B; b++) {
            const float4 v = *(const float4 *)(x + b * apart);
#pragma unroll
            for (int r = 0; r < GROUPS; r++) {
                sum[r][b] = fmaf(w[r].x, v.x, sum[r][b]);
                sum[r][b] = fmaf(w[r].y, v.y, sum[r][b]);
                sum[r][b] = fmaf(w[r].z, v.z, sum[r][b]);
                sum[r][b] = fmaf(w[r].w, v.w, sum[r][b]);
            }
        }
    }

    __device__ __forceinline__ void put(float (*part)[PERSISTENT_PITCH], int lane)
    {
#pragma unroll
        for (int r = 0; r < GROUPS; r++)
#pragma unroll
            for (int b = 0; b < B; b++) {
                sum[r][b] += __shfl_xor_sync(0xffffffffu, sum[r][b], 1);
                sum[r][b] += __shfl_xor_sync(0xffffffffu, sum[r][b], 2);
                if (lane % 4 == (r * B + b) % 4) part[b][8 * r + lane / 4] = sum[r][b];
            }
    }
};

/* An operand of the tensor cores, four neighbouring elements, rounded to nearest. */
static __device__ __forceinline__ uint4 persistent_operand(float, const float4 &x)
{
    uint4 to;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to.x) : "f"(x.x));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to.y) : "f"(x.y));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to.z) : "f"(x.z));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(to.w) : "f"(x.w));
    return to;
}

static __device__ __forceinline__ uint2 persistent_operand(uint16_t, const float4 &x)
{
    return make_uint2(bf16_pair(x.x, x.y), bf16_pair(x.z, x.w));
}

/* A number into the shared memory of block `rank` of the cluster. */
static __device__ __forceinline__ void persistent_give(const float *at, int rank, float value)
{
    asm volatile("{\n"
                 " .reg .b32 remote;\n"
                 " mapa.shared::cluster.u32 remote, %0, %1;\n"
                 " st.shared::cluster.f32 [remote], %2;\n"
                 "}" ::"r"(hopper_shared(at)),
                 "r"(rank), "f"(value)
                 : "memory");
}

/* The same on tensor cores, two groups of rows at a time. Their eight columns are the sequences; of
 * fewer, each has as many columns as there are, and the units by turns. Some chains of sums, since a
 * product waits for the one before it. */
template <typename T, int B, int GROUPS> struct persistent_sums<T, B, GROUPS, true> {
    static const int TILES = (GROUPS + 1) / 2, CHAINS = TILES > 2 ? 1 : 4 / TILES, APART = 8 / B;
    float sum[TILES][CHAINS][4] = {};
    typedef decltype(persistent_operand(T(), float4())) weight;

    static __device__ __forceinline__ weight get(const T *from)
    {
        return *(const weight *)from;
    }

    static __device__ __forceinline__ void step(float (&c)[4], const uint4 &upper,
                                                const uint4 &lower, const uint4 &x)
    {
        const uint32_t a[2][4] = {{upper.x, lower.x, upper.y, lower.y},
                                  {upper.z, lower.z, upper.w, lower.w}};
        mma_step(float(), c, a[0], x.x, x.y);
        mma_step(float(), c, a[1], x.z, x.w);
    }

    static __device__ __forceinline__ void step(float (&c)[4], const uint2 &upper,
                                                const uint2 &lower, const uint2 &x)
    {
        const uint32_t a[4] = {upper.x, lower.x, upper.y, lower.y};
        mma_step(uint16_t(), c, a, x.x, x.y);
    }

    /* `x` is what the lane has of this unit and those that it has with it; which unit, by `i`. */
    __device__ __forceinline__ void add(int i, const weight (&w)[GROUPS], const weight &x, int lane)
    {
        const weight none = {}, by = B == 8 || lane / 4 / B == i % APART ? x : none;
#pragma unroll
        for (int t = 0; t < TILES; t++)
            step(sum[t][i % CHAINS], w[2 * t], 2 * t + 1 < GROUPS ? w[(2 * t + 1) % GROUPS] : none,
                 by);
    }

    /* Of `count` rows. The second block of a pair has the second half of them. */
    template <int PAIR>
    __device__ __forceinline__ void put(float (*part)[PERSISTENT_PITCH], int count, int sequences,
                                        int lane)
    {
        int half = (count + PAIR - 1) / PAIR;
#pragma unroll
        for (int r = 0; r < GROUPS; r++) {
            int row = 8 * r + lane / 4, rank = row >= half;
            float own[2] = {};
#pragma unroll
            for (int chain = 0; chain < CHAINS; chain++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    own[j] += sum[r / 2][chain][r % 2 * 2 + j];
            if (B == 1) own[0] += own[1];
#pragma unroll
            for (int step = 1; step < 4; step *= 2)
#pragma unroll
                for (int j = 0; j < 2 && j < B && 2 * step >= B; j++)
                    own[j] += __shfl_xor_sync(0xffffffffu, own[j], step);
#pragma unroll
            for (int j = 0; j < 2 && j < B; j++) {
                int sequence = lane % 4 * 2 + j;
                if (sequence >= sequences || row >= PAIR * half) continue;
                float *to = &part[sequence][row - rank * half];
                if (PAIR == 2)
                    persistent_give(to, rank, own[j]);
                else
                    *to = own[j];
            }
        }
    }
};
