/*
 * lattice.cuh - what the lattice kernels share: loads and stores of a block in any
 * type of code, and the choice of an instance.
 *
 * The lattice and q are template arguments, so that every index of a block's array
 * is a constant and the array lives in registers; the rest is uniform and decided
 * at run time.
 */
#pragma once

#include "lattice.h"

enum { LATTICE_THREADS = 256 };

/* What a kernel is called with. */
struct lattice_args {
    const void *in;
    void *out;
    uint8_t *t;          /* NULL where nothing has a T */
    const int *shared_t; /* the tensor's T while it is encoded, else NULL */
    int64_t columns, row_blocks;
    int64_t first, step, count; /* blocks first + i step, i < count */
    int type, overload, levels, block_elements;
    float r, half;
};

static inline struct lattice_args lattice_make_args(const struct assay_call *call,
                                                    const struct lattice_job *job)
{
    struct lattice_args args = {};
    args.in = call->buffer[BUF_IN];
    args.out = call->buffer[BUF_OUT];
    bool has_t = job->overload != OVERLOAD_OFF && job->task != TASK_ROUNDTRIP;
    args.t = has_t ? (uint8_t *)call->buffer[BUF_T] : NULL;
    args.columns = job->columns;
    args.row_blocks = job->row_blocks;
    args.step = 1;
    args.count = job->blocks;
    args.type = job->type;
    args.overload = job->overload;
    args.levels = job->levels;
    args.block_elements = job->block_elements;
    args.r = job->r;
    args.half = job->half;
    return args;
}

static inline unsigned lattice_grid(int64_t items, int64_t per_block)
{
    return (unsigned)((items + per_block - 1) / per_block);
}

/* Call f.run<LATTICE, Q>() for the job's. */
template <int LATTICE, typename F> static inline int lattice_with_q(int q, const F &f)
{
    return q == 2   ? f.template run<LATTICE, 2>()
           : q == 3 ? f.template run<LATTICE, 3>()
                    : f.template run<LATTICE, 4>();
}

template <typename F> static inline int lattice_instance(const struct lattice_job *job, const F &f)
{
    return job->lattice == LATTICE_Z2   ? lattice_with_q<LATTICE_Z2>(job->q, f)
           : job->lattice == LATTICE_A2 ? lattice_with_q<LATTICE_A2>(job->q, f)
           : job->lattice == LATTICE_D4 ? lattice_with_q<LATTICE_D4>(job->q, f)
                                        : lattice_with_q<LATTICE_E8>(job->q, f);
}

/* Announce a kernel for all three operations; the rest are members of assay_variant, with one
 * launch for all. NAME is the variant's, without quotes. */
#define LATTICE_VARIANTS(NAME, SUMMARY, ...)                                                       \
    LATTICE_VARIANT(encode, NAME, SUMMARY, __VA_ARGS__);                                           \
    LATTICE_VARIANT(decode, NAME, SUMMARY, __VA_ARGS__);                                           \
    LATTICE_VARIANT(roundtrip, NAME, SUMMARY, __VA_ARGS__)
#define LATTICE_VARIANT(TASK, NAME, SUMMARY, ...)                                                  \
    static const struct assay_variant NAME##_##TASK = {                                            \
        .operation = "lattice_" #TASK,                                                             \
        .name = #NAME,                                                                             \
        .summary = SUMMARY,                                                                        \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        __VA_ARGS__,                                                                               \
        .model = lattice_model_##TASK,                                                             \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(NAME##_##TASK)

/* ------------------------------------------------------------- one block -- */

/* Where the entries of `block` stand; returns how many there are. */
template <int D>
static __device__ __forceinline__ int lattice_span(const struct lattice_args &a, int64_t block,
                                                   int64_t *offset)
{
    if (a.columns % D == 0) {
        *offset = block * D;
        return D;
    }
    int64_t row = block / a.row_blocks, column = (block - row * a.row_blocks) * D;
    *offset = row * a.columns + column;
    return (int)min((int64_t)D, a.columns - column);
}

/* The low `bytes` of `word` at `to`, which is aligned to them if they are 1, 2, 4 or 8,
 * and to 2 if they are 6. */
static __device__ __forceinline__ void lattice_store_bytes(uint8_t *to, int bytes, uint64_t word)
{
    if (bytes == 8) {
        *(uint64_t *)to = word;
    } else if (bytes == 4) {
        *(uint32_t *)to = (uint32_t)word;
    } else if (bytes == 2) {
        *(uint16_t *)to = (uint16_t)word;
    } else if (bytes == 6) {
        for (int i = 0; i < 3; i++)
            ((uint16_t *)to)[i] = (uint16_t)(word >> (16 * i));
    } else {
        for (int i = 0; i < bytes; i++)
            to[i] = (uint8_t)(word >> (8 * i));
    }
}

static __device__ __forceinline__ uint64_t lattice_load_bytes(const uint8_t *from, int bytes)
{
    if (bytes == 8) return *(const uint64_t *)from;
    if (bytes == 4) return *(const uint32_t *)from;
    if (bytes == 2) return *(const uint16_t *)from;
    uint64_t word = 0;
    if (bytes == 6) {
        for (int i = 0; i < 3; i++)
            word |= (uint64_t)((const uint16_t *)from)[i] << (16 * i);
        return word;
    }
    for (int i = 0; i < bytes; i++)
        word |= (uint64_t)from[i] << (8 * i);
    return word;
}

template <int LATTICE, int Q>
static __device__ __forceinline__ void lattice_put_digits(const struct lattice_args &a,
                                                          int64_t block, uint64_t digits)
{
    int64_t at = block * a.block_elements;
    int count = lattice_d(LATTICE) * a.levels;
    if (a.type == TYPE_PACKED) {
        lattice_store_bytes((uint8_t *)a.out + at, a.block_elements,
                            lattice_pack(Q, count, digits));
        return;
    }
    for (int i = 0; i < count; i++) {
        int digit = (int)(digits >> (2 * i) & 3);
        if (a.type == TYPE_INT8) ((int8_t *)a.out)[at + i] = (int8_t)digit;
        if (a.type == TYPE_INT32) ((int32_t *)a.out)[at + i] = digit;
        if (a.type == TYPE_FP32) ((float *)a.out)[at + i] = (float)digit;
    }
}

template <int LATTICE, int Q>
static __device__ __forceinline__ uint64_t lattice_get_digits(const struct lattice_args &a,
                                                              int64_t block)
{
    int64_t at = block * a.block_elements;
    int count = lattice_d(LATTICE) * a.levels;
    if (a.type == TYPE_PACKED)
        return lattice_unpack(Q, count,
                              lattice_load_bytes((const uint8_t *)a.in + at, a.block_elements));
    uint64_t digits = 0;
    for (int i = 0; i < count; i++) {
        int digit = a.type == TYPE_INT8    ? ((const int8_t *)a.in)[at + i]
                    : a.type == TYPE_INT32 ? ((const int32_t *)a.in)[at + i]
                                           : (int)((const float *)a.in)[at + i];
        digits |= (uint64_t)(digit & 3) << (2 * i);
    }
    return digits;
}

static __device__ __forceinline__ int lattice_get_t(const struct lattice_args &a, int64_t block)
{
    return a.t ? a.t[a.overload == OVERLOAD_TENSOR ? 0 : block] : 0;
}
