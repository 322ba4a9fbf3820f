/*
 * vq_gather.h - the dims and buffers of the operation `vq_gather`.
 *
 *   out[i] = codebook[code_i], 128 numbers for each of the 64 codes of a leaf
 *
 * `index` says which type the gather reads the codes in, and so how many passes over memory widen
 * them first: none for u8; one for i64, to int64; two for chain, to int64 and then to fp32.
 */
#pragma once

#include "kernels/codec/codec.h"

enum gather_dim { GATHER_LEAVES, GATHER_INDEX };
enum gather_index { GATHER_U8, GATHER_I64, GATHER_CHAIN, GATHER_INDICES };

/* The last two exist only where the codes are widened. */
enum gather_buffer { GATHER_CODES, GATHER_CODEBOOK, GATHER_OUT, GATHER_WIDE, GATHER_FLOAT };

/* The baselines fill memory instead of gathering: this is the byte that they write. */
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

/* assay_variant.model of those baselines: all bytes are GATHER_BYTE_WRITTEN. */
int gather_model_memset(const struct assay_shape *shape, const void *const in[], int buffer,
                        int64_t begin, int64_t end, void *out);

#ifdef __cplusplus
}
#endif
