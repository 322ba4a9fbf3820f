#include <stdlib.h>
#include <string.h>

#include "base/fill.h"
#include "device/host/host_memory.h"

enum { ALIGNMENT = 4096 };

void *host_memory_alloc(struct device *device, size_t bytes)
{
    (void)device;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    if (memory == NULL) assay_error("out of memory: %zu bytes were asked for", bytes);
    return memory;
}

void host_memory_release(struct device *device, void *memory)
{
    (void)device;
    free(memory);
}

/* Unknown, because Linux overcommits memory. A limit on the worker's address space makes
 * excessive allocations fail (worker.c). */
int64_t host_memory_free_bytes(struct device *device)
{
    (void)device;
    return -1;
}

int host_memory_copy(struct device *device, void *to, const void *from, size_t bytes)
{
    (void)device;
    memcpy(to, from, bytes);
    return 0;
}

int host_memory_set(struct device *device, void *memory, uint8_t byte, size_t bytes)
{
    (void)device;
    memset(memory, byte, bytes);
    return 0;
}

int host_memory_fill(struct device *device, void *memory, enum assay_type type, int64_t count,
                     const struct assay_fill *fill, uint64_t seed)
{
    (void)device;
#pragma omp parallel for schedule(static) if (count > 65536)
    for (int64_t i = 0; i < count; i++)
        assay_store(type, memory, i, fill_value(fill, fill->hard, seed, i));
    return 0;
}

/* A sum of words hashed with their positions, so the terms can be added in any order. */
int host_memory_checksum(struct device *device, const void *memory, size_t bytes, uint64_t *sum)
{
    (void)device;
    const char *base = memory;
    int64_t words = (int64_t)(bytes / sizeof(uint64_t));
    uint64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total) if (words > 65536)
    for (int64_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, base + (size_t)i * sizeof word, sizeof word);
        total += fill_hash(word, (uint64_t)i);
    }
    for (size_t i = (size_t)words * sizeof(uint64_t); i < bytes; i++)
        total += fill_hash((unsigned char)base[i], i);
    *sum = total;
    return 0;
}
