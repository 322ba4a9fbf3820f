/*
 * codec_expect.h - the buffers of codes and leaves, what must be in them, in double, and how good
 * it is: shared by the network on a batch (codec_encode, codec_decode) and by the pipelines
 * (codec_encode_batch, codec_decode_batch). The weights are codec_weights_default's.
 *
 * What computes returns 0, or -1 with assay_error when out of memory.
 */
#pragma once

#include "codec_net.h"

/* Rounding the operands of convolutions to tf32 may exchange two distances that differ by less than
 * this share of the smaller one. On the host, the rounding alone changed 1 code of 9216, whose
 * distances differed by 3e-4. */
#define CODEC_NEAR_TF32 2e-3

/* A buffer of leaves, as voxels or as codes. As an input, voxels are filled by the operation and
 * codes are random. */
struct assay_buffer codec_leaves_buffer(enum assay_role role, int64_t leaves);
struct assay_buffer codec_codes_buffer(enum assay_role role, int64_t leaves);

/* Codes [begin, end) of the leaves, encoded as search_expect does. */
int codec_expect_codes(const float *leaves, int64_t begin, int64_t end, double relative,
                       double *expected);

/* Voxels [begin, end) of the leaves that are decoded from the codes. */
int codec_expect_voxels(const uint8_t *codes, int64_t begin, int64_t end, double *expected);

/* The cost of a code or a voxel, in multiply-adds (assay_operation.reference_cost), and how many
 * are computed together (reference_run). */
double codec_code_cost(const struct assay_shape *shape);
int64_t codec_code_run(const struct assay_shape *shape);
double codec_voxel_cost(const struct assay_shape *shape);
int64_t codec_voxel_run(const struct assay_shape *shape);

/* assay_operation.match of operations whose output is codes: search_match. */
enum assay_match codec_code_match(const struct assay_shape *shape, int buffer, double expected,
                                  double got);

/* Figures of the codes of `count` leaves. mismatch_rate: codes that are not the exact nearest; mse,
 * psnr_db: of the leaves that the exact decoder makes of the codes, against the
 * input and its range; compression_ratio: bytes of leaves to bytes of codes. Returns
 * how many figures; 0 where there are none. */
int codec_code_quality(const float *leaves, const uint8_t *codes, int64_t count,
                       struct assay_metric out[ASSAY_MAX_METRICS]);
