/* test_sim_model.c - the times of a simulated device, against what was asked of it. */
#include <math.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/stats.h"
#include "device/sim/sim_model.h"
#include "device/sim/sim_spec.h"

enum { MANY = 4000 };

static void assert_near(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within)) fail_msg("%.17g is not %.17g +- %g", got, wanted, within);
}

static struct sim_spec parsed(const char *text)
{
    struct sim_spec spec;
    if (sim_spec_parse(text, &spec) < 0) fail_msg("%s: %s", text, assay_last_error());
    return spec;
}

static const struct case_id one = {.operation = "scale", .variant = "fast", .shape = "n=1"};
static const struct case_id two = {.operation = "scale", .variant = "wide", .shape = "n=1"};
static const struct case_work megabyte = {.read_bytes = 1e6};

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

TEST(launches_of_a_case_spread_as_asked)
{
    static const struct {
        const char *text;
        double pct;
    } asked[] = {{"sim:launch=0.1", 0.1}, {"sim:launch=0.5", 0.5}, {"sim:launch=2", 2}};
    double logs[MANY];
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

TEST(neither_cases_nor_seeds_share_their_deviations)
{
    double first[MANY], other_case[MANY], other_seed[MANY];
    launch_logarithms("sim:launch=1", &one, first);
    launch_logarithms("sim:launch=1", &two, other_case);
    launch_logarithms("sim:launch=1,seed=2", &one, other_seed);
    assert_near(correlation(first, other_case), 0, 0.08);
    assert_near(correlation(first, other_seed), 0, 0.08);
}

TEST(samples_spread_as_asked_and_three_in_a_hundred_have_a_spike)
{
    double logs[MANY];
    int spikes = 0;
    struct sim_spec spec = parsed("sim:noise=2");
    struct sim_case at = play("sim:noise=2", 7, &one);
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

TEST(without_noise_every_sample_is_the_launch_s_time)
{
    struct sim_spec spec = parsed("sim:noise=0");
    struct sim_case at = play("sim:noise=0", 7, &one);
    assert_true(at.time_ns == sim_fixed_ns(&one, &megabyte));
    for (int i = 0; i < 100; i++)
        assert_true(sim_sample_ns(&spec, &at, i, 0, false) == at.time_ns);
}

TEST(the_asked_share_of_launches_is_in_the_second_mode)
{
    int in_mode = 0;
    double fixed = sim_fixed_ns(&one, &megabyte);
    for (uint64_t i = 0; i < MANY; i++) {
        struct sim_case at = play("sim:modes=0.2:4", i, &one);
        assert_near(at.time_ns / fixed, at.in_mode ? 1.04 : 1, 1e-12);
        in_mode += at.in_mode;
    }
    assert_near((double)in_mode / MANY, 0.2, 0.025); /* four standard errors */
}

TEST(a_slow_case_is_slower_by_exactly_that_in_the_same_launch)
{
    for (uint64_t i = 0; i < 50; i++) {
        double plain = play("sim:launch=0.5,modes=0.2:4", i, &one).time_ns;
        double slow = play("sim:launch=0.5,modes=0.2:4,slow=scale/fast:10", i, &one).time_ns;
        assert_near(slow / plain, 1.1, 1e-12);
        double beside = play("sim:launch=0.5,modes=0.2:4,slow=scale/fast:10", i, &two).time_ns;
        assert_true(beside == play("sim:launch=0.5,modes=0.2:4", i, &two).time_ns);
    }
}

TEST(the_asked_share_of_blocks_is_throttled_and_a_fifth_longer)
{
    struct sim_spec spec = parsed("sim:throttle=0.3");
    struct sim_case at = play("sim:throttle=0.3", 7, &one);
    int throttled = 0;
    for (int i = 0; i < MANY; i++)
        throttled += sim_is_throttled(&spec, &at, i);
    assert_near((double)throttled / MANY, 0.3, 0.03);
    assert_near(sim_sample_ns(&spec, &at, 3, 0, true) / sim_sample_ns(&spec, &at, 3, 0, false), 1.2,
                1e-12);
}

TEST(a_stepped_clock_reads_multiples_whose_mean_is_the_time)
{
    struct sim_spec stepped = parsed("sim:step=32,noise=0.5"), fine = parsed("sim:noise=0.5");
    struct sim_case at = play("sim:step=32,noise=0.5", 7, &one);
    double sum = 0, wanted = 0;
    for (int i = 0; i < MANY; i++) {
        double ns = sim_sample_ns(&stepped, &at, i, 0, false);
        assert_true(fmod(ns, 32) == 0);
        sum += ns;
        wanted += sim_sample_ns(&fine, &at, i, 0, false);
    }
    assert_near(sum / MANY, wanted / MANY, 1);
}

TEST(drift_is_by_the_simulated_minute)
{
    struct sim_spec spec = parsed("sim:drift=0.5");
    struct sim_case at = play("sim:drift=0.5", 7, &one);
    double now = sim_sample_ns(&spec, &at, 3, 100, false);
    assert_near(sim_sample_ns(&spec, &at, 3, 160, false) / now, 1.005, 1e-12);
    assert_near(sim_sample_ns(&spec, &at, 3, 100 + 600, false) / now, pow(1.005, 10), 1e-12);
}

TEST(each_launch_begins_in_the_minute_after_the_last)
{
    struct sim_spec spec = parsed("sim");
    for (int number = 1; number < 100; number++) {
        struct sim_launch launch = sim_launch_begin(&spec, (uint64_t)number * 17, number);
        assert_true(launch.start_s >= 60 * (number - 1) && launch.start_s < 60 * number);
    }
}

TEST(the_fixed_time_is_start_bytes_and_operations_and_up_to_half_more)
{
    struct case_work work = {.read_bytes = 3e9, .write_bytes = 1e9, .ops[ASSAY_FP32] = 2e11};
    double least = 2000 + 1e6 + 2e6, time = sim_fixed_ns(&one, &work);
    assert_true(time >= least && time <= 1.5 * least);
    assert_true(time != sim_fixed_ns(&two, &work));
}
