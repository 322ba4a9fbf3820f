/*
 * spans.h - from the device's records to samples. Pure.
 *
 * Sample i's activities stand between mark i (the hold kernel) and the next
 * flush or mark. Its time is the span from the first start to the last end; the
 * busy time is the sum over its activities.
 */
#ifndef SPANS_H
#define SPANS_H

#include "device/cuda/cupti.h"
#include "device/device.h"

/* Deal `count` records, in order of start, out to `samples` samples; time_ns,
 * busy_ns and mark of each are written. `lost` records shift the marks: then,
 * and when a mark is missing, every sample is marked incomplete. `code` tells
 * of the first sample: how many activities, their code hashed together in order
 * (through `hash`, as cupti_code_hash), the resources of the longest. */
void spans_deal(const struct cupti_record *records, int count, int lost, struct block_sample *out,
                int samples, struct code_seen *code,
                void (*hash)(const char *kernel_name, char out[RESULT_MAX_HASH]));

/* Nothing seen. */
void code_seen_clear(struct code_seen *code);

/* Whether recording stretched launches of several activities: an event pair
 * around the same launches, not recorded, less what the pair itself takes,
 * is shorter by more than a hundredth of the span (medians). */
bool spans_stretched(const struct block_sample *samples, const double *event_ns, int count,
                     double event_overhead_ns);

#endif
