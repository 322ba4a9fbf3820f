/* test_spans.c - from records to samples. */
#include <math.h>
#include <stdio.h>

#include "tests/test.h"
#include "device/cuda/device_kernels.h"
#include "device/cuda/spans.h"

static struct cupti_record kernel(const char *name, uint64_t start_ns, uint64_t end_ns)
{
    return (struct cupti_record){
        .kind = CUPTI_KERNEL, .name = name, .start_ns = start_ns, .end_ns = end_ns};
}

static struct cupti_record mark(uint64_t at_ns)
{
    return kernel(KERNEL_HOLD_NAME, at_ns, at_ns + 1);
}

static struct cupti_record flush(uint64_t at_ns)
{
    return kernel(KERNEL_FLUSH_READ_NAME, at_ns, at_ns + 1);
}

/* A kernel's hash is its name's first letter, so that order shows. */
static void hash_name(const char *name, char out[RESULT_MAX_HASH])
{
    snprintf(out, RESULT_MAX_HASH, "%016x%016x", (unsigned)name[0], (unsigned)name[0]);
}

/* What the last deal made of its records. */
static struct block_sample samples[2];
static struct code_seen code;

static void deal(const struct cupti_record *records, size_t count, int lost, int wanted)
{
    spans_deal(records, (int)count, lost, samples, wanted, &code, hash_name);
}
/* Deal an array of records to so many samples. */
#define DEAL(records, wanted) deal(records, sizeof(records) / sizeof *(records), 0, wanted)

TEST(one_kernel_s_time_is_its_own)
{
    struct cupti_record records[] = {flush(1),  mark(10), kernel("a", 20, 25),
                                     flush(30), mark(40), kernel("a", 50, 57)};
    DEAL(records, 2);
    assert_true(samples[0].time_ns == 5 && samples[1].time_ns == 7);
    assert_int_equal(samples[0].mark | samples[1].mark, 0);
    assert_int_equal(code.kernels, 1);
}

TEST(several_kernels_have_a_span_and_a_busy_sum)
{
    struct cupti_record records[] = {mark(10), kernel("a", 20, 25), kernel("b", 30, 32)};
    DEAL(records, 1);
    assert_true(samples[0].time_ns == 12);
    assert_true(samples[0].busy_ns == 7);
    assert_int_equal(code.kernels, 2);
}

TEST(a_flush_is_never_part_of_a_sample)
{
    struct cupti_record records[] = {mark(10), kernel("a", 20, 25), flush(26), kernel("x", 30, 99)};
    DEAL(records, 1);
    assert_true(samples[0].time_ns == 5);
}

TEST(records_before_the_first_mark_and_after_the_last_sample_are_left_out)
{
    struct cupti_record records[] = {kernel("x", 1, 9), mark(10), kernel("a", 20, 25), mark(30),
                                     kernel("y", 40, 99)};
    DEAL(records, 1);
    assert_true(samples[0].time_ns == 5);
}

TEST(lost_records_spoil_every_sample)
{
    struct cupti_record records[] = {mark(10), kernel("a", 20, 25)};
    deal(records, 2, 1, 1);
    assert_int_equal(samples[0].mark, MARK_INCOMPLETE);
    assert_true(isnan(samples[0].time_ns));
    DEAL(records, 2); /* a mark is missing */
    assert_int_equal(samples[0].mark, MARK_INCOMPLETE);
    assert_int_equal(samples[1].mark, MARK_INCOMPLETE);
}

TEST(a_launch_that_did_nothing_is_incomplete)
{
    struct cupti_record records[] = {mark(10), mark(20), kernel("a", 30, 35)};
    DEAL(records, 2);
    assert_int_equal(samples[0].mark, MARK_INCOMPLETE);
    assert_int_equal(samples[1].mark, 0);
}

TEST(a_record_without_times_is_incomplete)
{
    struct cupti_record records[] = {mark(10), kernel("a", 0, 0)};
    DEAL(records, 1);
    assert_int_equal(samples[0].mark, MARK_INCOMPLETE);
}

TEST(the_code_s_hash_depends_on_the_kernels_and_their_order)
{
    struct cupti_record ab[] = {mark(1), kernel("a", 20, 25), kernel("b", 30, 32)};
    struct cupti_record ba[] = {mark(1), kernel("b", 20, 25), kernel("a", 30, 32)};
    struct code_seen first, second, again;
    DEAL(ab, 1);
    first = code;
    DEAL(ba, 1);
    second = code;
    DEAL(ab, 1);
    again = code;
    assert_string_not_equal(first.hash, second.hash);
    assert_string_equal(first.hash, again.hash);
}

TEST(a_span_longer_than_the_pair_around_it_is_stretched)
{
    struct block_sample samples[3] = {{.time_ns = 800}, {.time_ns = 810}, {.time_ns = 805}};
    double stretched[3] = {540, 537, 541}, honest[3] = {808, 812, 809};
    assert_true(spans_stretched(samples, stretched, 3, 5, 2.5));
    assert_false(spans_stretched(samples, honest, 3, 5, 2.5));
}

/* The same, by the number of the host's call. */
static struct cupti_record called(struct cupti_record record, uint32_t correlation)
{
    record.correlation = correlation;
    return record;
}

TEST(what_is_left_on_another_stream_is_charged_to_its_launch)
{
    struct cupti_record records[] = {
        called(flush(1), 1),
        called(mark(10), 2),
        called(kernel("a", 20, 25), 3),
        called(flush(26), 5),
        called(kernel("b", 30, 90), 4), /* on another stream, after the next flush has begun */
        called(mark(40), 6),
        called(kernel("a", 50, 57), 7),
        called(kernel("b", 100, 160), 8)};
    DEAL(records, 2);
    assert_true(samples[0].time_ns == 70 && samples[1].time_ns == 110);
    assert_true(samples[0].busy_ns == 65 && samples[1].busy_ns == 67);
    assert_int_equal(code.kernels, 2);
}

/* Ids of 32 bits come round. */
TEST(calls_are_told_apart_when_their_numbers_start_again)
{
    struct cupti_record records[] = {called(mark(10), 0xfffffffe), called(kernel("a", 20, 25), 2),
                                     called(mark(40), 3), called(kernel("a", 50, 57), 4)};
    DEAL(records, 2);
    assert_true(samples[0].time_ns == 5 && samples[1].time_ns == 7);
}

/* Recording adds up to half a microsecond to each of two kernels, not ninety. */
TEST(a_pair_that_misses_work_elsewhere_is_no_reason_to_call_the_span_stretched)
{
    struct block_sample samples[1] = {{.time_ns = 100000}};
    double pair[1] = {10000}, near[1] = {99100};
    assert_false(spans_stretched(samples, pair, 1, 2, 2.5));
    assert_false(spans_stretched(samples, near, 1, 2, 2.5)); /* under 1 % */
    near[0] = 98500;
    assert_true(spans_stretched(samples, near, 1, 2, 2.5));
}
