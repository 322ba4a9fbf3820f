/*
 * check_kernels.h - GPU kernels that judge whole outputs. Each function only enqueues on
 * `stream` (a cudaStream_t) and returns 0, or -1 with assay_error. Pointers are to device
 * memory.
 */
#pragma once

#include "assay.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The poison of elements.h over `bytes` bytes; memory is aligned for its words. */
int kernel_poison(void *stream, void *memory, size_t bytes, uint64_t seed);

/* The members of struct unwritten, which *left holds beforehand as 0, 0, INT64_MAX. */
int kernel_unwritten(void *stream, const void *memory, size_t bytes, int size, uint64_t seed,
                     int64_t *left);

/* device_ops.differ; `out` has ASSAY_CHECK_PLACES elements. */
int kernel_differ(void *stream, const void *a, const void *b, enum assay_type type, int64_t count,
                  struct difference *out);

/* device_ops.signed_sums; `sums` has `rows` elements, in device memory. */
int kernel_signed_sums(void *stream, const void *matrix, enum assay_type type, int64_t rows,
                       int64_t columns, uint64_t seed, double *sums);

#ifdef __cplusplus
}
#endif
