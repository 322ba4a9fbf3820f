/*
 * device_kernels.h - the harness's own GPU kernels. Each function only enqueues on
 * `stream` (a cudaStream_t) and returns 0, or -1 with assay_error. The kernels have
 * unmangled names, by which spans.c recognises them in the activity records.
 */
#pragma once

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KERNEL_HOLD_NAME        "assay_hold"
#define KERNEL_FLUSH_READ_NAME  "assay_flush_read"
#define KERNEL_FLUSH_WRITE_NAME "assay_flush_write"

/* Occupy the stream for `ns`, so that the host can enqueue ahead. Its record is also the
 * mark after which the records of a sample begin. */
int kernel_hold(void *stream, double ns);

/* Write what the loaded code is to *code, in device memory. */
struct loaded_code {
    int sm;            /* compute capability x 10 that it was compiled for */
    int arch_specific; /* 1: for sm_90a */
};
int kernel_code(void *stream, struct loaded_code *code);

/* An empty kernel: the shortest time that can be measured. */
int kernel_empty(void *stream);

/* Evict everything else from L2, by reading a buffer (which leaves clean lines) or by
 * writing it (which leaves dirty lines that the next kernel must evict). */
int kernel_flush_read(void *stream, const void *buffer, size_t bytes, void *sink);
int kernel_flush_write(void *stream, void *buffer, size_t bytes);

/* fill.h on the device; `hard` is a device copy of fill->hard. */
int kernel_fill(void *stream, void *memory, enum assay_type type, int64_t count,
                const struct assay_fill *fill, const float *hard, uint64_t seed);

/* Add the checksum of device.h to *sum, which is in device memory and zeroed before. */
int kernel_checksum(void *stream, const void *memory, size_t bytes, uint64_t *sum);

/* The poison of elements.h over whole outputs (check_kernels.cu), aligned for its words. */
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
