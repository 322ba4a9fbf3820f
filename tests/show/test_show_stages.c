/* test_show_stages.c - the stages under a row: which there are, and how each format has them. */
#include "tests/test.h"
#include "tests/fake_run.h"
#include "show/show.h"

static struct fake_run fake;
static char *shown;
static size_t shown_size;

static void add(struct case_result *result, const char *name, double value)
{
    struct metric *metric = &result->metrics[result->metric_count++];
    snprintf(metric->name, sizeof metric->name, "%s", name);
    metric->value = value;
}

static void add_stages(struct case_result *result)
{
    add(result, "mse", 0.5);
    add(result, "calls", 127);
    add(result, "h2d_ns", 838200);
    add(result, "h2d_each_ns", 6600);
    add(result, "compute_ns", 9550000);
    add(result, "d2h_ns", -2976); /* as old runs have it */
    add(result, "staging_ns", NAN);
}

static void show(const char *format)
{
    static const char shape[] = "n=5000000 input=fp32";
    struct show_options options = {.format = format, .width = 100};
    FILE *out = open_memstream(&shown, &shown_size);
    assert_non_null(out);
    fake_begin(&fake, 1);
    fake_baseline(&fake, 0, "int8_quantize", shape, "copy_r4w1", 6500);
    add_stages(fake_case(&fake, 0, "int8_quantize", shape, "rcp4_fma", 6250));
    assert_int_equal(show_run(out, &fake.run, &options), 0);
    fclose(out);
    fake_end(&fake);
}

TEST(a_stage_has_its_calls_its_total_and_its_average)
{
    struct show_stage stage[SHOW_STAGES];
    struct case_result result;
    result_init(&result);
    result.status = STATUS_OK;
    assert_int_equal(show_stages(&result, stage), 0);
    add_stages(&result);
    assert_int_equal(show_stages(&result, stage), 2);
    assert_string_equal(stage[0].name, "h2d");
    assert_int_equal(stage[0].calls, 127);
    assert_string_equal(stage[0].total, "838 us");
    assert_string_equal(stage[0].each, "6.60 us");
    assert_string_equal(stage[1].name, "compute");
    assert_string_equal(stage[1].each, "75.2 us"); /* of the total, where it is not told */
}

TEST(a_case_without_a_time_has_no_stages)
{
    struct show_stage stage[SHOW_STAGES];
    struct case_result result;
    result_init(&result);
    result.status = STATUS_WRONG;
    add_stages(&result);
    assert_int_equal(show_stages(&result, stage), 0);
}

TEST(the_table_has_them_under_their_row)
{
    show("table");
    const char *row = strstr(shown, "  rcp4_fma"), *h2d = strstr(shown, "\n      h2d ");
    const char *compute = strstr(shown, "\n      compute "), *next = strstr(shown, "* copy_r4w1");
    assert_non_null(strstr(shown, "h2d          127 calls     838 us in all    6.60 us each\n"));
    assert_true(row && row < h2d && h2d < compute && compute < next);
    free(shown);
}

TEST(md_has_them_in_rows_of_as_many_cells)
{
    show("md");
    const char *row = strstr(shown, "| &emsp;h2d");
    int bars = 0;
    assert_non_null(row);
    for (const char *c = row; *c != '\n'; c++)
        bars += *c == '|';
    assert_int_equal(bars, CELLS + 1);
    free(shown);
}
