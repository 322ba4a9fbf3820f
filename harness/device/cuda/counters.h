/*
 * counters.h - hardware counters of kernels, through CUPTI's range profiler.
 * (CUPTI's documentation: "CUPTI Range Profiling API", "CUPTI Profiler Host
 * API".) One session at a time, in the worker process, on one thread, with no
 * activity records being made.
 *
 *   counters_open(&counters, names, count, device, max_ranges)
 *   do {
 *       put the caches as they are to be; counters_begin;
 *       launch; synchronise; counters_end(counters, &done);
 *   } while (!done);
 *   counters_read(counters, values, &ranges)
 *
 * Few counters can be read at once, so the launch is made again for each pass.
 * Every kernel between begin and end is a range of its own, in order of launch,
 * and the kernels run one by one; or all of them are one range. The caller repeats the launch
 * (CUPTI's user replay), with the caches brought into the same state before each pass; so nothing
 * is saved and restored, and what is launched must bear repeating.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

struct counters;

/* What a range is. A CUDA graph cannot be cut into its kernels while they run, so its
 * launch is counted as a whole. */
enum counters_range { COUNTERS_EACH_KERNEL, COUNTERS_WHOLE_LAUNCH };

/* `names[i]` is a metric by NVIDIA's name; one that this GPU does not know reads
 * as NAN. -1 with assay_error: the counters may not be read here, or none is
 * known. */
int counters_open(struct counters **out, const char *const *names, int count, int device,
                  enum counters_range range, int max_ranges);
void counters_close(struct counters *counters);

/* How many launches the counters take. */
int counters_passes(const struct counters *counters);

int counters_begin(struct counters *counters);
int counters_end(struct counters *counters, bool *done);

/* values[range * count + i] is names[i] of the kernel launched range-th, or of all; *ranges at
 * most max_ranges. */
int counters_read(struct counters *counters, double *values, int *ranges);

/* The names that this GPU does not know, ", " between; "" when all are known. */
void counters_unknown(const struct counters *counters, char *out, size_t size);

#endif
