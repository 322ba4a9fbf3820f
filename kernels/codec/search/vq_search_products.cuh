/*
 * vq_search_products.cuh - the products of vq_search_mma.cuh on tensor cores, for each type: a
 * policy holds a piece of vectors and codewords as its products take them, and makes those of one
 * step.
 */
#pragma once

#include "kernels/cuda/ampere.cuh"
#include "vq_search.cuh"

enum { MMA_THREADS = 256 };

/* ------------------------------------------------------------ tensor cores -- */

static __device__ __forceinline__ uint32_t mma_tf32(float x)
{
    uint32_t rounded = 0;
#ifdef AMPERE_CODE
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
#else
    __trap();
#endif
    return rounded;
}

/* Two numbers as bf16 in a word, `low` in the lower half. */
static __device__ __forceinline__ uint32_t mma_bf16x2(float low, float high)
{
    uint32_t pair = 0;
#ifdef AMPERE_CODE
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
    __trap();
#endif
    return pair;
}

static __device__ __forceinline__ void mma_m16n8k8(float sum[4], const uint32_t a[4],
                                                   const uint32_t b[2])
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

static __device__ __forceinline__ void mma_m16n8k16(float sum[4], const uint32_t a[4],
                                                    const uint32_t b[2])
{
#ifdef AMPERE_CODE
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    __trap();
#endif
}

/* Returns x, but as the result of an operation, which the compiler cannot simplify (it does not
 * know that blocks have MMA_THREADS threads). A result is written to the register from which
 * products read it. A loaded number stays in the register it was loaded to (CUDA 13.0) and was
 * moved before every product: of 791 instructions for 128 products, 522 were moves. */
static __device__ __forceinline__ uint32_t mma_placed(uint32_t x)
{
    return x & (blockDim.x == MMA_THREADS ? 0xffffffffu : 0);
}

/* ---------------------------------------------------------------- policies -- */

/*
 * A policy defines the type in which four numbers of B (`piece`, converted once by `keep`) and of A
 * (`rows`, written by `put`: 0 for row g, 1 for row g + 8, in the order of the products) are held,
 * and adds the products of one step p. GROUP tiles of 8 codewords are computed side by side.
 */
struct mma_policy_tf32 {
    typedef uint4 piece;
    struct rows {
        uint32_t of[2][4];
    };
    enum { GROUP = 4 };

    static __device__ __forceinline__ piece keep(float4 v)
    {
        return make_uint4(mma_tf32(v.x), mma_tf32(v.y), mma_tf32(v.z), mma_tf32(v.w));
    }

    static __device__ __forceinline__ void put(rows *a, float4 v, int row)
    {
        a->of[0][row] = mma_placed(mma_tf32(v.x));
        a->of[0][2 + row] = mma_placed(mma_tf32(v.y));
        a->of[1][row] = mma_placed(mma_tf32(v.z));
        a->of[1][2 + row] = mma_placed(mma_tf32(v.w));
    }

    template <int MT>
    static __device__ __forceinline__ void step(float sum[MT][GROUP][4], const rows *a, int stride,
                                                const piece b[GROUP])
    {
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int t = 0; t < GROUP; t++)
#pragma unroll
                for (int m = 0; m < MT; m++) {
                    const uint32_t column[2] = {half ? b[t].z : b[t].x, half ? b[t].w : b[t].y};
                    mma_m16n8k8(sum[m][t], a[m * stride].of[half], column);
                }
    }
};

struct mma_policy_bf16 {
    typedef uint2 piece;
    struct rows {
        uint32_t of[4];
    };
    enum { GROUP = 4 };

    static __device__ __forceinline__ piece keep(float4 v)
    {
        return make_uint2(mma_bf16x2(v.x, v.y), mma_bf16x2(v.z, v.w));
    }

    static __device__ __forceinline__ void put(rows *a, float4 v, int row)
    {
        a->of[row] = mma_placed(mma_bf16x2(v.x, v.y));
        a->of[2 + row] = mma_placed(mma_bf16x2(v.z, v.w));
    }

    template <int MT>
    static __device__ __forceinline__ void step(float sum[MT][GROUP][4], const rows *a, int stride,
                                                const piece b[GROUP])
    {
#pragma unroll
        for (int t = 0; t < GROUP; t++)
#pragma unroll
            for (int m = 0; m < MT; m++) {
                const uint32_t column[2] = {b[t].x, b[t].y};
                mma_m16n8k16(sum[m][t], a[m * stride].of, column);
            }
    }
};

/*
 * Three products in tf32 replace one in fp32: x = high + low, each of 11 bits, and
 * a b = a_high b_high + a_high b_low + a_low b_high, with a relative error of about 2^-22 (Markidis
 * et al., "NVIDIA Tensor Core Programmability, Performance & Precision", IPDPS Workshops 2018,
 * section V). Registers and shared memory hold the whole numbers, because both parts would not fit;
 * they are split at each use.
 */
struct mma_policy_3xtf32 {
    typedef float4 piece;
    struct rows {
        float of[2][4];
    };
    enum { GROUP = 2 };

    static __device__ __forceinline__ piece keep(float4 v)
    {
        return v;
    }

    static __device__ __forceinline__ void put(rows *a, float4 v, int row)
    {
        a->of[0][row] = v.x;
        a->of[0][2 + row] = v.y;
        a->of[1][row] = v.z;
        a->of[1][2 + row] = v.w;
    }

    template <int N>
    static __device__ __forceinline__ void split(const float v[N], uint32_t high[N],
                                                 uint32_t low[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            high[i] = mma_tf32(v[i]);
            low[i] = mma_tf32(v[i] - __uint_as_float(high[i]));
        }
    }

    template <int MT>
    static __device__ __forceinline__ void half_step(float sum[MT][GROUP][4], const float a[MT][4],
                                                     const float b[GROUP][2])
    {
        uint32_t a_high[MT][4], a_low[MT][4], b_high[GROUP][2], b_low[GROUP][2];
#pragma unroll
        for (int m = 0; m < MT; m++)
            split<4>(a[m], a_high[m], a_low[m]);
#pragma unroll
        for (int t = 0; t < GROUP; t++)
            split<2>(b[t], b_high[t], b_low[t]);
#pragma unroll
        for (int t = 0; t < GROUP; t++)
#pragma unroll
            for (int m = 0; m < MT; m++)
                mma_m16n8k8(sum[m][t], a_low[m], b_high[t]);
#pragma unroll
        for (int t = 0; t < GROUP; t++)
#pragma unroll
            for (int m = 0; m < MT; m++)
                mma_m16n8k8(sum[m][t], a_high[m], b_low[t]);
#pragma unroll
        for (int t = 0; t < GROUP; t++)
#pragma unroll
            for (int m = 0; m < MT; m++)
                mma_m16n8k8(sum[m][t], a_high[m], b_high[t]);
    }

    template <int MT>
    static __device__ __forceinline__ void step(float sum[MT][GROUP][4], const rows *a, int stride,
                                                const piece b[GROUP])
    {
        float rows_of[MT][4], columns[GROUP][2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    rows_of[m][i] = a[m * stride].of[half][i];
#pragma unroll
            for (int t = 0; t < GROUP; t++) {
                columns[t][0] = half ? b[t].z : b[t].x;
                columns[t][1] = half ? b[t].w : b[t].y;
            }
            half_step<MT>(sum, rows_of, columns);
        }
    }
};
