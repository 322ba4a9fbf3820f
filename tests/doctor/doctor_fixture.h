/* doctor_fixture.h - a machine with nothing wrong, and what the doctor finds there. */
#pragma once

#include <stdbool.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "doctor/doctor.h"

/* A machine with nothing to complain about. */
static inline struct doctor_facts healthy(void)
{
    struct doctor_facts facts = {
        .version = "1.0",
        .nvcc = "V13.0.48",
        .has_nvtx = true,
        .host = {.is_asked = true, .is_open = true},
        .gpu = {.is_asked = true, .is_open = true},
        .driver = "580.95.05",
        .has_device_node = true,
        .has_nvml = true,
        .state = {345, 3201, 35, 75, 1e9, 0x1},
        .persistence = 1,
        .gpu_processes = 0,
        .governor = "performance",
        .turbo = 0,
        .cores = 8,
        .quota_cores = NAN,
        .load = 0.2,
        .gnuplot = "5.4 patchlevel 4",
        .database = "results/assay.sqlite",
        .free_bytes = 1e11,
    };
    facts.host.info = (struct device_info){
        .spec = "host", .name = "a processor", .library = "OpenBLAS 0.3.21", .clock = CLOCK_HOST};
    facts.gpu.info = (struct device_info){.spec = "cuda:0",
                                          .name = "NVIDIA H200",
                                          .uuid = "GPU-1",
                                          .driver = "580.95.05",
                                          .runtime = "13.0",
                                          .library = "cuBLAS 13.0",
                                          .compute_capability = 90,
                                          .multiprocessors = 132,
                                          .memory_bytes = 150754820096,
                                          .sm_mhz_max = 1980,
                                          .ecc = 1,
                                          .mig = 0,
                                          .clock = CLOCK_CUPTI,
                                          .event_floor_ns = 3100,
                                          .kernel_floor_ns = 570};
    return facts;
}

/* The same without a GPU that opens. */
static inline struct doctor_facts without_gpu(const char *error)
{
    struct doctor_facts facts = healthy();
    facts.gpu.is_open = false;
    memset(&facts.gpu.info, 0, sizeof facts.gpu.info);
    snprintf(facts.gpu.error, sizeof facts.gpu.error, "%s", error);
    return facts;
}

static struct doctor_finding all[DOCTOR_MAX_FINDINGS];

/* What the check `name` finds; NULL when it does not arise. */
static inline const struct doctor_finding *find(const struct doctor_facts *facts, const char *name)
{
    int count = doctor_judge(facts, all);
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    return NULL;
}

static inline void expect(const struct doctor_facts *facts, const char *name,
                          enum doctor_state state, const char *found, const char *remedy)
{
    const struct doctor_finding *finding = find(facts, name);
    assert_non_null(finding);
    assert_int_equal(finding->state, state);
    assert_non_null(strstr(finding->found, found));
    assert_non_null(strstr(finding->remedy, remedy));
    /* A complaint without advice helps nobody; advice without one is noise. */
    assert_int_equal(finding->remedy[0] != '\0', state != DOCTOR_OK);
    assert_int_equal(finding->means[0] != '\0', state != DOCTOR_OK);
}
