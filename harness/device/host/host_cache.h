/*
 * host_cache.h - the size of the last-level cache that this process can use.
 */
#pragma once

#include <stdint.h>

/* Total size of the last-level caches of the processors this process may run on, each
 * cache counted once. Uses the kernel's figures in /sys first: those of the C library come
 * from CPUID and describe the whole package, of which a virtual machine or container may
 * have a small part. -1 if unknown. */
int64_t host_cache_bytes(void);

/* The same from the files of /sys below `root`, for processors 0 to `processors` - 1; for
 * the tests. */
int64_t host_cache_bytes_below(const char *root, int processors);
