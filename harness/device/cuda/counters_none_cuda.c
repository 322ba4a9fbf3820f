/*
 * counters_none_cuda.c - counters.h for builds without CUPTI's range profiler (before
 * CUDA 12.6): every call says that there are no counters.
 */
#include "device/cuda/counters.h"

#if !__has_include(<cupti_range_profiler.h>)

int counters_open(struct counters **out, const char *const *names, int count, int device,
                  enum counters_range range, int max_ranges)
{
    (void)names, (void)count, (void)device, (void)range, (void)max_ranges;
    *out = NULL;
    return assay_error("built without CUPTI's range profiler (CUDA 12.6 or later)");
}

void counters_close(struct counters *counters)
{
    (void)counters;
}

int counters_passes(const struct counters *counters)
{
    (void)counters;
    return 0;
}

int counters_begin(struct counters *counters)
{
    (void)counters;
    return -1;
}

int counters_end(struct counters *counters, bool *done)
{
    (void)counters, (void)done;
    return -1;
}

int counters_read(struct counters *counters, double *values, int *ranges)
{
    (void)counters, (void)values;
    *ranges = 0;
    return -1;
}

void counters_unknown(const struct counters *counters, char *out, size_t size)
{
    (void)counters;
    if (size > 0) out[0] = '\0';
}

#endif
