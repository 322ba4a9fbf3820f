#include "device/host/cache_lines.h"

#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

enum { CLFLUSH_IN_EDX = 1 << 19, CLFLUSHOPT_IN_EBX = 1 << 23 };

static bool has_clflushopt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CLFLUSHOPT_IN_EBX);
}

bool cache_lines_can_evict(void)
{
    unsigned a, b, c, d;
    return has_clflushopt() || (__get_cpuid(1, &a, &b, &c, &d) && (d & CLFLUSH_IN_EDX));
}

static size_t line_bytes(void)
{
    unsigned a, b, c, d;
    size_t line = __get_cpuid(1, &a, &b, &c, &d) ? (b >> 8 & 0xff) * 8 : 0;
    return line ? line : 64;
}

/* Unlike clflush, clflushopt is not ordered: many lines can be in flight. */
__attribute__((target("clflushopt"))) static void evict_unordered(const char *from, const char *to,
                                                                  size_t line)
{
    for (const char *at = from; at < to; at += line)
        _mm_clflushopt((void *)(uintptr_t)at);
}

static void evict_ordered(const char *from, const char *to, size_t line)
{
    for (const char *at = from; at < to; at += line)
        _mm_clflush(at);
}

static void evict(const char *from, const char *to, size_t line)
{
    (has_clflushopt() ? evict_unordered : evict_ordered)(from, to, line);
    _mm_mfence();
}

#elif defined(__aarch64__) && defined(__linux__)

bool cache_lines_can_evict(void)
{
    return true;
}

/* CTR_EL0.DminLine: log2 of the words in the smallest line. */
static size_t line_bytes(void)
{
    uint64_t type;
    __asm__("mrs %0, ctr_el0" : "=r"(type));
    return (size_t)4 << (type >> 16 & 0xf);
}

static void evict(const char *from, const char *to, size_t line)
{
    for (const char *at = from; at < to; at += line)
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
}

#else

bool cache_lines_can_evict(void)
{
    return false;
}

static size_t line_bytes(void)
{
    return 64;
}

static void evict(const char *from, const char *to, size_t line)
{
    (void)from, (void)to, (void)line;
}

#endif

/* Several threads only for large memory: waiting for a thread that is not scheduled takes
 * longer than evicting a few thousand lines. Each thread waits for its own evictions. */
void cache_lines_evict(const void *memory, size_t bytes)
{
    enum { CHUNK = 1 << 20, MANY_CHUNKS = 8 };
    const size_t line = line_bytes();
    const char *begin = (const char *)((uintptr_t)memory / line * line);
    const char *end = (const char *)memory + bytes;
    const int64_t chunks = (int64_t)((size_t)(end - begin) + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static) if (chunks > MANY_CHUNKS)
    for (int64_t i = 0; i < chunks; i++) {
        const char *from = begin + i * CHUNK;
        evict(from, end - from < CHUNK ? end : from + CHUNK, line);
    }
}
