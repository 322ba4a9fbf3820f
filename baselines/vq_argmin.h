/*
 * vq_argmin.h - the second step of `vq_search` by a library: from the products of vectors and
 * codewords in memory to the index of the nearest codeword (vq_argmin.cu).
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue on `stream`, a cudaStream_t: half[k] = |e_k|^2 / 2. */
int vq_norms_enqueue(const float *codebook, float *half, void *stream);

/* Enqueue: index[i] = argmin over k of half[k] - product[256 i + k]. */
int vq_argmin_enqueue(const float *product, const float *half, uint8_t *index, int64_t vectors,
                      void *stream);

#ifdef __cplusplus
}
#endif
