/*
 * device_kernels.h - the kernels the harness itself needs on a GPU. Each only
 * enqueues on `stream` (a cudaStream_t) and returns 0, or -1 with assay_error.
 * Their names are plain C, so that the clock can tell them from a variant's.
 */
#ifndef DEVICE_KERNELS_H
#define DEVICE_KERNELS_H

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KERNEL_HOLD_NAME        "assay_hold"
#define KERNEL_FLUSH_READ_NAME  "assay_flush_read"
#define KERNEL_FLUSH_WRITE_NAME "assay_flush_write"

/* Keep one multiprocessor waiting for `ns`: the host gets ahead of the queue.
 * Also the mark behind which a sample's records begin. */
int kernel_hold(void *stream, double ns);

/* The floor. */
int kernel_empty(void *stream);

/* Push everything else out of L2: by reading (the lines left behind are clean)
 * or by writing (they are dirty, and the next kernel pays to evict them). */
int kernel_flush_read(void *stream, const void *buffer, size_t bytes, void *sink);
int kernel_flush_write(void *stream, void *buffer, size_t bytes);

/* fill.h on the device; `hard` is the device's copy of fill->hard. */
int kernel_fill(void *stream, void *memory, enum assay_type type, int64_t count,
                const struct assay_fill *fill, const float *hard, uint64_t seed);

/* Adds the checksum of device.h to *sum (device memory, zeroed before). */
int kernel_checksum(void *stream, const void *memory, size_t bytes, uint64_t *sum);

#ifdef __cplusplus
}
#endif

#endif
