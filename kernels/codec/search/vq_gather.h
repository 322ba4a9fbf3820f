/*
 * vq_gather.h - the dims and buffers of the operation `vq_gather`.
 *
 *   out[i] = codebook[code_i], 128 numbers for each of the 64 codes of a leaf
 *
 * `index` is the type that the gather reads, and thus how many passes over memory widen the codes
 * before it: u8 none; i64 one, to int64; chain two, to int64 and on to fp32.
 */
#pragma once

#include "kernels/codec/codec.h"

enum gather_dim { GATHER_LEAVES, GATHER_INDEX };
enum gather_index { GATHER_U8, GATHER_I64, GATHER_CHAIN, GATHER_INDICES };

/* The last two only where the codes are widened. */
enum gather_buffer { GATHER_CODES, GATHER_CODEBOOK, GATHER_OUT, GATHER_WIDE, GATHER_FLOAT };

/* What the baselines write, which fill memory and do not gather: one byte, repeated. */
enum { GATHER_BYTE_WRITTEN = 0x3c };

static inline int64_t gather_vectors(const struct assay_shape *shape)
{
    return LEAF_VECTORS * shape->value[GATHER_LEAVES];
}

static inline size_t gather_out_bytes(const struct assay_shape *shape)
{
    return sizeof(float) * CODEWORD_LENGTH * (size_t)gather_vectors(shape);
}

#ifdef __cplusplus
extern "C" {
#endif

/* The model of the baselines: every byte as above. */
int gather_model_memset(const struct assay_shape *shape, const void *const in[], int buffer,
                        int64_t begin, int64_t end, void *out);

#ifdef __cplusplus
}
#endif
