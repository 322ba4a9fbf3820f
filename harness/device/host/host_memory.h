/*
 * host_memory.h - the functions of struct device_ops that allocate, fill and judge memory, for
 * devices that use host memory (host and sim), parallel with OpenMP. `device` is not used.
 */
#pragma once

#include "device/device.h"

void *host_memory_alloc(struct device *device, size_t bytes);
void host_memory_release(struct device *device, void *memory);
int64_t host_memory_free_bytes(struct device *device);
int host_memory_copy(struct device *device, void *to, const void *from, size_t bytes);
int host_memory_set(struct device *device, void *memory, uint8_t byte, size_t bytes);
int host_memory_fill(struct device *device, void *memory, enum assay_type type, int64_t count,
                     const struct assay_fill *fill, uint64_t seed);
int host_memory_checksum(struct device *device, const void *memory, size_t bytes, uint64_t *sum);
int host_memory_poison(struct device *device, void *memory, size_t bytes, uint64_t seed);
int host_memory_unwritten(struct device *device, const void *memory, enum assay_type type,
                          int64_t count, uint64_t seed, struct unwritten *left);
int host_memory_differ(struct device *device, const void *a, const void *b, enum assay_type type,
                       int64_t count, struct difference out[ASSAY_CHECK_PLACES]);
int host_memory_signed_sums(struct device *device, const void *matrix, enum assay_type type,
                            int64_t rows, int64_t columns, uint64_t seed, double *sums);

#define HOST_MEMORY_OPS                                                                            \
    .alloc = host_memory_alloc, .release = host_memory_release,                                    \
    .free_bytes = host_memory_free_bytes, .to_host = host_memory_copy,                             \
    .from_host = host_memory_copy, .set = host_memory_set, .poison = host_memory_poison,           \
    .unwritten = host_memory_unwritten, .copy = host_memory_copy, .differ = host_memory_differ,    \
    .signed_sums = host_memory_signed_sums, .fill = host_memory_fill,                              \
    .checksum = host_memory_checksum
