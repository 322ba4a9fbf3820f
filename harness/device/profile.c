#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/counter_sets.h"
#include "device/profile.h"

WORDS(activity, "kernel", "copy", "set");

void profile_init(struct profile *profile)
{
    memset(profile, 0, sizeof *profile);
    profile->span_ns = profile->busy_ns = profile->idle_ns = NAN;
    profile->passes = -1;
    for (int i = 0; i < PROFILE_MAX_COUNTERS; i++) {
        profile->whole[i] = NAN;
        for (int k = 0; k < PROFILE_MAX_KERNELS; k++)
            profile->kernels[k].counter[i] = NAN;
    }
}

/* --------------------------------------------------------------- kernels -- */

static bool is_alike(const struct profile_kernel *kernel, const char *name,
                     const struct cupti_record *record)
{
    return kernel->activity == (int32_t)record->kind && strcmp(kernel->name, name) == 0 &&
           memcmp(kernel->grid, record->grid, sizeof kernel->grid) == 0 &&
           memcmp(kernel->block, record->block, sizeof kernel->block) == 0 &&
           kernel->registers == record->registers &&
           kernel->dynamic_shared_bytes == record->dynamic_shared_bytes;
}

static void begin_kernel(struct profile_kernel *kernel, const char *name,
                         const struct cupti_record *record)
{
    kernel->activity = (int32_t)record->kind;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    memcpy(kernel->grid, record->grid, sizeof kernel->grid);
    memcpy(kernel->block, record->block, sizeof kernel->block);
    kernel->registers = record->registers;
    kernel->local_bytes = record->local_bytes;
    kernel->dynamic_shared_bytes = record->dynamic_shared_bytes;
    kernel->static_shared_bytes =
        record->shared_bytes < 0 ? -1 : record->shared_bytes - record->dynamic_shared_bytes;
    kernel->count = 0;
    kernel->busy_ns = 0;
    kernel->min_ns = INFINITY;
    kernel->max_ns = 0;
}

/* Find or add the kernel that the record belongs to; NULL: no space left. */
static struct profile_kernel *find_kernel(struct profile *profile,
                                          const struct cupti_record *record,
                                          void (*name)(const char *, char *, size_t))
{
    char text[PROFILE_MAX_KERNEL] = "";
    if (record->kind == CUPTI_KERNEL) name(record->name, text, sizeof text);
    for (int i = 0; i < profile->kernel_count; i++)
        if (is_alike(&profile->kernels[i], text, record)) return &profile->kernels[i];
    if (profile->kernel_count == PROFILE_MAX_KERNELS) return NULL;
    struct profile_kernel *kernel = &profile->kernels[profile->kernel_count++];
    begin_kernel(kernel, text, record);
    return kernel;
}

/* Time with nothing running between the first start and the last end. */
static double gaps(const struct cupti_record *records, int count)
{
    uint64_t idle_ns = 0, end_ns = records[0].end_ns;
    for (int i = 1; i < count; i++) {
        if (records[i].start_ns > end_ns) idle_ns += records[i].start_ns - end_ns;
        if (records[i].end_ns > end_ns) end_ns = records[i].end_ns;
    }
    return (double)idle_ns;
}

void profile_take_records(struct profile *profile, const struct cupti_record *records, int count,
                          void (*name)(const char *, char *, size_t), int *places)
{
    uint64_t last_ns = 0;
    profile->activities = count;
    if (count == 0) return;
    profile->busy_ns = 0;
    for (int i = 0; i < count; i++) {
        double length_ns = (double)(records[i].end_ns - records[i].start_ns);
        struct profile_kernel *kernel = find_kernel(profile, &records[i], name);
        places[i] = kernel ? (int)(kernel - profile->kernels) : -1;
        profile->busy_ns += length_ns;
        if (records[i].end_ns > last_ns) last_ns = records[i].end_ns;
        if (kernel == NULL) {
            profile->left_out++;
            continue;
        }
        kernel->count++;
        kernel->busy_ns += length_ns;
        kernel->min_ns = fmin(kernel->min_ns, length_ns);
        kernel->max_ns = fmax(kernel->max_ns, length_ns);
    }
    profile->span_ns = (double)(last_ns - records[0].start_ns);
    profile->idle_ns = gaps(records, count);
}

/* -------------------------------------------------------------- counters -- */

int profile_count_kernels(const struct cupti_record *records, int count)
{
    int kernels = 0;
    for (int i = 0; i < count; i++)
        kernels += records[i].kind == CUPTI_KERNEL;
    return kernels;
}

struct gathered {
    double total, weighted, weight;
};

static void gather(struct gathered *gathered, double value, double weight)
{
    if (isnan(value)) return;
    gathered->total += value;
    gathered->weighted += weight * value;
    gathered->weight += weight;
}

static double gathered_value(const struct gathered *gathered, bool is_total)
{
    if (gathered->weight <= 0) return NAN;
    return is_total ? gathered->total : gathered->weighted / gathered->weight;
}

struct launched {
    const struct cupti_record *record;
    int order;
};

/* Order of launch: by correlation id, which each call has; the kernels of one graph share
 * that of its call and are ordered by start. */
static int by_launch(const void *left, const void *right)
{
    const struct launched *a = left, *b = right;
    if (a->record->correlation != b->record->correlation)
        return a->record->correlation < b->record->correlation ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int list_kernels(struct launched *list, const struct cupti_record *records, int count)
{
    int kernels = 0;
    for (int i = 0; i < count; i++)
        if (records[i].kind == CUPTI_KERNEL) list[kernels++] = (struct launched){&records[i], i};
    qsort(list, (size_t)kernels, sizeof *list, by_launch);
    return kernels;
}

/* The time of a kernel alone on the device, from the time counter if it was read: the
 * record of a kernel that was launched early may include a wait for the one before. */
static double weight_of(const struct profile *profile, const double *row,
                        const struct cupti_record *record)
{
    double counted_ns = profile_counter(profile, row, COUNTER_TIME);
    return fmax(isnan(counted_ns) ? (double)(record->end_ns - record->start_ns) : counted_ns, 1);
}

/* Gather one counter over all kernels; places[i] is the kernel of record i. */
static void gather_counter(struct profile *profile, int counter, const struct launched *list,
                           int kernels, const int *places, const double *values)
{
    bool total = text_ends(profile->counter[counter], ".sum");
    struct gathered whole = {0}, kernel[PROFILE_MAX_KERNELS] = {0};
    for (int i = 0; i < kernels; i++) {
        const double *row = values + (size_t)i * (size_t)profile->counter_count;
        double value = row[counter], weight = weight_of(profile, row, list[i].record);
        int at = places[list[i].order];
        gather(&whole, value, weight);
        if (at >= 0) gather(&kernel[at], value, weight);
    }
    profile->whole[counter] = gathered_value(&whole, total);
    for (int k = 0; k < profile->kernel_count; k++)
        profile->kernels[k].counter[counter] = gathered_value(&kernel[k], total);
}

int profile_take_counters(struct profile *profile, const struct cupti_record *records, int count,
                          const int *places, const double *values, int ranges)
{
    struct launched *list = malloc(((size_t)count + 1) * sizeof *list);
    if (list == NULL) return assay_error("out of memory for counters");
    int kernels = list_kernels(list, records, count);
    for (int i = 0; i < profile->counter_count && ranges == kernels; i++)
        gather_counter(profile, i, list, kernels, places, values);
    free(list);
    return ranges == kernels
               ? 0
               : assay_error("CUPTI counted %d kernels where %d were recorded", ranges, kernels);
}

int profile_take_whole(struct profile *profile, const double *values, int ranges)
{
    if (ranges != 1) return assay_error("CUPTI counted %d launches where there is one", ranges);
    memcpy(profile->whole, values, (size_t)profile->counter_count * sizeof *values);
    if (profile->kernel_count == 1 && profile->left_out == 0)
        memcpy(profile->kernels[0].counter, profile->whole, sizeof profile->whole);
    return 0;
}

bool profile_is_graph(const struct cupti_record *records, int count)
{
    const struct cupti_record *before = NULL;
    for (int i = 0; i < count; i++) {
        if (records[i].kind != CUPTI_KERNEL) continue;
        if (before && before->correlation == records[i].correlation) return true;
        before = &records[i];
    }
    return false;
}

double profile_counter(const struct profile *profile, const double *values, const char *metric)
{
    for (int i = 0; i < profile->counter_count; i++)
        if (strcmp(profile->counter[i], metric) == 0) return values[i];
    return NAN;
}
