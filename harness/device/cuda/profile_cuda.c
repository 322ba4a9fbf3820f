/*
 * profile_cuda.c - profiles a launch on a CUDA device: first its activity records, then
 * its hardware counters, which take one launch per pass.
 *
 * Before every launch the caches are brought into the state of the case (cold or hot), as
 * for sampling, so each pass counts the same kind of launch. Clock rates are not changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "device/counter_sets.h"
#include "device/cuda/counters.h"
#include "device/cuda/cupti.h"
#include "device/cuda/device_cuda.h"
#include "device/cuda/device_kernels.h"
#include "device/demangle.h"
#include "device/profile.h"

enum {
    MAX_COUNTED = 2000, /* kernels in one launch that are counted separately */
    MAX_PASSES = 200,
    MAX_ATTEMPTS = 3, /* at recording a launch without losing records */
};
static const double MAX_COUNTING_S = 20; /* below the timeout of a step */

/* --------------------------------------------------------------- records -- */

/* The records of the launch that is counted, and how its counters map to them. */
struct counted {
    struct cupti_record *records;
    int count;   /* -1: some were lost */
    int *places; /* of the records among the profile's kernels */
    enum counters_range range;
    int kernels;
};

/* Bring the caches into the state of the case, and wait until nothing runs. */
static int prepare_caches(struct device *device, const struct block *block)
{
    int status =
        block->temperature == ASSAY_COLD ? cuda_flush(device) : block->variant->launch(block->call);
    return status < 0 ? -1 : cuda_synchronize(device);
}

/* The records after the mark belong to the launch. */
static const struct cupti_record *behind_mark(const struct cupti_record *records, int *count)
{
    int at = 0;
    while (at < *count &&
           (records[at].kind != CUPTI_KERNEL || strcmp(records[at].name, KERNEL_HOLD_NAME) != 0))
        at++;
    if (at == *count) return NULL;
    *count -= at + 1;
    return records + at + 1;
}

/* Record one launch and copy its records, since the next collect reuses CUPTI's. */
static int record_launch(struct device *device, const struct block *block, struct counted *counted)
{
    const struct cupti_record *records;
    int lost;
    if (prepare_caches(device, block) < 0 || cuda_record(device, true) < 0 ||
        kernel_hold(device->stream, block->hold_ns) < 0 ||
        block->variant->launch(block->call) < 0 || cuda_synchronize(device) < 0 ||
        cupti_collect(&records, &counted->count, &lost) < 0 || cuda_record(device, false) < 0)
        return -1;
    if (lost == 0) records = behind_mark(records, &counted->count);
    if (lost > 0 || records == NULL) {
        counted->count = -1;
        return 0;
    }
    size_t count = (size_t)counted->count;
    counted->records = malloc((count + 1) * sizeof *counted->records);
    counted->places = malloc((count + 1) * sizeof *counted->places);
    if (counted->records == NULL || counted->places == NULL)
        return assay_error("out of memory for a profile");
    memcpy(counted->records, records, count * sizeof *records);
    return 0;
}

/* -------------------------------------------------------------- counters -- */

/* 0; -1: the launch failed; 1 with assay_error: CUPTI refused, which costs only the counters. */
static int run_passes(struct device *device, const struct block *block, struct counters *counters,
                      int *passes)
{
    bool done = false;
    for (*passes = 0; !done && *passes < MAX_PASSES; ++*passes) {
        if (prepare_caches(device, block) < 0) return -1;
        if (counters_begin(counters) < 0) return 1;
        int launched = block->variant->launch(block->call);
        if (launched == 0) launched = cuda_synchronize(device);
        if (launched < 0) return -1;
        if (counters_end(counters, &done) < 0) return 1;
    }
    if (done) return 0;
    return assay_error_as(1, "CUPTI asked for more than %d launches", MAX_PASSES);
}

static int deal(struct counters *counters, const struct counted *counted, struct profile *profile)
{
    int ranges = 0, status;
    size_t slots = (size_t)counted->kernels * (size_t)profile->counter_count;
    double *values = malloc((slots + 1) * sizeof *values);
    if (values == NULL) return assay_error("out of memory for counters");
    status = counters_read(counters, values, &ranges);
    if (status == 0 && counted->range == COUNTERS_WHOLE_LAUNCH)
        status = profile_take_whole(profile, values, ranges);
    else if (status == 0)
        status = profile_take_counters(profile, counted->records, counted->count, counted->places,
                                       values, ranges);
    free(values);
    return status < 0 ? 1 : 0;
}

/* 1 with assay_error if the launch is so long that all passes would take too long. Twice
 * the time, as a hot case is launched twice per pass. */
static int check_length(const struct counters *counters, const struct profile *profile)
{
    double counting_s = 2e-9 * profile->span_ns * counters_passes(counters);
    if (counting_s <= MAX_COUNTING_S) return 0;
    return assay_error_as(1, "they take %d launches of %.2g s each; ask for fewer with --counters",
                          counters_passes(counters), 1e-9 * profile->span_ns);
}

/* Returns what run_passes returns. */
static int count_launches(struct device *device, const struct block *block,
                          const struct counted *counted, struct profile *profile)
{
    const char *names[PROFILE_MAX_COUNTERS];
    struct counters *counters;
    int passes = 0;
    for (int i = 0; i < profile->counter_count; i++)
        names[i] = profile->counter[i];
    if (counters_open(&counters, names, profile->counter_count, device->spec.index, counted->range,
                      counted->kernels) < 0)
        return 1;
    char unknown[ASSAY_MAX_REASON / 2];
    counters_unknown(counters, unknown, sizeof unknown);
    int status = check_length(counters, profile);
    if (status == 0) status = run_passes(device, block, counters, &passes);
    if (status == 0) status = deal(counters, counted, profile);
    counters_close(counters);
    if (status != 0) return status;
    profile->passes = passes;
    bool whole = counted->range == COUNTERS_WHOLE_LAUNCH && profile->activities > 1;
    snprintf(profile->counters_lost, sizeof profile->counters_lost, "%s%s%s%s",
             whole ? "of the launch as a whole, which cannot be counted by kernels" : "",
             whole && unknown[0] ? "; " : "", unknown[0] ? "not known to this GPU: " : "", unknown);
    return 0;
}

/* Returns what run_passes returns. Several kernels of one call mean a graph, which is
 * counted as a whole; a graph of one kernel is noticed when counting by kernel fails. */
static int read_counters(struct device *device, const struct block *block, struct counted *counted,
                         struct profile *profile)
{
    if (profile->counter_count == 0) return 0;
    counted->kernels = profile_count_kernels(counted->records, counted->count);
    if (counted->kernels == 0) return assay_error_as(1, "the launch has no kernel");
    int status = 1;
    if (counted->kernels <= MAX_COUNTED && !profile_is_graph(counted->records, counted->count)) {
        counted->range = COUNTERS_EACH_KERNEL;
        status = count_launches(device, block, counted, profile);
    }
    if (status <= 0) return status;
    counted->range = COUNTERS_WHOLE_LAUNCH;
    counted->kernels = 1;
    return count_launches(device, block, counted, profile);
}

static int need_records(const struct device *device)
{
    return device->cupti ? 0
                         : assay_error("a profile needs CUPTI's kernel records, which are not "
                                       "available on this machine");
}

/* Open a session for one metric and launch nothing: opening is what needs permission. */
int cuda_try_counters(struct device *device)
{
    const char *const name = COUNTER_TIME;
    struct counters *counters;
    if (need_records(device) < 0 || cuda_record(device, false) < 0 ||
        counters_open(&counters, &name, 1, device->spec.index, COUNTERS_WHOLE_LAUNCH, 1) < 0)
        return -1;
    counters_close(counters);
    return 0;
}

int cuda_profile(struct device *device, const struct block *block, struct profile *profile)
{
    struct counted counted = {.count = -1};
    int status = need_records(device);
    for (int attempt = 0; status == 0 && counted.count < 0 && attempt < MAX_ATTEMPTS; attempt++)
        status = record_launch(device, block, &counted);
    if (status == 0 && counted.count > 0) { /* else the case stays; it has no profile */
        profile_take_records(profile, counted.records, counted.count, demangle, counted.places);
        status = read_counters(device, block, &counted, profile);
    }
    if (status > 0) {
        snprintf(profile->counters_lost, sizeof profile->counters_lost, "%s", assay_last_error());
        status = cuda_synchronize(device);
    }
    free(counted.places);
    free(counted.records);
    return status;
}
