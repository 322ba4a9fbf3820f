/*
 * nvtx.h - named ranges for profilers in the NVTX domain `assay`: run, group, case,
 * launch. They cost nothing when no profiler is attached, and do nothing in a build
 * without NVTX's headers.
 */
#pragma once

#include <stdbool.h>

enum nvtx_level { NVTX_RUN, NVTX_GROUP, NVTX_CASE, NVTX_LAUNCH };

/* Whether this was built with NVTX's headers. */
bool nvtx_is_built(void);

/* Ranges nest; the same thread opens and closes them. */
void nvtx_push(enum nvtx_level level, const char *text);
void nvtx_pop(void);
