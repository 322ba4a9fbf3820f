/* test_sim.c - the simulated device: its words, its times, and a group on it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "contender.h"
#include "fake_operations.h"
#include "sim_model.h"
#include "sim_spec.h"
#include "stats.h"

enum { MANY = 4000 };

static void assert_near(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within)) fail_msg("%.17g is not %.17g +- %g", got, wanted, within);
}

/* ----------------------------------------------------------------- words -- */

static struct sim_spec parsed(const char *text)
{
    struct sim_spec spec;
    if (sim_spec_parse(text, &spec) < 0) fail_msg("%s: %s", text, assay_last_error());
    return spec;
}

static void a_bare_name_is_a_device_with_a_little_noise(void **state)
{
    (void)state;
    struct sim_spec spec = parsed("sim");
    assert_int_equal(spec.seed, 1);
    assert_true(spec.noise_pct == 1);
    assert_true(spec.launch_pct == 0 && spec.drift_pct == 0 && spec.mode_share == 0);
    assert_true(spec.throttle_share == 0 && spec.rule_count == 0);
}

static void every_key_is_read(void **state)
{
    (void)state;
    struct sim_spec spec =
        parsed("sim:seed=18446744073709551615,noise=1.5,launch=.5,drift=-0.25,modes=0.2:4,"
               "throttle=0.1,slow=a/b:10,crash=c/*,hang=d/?,wrong=*,missing=[ef]/g");
    assert_true(spec.seed == UINT64_MAX);
    assert_true(spec.noise_pct == 1.5 && spec.launch_pct == 0.5 && spec.drift_pct == -0.25);
    assert_true(spec.mode_share == 0.2 && spec.mode_pct == 4 && spec.throttle_share == 0.1);
    static const struct sim_rule rules[] = {{SIM_SLOW, "a/b", 10},
                                            {SIM_CRASH, "c/*", 0},
                                            {SIM_HANG, "d/?", 0},
                                            {SIM_WRONG, "*", 0},
                                            {SIM_MISSING, "[ef]/g", 0}};
    assert_int_equal(spec.rule_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(spec.rules[i].fate, rules[i].fate);
        assert_string_equal(spec.rules[i].glob, rules[i].glob);
        assert_true(spec.rules[i].pct == rules[i].pct);
    }
}

static void globs_match_operation_and_variant(void **state)
{
    (void)state;
    struct sim_spec spec = parsed("sim:crash=scale/w*,crash=stream/omp,wrong=scale/fast");
    assert_true(sim_spec_has(&spec, SIM_CRASH, "scale", "wide"));
    assert_true(sim_spec_has(&spec, SIM_CRASH, "stream", "omp"));
    assert_true(sim_spec_has(&spec, SIM_WRONG, "scale", "fast"));
    assert_false(sim_spec_has(&spec, SIM_CRASH, "scale", "fast"));
    assert_false(sim_spec_has(&spec, SIM_HANG, "scale", "wide"));
}

static void slow_downs_of_one_case_multiply(void **state)
{
    (void)state;
    struct sim_spec spec = parsed("sim:slow=scale/*:10,slow=*/fast:50,slow=stream/*:-20");
    assert_true(sim_spec_slowdown(&spec, "scale", "fast") == 1.1 * 1.5);
    assert_true(sim_spec_slowdown(&spec, "scale", "wide") == 1.1);
    assert_true(sim_spec_slowdown(&spec, "stream", "omp") == 0.8);
    assert_true(sim_spec_slowdown(&spec, "product", "loop") == 1);
}

static void what_is_typed_wrong_gets_one_line_that_says_what_is_right(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"sim:", "as in sim:seed=1"},
        {"sim:seed=1,", "KEY=VALUE is missing"},
        {"sim:nois=1", "did you mean 'noise'?"},
        {"sim:colour=red", "(seed, noise, launch, drift, modes, throttle, slow, crash"},
        {"sim:noise", "noise=: it wants per cent"},
        {"sim:noise=", "noise=: it wants per cent"},
        {"sim:noise=abc", "noise=abc: it wants per cent from 0 to 100"},
        {"sim:noise=1x", "noise=1x"},
        {"sim:noise=nan", "noise=nan"},
        {"sim:noise=-1", "from 0 to 100"},
        {"sim:noise=101", "from 0 to 100"},
        {"sim:launch=-0.1", "launch=-0.1: it wants per cent"},
        {"sim:drift=-11", "per cent a minute"},
        {"sim:seed=-1", "seed=-1: it wants a whole number"},
        {"sim:seed=1.5", "a whole number"},
        {"sim:seed=18446744073709551616", "a whole number"},
        {"sim:seed=1,seed=2", "'seed' is given twice"},
        {"sim:modes=0.2", "SHARE:PCT"},
        {"sim:modes=2:4", "a share from 0 to 1"},
        {"sim:modes=0.2:-95", "modes=0.2:-95: it wants"},
        {"sim:throttle=20", "a share from 0 to 1"},
        {"sim:slow=scale/fast", "GLOB:PCT"},
        {"sim:slow=:10", "GLOB:PCT"},
        {"sim:slow=scale/fast:", "GLOB:PCT"},
        {"sim:slow=scale/fast:-91", "from -90 to 10000"},
        {"sim:crash=", "a glob on operation/variant"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sim_spec spec;
        assay_clear_error();
        if (sim_spec_parse(wrong[i].text, &spec) == 0) fail_msg("%s was taken", wrong[i].text);
        const char *said = assay_last_error();
        if (strstr(said, wrong[i].says) == NULL) fail_msg("%s: %s", wrong[i].text, said);
        assert_null(strchr(said, '\n'));
    }
}

static void more_rules_than_there_is_room_for_are_refused(void **state)
{
    char text[16 * SIM_MAX_RULES] = "sim:crash=a/b";
    struct sim_spec spec;
    (void)state;
    for (int i = 1; i < SIM_MAX_RULES; i++)
        strcat(text, ",crash=a/b");
    assert_int_equal(sim_spec_parse(text, &spec), 0);
    strcat(text, ",crash=a/b");
    assert_int_equal(sim_spec_parse(text, &spec), -1);
    assert_non_null(strstr(assay_last_error(), "more than 32"));
}

/* ----------------------------------------------------------------- times -- */

static const struct case_id one = {.operation = "scale", .variant = "fast", .shape = "n=1"};
static const struct case_id two = {.operation = "scale", .variant = "wide", .shape = "n=1"};
static const struct assay_work megabyte = {.read_bytes = 1e6};

static struct sim_case play(const char *text, uint64_t launch_seed, const struct case_id *id)
{
    struct sim_spec spec = parsed(text);
    struct sim_launch launch = sim_launch_begin(&spec, launch_seed, 1);
    return sim_case_begin(&spec, &launch, id, &megabyte);
}

static double mean_of(const double *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static double deviation_of(const double *values, int count)
{
    double mean = mean_of(values, count), sum = 0;
    for (int i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (count - 1));
}

/* ln(time / fixed time) of one case in MANY launches. */
static void launch_logarithms(const char *text, const struct case_id *id, double *out)
{
    double fixed = sim_fixed_ns(id, &megabyte);
    for (int i = 0; i < MANY; i++)
        out[i] = log(play(text, (uint64_t)i, id).time_ns / fixed);
}

static void launches_of_a_case_spread_as_asked(void **state)
{
    static const struct {
        const char *text;
        double pct;
    } asked[] = {{"sim:launch=0.1", 0.1}, {"sim:launch=0.5", 0.5}, {"sim:launch=2", 2}};
    double logs[MANY];
    (void)state;
    for (int i = 0; i < 3; i++) {
        launch_logarithms(asked[i].text, &one, logs);
        /* Standard errors: 1.1 % of a deviation, 1.6 % of it for the mean. */
        assert_near(deviation_of(logs, MANY), asked[i].pct / 100, asked[i].pct / 100 * 0.05);
        assert_near(mean_of(logs, MANY), 0, asked[i].pct / 100 * 0.06);
    }
}

static double correlation(const double *x, const double *y)
{
    double mx = mean_of(x, MANY), my = mean_of(y, MANY), sum = 0;
    for (int i = 0; i < MANY; i++)
        sum += (x[i] - mx) * (y[i] - my);
    return sum / (MANY - 1) / deviation_of(x, MANY) / deviation_of(y, MANY);
}

static void neither_cases_nor_seeds_share_their_deviations(void **state)
{
    double first[MANY], other_case[MANY], other_seed[MANY];
    (void)state;
    launch_logarithms("sim:launch=1", &one, first);
    launch_logarithms("sim:launch=1", &two, other_case);
    launch_logarithms("sim:launch=1,seed=2", &one, other_seed);
    assert_near(correlation(first, other_case), 0, 0.08);
    assert_near(correlation(first, other_seed), 0, 0.08);
}

static void samples_spread_as_asked_and_three_in_a_hundred_have_a_spike(void **state)
{
    double logs[MANY];
    int spikes = 0;
    struct sim_spec spec = parsed("sim:noise=2");
    struct sim_case at = play("sim:noise=2", 7, &one);
    (void)state;
    for (int i = 0; i < MANY; i++) {
        logs[i] = log(sim_sample_ns(&spec, &at, i, 0, false) / at.time_ns);
        spikes += logs[i] > 0.02 * 4;
    }
    struct interval median = stats_median_interval(logs, MANY, 0.99); /* sorts */
    assert_true(median.lo < 0.001 && median.hi > -0.0005);
    double quartiles = logs[3 * MANY / 4] - logs[MANY / 4];
    assert_near(quartiles / 1.349, 0.02, 0.02 * 0.08);
    assert_true(spikes > 0.02 * MANY && spikes < 0.04 * MANY);
    assert_true(logs[MANY - 1] < 0.9);
}

static void without_noise_every_sample_is_the_launch_s_time(void **state)
{
    struct sim_spec spec = parsed("sim:noise=0");
    struct sim_case at = play("sim:noise=0", 7, &one);
    (void)state;
    assert_true(at.time_ns == sim_fixed_ns(&one, &megabyte));
    for (int i = 0; i < 100; i++)
        assert_true(sim_sample_ns(&spec, &at, i, 0, false) == at.time_ns);
}

static void the_asked_share_of_launches_is_in_the_second_mode(void **state)
{
    int in_mode = 0;
    double fixed = sim_fixed_ns(&one, &megabyte);
    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        struct sim_case at = play("sim:modes=0.2:4", i, &one);
        assert_near(at.time_ns / fixed, at.in_mode ? 1.04 : 1, 1e-12);
        in_mode += at.in_mode;
    }
    assert_near((double)in_mode / MANY, 0.2, 0.025); /* four standard errors */
}

static void a_slow_case_is_slower_by_exactly_that_in_the_same_launch(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        double plain = play("sim:launch=0.5,modes=0.2:4", i, &one).time_ns;
        double slow = play("sim:launch=0.5,modes=0.2:4,slow=scale/fast:10", i, &one).time_ns;
        assert_near(slow / plain, 1.1, 1e-12);
        double beside = play("sim:launch=0.5,modes=0.2:4,slow=scale/fast:10", i, &two).time_ns;
        assert_true(beside == play("sim:launch=0.5,modes=0.2:4", i, &two).time_ns);
    }
}

static void the_asked_share_of_blocks_is_throttled_and_a_fifth_longer(void **state)
{
    struct sim_spec spec = parsed("sim:throttle=0.3");
    struct sim_case at = play("sim:throttle=0.3", 7, &one);
    int throttled = 0;
    (void)state;
    for (int i = 0; i < MANY; i++)
        throttled += sim_is_throttled(&spec, &at, i);
    assert_near((double)throttled / MANY, 0.3, 0.03);
    assert_near(sim_sample_ns(&spec, &at, 3, 0, true) / sim_sample_ns(&spec, &at, 3, 0, false), 1.2,
                1e-12);
}

static void drift_is_by_the_simulated_minute(void **state)
{
    struct sim_spec spec = parsed("sim:drift=0.5");
    struct sim_case at = play("sim:drift=0.5", 7, &one);
    double now = sim_sample_ns(&spec, &at, 3, 100, false);
    (void)state;
    assert_near(sim_sample_ns(&spec, &at, 3, 160, false) / now, 1.005, 1e-12);
    assert_near(sim_sample_ns(&spec, &at, 3, 100 + 600, false) / now, pow(1.005, 10), 1e-12);
}

static void each_launch_begins_in_the_minute_after_the_last(void **state)
{
    struct sim_spec spec = parsed("sim");
    (void)state;
    for (int number = 1; number < 100; number++) {
        struct sim_launch launch = sim_launch_begin(&spec, (uint64_t)number * 17, number);
        assert_true(launch.start_s >= 60 * (number - 1) && launch.start_s < 60 * number);
    }
}

static void the_fixed_time_is_start_bytes_and_operations_and_up_to_half_more(void **state)
{
    struct assay_work work = {.read_bytes = 3e9, .write_bytes = 1e9, .ops[ASSAY_FP32] = 2e11};
    double least = 2000 + 1e6 + 2e6, time = sim_fixed_ns(&one, &work);
    (void)state;
    assert_true(time >= least && time <= 1.5 * least);
    assert_true(time != sim_fixed_ns(&two, &work));
}

/* --------------------------------------------------------------- a device -- */

struct bench {
    const struct device_ops *ops;
    struct device *device;
    struct board board;
    struct measure_request request;
    struct measure_outcome outcome;
    struct case_result results[3];
};

static void bench_measure(struct bench *bench, const char *spec, uint64_t launch_seed)
{
    struct device_options options = {.spec = spec};
    memset(bench, 0, sizeof *bench);
    bench->request =
        (struct measure_request){.shape = {&scale, {1000, 0}},
                                 .temperature = ASSAY_COLD,
                                 .budget_s = 0.1,
                                 .precision_pct = 0.01,
                                 .baseline = "",
                                 .seed = launch_seed,
                                 .launch = 1,
                                 .launch_seed = launch_seed,
                                 .count = 3,
                                 .variant = {&scale_wide, &scale_fast, &scale_library}};
    for (int i = 0; i < 3; i++)
        result_init(&bench->results[i]);
    if (device_open(&options, &bench->ops, &bench->device) < 0) fail_msg("%s", assay_last_error());
    assert_int_equal(bench->ops->stage(bench->device, &bench->request), 0);
    assert_int_equal(measure_group(bench->ops, bench->device, &bench->board, &bench->request,
                                   bench->results, &bench->outcome),
                     0);
    assert_false(bench->outcome.broken);
}

static void bench_release(struct bench *bench)
{
    for (int i = 0; i < 3; i++)
        samples_release(&bench->results[i].samples);
    bench->ops->close(bench->device);
}

static void a_group_keeps_its_names_and_its_work(void **state)
{
    struct bench bench;
    (void)state;
    bench_measure(&bench, "sim", 3);
    static const char *const names[] = {"wide", "fast", "library"};
    for (int i = 0; i < 3; i++) {
        const struct case_result *result = &bench.results[i];
        assert_int_equal(result->status, STATUS_OK); /* the variants themselves all fail */
        assert_string_equal(result->id.operation, "scale");
        assert_string_equal(result->id.variant, names[i]);
        assert_string_equal(result->id.shape, "n=1000 input=fp32");
        assert_true(result->work.read_bytes == 4000);
        assert_int_equal(result->clock, CLOCK_SIM);
        assert_true(result->samples.count >= MEASURE_MIN_SAMPLES);
        assert_string_equal(result->code_hash, "");
        assert_true(isnan(result->energy_mj) && isnan(result->sm_mhz));
    }
    assert_true(bench.results[2].is_baseline);
    bench_release(&bench);
}

/* The budget is spent by simulated time: 0.1 s of it, whatever it takes here. */
static void a_budget_is_simulated_time(void **state)
{
    struct bench bench;
    (void)state;
    bench_measure(&bench, "sim:noise=5", 3);
    double spent_s = 0;
    const struct samples *samples = &bench.results[0].samples;
    for (int i = 0; i < samples->count; i++)
        spent_s += samples->time_ns[i] * 1e-9 + 20e-6;
    assert_true(spent_s >= 0.1 && spent_s < 0.12);
    bench_release(&bench);
}

static void the_same_seeds_give_the_same_samples(void **state)
{
    static const char spec[] = "sim:seed=5,launch=1,drift=1,throttle=0.2";
    struct bench first, again, other;
    (void)state;
    bench_measure(&first, spec, 3);
    bench_measure(&again, spec, 3);
    bench_measure(&other, spec, 4);
    for (int i = 0; i < 3; i++) {
        const struct samples *a = &first.results[i].samples, *b = &again.results[i].samples;
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->time_ns, b->time_ns, (size_t)a->count * sizeof *a->time_ns);
        assert_true(first.results[i].time_ns != other.results[i].time_ns);
    }
    bench_release(&first);
    bench_release(&again);
    bench_release(&other);
}

static void a_wrong_case_fails_its_check_and_the_rest_does_not(void **state)
{
    struct bench bench;
    (void)state;
    bench_measure(&bench, "sim:wrong=scale/fast", 3);
    assert_int_equal(bench.results[0].status, STATUS_OK);
    assert_int_equal(bench.results[1].status, STATUS_WRONG);
    assert_true(isnan(bench.results[1].time_ns));
    assert_int_equal(bench.results[2].status, STATUS_OK);
    bench_release(&bench);
}

static void a_missing_case_is_marked_lost(void **state)
{
    struct bench bench;
    (void)state;
    bench_measure(&bench, "sim:missing=*/wide", 3);
    assert_true(bench.request.lost[0]);
    assert_false(bench.request.lost[1] || bench.request.lost[2]);
    bench_release(&bench);
}

static int marked(const struct samples *samples)
{
    int count = 0;
    for (int i = 0; i < samples->count; i++)
        count += samples->mark[i] == MARK_THROTTLED;
    return count;
}

static void throttled_blocks_are_marked_and_no_others(void **state)
{
    struct bench bench;
    (void)state;
    bench_measure(&bench, "sim:noise=0.5,throttle=0.2", 3);
    for (int i = 0; i < 3; i++) {
        const struct case_result *result = &bench.results[i];
        const struct samples *samples = &result->samples;
        int slower = 0;
        for (int s = 0; s < samples->count; s++)
            slower += samples->mark[s] == 0 && samples->time_ns[s] > 1.19 * result->time_ns;
        double share = (double)marked(samples) / samples->count;
        assert_true(share > 0.1 && share < 0.3);
        assert_true(slower < 0.05 * samples->count); /* spikes alone */
        assert_true(result->clock_reasons != 0);
        assert_int_equal(result->status, STATUS_OK);
    }
    bench_release(&bench);
}

static void a_device_that_throttles_throughout_is_unstable(void **state)
{
    struct bench bench;
    (void)state;
    bench_measure(&bench, "sim:throttle=1", 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bench.results[i].status, STATUS_UNSTABLE);
    bench_release(&bench);
}

static void it_says_that_it_is_simulated_and_has_one_identity(void **state)
{
    struct device_info info[2];
    static const char *const specs[] = {"sim:seed=1,launch=0.5", "sim:seed=2,slow=scale/*:10"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct device_ops *ops;
        struct device *device;
        struct device_options options = {.spec = specs[i]};
        assert_int_equal(device_open(&options, &ops, &device), 0);
        ops->describe(device, &info[i]);
        ops->close(device);
        assert_true(info[i].simulated);
        assert_string_equal(info[i].spec, specs[i]);
        assert_int_equal(info[i].clock, CLOCK_SIM);
    }
    assert_string_equal(info[0].name, info[1].name);
    assert_string_equal(info[0].uuid, info[1].uuid);
}

static void auto_is_never_simulated(void **state)
{
    (void)state;
    const struct device_ops *ops;
    struct device *device;
    struct device_info info;
    struct device_options options = {.spec = "auto"};
    assert_int_equal(device_open(&options, &ops, &device), 0);
    ops->describe(device, &info);
    assert_false(info.simulated);
    ops->close(device);
}

static void a_glob_that_matches_nothing_is_refused(void **state)
{
    static const struct {
        const char *spec, *says;
    } wrong[] = {
        {"sim:slow=scale:10", "did you mean 'scale/*'?"},
        {"sim:slow=sclae/*:10", "did you mean 'scale/*'?"},
        {"sim:crash=scale/fats", "did you mean 'scale/fast'?"},
        {"sim:hang=scale/tma", "no operation/variant of the host matches 'scale/tma'"},
        {"sim:wrong=elephants/*", "assay list variants"},
        {"sin:seed=1", "did you mean 'sim'?"},
        {"toaster", "sim:KEY=VALUE"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct device_ops *ops;
        struct device *device;
        struct device_options options = {.spec = wrong[i].spec};
        assert_int_equal(device_open(&options, &ops, &device), -1);
        assert_null(ops);
        const char *said = assay_last_error();
        if (strstr(said, wrong[i].says) == NULL) fail_msg("%s: %s", wrong[i].spec, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_name_is_a_device_with_a_little_noise),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(globs_match_operation_and_variant),
        cmocka_unit_test(slow_downs_of_one_case_multiply),
        cmocka_unit_test(what_is_typed_wrong_gets_one_line_that_says_what_is_right),
        cmocka_unit_test(more_rules_than_there_is_room_for_are_refused),
        cmocka_unit_test(launches_of_a_case_spread_as_asked),
        cmocka_unit_test(neither_cases_nor_seeds_share_their_deviations),
        cmocka_unit_test(samples_spread_as_asked_and_three_in_a_hundred_have_a_spike),
        cmocka_unit_test(without_noise_every_sample_is_the_launch_s_time),
        cmocka_unit_test(the_asked_share_of_launches_is_in_the_second_mode),
        cmocka_unit_test(a_slow_case_is_slower_by_exactly_that_in_the_same_launch),
        cmocka_unit_test(the_asked_share_of_blocks_is_throttled_and_a_fifth_longer),
        cmocka_unit_test(drift_is_by_the_simulated_minute),
        cmocka_unit_test(each_launch_begins_in_the_minute_after_the_last),
        cmocka_unit_test(the_fixed_time_is_start_bytes_and_operations_and_up_to_half_more),
        cmocka_unit_test(a_group_keeps_its_names_and_its_work),
        cmocka_unit_test(a_budget_is_simulated_time),
        cmocka_unit_test(the_same_seeds_give_the_same_samples),
        cmocka_unit_test(a_wrong_case_fails_its_check_and_the_rest_does_not),
        cmocka_unit_test(a_missing_case_is_marked_lost),
        cmocka_unit_test(throttled_blocks_are_marked_and_no_others),
        cmocka_unit_test(a_device_that_throttles_throughout_is_unstable),
        cmocka_unit_test(it_says_that_it_is_simulated_and_has_one_identity),
        cmocka_unit_test(auto_is_never_simulated),
        cmocka_unit_test(a_glob_that_matches_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
