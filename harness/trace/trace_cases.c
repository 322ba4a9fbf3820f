#include "trace/trace_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "device/demangle.h"
#include "store/exchange/store_foreign.h"

/* --------------------------------------------------------------- devices -- */

static bool is_used(const struct trace *trace, int device)
{
    for (int i = 0; i < trace->kernel_count; i++)
        if (trace->kernels[i].device == device) return true;
    return false;
}

static double device_ns(const struct trace *trace, int device)
{
    double sum = 0;
    for (int i = 0; i < trace->kernel_count; i++)
        if (trace->kernels[i].device == device) sum += (double)trace->kernels[i].total_ns;
    return sum;
}

int trace_main_device(const struct trace *trace)
{
    int most = -1;
    for (int i = 0; i < trace->device_count; i++)
        if (is_used(trace, i) && (most < 0 || device_ns(trace, i) > device_ns(trace, most)))
            most = i;
    return most;
}

/* By UUID among those that ran kernels: the same in each run; -1: it is the only one. */
static int device_number(const struct trace *trace, int device)
{
    int number = 0, used = 0;
    for (int i = 0; i < trace->device_count; i++) {
        if (!is_used(trace, i)) continue;
        used++;
        number += strcmp(trace->devices[i].uuid, trace->devices[device].uuid) < 0;
    }
    return used > 1 ? number : -1;
}

void trace_device_info(const struct trace_device *device, struct device_info *info)
{
    device_info_init(info);
    info->place = ASSAY_CUDA;
    info->clock = CLOCK_CUPTI;
    info->flush = FLUSH_READ; /* the column wants one; nothing is flushed */
    snprintf(info->spec, sizeof info->spec, "cuda:%d", device->ordinal);
    snprintf(info->name, sizeof info->name, "%s", device->name);
    snprintf(info->uuid, sizeof info->uuid, "%s", device->uuid);
    info->compute_capability = device->compute_capability;
    info->multiprocessors = device->multiprocessors;
    info->l1_bytes = device->l1_bytes;
    info->cache_bytes = device->cache_bytes;
    info->memory_bytes = device->memory_bytes;
}

/* ----------------------------------------------------------------- names -- */

struct named {
    const char *whole;
    char readable[4096]; /* without what a case is not called by */
    char *out;
    size_t size;
};

static int by_readable(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->readable, y->readable);
    return order ? order : strcmp(x->whole, y->whole);
}

/* Whole where it fits and is the only one; else its beginning and a hash of the whole. */
static void name_write(const struct named *named, bool is_shared)
{
    if (is_shared || text_copy(named->out, named->size, named->readable) != 0)
        foreign_name_hashed(named->out, named->size, named->readable, named->whole);
}

static void names_write(struct named *named, int count)
{
    qsort(named, (size_t)count, sizeof *named, by_readable);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !strcmp(named[end].readable, named[i].readable);)
            end++;
        bool is_shared = strcmp(named[i].whole, named[end - 1].whole) != 0;
        for (int j = i; j < end; j++)
            name_write(&named[j], is_shared);
    }
}

static void kernel_named(struct trace_case *of, struct named *named)
{
    char mangled[sizeof named->readable], demangled[sizeof named->readable];
    named->whole = of->kernel->kernel;
    named->out = of->result.id.variant;
    named->size = sizeof of->result.id.variant;
    text_printable(mangled, sizeof mangled, named->whole, "");
    demangle(mangled, demangled, sizeof demangled);
    kernel_short_name(demangled, named->readable, sizeof named->readable);
}

static void range_named(struct trace_case *of, struct named *named)
{
    char range[RESULT_MAX_SHAPE];
    named->whole = of->kernel->range;
    named->out = of->result.id.shape;
    named->size = sizeof of->result.id.shape;
    text_printable(range, sizeof range, named->whole, "");
    if (range[0]) foreign_shape_add(named->readable, "range", range);
}

/* Names of one kind: a kernel has one in all of its ranges, and a range one for all its kernels. */
static int name_all(struct trace_cases *cases,
                    void (*describe)(struct trace_case *of, struct named *))
{
    struct named *named = calloc((size_t)cases->count + 1, sizeof *named);
    if (!named) return assay_error("out of memory for the kernels' names");
    for (int i = 0; i < cases->count; i++)
        describe(&cases->list[i], &named[i]);
    names_write(named, cases->count);
    free(named);
    return 0;
}

static void number_devices(struct trace_cases *cases, const struct trace *trace)
{
    char number[16];
    for (int i = 0; i < cases->count; i++) {
        int device = device_number(trace, cases->list[i].kernel->device);
        snprintf(number, sizeof number, "%d", device);
        if (device >= 0) foreign_shape_add(cases->list[i].result.id.shape, "gpu", number);
    }
}

/* --------------------------------------------------------------- figures -- */

static int take_samples(struct case_result *result, const struct traced_kernel *kernel)
{
    int count = kernel->duration_count;
    double *values = malloc(((size_t)count + 1) * sizeof *values);
    if (!values || foreign_samples_alloc(&result->samples, count) != 0) {
        free(values);
        return assay_error("out of memory for %d samples", count);
    }
    for (int i = 0; i < count; i++) {
        values[i] = (double)kernel->durations[i].ns;
        result->samples.time_ns[i] = kernel->durations[i].ns;
        result->samples.round[i] = (uint16_t)(i & UINT16_MAX);
    }
    struct interval median = stats_median_interval(values, count, 0.95);
    result->time_ns = median.mid;
    result->lo_ns = median.lo;
    result->hi_ns = median.hi;
    free(values);
    return 0;
}

static int make_case(struct trace_case *out, const struct traced_kernel *kernel,
                     const char *program, uint64_t clock_reasons)
{
    struct case_result *result = &out->result;
    out->kernel = kernel;
    result_init(result);
    foreign_name(result->id.operation, sizeof result->id.operation, program);
    result->id.kind = ASSAY_KERNEL;
    result->id.place = ASSAY_CUDA;
    result->id.temperature = ASSAY_HOT;
    result->clock = CLOCK_CUPTI;
    result->clock_reasons = clock_reasons;
    result->kernels = 1;
    result->registers = kernel->is.registers;
    result->local_bytes = kernel->is.local_bytes;
    if (!kernel->is_varied)
        result->shared_bytes = kernel->is.static_shared_bytes + kernel->is.dynamic_shared_bytes;
    result_add_metric(result, TRACE_COUNT, (double)kernel->count);
    result_add_metric(result, TRACE_TOTAL_NS, (double)kernel->total_ns);
    result->status = STATUS_UNCHECKED;
    if (kernel->duration_count > 0) return take_samples(result, kernel);
    result->status = STATUS_SKIPPED;
    snprintf(result->reason, sizeof result->reason, "none of its durations was kept");
    return 0;
}

static int most_time_first(const void *a, const void *b)
{
    const struct trace_case *x = a, *y = b;
    if (x->kernel->total_ns != y->kernel->total_ns)
        return x->kernel->total_ns < y->kernel->total_ns ? 1 : -1;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

int trace_cases_make(struct trace_cases *cases, const struct trace *trace, const char *program,
                     uint64_t clock_reasons)
{
    cases->count = 0;
    cases->list = calloc((size_t)trace->kernel_count + 1, sizeof *cases->list);
    if (!cases->list) return assay_error("out of memory for the kernels");
    for (; cases->count < trace->kernel_count; cases->count++)
        if (make_case(&cases->list[cases->count], &trace->kernels[cases->count], program,
                      clock_reasons) != 0)
            return -1;
    qsort(cases->list, (size_t)cases->count, sizeof *cases->list, most_time_first);
    if (name_all(cases, kernel_named) != 0 || name_all(cases, range_named) != 0) return -1;
    number_devices(cases, trace);
    return 0;
}

void trace_cases_release(struct trace_cases *cases)
{
    for (int i = 0; i < cases->count; i++)
        samples_release(&cases->list[i].result.samples);
    free(cases->list);
    *cases = (struct trace_cases){0};
}

void trace_case_profile(const struct trace_case *from, struct profile *profile)
{
    const struct traced_kernel *traced = from->kernel;
    struct profile_kernel *kernel = &profile->kernels[0];
    profile_init(profile);
    profile->activities = profile->kernel_count = 1;
    profile->span_ns = profile->busy_ns = from->result.time_ns;
    profile->idle_ns = 0;
    kernel->activity = CUPTI_KERNEL;
    demangle(traced->kernel, kernel->name, sizeof kernel->name);
    kernel->count = 1;
    for (int i = 0; i < 3; i++) {
        kernel->grid[i] = traced->is_varied ? -1 : traced->is.grid[i];
        kernel->block[i] = traced->is_varied ? -1 : traced->is.block[i];
    }
    kernel->registers = traced->is.registers;
    kernel->static_shared_bytes = traced->is.static_shared_bytes;
    kernel->dynamic_shared_bytes = traced->is_varied ? -1 : traced->is.dynamic_shared_bytes;
    kernel->local_bytes = traced->is.local_bytes;
    kernel->busy_ns = from->result.time_ns;
    kernel->min_ns = (double)traced->min_ns;
    kernel->max_ns = (double)traced->max_ns;
}
