#include <stdlib.h>
#include <string.h>

#include "device/elements.h"
#include "device/host/host_memory.h"

enum { ALIGNMENT = 4096, WORD = sizeof(uint64_t), PARALLEL_WORDS = 65536 };

/* Gigabytes are hashed several times for a case: with the multiplication of 64-bit integers that
 * AVX-512 has, in a third of the time. */
#if defined(__x86_64__)
#define WIDEST __attribute__((target_clones("arch=x86-64-v4", "default")))
#else
#define WIDEST
#endif

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

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
#pragma omp parallel for schedule(static) if (count > PARALLEL_WORDS)
    for (int64_t i = 0; i < count; i++)
        assay_store(type, memory, i, fill_value(fill, fill->hard, seed, i));
    return 0;
}

WIDEST static uint64_t hash_words(const char *base, int64_t begin, int64_t end)
{
    uint64_t total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = begin; i < end; i++) {
        uint64_t word;
        memcpy(&word, base + i * WORD, WORD);
        total += fill_hash(word, (uint64_t)i);
    }
    return total;
}

/* A sum of words hashed with their positions, so the terms can be added in any order. */
int host_memory_checksum(struct device *device, const void *memory, size_t bytes, uint64_t *sum)
{
    (void)device;
    const char *base = memory;
    int64_t words = (int64_t)(bytes / WORD);
    uint64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total) if (words > PARALLEL_WORDS)
    for (int64_t begin = 0; begin < words; begin += PARALLEL_WORDS)
        total += hash_words(base, begin, lesser(begin + PARALLEL_WORDS, words));
    for (size_t i = (size_t)words * WORD; i < bytes; i++)
        total += fill_hash((unsigned char)base[i], i);
    *sum = total;
    return 0;
}

/* --------------------------------------------------------- whole outputs -- */

WIDEST static void poison_words(char *base, uint64_t seed, int64_t begin, int64_t end)
{
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        uint64_t word = poison_word(seed, i);
        memcpy(base + i * WORD, &word, WORD);
    }
}

int host_memory_poison(struct device *device, void *memory, size_t bytes, uint64_t seed)
{
    (void)device;
    int64_t words = (int64_t)(bytes / WORD);
#pragma omp parallel for schedule(static) if (words > PARALLEL_WORDS)
    for (int64_t begin = 0; begin < words; begin += PARALLEL_WORDS)
        poison_words(memory, seed, begin, lesser(begin + PARALLEL_WORDS, words));
    uint64_t last = poison_word(seed, words);
    memcpy((char *)memory + words * WORD, &last, bytes % WORD);
    return 0;
}

int host_memory_unwritten(struct device *device, const void *memory, enum assay_type type,
                          int64_t count, uint64_t seed, struct unwritten *left)
{
    (void)device;
    int size = (int)assay_type_bytes(type);
    size_t bytes = (size_t)count * (size_t)size;
    int64_t words = (int64_t)((bytes + WORD - 1) / WORD);
    int64_t whole = 0, elements = 0, first = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(+ : whole, elements) reduction(min : first) if (words > PARALLEL_WORDS)
    for (int64_t i = 0; i < words; i++) {
        uint64_t word = 0, poison = poison_word(seed, i);
        size_t at = (size_t)i * WORD, here = bytes - at < WORD ? bytes - at : WORD;
        memcpy(&word, (const char *)memory + at, here);
        elements += poison_left(word, poison, size, (int)here / size);
        if (word != poison) continue;
        whole++;
        if (i < first) first = i;
    }
    *left = (struct unwritten){whole, elements, first};
    return 0;
}

int host_memory_differ(struct device *device, const void *a, const void *b, enum assay_type type,
                       int64_t count, struct difference out[ASSAY_CHECK_PLACES])
{
    (void)device;
    size_t size = assay_type_bytes(type);
#pragma omp parallel for schedule(static) if (count > PARALLEL_WORDS)
    for (int64_t part = 0; part < ASSAY_CHECK_PLACES; part++) {
        int64_t begin = part * count / ASSAY_CHECK_PLACES;
        int64_t end = (part + 1) * count / ASSAY_CHECK_PLACES;
        out[part] = (struct difference){begin, 0};
        size_t from = (size_t)begin * size, bytes = (size_t)(end - begin) * size;
        if (memcmp((const char *)a + from, (const char *)b + from, bytes) == 0) continue;
        for (int64_t i = begin; i < end; i++) {
            size_t at = (size_t)i * size;
            if (memcmp((const char *)a + at, (const char *)b + at, size) == 0) continue;
            double by = difference_of(assay_load(type, a, i), assay_load(type, b, i));
            if (by > out[part].by) out[part] = (struct difference){i, by};
        }
    }
    return 0;
}

int host_memory_signed_sums(struct device *device, const void *matrix, enum assay_type type,
                            int64_t rows, int64_t columns, uint64_t seed, double *sums)
{
    (void)device;
#pragma omp parallel for schedule(static) if (rows * columns > PARALLEL_WORDS)
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++)
            sum += sign_of(seed, j) * assay_load(type, matrix, i * columns + j);
        sums[i] = sum;
    }
    return 0;
}
