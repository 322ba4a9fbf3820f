#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system_file.h"
#include "device/host/host_cache.h"

enum { MAX_PROCESSORS = 4096, MAX_INDEX = 16, TEXT = 256 };

/* Read the first line of a file that describes a cache; false if there is none. */
static bool read_file(const char *root, int processor, int index, const char *name, char text[TEXT])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", processor, index,
             name);
    if (!system_file_read(root, path, text, TEXT) || text[0] == '\0') return false;
    text[strcspn(text, "\n")] = '\0';
    return true;
}

/* "32768K", "1M". */
static int64_t parse_size(const char *text)
{
    char *unit;
    int64_t size = strtoll(text, &unit, 10);
    return *unit == 'K' ? size << 10 : *unit == 'M' ? size << 20 : size;
}

/* The index of a processor's last-level data cache, or -1. */
static int last_index(const char *root, int processor)
{
    char text[TEXT];
    int found = -1;
    long level = 0;
    for (int i = 0; i < MAX_INDEX && read_file(root, processor, i, "level", text); i++) {
        long this_level = strtol(text, NULL, 10);
        bool data = read_file(root, processor, i, "type", text) && strcmp(text, "Instruction") != 0;
        if (!data || this_level <= level) continue;
        found = i;
        level = this_level;
    }
    return found;
}

/* Mark the processors of a list like "0-3,8,10-11". */
static void mark_list(const char *list, bool marked[MAX_PROCESSORS])
{
    char *end;
    for (const char *at = list; *at; at = *end == ',' ? end + 1 : end) {
        long first = strtol(at, &end, 10), last = first;
        if (end == at) return;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long p = first < 0 ? 0 : first; p <= last && p < MAX_PROCESSORS; p++)
            marked[p] = true;
        if (*end != ',' && *end != '\0') return;
    }
}

/* Bytes of the last-level caches of the `usable` processors, each cache counted once. */
static int64_t sum_caches(const char *root, const bool usable[MAX_PROCESSORS])
{
    bool counted[MAX_PROCESSORS] = {false};
    int64_t total = 0;
    for (int p = 0; p < MAX_PROCESSORS; p++) {
        char size[TEXT], list[TEXT];
        if (!usable[p] || counted[p]) continue;
        int index = last_index(root, p);
        if (index < 0 || !read_file(root, p, index, "size", size)) continue;
        if (read_file(root, p, index, "shared_cpu_list", list)) mark_list(list, counted);
        total += parse_size(size);
    }
    return total > 0 ? total : -1;
}

int64_t host_cache_bytes_below(const char *root, int processors)
{
    bool usable[MAX_PROCESSORS];
    for (int p = 0; p < MAX_PROCESSORS; p++)
        usable[p] = p < processors;
    return sum_caches(root, usable);
}

int64_t host_cache_bytes(void)
{
    const size_t size = CPU_ALLOC_SIZE(MAX_PROCESSORS);
    bool usable[MAX_PROCESSORS] = {false};
    cpu_set_t *set = CPU_ALLOC(MAX_PROCESSORS);
    if (set && sched_getaffinity(0, size, set) == 0)
        for (int p = 0; p < MAX_PROCESSORS; p++)
            usable[p] = CPU_ISSET_S(p, size, set);
    CPU_FREE(set);

    int64_t bytes = sum_caches("", usable);
    if (bytes <= 0) bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes <= 0) bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? bytes : -1;
}

/* --------------------------------------------------------------- eviction -- */

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
