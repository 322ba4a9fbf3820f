/* summary.c - what a contender's samples come to: its figures and its result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "measure/measurement.h"

static int copy_series(struct contender *contender, struct samples *out)
{
    size_t n = (size_t)contender->count;
    out->time_ns = malloc(n * sizeof(float) + 1);
    out->busy_ns = malloc(n * sizeof(float) + 1);
    out->event_ns = malloc(n * sizeof(float) + 1);
    out->mark = malloc(n + 1);
    out->round = contender->round;
    out->wall_ns = contender->wall_ns;
    out->wall_round = contender->wall_round;
    contender->round = contender->wall_round = NULL; /* they are the result's now */
    contender->wall_ns = NULL;
    if (!out->time_ns || !out->busy_ns || !out->event_ns || !out->mark)
        return assay_error("out of host memory for samples");
    out->count = contender->count;
    out->wall_count = contender->wall_count;
    for (size_t i = 0; i < n; i++) {
        out->time_ns[i] = (float)contender->samples[i].time_ns;
        out->busy_ns[i] = (float)contender->samples[i].busy_ns;
        out->event_ns[i] = (float)contender->samples[i].event_ns;
        out->mark[i] = contender->samples[i].mark;
    }
    return 0;
}

/* Unmarked values of one series that are numbers; returns how many. */
static int unmarked(const float *series, const uint8_t *mark, int count, double *out)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if ((mark == NULL || mark[i] == 0) && !isnan(series[i])) out[n++] = series[i];
    return n;
}

/* A series that no clock wrote is dropped. */
static double median_or_drop(float **series, const uint8_t *mark, int count, double *scratch)
{
    int n = unmarked(*series, mark, count, scratch);
    if (n > 0) return stats_median(scratch, n);
    free(*series);
    *series = NULL;
    return NAN;
}

int contender_summarise(struct contender *contender, const struct ring *ring)
{
    struct case_result *result = contender->result;
    struct samples *samples = &result->samples;
    if (copy_series(contender, samples) < 0) return -1;
    int longest = samples->count > samples->wall_count ? samples->count : samples->wall_count;
    double *scratch = malloc(((size_t)longest + 1) * sizeof *scratch);
    if (scratch == NULL) return assay_error("out of host memory for samples");

    int n = unmarked(samples->time_ns, samples->mark, samples->count, scratch);
    if (2 * n < samples->count) {
        result->status = STATUS_UNSTABLE;
        snprintf(result->reason, sizeof result->reason,
                 "%d of %d samples were marked: the device slowed down or the clock lost them",
                 samples->count - n, samples->count);
    } else {
        struct interval median = stats_median_interval(scratch, n, 0.95);
        result->time_ns = median.mid;
        result->lo_ns = median.lo;
        result->hi_ns = median.hi;
    }
    result->busy_ns = median_or_drop(&samples->busy_ns, samples->mark, samples->count, scratch);
    result->event_ns = median_or_drop(&samples->event_ns, samples->mark, samples->count, scratch);
    n = unmarked(samples->wall_ns, NULL, samples->wall_count, scratch);
    result->wall_ns = n > 0 ? stats_median(scratch, n) : NAN;
    free(scratch);

    struct device_info info;
    ring->ops->describe(ring->device, &info);
    bool wall = contender->variant->clock == ASSAY_CLOCK_WALL;
    result->clock = wall                        ? (int32_t)CLOCK_HOST
                    : contender->code.stretched ? (int32_t)CLOCK_EVENT
                                                : info.clock;
    result->sm_mhz = contender->sm_mhz_sum / contender->state_count;
    result->power_w = contender->power_w_sum / contender->state_count;
    result->temperature_c = contender->temperature_max_c;
    result->energy_mj = contender->energy_mj;
    snprintf(result->code_hash, sizeof result->code_hash, "%s", contender->code.hash);
    result->kernels = contender->code.kernels;
    result->registers = contender->code.registers;
    result->shared_bytes = contender->code.shared_bytes;
    result->local_bytes = contender->code.local_bytes;
    return 0;
}
