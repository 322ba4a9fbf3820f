/*
 * codec_unfused.h - the steps of the unfused network that have no operation of their own.
 * Activations are [leaves][channels][voxels]. All calls enqueue on a cudaStream_t.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x += scale t. */
int unfused_add(float *x, const float *t, float scale, int64_t count, void *stream);

/* Transpose x [leaves][128][64] to the vectors y [leaves][64][128], for the search. */
int unfused_vectors(const float *x, float *y, int64_t leaves, void *stream);

/* y [leaves][128][64] = the codewords of 64 codes per leaf. */
int unfused_codewords(const uint8_t *codes, const float *codebook, float *y, int64_t leaves,
                      void *stream);

#ifdef __cplusplus
}
#endif
