/*
 * nvtx.h - named ranges for profilers, domain `assay`: run, group, case,
 * launch. Costs nothing where no profiler listens; empty where the headers
 * were not there to build with.
 */
#ifndef NVTX_H
#define NVTX_H

#include <stdbool.h>

enum nvtx_level { NVTX_RUN, NVTX_GROUP, NVTX_CASE, NVTX_LAUNCH };

/* Whether the headers were there when this was built. */
bool nvtx_is_built(void);

/* Ranges nest; one thread opens and closes them. */
void nvtx_push(enum nvtx_level level, const char *text);
void nvtx_pop(void);

#endif
