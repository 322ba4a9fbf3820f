/*
 * vq_search.h - the dims and buffers of the operation `vq_search`, and how its reference recognises
 * a near tie.
 *
 *   index[i] = the lowest k that minimises |z_i - e_k|^2, k = 0 to 255
 *
 * A vector with a NaN has no nearest codeword; its index is 0. Kernels compare h_k - z.e_k with h_k
 * = |e_k|^2 / 2, which orders the codewords in the same way.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum search_dim { SEARCH_LEAVES, SEARCH_TYPE };
enum search_type { SEARCH_FP32, SEARCH_TF32, SEARCH_BF16, SEARCH_TYPES };
enum search_buffer { SEARCH_Z, SEARCH_CODEBOOK, SEARCH_INDEX };

static inline int64_t search_vectors(const struct assay_shape *shape)
{
    return LEAF_VECTORS * shape->value[SEARCH_LEAVES];
}

/* assay_variant.supports of variants for one type. */
static inline const char *search_only_fp32(const struct assay_shape *shape)
{
    return shape->value[SEARCH_TYPE] == SEARCH_FP32 ? NULL : "type fp32 only";
}

static inline const char *search_only_tf32(const struct assay_shape *shape)
{
    return shape->value[SEARCH_TYPE] == SEARCH_TF32 ? NULL : "type tf32 only";
}

static inline const char *search_only_bf16(const struct assay_shape *shape)
{
    return shape->value[SEARCH_TYPE] == SEARCH_BF16 ? NULL : "type bf16 only";
}

/*
 * The expected result for one vector, encoded in one number for assay_operation.match. The integer
 * part is the nearest codeword. The fraction has up to five base-256 digits, one for each rival
 * within the tolerance, nearest first, xored with the nearest codeword so that no digit is 0. Those
 * are 48 bits, which a double holds exactly. No correct kernel returns a sixth rival.
 */
enum { SEARCH_RIVALS = 5 };

/* `distance` holds the codewords' distances from one vector. `relative` is the tolerance: k is a
 * rival of the nearest n if d_k - d_n < relative d_n. */
double search_expect(const double distance[CODEWORDS], double relative);

/* EXACT for the nearest, NEAR for a rival. */
enum assay_match search_match(double expected, double got);

/* |z - e_k|^2 for every codeword, in double. */
void search_distances(const float *z, const float *codebook, double distance[CODEWORDS]);

/* The kernel `best` for others: what a variant's shared_bytes adds to its own; allow its shared
 * memory once in setup, then enqueue on `stream`, a cudaStream_t. */
int64_t vq_search_shared_bytes(void);
int vq_search_prepare(enum search_type type);
int vq_search_enqueue(const float *z, const float *codebook, uint8_t *index, int64_t leaves,
                      enum search_type type, void *stream);

#ifdef __cplusplus
}
#endif
