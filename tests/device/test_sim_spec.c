/* test_sim_spec.c - the words of a simulated device: keys, globs, and what is refused. */
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "device/sim/sim_spec.h"

static struct sim_spec parsed(const char *text)
{
    struct sim_spec spec;
    if (sim_spec_parse(text, &spec) < 0) fail_msg("%s: %s", text, assay_last_error());
    return spec;
}

TEST(a_bare_name_is_a_device_with_a_little_noise)
{
    struct sim_spec spec = parsed("sim");
    assert_int_equal(spec.seed, 1);
    assert_true(spec.noise_pct == 1);
    assert_true(spec.launch_pct == 0 && spec.drift_pct == 0 && spec.mode_share == 0);
    assert_true(spec.throttle_share == 0 && spec.rule_count == 0);
}

TEST(every_key_is_read)
{
    struct sim_spec spec =
        parsed("sim:seed=18446744073709551615,noise=1.5,launch=.5,drift=-0.25,modes=0.2:4,"
               "places=0.1:3,throttle=0.1,slow=a/b:10,crash=c/*,hang=d/?,wrong=*,missing=[ef]/g");
    assert_true(spec.seed == UINT64_MAX);
    assert_true(spec.noise_pct == 1.5 && spec.launch_pct == 0.5 && spec.drift_pct == -0.25);
    assert_true(spec.mode_share == 0.2 && spec.mode_pct == 4 && spec.throttle_share == 0.1);
    assert_true(spec.place_share == 0.1 && spec.place_pct == 3);
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

TEST(globs_match_operation_and_variant)
{
    struct sim_spec spec = parsed("sim:crash=scale/w*,crash=stream/omp,wrong=scale/fast");
    assert_true(sim_spec_has(&spec, SIM_CRASH, "scale", "wide"));
    assert_true(sim_spec_has(&spec, SIM_CRASH, "stream", "omp"));
    assert_true(sim_spec_has(&spec, SIM_WRONG, "scale", "fast"));
    assert_false(sim_spec_has(&spec, SIM_CRASH, "scale", "fast"));
    assert_false(sim_spec_has(&spec, SIM_HANG, "scale", "wide"));
}

TEST(slow_downs_of_one_case_multiply)
{
    struct sim_spec spec = parsed("sim:slow=scale/*:10,slow=*/fast:50,slow=stream/*:-20");
    assert_true(sim_spec_slowdown(&spec, "scale", "fast") == 1.1 * 1.5);
    assert_true(sim_spec_slowdown(&spec, "scale", "wide") == 1.1);
    assert_true(sim_spec_slowdown(&spec, "stream", "omp") == 0.8);
    assert_true(sim_spec_slowdown(&spec, "product", "loop") == 1);

    char code[SIM_CODE], other[SIM_CODE];
    spec = parsed("sim:code=7,slow=scale/*:10,bias=*/fast:50");
    assert_true(spec.code == 7);
    assert_true(sim_spec_slowdown(&spec, "scale", "fast") == 1.1 * 1.5);
    assert_true(sim_spec_work(&spec, "scale", "fast") == 1.1); /* a bias is no work */
    sim_spec_code(&spec, "scale", "fast", code);
    sim_spec_code(&spec, "scale", "wide", other);
    assert_string_equal(code, other);
    sim_spec_code(&spec, "stream", "fast", other);
    assert_string_not_equal(code, other);
}

TEST(what_is_typed_wrong_gets_one_line_that_says_what_is_right)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"sim:", "as in sim:seed=1"},
        {"sim:seed=1,", "KEY=VALUE is missing"},
        {"sim:nois=1", "did you mean 'noise'?"},
        {"sim:colour=red",
         "(seed, noise, launch, drift, modes, places, throttle, step, gpus, gpu, slow, "
         "bias, code, crash"},
        {"sim:noise", "noise=: it wants per cent"},
        {"sim:noise=", "noise=: it wants per cent"},
        {"sim:noise=abc", "noise=abc: it wants per cent from 0 to 100"},
        {"sim:noise=1x", "noise=1x"},
        {"sim:noise=nan", "noise=nan"},
        {"sim:noise=-1", "from 0 to 100"},
        {"sim:noise=101", "from 0 to 100"},
        {"sim:launch=-0.1", "launch=-0.1: it wants per cent"},
        {"sim:drift=-11", "per cent per minute"},
        {"sim:seed=-1", "seed=-1: it wants a whole number"},
        {"sim:seed=1.5", "a whole number"},
        {"sim:seed=18446744073709551616", "a whole number"},
        {"sim:seed=1,seed=2", "'seed' is given twice"},
        {"sim:modes=0.2", "SHARE:PCT"},
        {"sim:modes=2:4", "a share from 0 to 1"},
        {"sim:modes=0.2:-95", "modes=0.2:-95: it wants"},
        {"sim:places=0.2", "SHARE:PCT"},
        {"sim:throttle=20", "a share from 0 to 1"},
        {"sim:slow=scale/fast", "GLOB:PCT"},
        {"sim:slow=:10", "GLOB:PCT"},
        {"sim:slow=scale/fast:", "GLOB:PCT"},
        {"sim:slow=scale/fast:-91", "from -90 to 10000"},
        {"sim:gpus=0", "gpus=0: it wants how many there are"},
        {"sim:gpus=1.5", "from 1 to 64"},
        {"sim:gpus=65", "from 1 to 64"},
        {"sim:gpus=4,gpu=4", "gpu=4: there is none of that number"},
        {"sim:gpu=1", "gpu=1: there is none of that number"},
        {"sim:gpu=some", "gpu=some: it wants the number of one of them from 0, or all"},
        {"sim:crash=", "a glob on operation/variant"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sim_spec spec;
        assay_clear_error();
        if (sim_spec_parse(wrong[i].text, &spec) == 0) fail_msg("%s was taken", wrong[i].text);
        const char *said = assay_last_error();
        if (strstr(said, wrong[i].says) == NULL) fail_msg("%s: %s", wrong[i].text, said);
        assert_null(strchr(said, '\n'));
    }
}

TEST(more_rules_than_there_is_room_for_are_refused)
{
    char text[16 * SIM_MAX_RULES] = "sim:crash=a/b";
    struct sim_spec spec;
    for (int i = 1; i < SIM_MAX_RULES; i++)
        strcat(text, ",crash=a/b");
    assert_int_equal(sim_spec_parse(text, &spec), 0);
    strcat(text, ",crash=a/b");
    assert_int_equal(sim_spec_parse(text, &spec), -1);
    assert_non_null(strstr(assay_last_error(), "more than 32"));
}
