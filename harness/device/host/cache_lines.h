/*
 * cache_lines.h - evicts memory from all CPU caches, line by line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a user program can evict a line on this CPU: clflushopt or clflush on
 * x86-64 (Intel SDM vol. 2A, AMD64 APM vol. 3), DC CIVAC on AArch64 Linux (Arm
 * ARM, D24; the kernel grants it to programs). */
bool cache_lines_can_evict(void);

/* Write back and evict the lines that `bytes` at `memory` touch from the caches of all
 * cores, and wait until that is done. Requires cache_lines_can_evict(). */
void cache_lines_evict(const void *memory, size_t bytes);
