/* test_device_sim.c - a group of cases on the simulated device. */
#include <math.h>

#include "measure/measurement.h"
#include "tests/measure/on_host.h"
#include "tests/fake_operations.h"

struct simulated {
    struct measure_request request;
    struct case_result results[3];
};

static void measure(struct simulated *group, const char *spec, uint64_t launch_seed)
{
    group->request =
        (struct measure_request){.shape = {&scale, {1000, 0}},
                                 .temperature = ASSAY_COLD,
                                 .budget_s = 0.1,
                                 .precision_pct = 0.01,
                                 .seed = launch_seed,
                                 .launch = 1,
                                 .launch_seed = launch_seed,
                                 .count = 3,
                                 .variant = {&scale_wide, &scale_fast, &scale_library}};
    assert_int_equal(measure_on(spec, &group->request, group->results, NULL), 0);
}

TEST(a_group_keeps_its_names_and_its_work)
{
    struct simulated group;
    measure(&group, "sim", 3);
    static const char *const names[] = {"wide", "fast", "library"};
    for (int i = 0; i < 3; i++) {
        const struct case_result *result = &group.results[i];
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
    assert_true(group.results[2].is_baseline);
    release_results(group.results, 3);
}

/* The budget is spent by simulated time: 0.1 s of it, whatever it takes here. */
TEST(a_budget_is_simulated_time)
{
    struct simulated group;
    measure(&group, "sim:noise=5", 3);
    double spent_s = 0;
    const struct samples *samples = &group.results[0].samples;
    for (int i = 0; i < samples->count; i++)
        spent_s += samples->time_ns[i] * 1e-9 + 20e-6;
    assert_true(spent_s >= 0.1 && spent_s < 0.12);
    release_results(group.results, 3);
}

TEST(the_same_seeds_give_the_same_samples)
{
    static const char spec[] = "sim:seed=5,launch=1,drift=1,throttle=0.2";
    struct simulated first, again, other;
    measure(&first, spec, 3);
    measure(&again, spec, 3);
    measure(&other, spec, 4);
    for (int i = 0; i < 3; i++) {
        const struct samples *a = &first.results[i].samples, *b = &again.results[i].samples;
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->time_ns, b->time_ns, (size_t)a->count * sizeof *a->time_ns);
        assert_true(first.results[i].time_ns != other.results[i].time_ns);
    }
    release_results(first.results, 3);
    release_results(again.results, 3);
    release_results(other.results, 3);
}

TEST(a_wrong_case_fails_its_check_and_the_rest_does_not)
{
    struct simulated group;
    measure(&group, "sim:wrong=scale/fast", 3);
    assert_int_equal(group.results[0].status, STATUS_OK);
    assert_int_equal(group.results[1].status, STATUS_WRONG);
    assert_true(isnan(group.results[1].time_ns));
    assert_int_equal(group.results[2].status, STATUS_OK);
    release_results(group.results, 3);
}

TEST(a_missing_case_is_marked_lost)
{
    struct simulated group;
    measure(&group, "sim:missing=*/wide", 3);
    assert_true(group.request.lost[0]);
    assert_false(group.request.lost[1] || group.request.lost[2]);
    release_results(group.results, 3);
}

static int marked(const struct samples *samples)
{
    int count = 0;
    for (int i = 0; i < samples->count; i++)
        count += samples->mark[i] == MARK_THROTTLED;
    return count;
}

TEST(throttled_blocks_are_marked_and_no_others)
{
    struct simulated group;
    measure(&group, "sim:noise=0.5,throttle=0.2", 3);
    for (int i = 0; i < 3; i++) {
        const struct case_result *result = &group.results[i];
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
    release_results(group.results, 3);
}

TEST(a_device_that_throttles_throughout_is_unstable)
{
    struct simulated group;
    measure(&group, "sim:throttle=1", 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(group.results[i].status, STATUS_UNSTABLE);
    release_results(group.results, 3);
}

TEST(it_says_that_it_is_simulated_and_has_one_identity)
{
    struct device_info info[2];
    static const char *const specs[] = {"sim:seed=1,launch=0.5", "sim:seed=2,slow=scale/*:10"};
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

TEST(auto_is_never_simulated)
{
    const struct device_ops *ops;
    struct device *device;
    struct device_info info;
    struct device_options options = {.spec = "auto"};
    assert_int_equal(device_open(&options, &ops, &device), 0);
    ops->describe(device, &info);
    assert_false(info.simulated);
    ops->close(device);
}

TEST(a_glob_that_matches_nothing_is_refused)
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

/* Opens it, and has what it says of itself. */
static int open_as(const char *spec, int pick, struct device_info *info)
{
    const struct device_options options = {.spec = spec, .pick = pick, .flush = -1};
    const struct device_ops *ops;
    struct device *device;
    int opened = device_open(&options, &ops, &device);
    if (opened < 0) return opened;
    ops->describe(device, info);
    ops->close(device);
    return 0;
}

TEST(each_process_has_its_gpu)
{
    struct device_info info;
    static const struct {
        const char *spec;
        int pick;
        const char *opened, *uuid;
        int peers;
    } cases[] = {
        {"sim", 0, "sim", "", 1},
        {"sim:seed=3", 7, "sim:seed=3", "", 1},
        {"sim:gpus=4,seed=3", 0, "sim:gpu=0,gpus=4,seed=3", "SIM-0", 4},
        {"sim:gpus=4,seed=3", 3, "sim:gpu=2,gpus=4,seed=3", "SIM-2", 4},
        {"sim:seed=3,gpu=all,gpus=4", 4, "sim:gpu=3,seed=3,gpus=4", "SIM-3", 4},
        {"sim:gpus=4,gpu=1", 3, "sim:gpu=1,gpus=4", "SIM-1", 4},
        {"sim:gpus=1", 3, "sim:gpu=0,gpus=1", "SIM-0", 1}, /* its own, as a launcher shows it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (open_as(cases[i].spec, cases[i].pick, &info) < 0) fail_msg("%s", assay_last_error());
        assert_string_equal(info.spec, cases[i].opened);
        assert_string_equal(info.uuid, cases[i].uuid);
        assert_int_equal(info.peers, cases[i].peers);
        assert_int_equal(open_as(info.spec, 0, &info), 0); /* a later worker opens the same */
        assert_string_equal(info.uuid, cases[i].uuid);
    }
    assert_int_equal(open_as("sim:gpus=4", 5, &info), -1);
    assert_non_null(strstr(assay_last_error(), "process 5 of the job on this machine has no GPU"));
}

TEST(a_spec_means_any_gpu_one_or_all)
{
    static const struct {
        const char *spec;
        enum device_choice choice;
    } cases[] = {
        {"auto", DEVICE_ANY},
        {"host", DEVICE_ANY},
        {"cuda", DEVICE_ANY},
        {"cuda:0", DEVICE_ONE},
        {"cuda:all", DEVICE_ALL},
        {"cuda:all,sm=80", DEVICE_ALL},
        {"cuda:0,sm=80", DEVICE_ONE},
        {"cuda:allx", DEVICE_ONE},
        {"sim", DEVICE_ANY},
        {"sim:gpus=4", DEVICE_ANY},
        {"sim:gpus=4,gpu=all", DEVICE_ALL},
        {"sim:gpu=3,gpus=4", DEVICE_ONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(device_choice(cases[i].spec), cases[i].choice);
}
