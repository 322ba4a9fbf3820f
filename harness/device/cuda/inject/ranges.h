/*
 * ranges.h - the NVTX ranges of the process that this library is loaded into: each thread has its
 * own stack of those that it pushed. NVTX itself calls in here (InitializeInjectionNvtx2).
 *
 * Ranges that are started and ended by a handle belong to no thread, so no launch is in one.
 */
#pragma once

#include <stdint.h>

/* The range that this thread pushed last and did not pop; 0: none. */
uint32_t ranges_current(void);

/* Its name, which stays; NULL for 0. */
const char *ranges_name(uint32_t number);

/* Call `first` once there is a range, at once if there is one; from any thread, perhaps twice. */
void ranges_watch(void (*first)(void));

/* In a process that was forked: no other thread is there that could hold the lock. */
void ranges_forked(void);
