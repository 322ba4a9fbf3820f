/*
 * model_persistent_sums.cuh - a warp's sums over its units of k, on CUDA cores and on tensor cores.
 *
 * Lane 4 g + t has elements 4 t to 4 t + 3 of a unit of k, of rows g, g + 8, ... On CUDA cores it
 * multiplies them with those of each sequence, which the warp's lanes pass on through shared
 * memory. Where operands may be rounded, the tensor cores multiply several sequences, and one in
 * bf16; words then stay in registers, and of several, g is also the sequence whose words the lane
 * waits for.
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

/* For one sequence in 16 bits, what a lane has of a row's unit goes into a product as it is: its
 * first two elements count as of row g and the others as of row g + 8. Lanes 16 apart wait for the
 * same words, and give the first two to columns 0 to 3, the others to 4 to 7: what is in row g of
 * the first four columns and in row g + 8 of the others adds up to the sum. Four units take turns,
 * each in columns of its own. */
template <typename T, int GROUPS> struct persistent_sums<T, 1, GROUPS, true> {
    static const int APART = 4, CHAINS = GROUPS == 1 ? 4 : 2; /* a product waits for the last one */
    float sum[GROUPS][CHAINS][4] = {};
    typedef uint2 weight;

    static __device__ __forceinline__ weight get(const T *from)
    {
        return *(const weight *)from;
    }

    /* Of unit i, an even one, and the next. */
    template <int UNITS>
    __device__ __forceinline__ void add(int i, const weight (&w)[UNITS][GROUPS],
                                        const float4 (&x)[(UNITS + 3) / 4], int lane)
    {
        if (i % 2 != 0) return;
        const uint2 both = persistent_operand(T(), x[i / 4]);
        uint32_t own = lane < 16 ? both.x : both.y;
        uint32_t first = lane / 4 % 4 == i % 4 ? own : 0;
        uint32_t second = lane / 4 % 4 == i % 4 + 1 ? own : 0;
#pragma unroll
        for (int r = 0; r < GROUPS; r++) {
            const uint32_t a[4] = {w[i][r].x, w[i][r].y, w[i + 1][r].x, w[i + 1][r].y};
            mma_step(T(), sum[r][i / 2 % CHAINS], a, first, second);
        }
    }

    /* Of all lanes with the same rows; and, if MEASURES, what all have measured. No number waits
     * for another one's way from lane to lane. */
    template <bool MEASURES>
    static __device__ __forceinline__ void add_lanes(float (&own)[GROUPS], float2 &measured)
    {
#pragma unroll
        for (int step = 1; step < (MEASURES ? 4 * APART : 4); step *= 2) {
            float other[GROUPS] = {};
            float2 also = make_float2(0.0f, 0.0f);
#pragma unroll
            for (int r = 0; r < GROUPS; r++)
                if (step < 4) other[r] = __shfl_xor_sync(0xffffffffu, own[r], step);
            if (MEASURES) {
                also.x = __shfl_xor_sync(0xffffffffu, measured.x, step);
                also.y = __shfl_xor_sync(0xffffffffu, measured.y, step);
            }
#pragma unroll
            for (int r = 0; r < GROUPS; r++)
                own[r] += other[r];
            measured.x += also.x, measured.y += also.y;
        }
    }

    __device__ __forceinline__ void put(float (*part)[PERSISTENT_PITCH], int count, int lane,
                                        bool measures, float2 &measured)
    {
        float own[GROUPS] = {};
#pragma unroll
        for (int r = 0; r < GROUPS; r++)
#pragma unroll
            for (int chain = 0; chain < CHAINS; chain++) {
                const float(&c)[4] = sum[r][chain];
                own[r] += lane % 4 < 2 ? c[0] + c[1] : c[2] + c[3];
            }
        if (measures)
            add_lanes<true>(own, measured);
        else
            add_lanes<false>(own, measured);
        if (lane % 4 != 0) return;
#pragma unroll
        for (int r = 0; r < GROUPS; r++)
            if (8 * r + lane / 4 < count) part[0][8 * r + lane / 4] = own[r];
    }
};
