/* summary.c - computes the result of a measurement from its samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "measure/measurement.h"

int samples_unmarked(const float *series, const uint8_t *mark, int count, double *out)
{
    int n = 0;
    for (int i = 0; i < count; i++)
        if ((mark == NULL || mark[i] == 0) && !isnan(series[i])) out[n++] = series[i];
    return n;
}

/* The median, or NAN for a series without values, which is freed. */
static double median_or_drop(float **series, const uint8_t *mark, int count, double *scratch)
{
    int n = samples_unmarked(*series, mark, count, scratch);
    if (n > 0) return stats_median(scratch, n);
    free(*series);
    *series = NULL;
    return NAN;
}

int measurement_summarise(struct measurement *measurement, const struct measure_context *context)
{
    struct case_result *result = measurement->result;
    struct samples *samples = &result->samples;
    measurement->samples.span = samples->span;
    measurement->samples.span_count = samples->span_count;
    *samples = measurement->samples;
    measurement->samples = (struct samples){0};
    int longest = samples->count > samples->wall_count ? samples->count : samples->wall_count;
    double *scratch = malloc(((size_t)longest + 1) * sizeof *scratch);
    if (scratch == NULL) return assay_error("out of host memory for samples");

    int n = samples_unmarked(samples->time_ns, samples->mark, samples->count, scratch);
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
    n = samples_unmarked(samples->wall_ns, NULL, samples->wall_count, scratch);
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
    /* It is found by the names of kernels, which twins have alike. */
    bool is_known = context->request->twins.floor <= 0;
    snprintf(result->code_hash, sizeof result->code_hash, "%s",
             is_known ? measurement->code.hash : "");
    result->kernels = measurement->code.kernels;
    result->registers = measurement->code.registers;
    result->shared_bytes = measurement->code.shared_bytes;
    result->local_bytes = measurement->code.local_bytes;
    return 0;
}
