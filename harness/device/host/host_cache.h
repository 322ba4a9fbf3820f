/*
 * host_cache.h - the last-level cache that this process can use.
 */
#ifndef HOST_CACHE_H
#define HOST_CACHE_H

#include <stdint.h>

/* Bytes of the last-level caches of the processors this process may run on,
 * each cache counted once. The kernel's figures come first: what the C library
 * takes from the processor's registers is the whole package's, of which a
 * virtual machine or a container may have a small part. -1 when nothing tells. */
int64_t host_cache_bytes(void);

/* The same from the files of /sys below `root` ("" is this machine), for the
 * processors 0 to `processors` - 1; -1 when they do not tell. */
int64_t host_cache_bytes_below(const char *root, int processors);

#endif
