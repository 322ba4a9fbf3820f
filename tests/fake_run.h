/*
 * fake_run.h - a stored run made by hand, for tests of what reads one.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

enum { FAKE_ROUNDS = 12, FAKE_MAX_CASES = 256, FAKE_MAX_LAUNCHES = 8 };

struct fake_run {
    struct stored_run run;
    struct launch_info launches[FAKE_MAX_LAUNCHES];
    struct stored_case cases[FAKE_MAX_CASES];
};

static inline void fake_begin(struct fake_run *fake, int launches)
{
    memset(fake, 0, sizeof *fake);
    struct stored_run *run = &fake->run;
    run->launches = fake->launches;
    run->cases = fake->cases;
    run->launch_count = launches;
    strcpy(run->run.id, "3f2a91c07d4e4b5a9c1d2e3f40516273");
    strcpy(run->run.suite, "int8");
    strcpy(run->started_at, "2026-01-02T03:04:05Z");
    strcpy(run->status, "complete");
    strcpy(run->program.version, "0.1.0");
    for (int i = 0; i < launches; i++) {
        struct launch_info *launch = &fake->launches[i];
        struct device_info *device = &launch->device;
        snprintf(launch->id, sizeof launch->id, "launch%d", i + 1);
        launch->number = i + 1;
        device->place = ASSAY_CUDA;
        strcpy(device->spec, "cuda:0");
        strcpy(device->name, "NVIDIA H200");
        strcpy(device->driver, "580.159.04");
        strcpy(device->runtime, "13.0");
        device->clock = CLOCK_CUPTI;
        device->multiprocessors = 132;
        device->l1_bytes = 256 << 10;
        device->cache_bytes = 60 << 20;
        device->event_floor_ns = 3100;
        device->kernel_floor_ns = device->clock_step_ns = NAN;
        device->sm_mhz_max = device->memory_mhz_max = device->power_limit_w = NAN;
        device->ecc = device->mig = -1;
    }
}

/* An ok kernel: one sample a round, each `time_ns` long. */
static inline struct case_result *fake_case(struct fake_run *fake, int launch,
                                            const char *operation, const char *shape,
                                            const char *variant, double time_ns)
{
    struct stored_case *stored = &fake->cases[fake->run.case_count++];
    struct case_result *result = &stored->result;
    fake->run.expected_count++;
    memset(stored, 0, sizeof *stored);
    strcpy(stored->launch_id, fake->launches[launch].id);
    stored->launch_number = launch + 1;
    result_init(result);
    strcpy(result->id.operation, operation);
    strcpy(result->id.shape, shape);
    strcpy(result->id.variant, variant);
    result->id.place = ASSAY_CUDA;
    result->status = STATUS_OK;
    result->clock = CLOCK_CUPTI;
    result->time_ns = time_ns;
    result->lo_ns = time_ns * 0.998;
    result->hi_ns = time_ns * 1.001;
    memset(&result->work, 0, sizeof result->work);
    result->work.read_bytes = 20e6;
    result->work.write_bytes = 5e6;
    struct samples *samples = &result->samples;
    samples->count = FAKE_ROUNDS;
    samples->time_ns = calloc(FAKE_ROUNDS, sizeof *samples->time_ns);
    samples->round = calloc(FAKE_ROUNDS, sizeof *samples->round);
    samples->mark = calloc(FAKE_ROUNDS, sizeof *samples->mark);
    for (int i = 0; i < FAKE_ROUNDS; i++) {
        samples->time_ns[i] = (float)time_ns;
        samples->round[i] = (uint16_t)i;
    }
    return result;
}

static inline struct case_result *fake_baseline(struct fake_run *fake, int launch,
                                                const char *operation, const char *shape,
                                                const char *variant, double time_ns)
{
    struct case_result *result = fake_case(fake, launch, operation, shape, variant, time_ns);
    result->id.kind = ASSAY_BASELINE;
    result->is_baseline = true;
    return result;
}

/* A case that has no time. */
static inline struct case_result *fake_failure(struct fake_run *fake, int launch,
                                               const char *operation, const char *shape,
                                               const char *variant, enum case_status status,
                                               const char *reason)
{
    struct case_result *result = fake_case(fake, launch, operation, shape, variant, NAN);
    samples_release(&result->samples);
    result->lo_ns = result->hi_ns = NAN;
    result->status = (int32_t)status;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
    return result;
}

static inline void fake_end(struct fake_run *fake)
{
    for (int i = 0; i < fake->run.case_count; i++)
        samples_release(&fake->cases[i].result.samples);
}
