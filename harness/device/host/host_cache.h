/*
 * host_cache.h - the caches of the CPU: the size of the last-level one that this process can use,
 * and the eviction of memory from all of them, line by line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Total size of the last-level caches of the processors this process may run on, each
 * cache counted once. Uses the kernel's figures in /sys first: those of the C library come
 * from CPUID and describe the whole package, of which a virtual machine or container may
 * have a small part. -1 if unknown. */
int64_t host_cache_bytes(void);

/* The same from /sys below `root`, for processors 0 to `processors` - 1; for the tests. */
int64_t host_cache_bytes_below(const char *root, int processors);

/* Whether a user program can evict a line on this CPU: clflushopt or clflush on
 * x86-64 (Intel SDM vol. 2A, AMD64 APM vol. 3), DC CIVAC on AArch64 Linux (Arm
 * ARM, D24; the kernel grants it to programs). */
bool cache_lines_can_evict(void);

/* Write back and evict the lines that `bytes` at `memory` touch from the caches of all
 * cores, and wait until that is done. Requires cache_lines_can_evict(). */
void cache_lines_evict(const void *memory, size_t bytes);
