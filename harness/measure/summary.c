/* summary.c - computes the result of a measurement from its samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "measure/measurement.h"

static int copy_series(struct measurement *measurement, struct samples *out)
{
    size_t n = (size_t)measurement->count;
    out->time_ns = malloc(n * sizeof(float) + 1);
    out->busy_ns = malloc(n * sizeof(float) + 1);
    out->event_ns = malloc(n * sizeof(float) + 1);
    out->mark = malloc(n + 1);
    out->round = measurement->round;
    out->wall_ns = measurement->wall_ns;
    out->wall_round = measurement->wall_round;
    measurement->round = measurement->wall_round = NULL; /* they are the result's now */
    measurement->wall_ns = NULL;
    if (!out->time_ns || !out->busy_ns || !out->event_ns || !out->mark)
        return assay_error("out of host memory for samples");
    out->count = measurement->count;
    out->wall_count = measurement->wall_count;
    for (size_t i = 0; i < n; i++) {
        out->time_ns[i] = (float)measurement->samples[i].time_ns;
        out->busy_ns[i] = (float)measurement->samples[i].busy_ns;
        out->event_ns[i] = (float)measurement->samples[i].event_ns;
        out->mark[i] = measurement->samples[i].mark;
    }
    return 0;
}

/* Copy the unmarked values of a series that are numbers; returns how many. */
static int unmarked(const float *series, const uint8_t *mark, int count, double *out)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if ((mark == NULL || mark[i] == 0) && !isnan(series[i])) out[n++] = series[i];
    return n;
}

/* The median, or NAN for a series without values, which is freed. */
static double median_or_drop(float **series, const uint8_t *mark, int count, double *scratch)
{
    int n = unmarked(*series, mark, count, scratch);
    if (n > 0) return stats_median(scratch, n);
    free(*series);
    *series = NULL;
    return NAN;
}

int measurement_summarise(struct measurement *measurement, const struct measure_context *context)
{
    struct case_result *result = measurement->result;
    struct samples *samples = &result->samples;
    if (copy_series(measurement, samples) < 0) return -1;
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
    context->ops->describe(context->device, &info);
    bool wall = measurement->variant->clock == ASSAY_CLOCK_WALL;
    result->clock = wall                          ? (int32_t)CLOCK_HOST
                    : measurement->code.stretched ? (int32_t)CLOCK_EVENT
                                                  : info.clock;
    result->sm_mhz = measurement->sm_mhz_sum / measurement->state_count;
    result->power_w = measurement->power_w_sum / measurement->state_count;
    result->temperature_c = measurement->temperature_max_c;
    result->energy_mj = measurement->energy_mj;
    snprintf(result->code_hash, sizeof result->code_hash, "%s", measurement->code.hash);
    result->kernels = measurement->code.kernels;
    result->registers = measurement->code.registers;
    result->shared_bytes = measurement->code.shared_bytes;
    result->local_bytes = measurement->code.local_bytes;
    return 0;
}
