/*
 * store_fixture.h - what the tests of the store share: a folder of their own, a
 * fake operation with two variants, a plan of it, and a run with every field
 * set to a value of its own.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "base/error.h"
#include "store/store.h"
#include "store/store_internal.h"
#include "suite/plan.h"

#define FINE(call)                                                                                 \
    do {                                                                                           \
        assay_clear_error();                                                                       \
        if ((call) != 0) fail_msg("%s: %s", #call, assay_last_error());                            \
    } while (0)

/* The call fails and its message has `words` in it. */
#define FAILS(call, words)                                                                         \
    do {                                                                                           \
        assay_clear_error();                                                                       \
        assert_int_equal(call, -1);                                                                \
        if (!strstr(assay_last_error(), words))                                                    \
            fail_msg("'%s' is not in: %s", words, assay_last_error());                             \
    } while (0)

/* ---------------------------------------------------------------- files -- */

static inline char *fixture_folder(void)
{
    static char folder[64];
    snprintf(folder, sizeof folder, "/tmp/assay-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static inline int fixture_setup(void **state)
{
    *state = strdup(fixture_folder());
    return *state ? 0 : -1;
}

static inline int fixture_teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return system(command);
}

#define STORE_TEST(name) TEST_WITH(name, fixture_setup, fixture_teardown)

/* The same with `store`, open to write, which is a.sqlite of the folder. */
#define OPEN_STORE_TEST(name)                                                                      \
    static void name##_within(struct store *store, void **state);                                  \
    STORE_TEST(name)                                                                               \
    {                                                                                              \
        struct store *store = fixture_open(state, "a.sqlite", STORE_WRITE);                        \
        name##_within(store, state);                                                               \
        store_close(store);                                                                        \
    }                                                                                              \
    static void name##_within(struct store *store, void **state)

/* A path in the test's folder; of the last few calls. */
static inline const char *fixture_path(void **state, const char *name)
{
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", (char *)*state, name);
    return path[next];
}

static inline struct store *fixture_open(void **state, const char *name, enum store_mode mode)
{
    struct store *store;
    FINE(store_open(&store, fixture_path(state, name), mode));
    return store;
}

static inline int64_t fixture_integer(struct store *store, const char *sql)
{
    int64_t value = -1;
    FINE(store_integer(store, "count", sql, NULL, &value));
    return value;
}

/* ----------------------------------------------------------------- plan -- */

static inline const char *fixture_ceiling(const struct assay_shape *shape,
                                          enum assay_temperature temperature)
{
    return temperature == ASSAY_COLD ? "memory_copy" : NULL;
}

static const struct assay_operation fixture_operation = {
    .name = "copy",
    .dims = {{.name = "n"}},
    .ceiling = fixture_ceiling,
};
static const struct assay_variant fixture_fast = {
    .operation = "copy", .name = "fast", .kind = ASSAY_KERNEL, .place = ASSAY_CUDA};
static const struct assay_variant fixture_slow = {
    .operation = "copy", .name = "slow", .kind = ASSAY_BASELINE, .place = ASSAY_CUDA};

static inline struct plan fixture_plan(struct group *group)
{
    *group = (struct group){
        .shape = {.operation = &fixture_operation, .value = {1000}},
        .temperature = ASSAY_COLD,
        .purpose = PURPOSE_CASE,
        .label = "sizes, \"odd\"",
        .threshold_pct = 3,
        .variant_count = 2,
        .variant = {&fixture_fast, &fixture_slow},
        .expect_wrong = {false, true},
    };
    return (struct plan){.suite = "smoke", .groups = group, .count = 1};
}

/* Its one group, as what a result is of; `label` and `purpose` as given. */
static inline struct group fixture_group(enum group_purpose purpose, const char *label)
{
    struct group group;
    fixture_plan(&group);
    group.purpose = purpose;
    snprintf(group.label, sizeof group.label, "%s", label);
    return group;
}

/* ------------------------------------------------------------------ run -- */

static const struct program_info fixture_program = {"1.0",    "0123abc", "d1ff",         "gcc 12.2",
                                                    "-O2 -g", "13.0.48", "-O3 -lineinfo"};
static const struct host_info fixture_host = {"node,1", "A \"CPU\"", "6.1.0",  "Debian 12",
                                              "docker", 16,          1LL << 37};

static inline struct device_info fixture_device(void)
{
    return (struct device_info){
        .place = ASSAY_CUDA,
        .spec = "cuda:0",
        .name = "NVIDIA H200",
        .uuid = "GPU-1234",
        .vbios = "96.00.1",
        .driver = "580.159.04",
        .runtime = "13.0",
        .library = "13.1.0",
        .lost = "no energy counter\nno clocks",
        .compute_capability = 90,
        .multiprocessors = 132,
        .l1_bytes = 262144,
        .cache_bytes = 62914560,
        .memory_bytes = 150754820096,
        .sm_mhz_max = 1980,
        .memory_mhz_max = 3201,
        .power_limit_w = 700,
        .ecc = 1,
        .mig = -1,
        .clock = CLOCK_CUPTI,
        .flush = FLUSH_WRITE,
        .event_floor_ns = 3104.1,
        .kernel_floor_ns = NAN,
        .clock_step_ns = 32,
    };
}

static inline struct launch_info fixture_launch(const char *run_id, int number)
{
    struct launch_info launch = {
        .number = number,
        .seed = 0xfedcba9876543210,
        .device = fixture_device(),
        .start = {1980, 3201, 35, 120.5, NAN, 4, 2},
        .around = {64, 1.5, 2.25, 0.125, NAN},
    };
    snprintf(launch.run_id, sizeof launch.run_id, "%s", run_id);
    return launch;
}

/* Every figure differs from every other, so that no two can be swapped unseen. */
static inline struct case_result fixture_result(const char *variant)
{
    struct case_result result;
    double figure = 0.1 + (double)variant[0];
    result_init(&result);
    snprintf(result.id.operation, sizeof result.id.operation, "copy");
    snprintf(result.id.variant, sizeof result.id.variant, "%s", variant);
    snprintf(result.id.shape, sizeof result.id.shape, "n=1000");
    result.id.kind = strcmp(variant, "slow") == 0 ? ASSAY_BASELINE : ASSAY_KERNEL;
    result.id.place = ASSAY_CUDA;
    result.id.temperature = ASSAY_COLD;
    result.status = STATUS_OK;
    snprintf(result.note, sizeof result.note, "algorithm 7");
    result.clock = CLOCK_CUPTI;
    result.is_baseline = strcmp(variant, "slow") == 0;
    double *figures[] = {
        &result.time_ns,       &result.lo_ns,           &result.hi_ns,
        &result.busy_ns,       &result.event_ns,        &result.wall_ns,
        &result.first_call_ns, &result.work.read_bytes, &result.work.write_bytes,
        &result.work.ops[0],   &result.work.ops[1],     &result.work.ops[2],
        &result.work.ops[3],   &result.work.ops[4],     &result.work.ops[5],
        &result.work.ops[6],   &result.energy_mj,       &result.power_w,
        &result.sm_mhz,        &result.temperature_c,   &result.max_abs_error,
        &result.max_rel_error, &result.near_share,
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        *figures[i] = figure += 1.0 / 3;
    result.workspace_bytes = 1LL << 33;
    result.kernels = 2;
    result.clock_reasons = 0x8000000000000001;
    result.outputs = 1000;
    result.checked = 999;
    result.metric_count = 3;
    result.metrics[0] = (struct metric){"sqnr_db", 40.1234567890123456};
    result.metrics[1] = (struct metric){"mse", 1e-300};
    result.metrics[2] = (struct metric){"none", NAN};
    snprintf(result.code_hash, sizeof result.code_hash, "c0de");
    result.registers = 32;
    result.shared_bytes = 49152;
    result.local_bytes = 0;
    return result;
}

enum { FIXTURE_SAMPLES = 7, FIXTURE_WALLS = 2 };

/* Floats whose last bit is easily lost on the way through decimals. */
static inline void fixture_samples(struct samples *samples)
{
    *samples = (struct samples){
        .count = FIXTURE_SAMPLES,
        .time_ns = malloc(FIXTURE_SAMPLES * sizeof(float)),
        .event_ns = malloc(FIXTURE_SAMPLES * sizeof(float)),
        .round = malloc(FIXTURE_SAMPLES * sizeof(uint16_t)),
        .mark = malloc(FIXTURE_SAMPLES),
        .wall_count = FIXTURE_WALLS,
        .wall_ns = malloc(FIXTURE_WALLS * sizeof(float)),
        .wall_round = malloc(FIXTURE_WALLS * sizeof(uint16_t)),
        .span_count = 1,
        .span = malloc(sizeof(struct stage_span)),
    };
    *samples->span = (struct stage_span){"compute", 2, 1.0 / 3, nextafter(1e5, 1e6)};
    for (int i = 0; i < FIXTURE_SAMPLES; i++) {
        samples->time_ns[i] = nextafterf(2016.1f * (float)(i + 1), 1e9f);
        samples->event_ns[i] = i == 3 ? NAN : 1e-40f * (float)(i + 1); /* denormals too */
        samples->round[i] = (uint16_t)(65535 - i);
        samples->mark[i] = (uint8_t)(255 - i);
    }
    for (int i = 0; i < FIXTURE_WALLS; i++) {
        samples->wall_ns[i] = i ? INFINITY : 1.0f / 3;
        samples->wall_round[i] = (uint16_t)i;
    }
}

static inline void fixture_case(struct store *store, const char *launch_id, const char *variant)
{
    struct case_result result = fixture_result(variant);
    struct group group = fixture_group(PURPOSE_CASE, "sizes, \"odd\"");
    fixture_samples(&result.samples);
    FINE(store_cases(store, launch_id, &group, &result, 1, NULL));
    samples_release(&result.samples);
}

static inline struct run_info fixture_begin_run(struct store *store, const char *label)
{
    static const struct object_info objects[] = {
        {.name = "mine.so", .sha256 = "5ca1ab1e", .commit = "abc123"}};
    struct run_info run = {.suite = "smoke",
                           .command = "assay run smoke",
                           .objects = objects,
                           .object_count = 1,
                           .shard = {3, 8, "slurm-7.0", "c0ffee"}};
    snprintf(run.label, sizeof run.label, "%s", label);
    run.suite_text = "[suite]\ntitle = smoke\n";
    FINE(store_begin_run(store, &run, &fixture_program, &fixture_host));
    return run;
}

static inline struct launch_info fixture_begin_launch(struct store *store, const char *run_id,
                                                      int number)
{
    struct group group;
    struct plan plan = fixture_plan(&group);
    struct launch_info launch = fixture_launch(run_id, number);
    FINE(store_begin_launch(store, &launch, &plan));
    return launch;
}

/* A whole run of one launch and two cases. */
static inline struct run_info fixture_run(struct store *store, const char *label)
{
    const struct device_state end = {1900, 3201, NAN, 650.25, 1e9, 0, 3, "", {8, 16, 4, 5, 2}};
    struct run_info run = fixture_begin_run(store, label);
    struct launch_info launch = fixture_begin_launch(store, run.id, 1);
    fixture_case(store, launch.id, "fast");
    fixture_case(store, launch.id, "slow");
    FINE(store_end_launch(store, launch.id, &end, &launch.around));
    FINE(store_end_run(store, run.id, "complete"));
    return run;
}
