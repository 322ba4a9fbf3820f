/*
 * lattice_vec.cuh - eight entries per thread: 8 / d blocks, two loads of 16 bytes, and
 * one store of the packed digits of all. Code is a template argument too, so that
 * the level loop unrolls and the store has one width.
 */
#pragma once

#include "lattice.cuh"
#include "lattice_points.h"

enum { VEC_ENTRIES = 8 };

/* Why a shape is not for eight entries per thread, or NULL. */
static inline const char *lattice_vec_supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.columns % VEC_ENTRIES) return "columns must be a multiple of 8";
    if (job.type != TYPE_PACKED) return "packed codes only";
    if (job.overload == OVERLOAD_TENSOR && job.task != TASK_DECODE)
        return "cannot find one T for the whole tensor";
    return NULL;
}

/* Bytes of the packed codes of eight entries. */
template <int LATTICE, int CODE> static __host__ __device__ constexpr int vec_bytes()
{
    return VEC_ENTRIES / lattice_d(LATTICE) * points_block_bytes(LATTICE, CODE);
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

/* The count of groups of eight entries. */
static inline int64_t vec_groups(const struct lattice_job *job)
{
    return job->rows * job->columns / VEC_ENTRIES;
}
