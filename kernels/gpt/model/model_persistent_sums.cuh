/*
 * model_persistent_sums.cuh - a warp's sums over its units of k, on CUDA cores and on tensor cores.
 *
 * Lane 4 g + t has elements 4 t to 4 t + 3 of a unit of k, of rows g, g + 8, ... On CUDA cores it
 * multiplies them with those of each sequence, which the warp's lanes pass on through shared
 * memory. Where operands may be rounded, the tensor cores multiply several sequences; words then
 * stay in registers, and g is also the sequence whose words the lane waits for.
 */
#pragma once

#include "kernels/gpt/mma.cuh"
#include "model_persistent_words.cuh"

enum {
    PERSISTENT_PITCH = 28 /* of the rows of a round: what lanes store side by side is apart */
};

/* A lane's weights of a unit and row, and sums with them, on CUDA cores. */
template <typename T, int B, int GROUPS, bool TENSOR> struct persistent_sums {
    static const int APART = 8 / B;
    float sum[GROUPS][B] = {};
    typedef float4 weight;

    static __device__ __forceinline__ weight of(const persistent_stored<T> &stored)
    {
        return stored.numbers();
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

template <typename T>
static __device__ __forceinline__ uint2 persistent_operand(T type, const float4 &x)
{
    return make_uint2(gpt_pack(type, x.x, x.y), gpt_pack(type, x.z, x.w));
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

/* The same on tensor cores, for eight sequences; two groups of rows at a time. */
template <typename T, int GROUPS> struct persistent_sums<T, 8, GROUPS, true> {
    static const int TILES = (GROUPS + 1) / 2, APART = 1;
    float sum[TILES][4] = {};
    typedef decltype(persistent_operand(T(), float4())) weight;

    static __device__ __forceinline__ weight of(const persistent_stored<T> &stored)
    {
        weight w;
        static_assert(sizeof w == sizeof stored, "four elements");
        memcpy(&w, &stored, sizeof w);
        return w;
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
        mma_step(T(), c, a, x.x, x.y);
    }

    template <int UNITS>
    __device__ __forceinline__ void add(int i, const weight (&w)[UNITS][GROUPS],
                                        const float4 (&x)[UNITS], int)
    {
        const weight by = persistent_operand(T(), x[i]), none = {};
#pragma unroll
        for (int t = 0; t < TILES; t++)
            step(sum[t], w[i][2 * t], 2 * t + 1 < GROUPS ? w[i][(2 * t + 1) % GROUPS] : none, by);
    }

    /* Of `count` rows; the second block of the cluster has the second half of them. */
    __device__ __forceinline__ void put(float (*part)[PERSISTENT_PITCH], int count, int lane)
    {
        int half = (count + 1) / 2;
#pragma unroll
        for (int r = 0; r < GROUPS; r++) {
            int row = 8 * r + lane / 4, rank = row >= half;
            if (row >= 2 * half) break;
#pragma unroll
            for (int j = 0; j < 2; j++)
                persistent_give(&part[lane % 4 * 2 + j][row - rank * half], rank,
                                sum[r / 2][r % 2 * 2 + j]);
        }
    }
};
