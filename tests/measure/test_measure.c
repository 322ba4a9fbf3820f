/* test_measure.c - the stopping rule, and a group on the host device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measurement.h"
#include "on_host.h"

/* -------------------------------------------------------------- stopping -- */

static void fill_values(double *values, int count, double spread)
{
    for (int i = 0; i < count; i++)
        values[i] = 1000 + spread * (i % 21 - 10);
}

TEST(the_energy_of_a_block_is_shared_by_all_its_launches)
{
    /* One sample by the host's clock; one, and the launch for the host's clock beside it. */
    assert_true(measure_block_energy(80, 0.2, 0.2, 1) == 80);
    assert_true(measure_block_energy(160, 0.4, 0.2, 2) == 80);
}

TEST(a_block_that_is_short_or_mostly_something_else_tells_no_energy)
{
    assert_true(isnan(measure_block_energy(80, 0.09, 0.09, 1)));
    assert_true(isnan(measure_block_energy(80, 0.3, 0.2, 1)));
    assert_true(isnan(measure_block_energy(0, 0.2, 0.2, 1)));
    assert_true(isnan(measure_block_energy(NAN, 0.2, 0.2, 1)));
    assert_true(isnan(measure_block_energy(80, 0.2, NAN, 1)));
}

TEST(too_few_samples_never_settle)
{
    double values[MEASURE_MIN_SAMPLES];
    fill_values(values, MEASURE_MIN_SAMPLES - 1, 0);
    assert_false(measure_settled(values, MEASURE_MIN_SAMPLES - 1, 100, 0.5, 1.9, 0.4));
    assert_false(measure_settled(values, MEASURE_MIN_SAMPLES - 1, 100, 0.5, 9, 3));
}

TEST(long_samples_settle_with_eight)
{
    double values[MEASURE_FEW_SAMPLES];
    fill_values(values, MEASURE_FEW_SAMPLES, 50);
    assert_true(measure_settled(values, MEASURE_FEW_SAMPLES, 8, 0.5, 2, 0.5));
    assert_false(measure_settled(values, MEASURE_FEW_SAMPLES - 1, 8, 0.5, 9, 0.5));
}

TEST(too_few_rounds_never_settle)
{
    double values[100];
    fill_values(values, 100, 0);
    assert_false(measure_settled(values, 100, MEASURE_MIN_ROUNDS - 1, 0.5, 9, 0.5));
}

TEST(a_narrow_interval_settles)
{
    double values[100];
    fill_values(values, 100, 0.1);
    assert_true(measure_settled(values, 100, MEASURE_MIN_ROUNDS, 0.5, 0, 0.5));
}

TEST(a_wide_interval_goes_on_until_the_budget_is_spent)
{
    double values[100];
    fill_values(values, 100, 50);
    assert_false(measure_settled(values, 100, MEASURE_MIN_ROUNDS, 0.5, 0.49, 0.5));
    assert_true(measure_settled(values, 100, MEASURE_MIN_ROUNDS, 0.5, 0.5, 0.5));
}

/* --------------------------------------------------------------- a group -- */

static int half_buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[0] = (struct assay_buffer){
        "x", ASSAY_IN, ASSAY_F32, shape->value[0], {.kind = ASSAY_FILL_INTEGER, .a = -9, .b = 9}};
    out[1] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = shape->value[0]};
    return 2;
}

static int half_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 0.5 * ((const float *)in[0])[i];
    return 0;
}

static const char *const half_baselines[] = {"absent", "moved", "plain", NULL};
static const struct assay_operation half = {.name = "half",
                                            .dims = {{.name = "n"}},
                                            .buffers = half_buffers,
                                            .reference = half_reference,
                                            .baselines = half_baselines};

static int halve(struct assay_call *call)
{
    for (int64_t i = 0; i < call->shape->value[0]; i++)
        ((float *)call->buffer[1])[i] = 0.5f * ((float *)call->buffer[0])[i];
    return 0;
}

/* The same, from a file that is not there. */
static int absent_buffers(const struct assay_shape *shape,
                          struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int count = half_buffers(shape, out);
    out[0].fill.kind = ASSAY_FILL_CUSTOM;
    return count;
}

static int absent_fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    return assay_error("no such file");
}

static const struct assay_operation absent = {.name = "absent",
                                              .dims = {{.name = "n"}},
                                              .buffers = absent_buffers,
                                              .fill = absent_fill,
                                              .reference = half_reference};
static const struct assay_variant never = {
    .operation = "absent", .name = "never", .kind = ASSAY_BASELINE, .launch = halve};

/* Right the first time, then it stops writing. */
static int halve_once(struct assay_call *call)
{
    if (call->state) return 0;
    call->state = call;
    return halve(call);
}

static int refuse(struct assay_call *call)
{
    return assay_error("no");
}

static int lack(struct assay_call *call)
{
    assay_error("%s needs two, has one", call->variant->name);
    return ASSAY_SKIP;
}

static int count_launches(struct assay_call *call, struct assay_metric *out, int max)
{
    out[0] = (struct assay_metric){"stage_ns", 12.5};
    return max < 1 ? -1 : 1;
}

static int teardowns;
static void count_teardown(struct assay_call *call)
{
    teardowns++;
}

static const struct assay_variant plain = {.operation = "half",
                                           .name = "plain",
                                           .kind = ASSAY_BASELINE,
                                           .launch = halve,
                                           .teardown = count_teardown,
                                           .figures = count_launches};
static const struct assay_variant moved = {
    .operation = "half", .name = "moved", .kind = ASSAY_BOUND, .apart = true, .launch = halve};
static const struct assay_variant lacking = {.operation = "half",
                                             .name = "lacking",
                                             .setup = lack,
                                             .launch = halve,
                                             .teardown = count_teardown};
static const struct assay_variant lazy = {
    .operation = "half", .name = "lazy", .launch = halve_once};
static const struct assay_variant refusing = {.operation = "half",
                                              .name = "refusing",
                                              .setup = refuse,
                                              .launch = halve,
                                              .teardown = count_teardown};

static int (*taken_by)(struct device *, const struct block *, struct profile *);
static void profile_so(struct device_ops *ops)
{
    ops->profile = taken_by;
}

/* With profiles wanted (not NULL), taken by `take`. */
static void measure_half_with(struct case_result results[4], struct profile *profiles,
                              int (*take)(struct device *, const struct block *, struct profile *))
{
    const struct measure_request request = {.shape = {&half, {4099}},
                                            .temperature = ASSAY_HOT,
                                            .budget_s = 0.02,
                                            .precision_pct = 0.5,
                                            .seed = 3,
                                            .counters = "dram__bytes.sum",
                                            .profiles = profiles,
                                            .count = 4,
                                            .variant = {&plain, &lazy, &refusing, &lacking}};
    teardowns = 0;
    taken_by = take;
    assert_int_equal(measure_on_host(&request, results, profile_so), 0);
}

static void measure_half(struct case_result results[4])
{
    measure_half_with(results, NULL, NULL);
}

TEST(each_variant_of_a_group_has_its_own_outcome)
{
    struct case_result results[4];
    measure_half(results);
    assert_int_equal(results[0].status, STATUS_OK);
    assert_int_equal(results[1].status, STATUS_WRONG); /* only the second check can tell */
    assert_int_equal(results[2].status, STATUS_CRASHED);
    assert_string_equal(results[2].reason, "setup: no");
    assert_int_equal(results[3].status, STATUS_SKIPPED);
    assert_string_equal(results[3].reason, "lacking needs two, has one");
    assert_true(isnan(results[1].time_ns) && isnan(results[2].time_ns));
    assert_true(isnan(results[3].time_ns));
    /* Also after a setup that failed, and before the second setup of the one that is right. */
    assert_int_equal(teardowns, 4);
    release_results(results, 4);
}

TEST(a_group_that_cannot_begin_still_says_what_its_cases_are)
{
    struct case_result result;
    const struct measure_request request = {
        .shape = {&absent, {7}}, .temperature = ASSAY_HOT, .count = 1, .variant = {&never}};
    assert_int_equal(measure_on_host(&request, &result, NULL), -1);
    assert_non_null(strstr(assay_last_error(), "no such file"));
    assert_string_equal(result.id.operation, "absent");
    assert_string_equal(result.id.variant, "never");
    assert_string_equal(result.id.shape, "n=7");
    assert_int_equal(result.id.kind, ASSAY_BASELINE);
    assert_int_equal(result.id.temperature, ASSAY_HOT);
}

static int mute_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, double *expected, double *bound)
{
    /* In one piece of several, which some thread takes. */
    return begin < 20000 ? 0 : assay_error("it has the shape (3), not (4)");
}

TEST(a_reference_that_fails_says_why)
{
    struct case_result result;
    struct assay_operation mute = half;
    const struct measure_request request = {
        .shape = {&mute, {30000}}, .count = 1, .variant = {&never}};
    mute.name = "mute";
    mute.reference = mute_reference;
    assert_int_equal(measure_on_host(&request, &result, NULL), -1);
    assert_string_equal(assay_last_error(),
                        "mute: the reference failed: it has the shape (3), not (4)");
}

/* Which of two variants the ratios of their group are against. */
static const char *base_of(const struct assay_variant *a, const struct assay_variant *b)
{
    struct case_result results[2];
    const struct measure_request request = {.shape = {&half, {4099}},
                                            .temperature = ASSAY_HOT,
                                            .budget_s = 0.02,
                                            .precision_pct = 0.5,
                                            .count = 2,
                                            .variant = {a, b}};
    assert_int_equal(measure_on_host(&request, results, NULL), 0);
    release_results(results, 2);
    return results[0].is_baseline ? a->name : results[1].is_baseline ? b->name : "none";
}

TEST(a_bound_is_what_ratios_are_against_only_where_nothing_else_can_be)
{
    assert_string_equal(base_of(&moved, &plain), "plain");
    assert_string_equal(base_of(&moved, &lacking), "moved");
    assert_string_equal(base_of(&lazy, &lacking), "none");
}

TEST(an_ok_case_has_every_sample_and_its_interval)
{
    struct case_result results[4];
    measure_half(results);
    const struct case_result *ok = &results[0];
    assert_true(ok->samples.count >= MEASURE_MIN_SAMPLES);
    assert_true(ok->samples.round[ok->samples.count - 1] + 1 >= MEASURE_MIN_ROUNDS);
    assert_true(ok->lo_ns <= ok->time_ns && ok->time_ns <= ok->hi_ns && ok->time_ns > 0);
    assert_true(ok->is_baseline);
    assert_int_equal(ok->clock, CLOCK_HOST);
    assert_int_equal(ok->checked, 4099);
    assert_true(isnan(ok->energy_mj) && isnan(ok->event_ns));
    assert_string_equal(ok->id.shape, "n=4099");
    release_results(results, 4);
}

TEST(a_variants_own_figures_stand_behind_the_operations)
{
    struct case_result results[4];
    measure_half(results);
    assert_int_equal(results[0].metric_count, 1);
    assert_string_equal(results[0].metrics[0].name, "stage_ns");
    assert_true(results[0].metrics[0].value == 12.5);
    for (int i = 1; i < 4; i++)
        assert_int_equal(results[i].metric_count, 0);
    release_results(results, 4);
}

static const struct assay_variant *profiled;
static int take_profile(struct device *device, const struct block *block, struct profile *profile)
{
    assert_null(profiled); /* one case is left to be taken */
    profiled = block->variant;
    assert_int_equal(profile->counter_count, 1);
    assert_string_equal(profile->counter[0], "dram__bytes.sum");
    assert_int_equal(teardowns, 3); /* of the first setups, and of those that are out already */
    profile->activities = 7;
    return 0;
}

TEST(only_a_case_that_is_right_is_profiled)
{
    struct case_result results[4];
    struct profile *profiles = calloc(4, sizeof *profiles);
    profiled = NULL;
    measure_half_with(results, profiles, take_profile);
    assert_ptr_equal(profiled, &plain);
    assert_int_equal(profiles[0].activities, 7);
    for (int i = 1; i < 4; i++)
        assert_int_equal(profiles[i].activities, 0);
    assert_true(results[0].time_ns > 0);
    release_results(results, 4);
    free(profiles);
}

static int fail_profile(struct device *device, const struct block *block, struct profile *profile)
{
    return assay_error("the launch failed");
}

TEST(a_launch_that_fails_in_its_profile_is_a_crash)
{
    struct case_result results[4];
    struct profile *profiles = calloc(4, sizeof *profiles);
    measure_half_with(results, profiles, fail_profile);
    assert_int_equal(results[0].status, STATUS_CRASHED);
    assert_string_equal(results[0].reason, "profile: the launch failed");
    release_results(results, 4);
    free(profiles);
}
