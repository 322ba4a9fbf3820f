/*
 * test_result.c - the empty result, and the words of its tables.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "case/result.h"

TEST(an_empty_result_measured_nothing)
{
    struct case_result result;
    memset(&result, 0x5a, sizeof result);
    result_init(&result);
    const double figures[] = {
        result.time_ns,          result.lo_ns,      result.hi_ns,           result.busy_ns,
        result.event_ns,         result.wall_ns,    result.first_call_ns,   result.energy_mj,
        result.power_w,          result.sm_mhz,     result.temperature_c,   result.max_abs_error,
        result.max_rel_error,    result.near_share, result.work.read_bytes, result.work.ops[0],
        result.work.write_bytes,
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assert_true(isnan(figures[i]));
    assert_int_equal(result.workspace_bytes, -1);
    assert_int_equal(result.kernels, -1);
    assert_int_equal(result.outputs, -1);
    assert_int_equal(result.checked, -1);
    assert_int_equal(result.registers, -1);
    assert_int_equal(result.shared_bytes, -1);
    assert_int_equal(result.local_bytes, -1);
    assert_int_equal(result.metric_count, 0);
    assert_int_equal(result.clock_reasons, 0);
}

TEST(an_empty_result_has_no_words_and_no_samples)
{
    struct case_result result;
    memset(&result, 0x5a, sizeof result);
    result_init(&result);
    assert_string_equal(result.id.operation, "");
    assert_string_equal(result.reason, "");
    assert_string_equal(result.note, "");
    assert_string_equal(result.code_hash, "");
    assert_int_equal(result.samples.count, 0);
    assert_null(result.samples.time_ns);
    assert_null(result.samples.wall_round);
    assert_false(result.is_baseline);
}

TEST(a_result_is_not_ok_before_somebody_says_so)
{
    struct case_result result;
    result_init(&result);
    assert_int_equal(result.status, STATUS_CRASHED);
    assert_int_equal(result.clock, -1);
}

TEST(released_samples_are_none)
{
    struct samples samples = {.count = 2, .wall_count = 1};
    samples.time_ns = malloc(2 * sizeof *samples.time_ns);
    samples.busy_ns = malloc(2 * sizeof *samples.busy_ns);
    samples.event_ns = malloc(2 * sizeof *samples.event_ns);
    samples.round = malloc(2 * sizeof *samples.round);
    samples.mark = malloc(2);
    samples.wall_ns = malloc(sizeof *samples.wall_ns);
    samples.wall_round = malloc(sizeof *samples.wall_round);
    samples_release(&samples);
    assert_int_equal(samples.count + samples.wall_count, 0);
    assert_null(samples.time_ns);
    samples_release(&samples);
}

TEST(every_status_is_read_back_from_its_word)
{
    static const char *const words[STATUSES] = {"ok",       "unchecked", "skipped", "wrong",
                                                "unstable", "crashed",   "timeout"};
    for (int i = 0; i < STATUSES; i++) {
        assert_string_equal(status_name((enum case_status)i), words[i]);
        assert_int_equal(status_parse(words[i]), i);
    }
}

TEST(every_clock_is_read_back_from_its_word)
{
    static const char *const words[CLOCKS] = {"cupti", "event", "host", "sim"};
    for (int i = 0; i < CLOCKS; i++) {
        assert_string_equal(clock_name((enum clock_source)i), words[i]);
        assert_int_equal(words_find(&clock_words, words[i]), i);
    }
}

TEST(kinds_places_temperatures_and_arithmetics_have_their_words)
{
    assert_string_equal(kind_name(ASSAY_KERNEL), "kernel");
    assert_string_equal(kind_name(ASSAY_BASELINE), "baseline");
    assert_string_equal(kind_name(ASSAY_BOUND), "bound");
    assert_string_equal(kind_name(ASSAY_REFERENCE), "reference");
    assert_int_equal(kind_parse("reference"), ASSAY_REFERENCE);
    assert_string_equal(place_name(ASSAY_HOST), "host");
    assert_string_equal(place_name(ASSAY_CUDA), "cuda");
    assert_int_equal(place_parse("cuda"), ASSAY_CUDA);
    assert_string_equal(temperature_name(ASSAY_COLD), "cold");
    assert_string_equal(temperature_name(ASSAY_HOT), "hot");
    assert_int_equal(temperature_parse("hot"), ASSAY_HOT);
    static const char *const arithmetics[ARITHMETICS] = {"fp32", "tf32", "bf16", "fp16",
                                                         "int8", "fp64", "fp8"};
    for (int i = 0; i < ARITHMETICS; i++)
        assert_string_equal(arithmetic_name((enum assay_arithmetic)i), arithmetics[i]);
}

TEST(an_unknown_word_is_minus_one_and_an_unknown_value_no_word)
{
    assert_int_equal(status_parse("fine"), -1);
    assert_int_equal(status_parse(""), -1);
    assert_int_equal(status_parse(NULL), -1);
    assert_int_equal(words_find(&clock_words, "OK"), -1);
    assert_int_equal(kind_parse("kern"), -1);
    assert_int_equal(place_parse("cuda:0"), -1);
    assert_int_equal(temperature_parse("warm"), -1);
    assert_string_equal(clock_name((enum clock_source) - 1), "");
    assert_string_equal(status_name(STATUSES), "");
}
