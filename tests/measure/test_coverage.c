/* test_coverage.c - an output that was not written whole is found, wherever the gap is. */
#include <stdlib.h>

#include "base/fill.h"
#include "on_host.h"

static enum assay_type output_type = ASSAY_F32;

static int one_output(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[0] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = output_type, .count = shape->value[0]};
    out[1] = (struct assay_buffer){
        .name = "tmp", .role = ASSAY_SCRATCH, .type = ASSAY_F32, .count = shape->value[0]};
    return 2;
}

static const struct assay_operation writing = {
    .name = "writing", .dims = {{.name = "n"}}, .buffers = one_output};

static void output_open(struct bench *bench, enum assay_type type, int64_t n, uint64_t seed)
{
    output_type = type;
    bench_open(bench, (struct assay_shape){&writing, {n}}, seed);
}

/* Write elements [begin, end) with bytes that have nothing to do with the poison. */
static void write_range(struct bench *bench, int64_t begin, int64_t end)
{
    size_t size = assay_type_bytes(output_type);
    unsigned char *y = bench->buffers.data[0];
    for (size_t i = (size_t)begin * size; i < (size_t)end * size; i++)
        y[i] = (unsigned char)fill_hash(99, i);
}

static int64_t missing(struct bench *bench, char reason[ASSAY_MAX_REASON])
{
    reason[0] = '\0';
    return coverage_missing(&bench->buffers, reason, ASSAY_MAX_REASON);
}

/* Every type and sizes that fill no word; scratch is poisoned, and nobody need write it. */
TEST(a_whole_output_is_never_refused)
{
    static const int64_t counts[] = {1, 3, 4099, 1000003};
    char reason[ASSAY_MAX_REASON];
    for (int type = 0; type < ASSAY_TYPES; type++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (uint64_t seed = 0; seed < 5; seed++) {
                struct bench bench;
                output_open(&bench, (enum assay_type)type, counts[c], seed);
                write_range(&bench, 0, counts[c]);
                assert_int_equal(missing(&bench, reason), 0);
                assert_string_equal(reason, "");
                bench_close(&bench);
            }
}

/* Bytes of one value, which the old poisons had among them. */
TEST(an_output_of_one_value_is_whole)
{
    static const unsigned char values[] = {0x00, 0x7d, 0x80, 0xff};
    char reason[ASSAY_MAX_REASON];
    struct bench bench;
    output_open(&bench, ASSAY_I8, 1 << 20, 5);
    for (size_t i = 0; i < sizeof values; i++) {
        memset(bench.buffers.data[0], values[i], 1 << 20);
        assert_int_equal(missing(&bench, reason), 0);
    }
    bench_close(&bench);
}

static void check_gap(enum assay_type type, int64_t count, int64_t begin, int64_t end,
                      const char *expected)
{
    char reason[ASSAY_MAX_REASON];
    struct bench bench;
    output_open(&bench, type, count, 11);
    write_range(&bench, 0, begin);
    write_range(&bench, end, count);
    assert_true(missing(&bench, reason) >= end - begin);
    if (!strstr(reason, expected)) fail_msg("%s", reason);
    bench_close(&bench);
}

TEST(an_unwritten_block_is_found_in_twenty_million)
{
    check_gap(ASSAY_I8, 20000000, 12345678, 12345678 + 32768, "the first at y[12345680]");
    check_gap(ASSAY_F32, 20000000, 7000001, 7000001 + 32768,
              "32768 of 20000000 elements of 'y' were not written, the first at y[7000002]");
}

TEST(an_unwritten_row_is_found)
{
    check_gap(ASSAY_BF16, 16384 * 512, 9999 * 512, 10000 * 512, "y[5119488]");
}

TEST(one_word_is_found)
{
    check_gap(ASSAY_F32, 1000003, 500000, 500002, "2 of 1000003");
    check_gap(ASSAY_F64, 1000003, 999999, 1000000, "1 of 1000003");
}

/* No whole word is left, so the number of elements tells. */
TEST(every_second_element_is_missed)
{
    static const enum assay_type types[] = {ASSAY_I8, ASSAY_F16, ASSAY_F32};
    char reason[ASSAY_MAX_REASON];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct bench bench;
        output_open(&bench, types[t], 100003, 3);
        for (int64_t i = 0; i < 100003; i += 2)
            write_range(&bench, i, i + 1);
        assert_true(missing(&bench, reason) >= 50001);
        assert_non_null(strstr(reason, "were not written"));
        bench_close(&bench);
    }
}

/* What one poison left is no answer to the next. */
TEST(each_poison_is_another)
{
    struct bench bench;
    char reason[ASSAY_MAX_REASON];
    output_open(&bench, ASSAY_F32, 4099, 3);
    void *old = malloc(4099 * sizeof(float));
    memcpy(old, bench.buffers.data[0], 4099 * sizeof(float));
    assert_int_equal(missing(&bench, reason), 4099);
    assert_int_equal(buffers_poison(&bench.buffers), 0);
    assert_int_equal(missing(&bench, reason), 4099);
    memcpy(bench.buffers.data[0], old, 4099 * sizeof(float));
    assert_int_equal(missing(&bench, reason), 0);
    free(old);
    bench_close(&bench);
}
