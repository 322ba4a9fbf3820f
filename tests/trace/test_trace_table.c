/* test_trace_table.c - what assay time prints of a run fits its terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/text.h"
#include "case/run_record.h"
#include "device/profile.h"
#include "trace/trace_cases.h"
#include "trace/trace_table.h"

enum { CASES = 30, WIDTH = 80 };

static struct launch_info launch;
static struct stored_case cases[CASES];
static struct profile profile, *profiles[CASES];
static struct stored_run run;

static void metric(struct case_result *result, const char *name, double value)
{
    struct metric *added = &result->metrics[result->metric_count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->value = value;
}

/* Names as long as they can be, grids of three dimensions, three ranges. */
static int make_run(void **state)
{
    static const char *const ranges[] = {"", "range=a_range_that_says_at_length_what_is_done_in_it",
                                         "range=b"};
    launch.number = 1;
    snprintf(launch.device.name, sizeof launch.device.name,
             "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition");
    snprintf(launch.device.driver, sizeof launch.device.driver, "580.159.04");
    profile_init(&profile);
    profile.kernel_count = 1;
    for (int i = 0; i < 3; i++)
        profile.kernels[0].grid[i] = profile.kernels[0].block[i] = 1000 + i;
    for (int i = 0; i < CASES; i++) {
        struct case_result *result = &cases[i].result;
        result_init(result);
        snprintf(result->id.operation, sizeof result->id.operation, "program");
        snprintf(result->id.variant, sizeof result->id.variant,
                 "a_kernel_whose_name_has_all_characters%d~0123456", i);
        snprintf(result->id.shape, sizeof result->id.shape, "%s", ranges[i % 3]);
        result->id.place = ASSAY_CUDA;
        result->status = STATUS_UNCHECKED;
        result->time_ns = 1000 * (i + 1);
        result->lo_ns = 0.99 * result->time_ns;
        result->hi_ns = 1.01 * result->time_ns;
        metric(result, TRACE_COUNT, 10000000);
        metric(result, TRACE_TOTAL_NS, 1e7 * result->time_ns);
        profiles[i] = &profile;
    }
    run = (struct stored_run){
        .launch_count = 1, .launches = &launch, .case_count = CASES, .cases = cases};
    return 0;
}

static char *print(bool by_range, int width)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(trace_table_print(out, &run, profiles, by_range, width), 0);
    fclose(out);
    return text;
}

TEST(no_line_is_wider_than_the_terminal)
{
    for (int by_range = 0; by_range < 2; by_range++) {
        char *text = print(by_range, WIDTH), *rest = text, *line;
        while ((line = strsep(&rest, "\n"))) {
            if (text_width(line) > WIDTH) print_message("%s\n", line);
            assert_true(text_width(line) <= WIDTH);
        }
        free(text);
    }
}

TEST(the_kernel_with_most_time_is_first_and_the_least_are_added_up)
{
    char *text = print(false, 1000);
    const char *most = strstr(text, "characters29~"), *next = strstr(text, "characters28~");
    assert_true(most && next && most < next);
    assert_null(strstr(text, "characters0~"));
    assert_non_null(strstr(text, "and 5 more, 3.2 % of the time")); /* 1 to 5 of 1 to 30 */
    assert_non_null(strstr(text, "30 rows, 4650 s of kernels"));
    free(text);
}

TEST(by_range_the_largest_is_first)
{
    char *text = print(true, 1000);
    const char *b = strstr(text, "range=b: 1650 s, 35.5 % of the time");
    const char *a = strstr(text, "range=a_range_that_says"), *none = strstr(text, "in no range");
    assert_true(b && a && none && b < a && a < none);
    free(text);
}

int main(void)
{
    return test_main(make_run, NULL);
}
