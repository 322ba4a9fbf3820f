/*
 * lattice_vec.cuh - eight entries per thread: 8 / d blocks, two loads of 16 bytes, and
 * one store of the packed digits of all. Code is a template argument too, so that
 * the level loop unrolls and the store has one width.
 */
#pragma once

#include "lattice.cuh"
#include "lattice_points.h"

enum { VEC_ENTRIES = 8 };

/* Whether a code is one of the two published ones. What was behind `best` with these is not
 * compiled for the others. */
static constexpr bool vec_is_published(int code)
{
    return code == CODE_Q2M1 || code == CODE_Q4M2;
}

/* Why a shape is not for eight entries per thread, or NULL. */
static inline const char *lattice_vec_supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.columns % VEC_ENTRIES) return "columns must be a multiple of 8";
    if (job.type != TYPE_PACKED) return "packed codes only";
    if (job.overload == OVERLOAD_TENSOR) return "no scale for the whole tensor";
    return NULL;
}

/* Bytes of the packed codes of eight entries. */
template <int LATTICE, int CODE> static __host__ __device__ constexpr int vec_bytes()
{
    return VEC_ENTRIES / lattice_d(LATTICE) * points_block_bytes(LATTICE, CODE);
}

/* Packed codes of the eight entries of `x`; T of block b at t[b]. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ uint64_t vec_encode(const struct lattice_args &a,
                                                      const float x[8], int t[])
{
    constexpr int D = lattice_d(LATTICE), Q = code_q(CODE), LEVELS = code_levels(CODE);
    const int bytes = vec_bytes<LATTICE, CODE>() * D / 8;
    uint64_t word = 0;
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        uint64_t digits = lattice_encode_block(LATTICE, Q, LEVELS, x + b * D, a.r,
                                               a.overload == OVERLOAD_BLOCK, &t[b]);
        word |= lattice_pack(Q, D * LEVELS, digits) << (8 * bytes * b);
    }
    return word;
}

/* Its inverse: eight entries of the packed codes `word`. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ void vec_decode(const struct lattice_args &a, uint64_t word,
                                                  const int t[], float x[8])
{
    constexpr int D = lattice_d(LATTICE), Q = code_q(CODE), LEVELS = code_levels(CODE);
    constexpr int BITS = 8 * points_block_bytes(LATTICE, CODE);
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        /* Radix 3 reads the whole number: the next block's bytes must not be in it. */
        uint64_t packed = word >> (BITS * b);
        if (D < 8) packed &= ((uint64_t)1 << BITS) - 1;
        uint64_t digits = lattice_unpack(Q, D * LEVELS, packed);
        lattice_decode_block(LATTICE, Q, LEVELS, digits, a.half, t[b], x + b * D);
    }
}

static __device__ __forceinline__ void vec_load(const float *x, float out[8])
{
    float4 low = *(const float4 *)x, high = *(const float4 *)(x + 4);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

static __device__ __forceinline__ void vec_store(float *y, const float in[8])
{
    *(float4 *)y = make_float4(in[0], in[1], in[2], in[3]);
    *(float4 *)(y + 4) = make_float4(in[4], in[5], in[6], in[7]);
}

/* Call f.run<LATTICE, CODE>() for the job's. */
template <int LATTICE, typename F> static inline int vec_with_code(int code, const F &f)
{
    return code == CODE_Q2M1   ? f.template run<LATTICE, CODE_Q2M1>()
           : code == CODE_Q4M1 ? f.template run<LATTICE, CODE_Q4M1>()
           : code == CODE_Q4M2 ? f.template run<LATTICE, CODE_Q4M2>()
           : code == CODE_Q3M2 ? f.template run<LATTICE, CODE_Q3M2>()
                               : f.template run<LATTICE, CODE_Q4M3>();
}

template <typename F> static inline int vec_instance(const struct lattice_job *job, const F &f)
{
    return job->lattice == LATTICE_Z2   ? vec_with_code<LATTICE_Z2>(job->code, f)
           : job->lattice == LATTICE_A2 ? vec_with_code<LATTICE_A2>(job->code, f)
           : job->lattice == LATTICE_D4 ? vec_with_code<LATTICE_D4>(job->code, f)
                                        : vec_with_code<LATTICE_E8>(job->code, f);
}

/* fused_vec's launch, for a `best` that has nothing faster for a shape. */
int lattice_fused_vec(struct assay_call *call);

/* The count of groups of eight entries. */
static inline int64_t vec_groups(const struct lattice_job *job)
{
    return job->rows * job->columns / VEC_ENTRIES;
}
