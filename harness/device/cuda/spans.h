/*
 * spans.h - computes samples from activity records. Pure.
 *
 * The activities of sample i are those that the host enqueued between mark i (the hold kernel)
 * and the next flush or mark, on whatever stream and however late they ran: the correlation
 * ids of CUPTI count the host's calls. Records without such ids are dealt in order of start.
 * The time of the sample is the span from the first start to the last end; its busy
 * time is the sum over the activities.
 */
#pragma once

#include "device/cuda/cupti.h"
#include "device/device.h"

/* Assign `count` records, sorted by start, to `samples` samples; writes time_ns, busy_ns
 * and mark of each. Lost records would shift the marks, so if `lost` is not 0 or a mark is
 * missing, every sample is marked incomplete. `code` describes the first sample: its number
 * of activities, their code hashes combined in order (`hash` is cupti_code_hash), and the
 * resources of the longest kernel. */
void spans_deal(const struct cupti_record *records, int count, int lost, struct block_sample *out,
                int samples, struct code_seen *code,
                void (*hash)(const char *kernel_name, char out[RESULT_MAX_HASH]));

/* Whether recording lengthened launches of several activities: whether the time of an
 * event pair around the same launches without recording, less the pair's own overhead, is
 * more than 1 % shorter than the recorded span (medians), and by no more than recording adds to
 * so many activities. A pair that is shorter still misses work that the variant left on another
 * stream: that work is part of the span, and the span is the time. */
bool spans_stretched(const struct block_sample *samples, const double *event_ns, int count,
                     int activities, double event_overhead_ns);
