/* test_trace_read.c - what a process wrote is what is read, also where it was cut or damaged. */
#include "tests/test.h"
#include "trace/trace_cases.h"
#include "trace_fixture.h"

/* 100 launches of 1000 to 1099 ns in a range, three of another kernel in none, two flushes. */
static bool two_kernels(struct trace_writer *writer)
{
    fixture_device(writer, 0, "GPU-a");
    for (uint64_t i = 0; i < 100; i++) {
        const struct trace_launch launch = fixture_launch("scale", "forward", 1000 + i);
        trace_writer_launch(writer, &launch);
        if (i == 49) trace_writer_flush(writer);
    }
    for (int i = 0; i < 3; i++) {
        struct trace_launch launch = fixture_launch("init", NULL, 500);
        launch.grid[0] = i;
        trace_writer_launch(writer, &launch);
    }
    trace_writer_lost(writer, 2);
    trace_writer_end(writer);
    return true;
}

/* What is read of what `fill` writes, for trace_release. */
static struct trace read_of(bool (*fill)(struct trace_writer *writer))
{
    struct trace trace = {0};
    size_t size = 0;
    char *bytes = fixture_trace(fill, &size);
    assert_non_null(bytes);
    assert_int_equal(trace_add(&trace, bytes, size), 0);
    free(bytes);
    return trace;
}

TEST(what_was_written_is_read)
{
    struct trace trace = read_of(two_kernels);
    assert_int_equal(trace.processes, 1);
    assert_int_equal(trace.cut, 0);
    assert_int_equal(trace.lost, 2);
    assert_int_equal(trace.kernel_count, 2);
    const struct traced_kernel *scale = &trace.kernels[0], *init = &trace.kernels[1];
    assert_string_equal(scale->kernel, "scale");
    assert_string_equal(scale->range, "forward");
    assert_int_equal(scale->count, 100);
    assert_int_equal(scale->total_ns, 104950);
    assert_int_equal(scale->min_ns, 1000);
    assert_int_equal(scale->max_ns, 1099);
    assert_int_equal(scale->duration_count, 100);
    assert_false(scale->is_varied);
    for (int i = 0; i < 100; i++)
        assert_true(scale->durations[i].ns == (float)(1000 + i));
    assert_string_equal(init->range, "");
    assert_int_equal(init->count, 3);
    assert_true(init->is_varied);
    assert_string_equal(trace.devices[0].uuid, "GPU-a");
    trace_release(&trace);
}

/* Cut anywhere, a file has what was whole before that place, and nothing else. */
TEST(a_file_that_was_cut_has_what_was_written_before)
{
    size_t size = 0;
    char *bytes = fixture_trace(two_kernels, &size);
    uint64_t before = 0;
    assert_non_null(bytes);
    for (size_t length = 0; length < size; length++) {
        struct trace trace = {0};
        assert_int_equal(trace_add(&trace, bytes, length), 0);
        assert_int_equal(trace.cut, 1);
        uint64_t count = trace.kernel_count ? trace.kernels[0].count : 0;
        assert_true(count == before || (before == 0 && count == 50) ||
                    (before == 50 && count == 100));
        if (count) assert_int_equal(trace.kernels[0].duration_count, count);
        before = count;
        trace_release(&trace);
    }
    assert_int_equal(before, 100);
    free(bytes);
}

/* Any byte that is another one: no figure is impossible, and nothing is read that is not there. */
TEST(a_damaged_file_gives_no_impossible_figure)
{
    size_t size = 0;
    char *bytes = fixture_trace(two_kernels, &size);
    assert_non_null(bytes);
    for (size_t at = 0; at < size; at++) {
        struct trace trace = {0};
        bytes[at] ^= 0x55;
        assert_int_equal(trace_add(&trace, bytes, size), 0);
        for (int i = 0; i < trace.kernel_count; i++) {
            const struct traced_kernel *kernel = &trace.kernels[i];
            assert_true(kernel->count > 0 && kernel->min_ns <= kernel->max_ns);
            assert_true(kernel->device >= 0 && kernel->device < trace.device_count);
            for (int j = 0; j < kernel->duration_count; j++)
                assert_true(kernel->durations[j].ns >= 0);
        }
        trace_release(&trace);
        bytes[at] ^= 0x55;
    }
    free(bytes);
}

/* Short and long launches in turns. */
static bool alternating(struct trace_writer *writer)
{
    fixture_device(writer, 0, "GPU-a");
    for (uint64_t i = 0; i < 200000; i++) {
        const struct trace_launch launch = fixture_launch("k", NULL, i % 2 ? 9000 : 1000);
        trace_writer_launch(writer, &launch);
    }
    trace_writer_end(writer);
    return true;
}

static bool few(struct trace_writer *writer)
{
    fixture_device(writer, 3, "GPU-a"); /* the same card, under another number */
    for (uint64_t i = 0; i < 6000; i++) {
        struct trace_launch launch = fixture_launch("k", NULL, 5000);
        launch.device = 3;
        trace_writer_launch(writer, &launch);
    }
    trace_writer_end(writer);
    return true;
}

static int kept_of(const struct traced_kernel *kernel, float ns)
{
    int count = 0;
    for (int i = 0; i < kernel->duration_count; i++)
        count += kernel->durations[i].ns == ns;
    return count;
}

/* Every second one would be of one size. The shares are within five standard deviations of a
 * half. */
TEST(what_is_kept_of_many_is_a_fair_part)
{
    struct trace trace = read_of(alternating);
    const struct traced_kernel *kernel = &trace.kernels[0];
    assert_int_equal(kernel->count, 200000);
    assert_int_equal(kernel->total_ns, 1000000000);
    assert_in_range(kernel->duration_count, TRACE_KEEP / 3, 2 * TRACE_KEEP);
    int half = kernel->duration_count / 2, sigma = 5 * 45;
    assert_in_range(kept_of(kernel, 1000), half - sigma, half + sigma);
    trace_release(&trace);
}

/* A process with few launches keeps all of them: their share must not grow by that. */
TEST(two_processes_are_kept_at_one_level)
{
    struct trace trace = {0};
    size_t sizes[2] = {0};
    char *many = fixture_trace(alternating, &sizes[0]), *less = fixture_trace(few, &sizes[1]);
    assert_non_null(many);
    assert_non_null(less);
    assert_int_equal(trace_add(&trace, less, sizes[1]), 0);
    assert_int_equal(trace_add(&trace, many, sizes[0]), 0);
    assert_int_equal(trace.kernel_count, 1);
    assert_int_equal(trace.device_count, 1);
    const struct traced_kernel *kernel = &trace.kernels[0];
    assert_int_equal(kernel->count, 206000);
    double share = (double)kept_of(kernel, 5000) / kernel->duration_count;
    assert_true(share > 0.01 && share < 0.06); /* 6 of 206 */
    trace_release(&trace);
    free(many);
    free(less);
}

/* ----------------------------------------------------------------- names -- */

static bool alike(struct trace_writer *writer)
{
    static const char *const names[] = {
        "ns::k(int)",
        "ns::k(float)",
        "void a_kernel_with_a_long_name<and, arguments, which, do, not, fit, one>(int)",
        "void a_kernel_with_a_long_name<and, arguments, which, do, not, fit, two>(int)",
        "plain",
    };
    fixture_device(writer, 0, "GPU-a");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int range = 0; range < 2; range++) {
            const struct trace_launch launch = fixture_launch(
                names[i], range ? "with blanks" : NULL, 1000 - 10 * i - (uint64_t)range);
            trace_writer_launch(writer, &launch);
        }
    trace_writer_end(writer);
    return true;
}

TEST(kernels_of_one_short_name_are_told_apart)
{
    struct trace trace = read_of(alike);
    struct trace_cases cases;
    assert_int_equal(trace_cases_make(&cases, &trace, "program", 0), 0);
    assert_int_equal(cases.count, 10);
    for (int i = 0; i < cases.count; i++) {
        const struct case_id *id = &cases.list[i].result.id;
        assert_string_equal(id->shape, i % 2 ? "range=with_blanks" : "");
        /* A kernel has one name in both ranges, and no other has it. */
        for (int j = 0; j < cases.count; j++)
            assert_int_equal(strcmp(id->variant, cases.list[j].result.id.variant) == 0,
                             i / 2 == j / 2);
    }
    for (int i = 0; i < 4; i++)
        assert_memory_equal(cases.list[i].result.id.variant, "k~", 2);
    assert_memory_equal(cases.list[4].result.id.variant, "a_kernel_with_a_long_name<and,arguments",
                        38);
    assert_string_equal(cases.list[8].result.id.variant, "plain");
    assert_int_equal(cases.list[0].result.status, STATUS_UNCHECKED);
    trace_cases_release(&cases);
    trace_release(&trace);
}

/* What a shape cannot hold becomes '_', and these two ranges must not become one. */
static bool alike_ranges(struct trace_writer *writer)
{
    static const char *const ranges[] = {"step one", "step_one", "step two"};
    fixture_device(writer, 0, "GPU-a");
    for (uint64_t i = 0; i < 3; i++)
        for (uint64_t kernel = 0; kernel < 2; kernel++) {
            const struct trace_launch launch =
                fixture_launch(kernel ? "k" : "l", ranges[i], 1000 - 10 * i - kernel);
            trace_writer_launch(writer, &launch);
        }
    trace_writer_end(writer);
    return true;
}

TEST(ranges_of_one_short_name_are_told_apart)
{
    struct trace trace = read_of(alike_ranges);
    struct trace_cases cases;
    assert_int_equal(trace_cases_make(&cases, &trace, "program", 0), 0);
    assert_int_equal(cases.count, 6);
    for (int i = 0; i < cases.count; i++) {
        const char *shape = cases.list[i].result.id.shape;
        if (i < 4)
            assert_memory_equal(shape, "range=step_one~", 15);
        else
            assert_string_equal(shape, "range=step_two");
        for (int j = 0; j < cases.count; j++)
            assert_int_equal(strcmp(shape, cases.list[j].result.id.shape) == 0, i / 2 == j / 2);
    }
    trace_cases_release(&cases);
    trace_release(&trace);
}

/* Of three devices the last two ran kernels, in no time that their clocks could tell. */
static bool without_time(struct trace_writer *writer)
{
    for (int i = 0; i < 3; i++) {
        fixture_device(writer, i, i == 0 ? "GPU-a" : i == 1 ? "GPU-b" : "GPU-c");
        struct trace_launch launch = fixture_launch("k", NULL, 0);
        launch.device = i;
        if (i > 0) trace_writer_launch(writer, &launch);
    }
    trace_writer_end(writer);
    return true;
}

TEST(a_kernel_without_time_has_a_device)
{
    struct trace trace = read_of(without_time);
    struct trace_cases cases;
    assert_int_equal(trace_main_device(&trace), 1);
    assert_int_equal(trace_cases_make(&cases, &trace, "program", 0), 0);
    assert_int_equal(cases.count, 2);
    assert_string_equal(cases.list[0].result.id.shape, "gpu=0");
    assert_string_equal(cases.list[1].result.id.shape, "gpu=1");
    trace_cases_release(&cases);
    trace_release(&trace);
}
