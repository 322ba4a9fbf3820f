#include "case/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/run_record.h"

WORDS(status, "ok", "unchecked", "skipped", "wrong", "unstable", "crashed", "timeout");
WORDS(clock, "cupti", "event", "host", "sim");
WORDS(flush, "read", "write", "lines");
WORDS(kind, "kernel", "baseline", "bound", "reference");
WORDS(place, "host", "cuda");
WORDS(temperature, "cold", "hot");
WORDS(role, "in", "out", "scratch");
WORDS(type, "f32", "f64", "f16", "bf16", "i8", "u8", "i16", "i32", "u32", "i64", "e4m3", "e5m2");
_Static_assert(sizeof type_list / sizeof *type_list == ASSAY_TYPES, "a word for each type");
WORDS(arithmetic, "fp32", "tf32", "bf16", "fp16", "int8", "fp64", "fp8");
_Static_assert(sizeof arithmetic_list / sizeof *arithmetic_list == ARITHMETICS,
               "a word for each arithmetic");

static void forget_work(struct case_work *work)
{
    work->read_bytes = work->write_bytes = NAN;
    for (int i = 0; i < ARITHMETICS; i++)
        work->ops[i] = NAN;
}

void result_init(struct case_result *result)
{
    memset(result, 0, sizeof *result);
    result->status = STATUS_CRASHED;
    result->clock = -1;
    result->time_ns = result->lo_ns = result->hi_ns = NAN;
    result->busy_ns = result->event_ns = result->wall_ns = NAN;
    result->first_call_ns = NAN;
    forget_work(&result->work);
    result->workspace_bytes = -1;
    result->kernels = -1;
    result->energy_mj = result->power_w = NAN;
    result->sm_mhz = result->temperature_c = NAN;
    result->outputs = result->checked = -1;
    result->max_abs_error = result->max_rel_error = result->near_share = NAN;
    for (int i = 0; i < ASSAY_MAX_METRICS; i++)
        result->metrics[i].value = NAN;
    result->registers = result->shared_bytes = result->local_bytes = -1;
}

void result_add_metric(struct case_result *result, const char *name, double value)
{
    struct metric *metric = &result->metrics[result->metric_count++];
    text_copy(metric->name, sizeof metric->name, name);
    metric->value = value;
}

void device_state_init(struct device_state *state)
{
    *state = (struct device_state){NAN, NAN, NAN, NAN, NAN, 0, -1, "", {-1, -1, -1, -1, -1}};
}

void device_info_init(struct device_info *info)
{
    memset(info, 0, sizeof *info);
    info->ecc = info->mig = -1;
    info->sm_mhz_max = info->memory_mhz_max = info->power_limit_w = NAN;
    info->event_floor_ns = info->kernel_floor_ns = info->clock_step_ns = NAN;
}

#define SERIES(name, is_wall)                                                                      \
    {                                                                                              \
#name, offsetof(struct samples, name), sizeof *((struct samples *)0)->name, is_wall        \
    }
const struct sample_series sample_series[SAMPLE_SERIES] = {
    SERIES(time_ns, false), SERIES(busy_ns, false), SERIES(event_ns, false),  SERIES(round, false),
    SERIES(mark, false),    SERIES(wall_ns, true),  SERIES(wall_round, true),
};

void samples_release(struct samples *samples)
{
    for (int i = 0; i < SAMPLE_SERIES; i++)
        free(*series_array(samples, &sample_series[i]));
    free(samples->span);
    memset(samples, 0, sizeof *samples);
}

double interval_spread(double time_ns, double lo_ns, double hi_ns)
{
    /* fmax would take the end that is known for the farther one. */
    if (isnan(lo_ns) || isnan(hi_ns)) return NAN;
    return fmax(hi_ns - time_ns, time_ns - lo_ns) / time_ns;
}

bool result_is_noisy(const struct case_result *result, double most_spread)
{
    return status_has_time(result->status) &&
           interval_spread(result->time_ns, result->lo_ns, result->hi_ns) > most_spread;
}

const struct launch_info *stored_run_launch(const struct stored_run *run, const char *launch_id)
{
    for (int i = 0; i < run->launch_count; i++)
        if (strcmp(run->launches[i].id, launch_id) == 0) return &run->launches[i];
    return NULL;
}

void stored_run_release(struct stored_run *run)
{
    for (int i = 0; i < run->case_count; i++) {
        samples_release(&run->cases[i].result.samples);
        if (run->profiles) free(run->profiles[i]);
    }
    free(run->profiles);
    free(run->cases);
    free(run->launches);
    free(run->suite_text);
    free(run->objects);
    memset(run, 0, sizeof *run);
}
