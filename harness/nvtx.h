/*
 * nvtx.h - named ranges for profilers, domain `assay`: run, group, case,
 * launch. Costs nothing where no profiler listens; empty where the headers
 * were not there to build with.
 */
#ifndef NVTX_H
#define NVTX_H

enum nvtx_level { NVTX_RUN, NVTX_GROUP, NVTX_CASE, NVTX_LAUNCH };

void nvtx_push(enum nvtx_level level, const char *text);
void nvtx_pop(void);

#endif
