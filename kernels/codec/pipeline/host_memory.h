/*
 * host_memory.h - how much host memory is left, so that a case which needs more is skipped.
 * Linux grants more memory than it has and kills the process that then uses it, so the case
 * must ask first.
 */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes left: the smaller of the system's MemAvailable and what the control group (version 2)
 * has left under its limit, reclaimable file cache included. `root` is "" except in tests.
 * INT64_MAX where neither is known. */
int64_t host_memory_left(const char *root);

/* 0; or ASSAY_SKIP with assay_error where less than `bytes` and a reserve of 1 GiB is left.
 * `what` is a plural: "batches". */
int host_memory_check(int64_t bytes, const char *what);

#ifdef __cplusplus
}
#endif
