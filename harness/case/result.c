#include "case/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const statuses[STATUSES] = {"ok",       "skipped", "wrong",
                                               "unstable", "crashed", "timeout"};
static const char *const clocks[CLOCKS] = {"cupti", "event", "host", "sim"};
static const char *const flushes[FLUSHES] = {"read", "write", "lines"};
static const char *const kinds[] = {"kernel", "baseline", "bound", "reference"};
static const char *const places[] = {"host", "cuda"};
static const char *const temperatures[] = {"cold", "hot"};
static const char *const arithmetics[ASSAY_ARITHMETICS] = {"fp32", "tf32", "bf16",
                                                           "fp16", "int8", "fp64"};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
    PLACES = sizeof places / sizeof *places,
    TEMPERATURES = sizeof temperatures / sizeof *temperatures,
};

static const char *word(const char *const *words, int count, int value)
{
    return value >= 0 && value < count ? words[value] : "";
}

static int parse(const char *const *words, int count, const char *name)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(words[i], name) == 0) return i;
    return -1;
}

static void forget_work(struct assay_work *work)
{
    work->read_bytes = work->write_bytes = NAN;
    for (int i = 0; i < ASSAY_ARITHMETICS; i++)
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

void samples_release(struct samples *samples)
{
    free(samples->time_ns);
    free(samples->busy_ns);
    free(samples->event_ns);
    free(samples->round);
    free(samples->mark);
    free(samples->wall_ns);
    free(samples->wall_round);
    free(samples->span);
    memset(samples, 0, sizeof *samples);
}

const char *status_name(int status)
{
    return word(statuses, STATUSES, status);
}

const char *clock_name(int clock)
{
    return word(clocks, CLOCKS, clock);
}

const char *flush_name(int flush)
{
    return word(flushes, FLUSHES, flush);
}

const char *kind_name(int kind)
{
    return word(kinds, KINDS, kind);
}

const char *place_name(int place)
{
    return word(places, PLACES, place);
}

const char *temperature_name(int temperature)
{
    return word(temperatures, TEMPERATURES, temperature);
}

const char *arithmetic_name(enum assay_arithmetic arithmetic)
{
    return word(arithmetics, ASSAY_ARITHMETICS, (int)arithmetic);
}

int status_parse(const char *name)
{
    return parse(statuses, STATUSES, name);
}

int clock_parse(const char *name)
{
    return parse(clocks, CLOCKS, name);
}

int flush_parse(const char *name)
{
    return parse(flushes, FLUSHES, name);
}

int kind_parse(const char *name)
{
    return parse(kinds, KINDS, name);
}

int place_parse(const char *name)
{
    return parse(places, PLACES, name);
}

int temperature_parse(const char *name)
{
    return parse(temperatures, TEMPERATURES, name);
}
