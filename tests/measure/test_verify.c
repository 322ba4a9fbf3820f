/* test_verify.c - what is checked, and how one element is judged. */
#include <math.h>
#include <string.h>

#include "on_host.h"

/* ------------------------------------------------------------- planning -- */

TEST(a_small_output_is_checked_whole)
{
    int64_t begin[ASSAY_CHECK_PLACES], end[ASSAY_CHECK_PLACES];
    assert_int_equal(verify_plan(1000, 1, 1000, 1, begin, end), 1);
    assert_int_equal(begin[0], 0);
    assert_int_equal(end[0], 1000);
}

TEST(nothing_is_checked_of_nothing)
{
    int64_t begin[ASSAY_CHECK_PLACES], end[ASSAY_CHECK_PLACES];
    assert_int_equal(verify_plan(0, 1, 1000, 1, begin, end), 0);
}

/* First and last elements always, chunks in order, apart, whole runs, and about
 * the budget: for sizes that divide nothing. */
TEST(a_large_output_is_checked_from_end_to_end)
{
    static const int64_t counts[] = {1009, 50000017, 200000000, 4099, 16384 * 4096 + 7};
    static const int64_t runs[] = {1, 7, 64, 4096};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            int64_t begin[ASSAY_CHECK_PLACES], end[ASSAY_CHECK_PLACES], total = 0, budget = 1000;
            int chunks = verify_plan(counts[c], runs[r], budget, c, begin, end);
            assert_in_range(chunks, 1, ASSAY_CHECK_PLACES);
            assert_int_equal(begin[0], 0);
            assert_int_equal(end[chunks - 1], counts[c]);
            for (int i = 0; i < chunks; i++) {
                assert_int_equal(begin[i] % runs[r], 0);
                assert_true(begin[i] < end[i] && end[i] <= counts[c]);
                if (i > 0) assert_true(begin[i] >= end[i - 1]);
                total += end[i] - begin[i];
            }
            assert_true(total <= counts[c]);
            assert_true(total <= 2 * (budget > 2 * runs[r] ? budget : 2 * runs[r]));
        }
    }
}

/* A kernel that skips any stretch as long as two strata is caught. */
TEST(no_long_stretch_goes_unchecked)
{
    int64_t begin[ASSAY_CHECK_PLACES], end[ASSAY_CHECK_PLACES], count = 200000000;
    int chunks = verify_plan(count, 1, 1 << 20, 1, begin, end);
    assert_int_equal(chunks, ASSAY_CHECK_PLACES);
    for (int i = 1; i < chunks; i++)
        assert_true(begin[i] - end[i - 1] <= 2 * count / ASSAY_CHECK_PLACES);
}

/* What one run does not look at, another does. */
TEST(another_seed_checks_other_places)
{
    int64_t begin[2][ASSAY_CHECK_PLACES], end[2][ASSAY_CHECK_PLACES];
    int moved = 0;
    for (int i = 0; i < 2; i++)
        verify_plan(200000000, 1, 1 << 20, 7 + (uint64_t)i, begin[i], end[i]);
    for (int i = 0; i < ASSAY_CHECK_PLACES; i++)
        moved += begin[0][i] != begin[1][i];
    assert_true(moved >= ASSAY_CHECK_PLACES * 9 / 10);
}

/* --------------------------------------------------------------- judging -- */

static const struct assay_operation tolerant = {.name = "tolerant", .tolerance = {1e-3, 1e-2, 0}};

static enum assay_match judge(double expected, double bound, double got)
{
    struct assay_shape shape = {.operation = &tolerant};
    return verify_element(&tolerant, &shape, 0, expected, bound, got);
}

TEST(a_value_within_the_tolerance_is_right)
{
    assert_int_equal(judge(100, NAN, 101), ASSAY_EXACT);
    assert_int_equal(judge(100, NAN, 101.01), ASSAY_WRONG);
    assert_int_equal(judge(0, NAN, 1e-3), ASSAY_EXACT);
    assert_int_equal(judge(0, NAN, -1.1e-3), ASSAY_WRONG);
}

TEST(an_element_s_own_bound_comes_before_the_tolerance)
{
    assert_int_equal(judge(100, 0.5, 100.4), ASSAY_EXACT);
    assert_int_equal(judge(100, 0.5, 100.6), ASSAY_WRONG);
}

TEST(nan_is_right_only_where_nan_is_expected)
{
    assert_int_equal(judge(1, NAN, NAN), ASSAY_WRONG);
    assert_int_equal(judge(NAN, NAN, NAN), ASSAY_EXACT);
    assert_int_equal(judge(NAN, NAN, 1), ASSAY_WRONG);
}

TEST(a_small_output_may_have_more_ties_by_chance)
{
    assert_int_equal(verify_near_limit(1, 0.01), 1);
    assert_int_equal(verify_near_limit(128, 0.01), 4);
    assert_int_equal(verify_near_limit(1000000, 0.01), 10300);
    assert_int_equal(verify_near_limit(1000000, 0.0), 1);
}

TEST(an_infinity_is_right_only_with_its_sign)
{
    assert_int_equal(judge(INFINITY, NAN, INFINITY), ASSAY_EXACT);
    assert_int_equal(judge(INFINITY, NAN, -INFINITY), ASSAY_WRONG);
    assert_int_equal(judge(1, NAN, INFINITY), ASSAY_WRONG);
}

/* ------------------------------------------------- against a real device -- */

static int triple_buffers(const struct assay_shape *shape,
                          struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[0] = (struct assay_buffer){
        "x", ASSAY_IN, ASSAY_F32, shape->value[0], {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2}};
    out[1] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_F64, .count = shape->value[0]};
    return 2;
}

static int triple_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                            int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 3.0 * ((const float *)in[0])[i];
    return 0;
}

static const struct assay_operation triple = {.name = "triple",
                                              .dims = {{.name = "n"}},
                                              .buffers = triple_buffers,
                                              .reference = triple_reference};

static const struct assay_variant anything = {.operation = "triple", .name = "anything"};

static void triple_open(struct bench *bench, int64_t n)
{
    bench_open(bench, (struct assay_shape){&triple, {n}}, 7);
}

static void write_right(struct bench *bench)
{
    for (int64_t i = 0; i < bench->shape.value[0]; i++)
        ((double *)bench->buffers.data[1])[i] = 3.0 * ((float *)bench->buffers.data[0])[i];
}

static struct check_result ask(struct bench *bench)
{
    return bench_check(bench, &anything);
}

TEST(a_right_output_passes)
{
    struct bench bench;
    triple_open(&bench, 10007);
    write_right(&bench);
    assert_string_equal(ask(&bench).reason, "");
    assert_int_equal(bench.verifier.checked, 10007);
    bench_close(&bench);
}

TEST(a_poisoned_output_fails)
{
    struct bench bench;
    triple_open(&bench, 10007);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(buffers_poison(&bench.buffers), 0);
        struct check_result found = ask(&bench);
        assert_int_equal(found.wrong, 10007);
        assert_string_equal(found.reason,
                            "10007 of 10007 elements of 'y' were not written, the first at y[0]");
    }
    bench_close(&bench);
}

TEST(one_wrong_element_is_found_and_named)
{
    struct bench bench;
    triple_open(&bench, 10007);
    write_right(&bench);
    ((double *)bench.buffers.data[1])[10006] = 1;
    struct check_result found = ask(&bench);
    assert_int_equal(found.wrong, 1);
    assert_non_null(strstr(found.reason, "y[10006] is 1, expected"));
    bench_close(&bench);
}

/* 0 to n - 1 as bf16, each within one of it: most are not the nearest. */
enum { FEW_VALUES = 998 }; /* elements of an output in which four values are expected */

static int halves_buffers(const struct assay_shape *shape,
                          struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[0] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_BF16, .count = shape->value[0]};
    return 1;
}

static int halves_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                            int64_t begin, int64_t end, double *expected, double *bound)
{
    const double apart = shape->value[0] == FEW_VALUES ? 0 : 1e-9;
    for (int64_t i = begin; i < end; i++) {
        expected[i - begin] = 100 + 0.1 * (double)(i % 4) + apart * (double)i;
        bound[i - begin] = 1;
    }
    return 0;
}

static double halves_rms(const struct assay_shape *shape)
{
    return shape->value[0] == 1000 ? 0.2 : 0;
}

static const struct assay_operation halves = {.name = "halves",
                                              .dims = {{.name = "n"}},
                                              .buffers = halves_buffers,
                                              .reference = halves_reference,
                                              .tolerance = {.near_share = 0.4},
                                              .rms = halves_rms};

/* What is said of an output of 100, `off` of which in a hundred are 100.5 instead. */
static struct check_result ask_halves(int64_t n, int off)
{
    struct bench bench;
    bench_open(&bench, (struct assay_shape){&halves, {n}}, 7);
    for (int64_t i = 0; i < n; i++)
        assay_store(ASSAY_BF16, bench.buffers.data[0], i, i % 100 < off ? 100.5 : 100);
    struct check_result found = ask(&bench);
    bench_close(&bench);
    return found;
}

TEST(an_output_of_16_bits_is_mostly_the_nearest)
{
    /* 100.3 is nearest to 100.5: a quarter of an output of 100 is not. */
    assert_string_equal(ask_halves(999, 0).reason, "");
    assert_true(fabs(ask_halves(999, 0).near_share - 0.25) < 0.01);
    assert_non_null(strstr(ask_halves(999, 60).reason, "differ by a rounding"));
}

TEST(a_few_values_on_a_tie_may_be_of_many_elements)
{
    struct check_result found = ask_halves(FEW_VALUES, 60);
    assert_string_equal(found.reason, "");
    assert_true(found.near_share > 0.5);
}

TEST(many_errors_within_the_bound_of_one_are_found)
{
    struct check_result found = ask_halves(1000, 0);
    assert_string_equal(found.reason, "");
    assert_true(fabs(found.rms - sqrt((0.01 + 0.04 + 0.09) / 4)) < 1e-6);
    found = ask_halves(1000, 40);
    assert_int_equal(found.wrong, 0);
    assert_non_null(strstr(found.reason, "root mean square of the errors is 0.274"));
}

/* A check whose copy to the output is under way when it returns, as a small one to a GPU
 * is, and a device on which it lands when that is waited for. */
static struct bench *in_flight;

static int check_that_copies(struct assay_call *call)
{
    in_flight = call->state;
    return 0;
}

static int land(struct device *device)
{
    if (in_flight) write_right(in_flight);
    return 0;
}

TEST(what_a_check_copies_has_landed_before_it_is_judged)
{
    struct bench bench;
    const struct assay_variant copies = {
        .operation = "triple", .name = "copies", .check = check_that_copies};
    triple_open(&bench, 10007);
    struct device_ops slow = *bench.ops;
    slow.synchronize = land;
    bench.buffers.ops = &slow;
    bench.call.state = &bench;
    assert_string_equal(bench_check(&bench, &copies).reason, "");
    bench.buffers.ops = bench.ops;
    bench_close(&bench);
}

/* ---------------------------------------------------------------- guards -- */

TEST(untouched_guards_are_intact)
{
    struct bench bench;
    char reason[ASSAY_MAX_REASON] = "";
    triple_open(&bench, 1009);
    write_right(&bench);
    assert_int_equal(buffers_intact(&bench.buffers, reason, sizeof reason), 1);
    bench_close(&bench);
}

/* One byte on either side of any buffer; and the guard is whole again after. */
TEST(a_byte_outside_a_buffer_is_found_and_mended)
{
    struct bench bench;
    char reason[ASSAY_MAX_REASON];
    triple_open(&bench, 1009);
    for (int b = 0; b < 2; b++) {
        char *data = bench.buffers.data[b];
        char *const spots[] = {data - 1, data - GUARD_BYTES,
                               data + 1009 * assay_type_bytes(bench.buffers.spec[b].type)};
        for (int i = 0; i < 3; i++) {
            *spots[i] ^= 1;
            assert_int_equal(buffers_intact(&bench.buffers, reason, sizeof reason), 0);
            assert_non_null(strstr(reason, bench.buffers.spec[b].name));
            assert_non_null(strstr(reason, i < 2 ? "before" : "after"));
            assert_int_equal(buffers_intact(&bench.buffers, reason, sizeof reason), 1);
        }
    }
    bench_close(&bench);
}

TEST(a_changed_input_is_found_and_restored)
{
    struct bench bench;
    char reason[ASSAY_MAX_REASON];
    triple_open(&bench, 1009);
    float was = ((float *)bench.buffers.data[0])[1008];
    ((float *)bench.buffers.data[0])[1008] = -1;
    assert_int_equal(buffers_intact(&bench.buffers, reason, sizeof reason), 0);
    assert_string_equal(reason, "changed its input 'x'");
    assert_true(((float *)bench.buffers.data[0])[1008] == was);
    bench_close(&bench);
}
