/*
 * overload_list.cuh - blocks with a T of their own: a first try for all, and a list of those
 * that may be overloaded; and what lookup_encode.cu launches from overload_list.cu.
 */
#pragma once

#include "lattice_round.h"
#include "lattice_vec.cuh"

/* Blocks that are left for the second part, by their number in the thread block's share. */
template <int MOST> struct again_list {
    unsigned count;
    uint16_t block[MOST];

    __device__ __forceinline__ void add(int number)
    {
        block[atomicAdd(&count, 1)] = (uint16_t)number;
    }
};

/* Bit b: block b is lost, or not surely one that fits at T = 0. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ uint32_t may_not_fit(const float x[8], float r)
{
    constexpr int D = lattice_d(LATTICE);
    uint32_t again = 0;
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        float v[D];
        bool sound = lattice_scale(LATTICE, x + b * D, r, v);
        bool fits = round_fits(LATTICE, code_q(CODE), code_levels(CODE), v);
        again |= sound && fits ? 0 : 1u << b;
    }
    return again;
}

/* Block `block` by the definition; its T. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ int try_again(const struct lattice_args &a, int64_t block,
                                                uint64_t *digits)
{
    constexpr int D = lattice_d(LATTICE);
    const float2 *from = (const float2 *)((const float *)a.in + block * D);
    float x[D];
    int t;
#pragma unroll
    for (int j = 0; j < D / 2; j++) {
        float2 two = from[j];
        x[2 * j] = two.x, x[2 * j + 1] = two.y;
    }
    *digits = lattice_encode_block(LATTICE, code_q(CODE), code_levels(CODE), x, a.r, true, &t);
    return t;
}

/* ----------------------------------------------------------- the encoder -- */

/* T of a block that the first kernel leaves to the second; never a final T. */
enum { T_AGAIN = 254 };

struct overload_list_args {
    struct lattice_args a;
    int64_t groups;         /* of eight entries */
    const uint16_t *carry;  /* device memory: c(b) at q4m2; NULL: by the definition (E8) */
    const uint16_t *points; /* device memory, A2 with a T, at most two levels: by packed byte */
    int *most;              /* device memory: the tensor's T; NULL if it has none */
    uint32_t mask;          /* FAST_KEY_MASK */
};

/* Encode: columns a multiple of 8, else any shape. Asynchronous on `stream`. */
int overload_list(const struct lattice_job *job, const struct overload_list_args *args,
                  cudaStream_t stream);

/* The blocks of E8 or D4 at q4m2, packed, whose T is T_AGAIN: code and T. */
int overload_again(const struct lattice_job *job, const struct lattice_args *args,
                   cudaStream_t stream);
