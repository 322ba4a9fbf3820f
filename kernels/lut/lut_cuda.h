/*
 * lut_cuda.h - what the family's CUDA variants and the baselines share: decoding
 * operands on the device, and the checksum of a result there. Callable from C.
 *
 * Functions that enqueue take the stream as a void pointer, as assay_call has it.
 */
#pragma once

#include "lut.h"

/* With more multiply-adds the harness's reference computes only a sample of the elements. */
#define LUT_WHOLE ((double)(1 << 25))

#ifdef __cplusplus
extern "C" {
#endif

/* The points of a codebook in device memory. */
struct lut_points {
    int8_t *left, *right; /* [count][d]; one allocation, at `left` */
    void *table;          /* E8 with q = 4: short_points.h, where it fits; else NULL */
    int64_t bytes;
};

int lut_points_upload(const struct assay_shape *shape, struct lut_points *points);
void lut_points_release(struct lut_points *points);

/* setup of a variant whose state is a struct lut_points, and teardown of one whose state, from
 * calloc, begins with it and owns nothing else. */
int lut_points_setup(struct assay_call *call);
void lut_points_teardown(struct assay_call *call);

/* Entries of a decoded row: blocks * d, padded with zeros to a multiple of 128. */
int64_t lut_decoded_stride(const struct lut_geometry *geometry);

/* Enqueue: decode `rows` rows of codes at `data` to out[rows][decoded stride]; right: with
 * the metric. */
int lut_decode_i8(const struct lut_geometry *geometry, const void *data, int64_t rows,
                  const struct lut_points *points, bool right, int8_t *out, void *stream);

/* Whether so many rows are decoded by short_points.h in shared memory. */
bool lut_decodes_short(const struct lut_geometry *geometry, int64_t rows,
                       const struct lut_points *points);

/* Enqueue: the same of all of A, `left`, and behind it of all of B, with the metric. */
int lut_decode_operands(const struct lut_geometry *geometry, const void *a, const void *b,
                        const struct lut_points *points, int8_t *out, void *stream);

/* Each enqueues: the same decoding to fp32, for coordinates of any size; of E8 to bf16, without the
 * metric, where the padding of rows is not written; a conversion of fp32 to bf16; both must be
 * exact; errors of at most 1/2 added to every entry, as of operands that were never quantised;
 * int32 sums of products of points converted to C, in place. */
int lut_decode_fp32(const struct lut_geometry *geometry, const void *data, int64_t rows,
                    const struct lut_points *points, bool right, float *out, void *stream);
int lut_decode_bf16(const struct lut_geometry *geometry, const void *data, int64_t rows,
                    const struct lut_points *points, uint16_t *out, void *stream);
int lut_narrow_bf16(const float *in, uint16_t *out, int64_t count, void *stream);
int lut_add_errors(float *entries, int64_t count, void *stream);
int lut_sums_to_c(const struct lut_geometry *geometry, void *c, void *stream);

/* Enqueue: the sums over the rows of B, whose codes are at `data`, added to sums[blocks * d]. */
int lut_column_sums(const struct lut_geometry *geometry, const void *data,
                    const struct lut_points *points, int64_t *sums, void *stream);

/* assay_variant.check where LUT_C holds the products as int32 (lut_model_products): the row sums of
 * up to 16 rows, where the model is compared with a sample only. Scaling off only. */
int lut_check_products(struct assay_call *call);

/* Variants that quantized_linear calls after its own encoding. */
extern const struct assay_variant lut_smem_i8;
extern const struct assay_variant lut_decode_dp4a;
extern const struct assay_variant lut_decode_imma;
extern const struct assay_variant lut_decode_imma_staged;
extern const struct assay_variant lut_decode_mma;
extern const struct assay_variant lut_decode_gemv;
extern const struct assay_variant lut_lookup_mma;
extern const struct assay_variant lut_lookup_mma_cached;

#ifdef __cplusplus
}
#endif
