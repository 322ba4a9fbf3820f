/*
 * counters.h - hardware counters of kernels, through CUPTI's range profiler.
 * (CUPTI's documentation: "CUPTI Range Profiling API", "CUPTI Profiler Host
 * API".) One session at a time, in the worker process, on one thread, while no
 * activity records are made.
 *
 *   counters_open(&counters, names, count, device, max_ranges)
 *   do {
 *       bring the caches into the wanted state; counters_begin;
 *       launch; synchronise; counters_end(counters, &done);
 *   } while (!done);
 *   counters_read(counters, values, &ranges)
 *
 * Only a few counters can be read at once, so the launch is repeated for each pass (CUPTI's
 * user replay). Either each kernel between begin and end is a range, in order of launch, and
 * the kernels are serialised, or all of them together are one range. CUPTI saves and
 * restores no memory between passes, so the launch must be repeatable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct counters;

/* Where the range profiler's headers were not there, counters_open is, and fails. */
#pragma weak counters_close
#pragma weak counters_passes
#pragma weak counters_begin
#pragma weak counters_end
#pragma weak counters_read
#pragma weak counters_unknown

/* What a range is. The kernels of a CUDA graph cannot be counted separately, so the launch
 * of a graph is counted as a whole. */
enum counters_range { COUNTERS_EACH_KERNEL, COUNTERS_WHOLE_LAUNCH };

/* `names[i]` is NVIDIA's name of a metric; one that this GPU does not have reads as NAN.
 * -1 with assay_error when counters may not be read on this machine, or none is known. */
int counters_open(struct counters **out, const char *const *names, int count, int device,
                  enum counters_range range, int max_ranges);
void counters_close(struct counters *counters);

/* How many launches are needed to read the counters. */
int counters_passes(const struct counters *counters);

int counters_begin(struct counters *counters);
int counters_end(struct counters *counters, bool *done);

/* values[range * count + i] is names[i] of a kernel or the launch; *ranges <= max_ranges. */
int counters_read(struct counters *counters, double *values, int *ranges);

/* The names that this GPU does not have, separated by ", "; "" when it has all. */
void counters_unknown(const struct counters *counters, char *out, size_t size);
