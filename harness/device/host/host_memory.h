/*
 * host_memory.h - the memory functions of struct device_ops for devices that use host
 * memory (host and sim), parallel with OpenMP. `device` is not used.
 */
#pragma once

#include "device/device.h"
#include "device/host/host_check.h"

void *host_memory_alloc(struct device *device, size_t bytes);
void host_memory_release(struct device *device, void *memory);
int64_t host_memory_free_bytes(struct device *device);
int host_memory_copy(struct device *device, void *to, const void *from, size_t bytes);
int host_memory_set(struct device *device, void *memory, uint8_t byte, size_t bytes);
int host_memory_fill(struct device *device, void *memory, enum assay_type type, int64_t count,
                     const struct assay_fill *fill, uint64_t seed);
int host_memory_checksum(struct device *device, const void *memory, size_t bytes, uint64_t *sum);

/* These, and those of host_check.h. */
#define HOST_MEMORY_OPS                                                                            \
    .alloc = host_memory_alloc, .release = host_memory_release,                                    \
    .free_bytes = host_memory_free_bytes, .to_host = host_memory_copy,                             \
    .from_host = host_memory_copy, .set = host_memory_set, .poison = host_check_poison,            \
    .unwritten = host_check_unwritten, .copy = host_memory_copy, .differ = host_check_differ,      \
    .signed_sums = host_check_signed_sums, .fill = host_memory_fill,                               \
    .checksum = host_memory_checksum
