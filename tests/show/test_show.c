/* test_show.c - the formats of `assay show`, on a run made by hand. */
#include <sqlite3.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/text.h"
#include "tests/fake_run.h"
#include "show/show.h"

static struct fake_run fake;
static char *shown;
static size_t shown_size;

static const char *fake_ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    return "memory_r4w1";
}

static const struct assay_operation fake_memory = {
    .name = "fake_memory",
    .summary = "measures a ceiling",
    .dims = {{.name = "n", .fallback = 1}},
    .ceiling = fake_ceiling,
};
ASSAY_REGISTER_OPERATION(fake_memory);

/* One of everything: a ceiling, a baseline, ok rows, one above the ceiling, one
 * by the host's clock, and each way to have no time. */
static void make_run(void)
{
    static const char small[] = "n=5000000 input=fp32", large[] = "n=50000000 input=bf16";
    fake_begin(&fake, 1);
    fake_case(&fake, 0, "fake_memory", "n=1", "r4w1", 6000);
    fake.cases[0].purpose = PURPOSE_CEILING;
    fake_baseline(&fake, 0, "int8_quantize", small, "copy_r4w1", 6500);
    struct case_result *best = fake_case(&fake, 0, "int8_quantize", small, "rcp4_fma", 6250);
    strcpy(best->metrics[0].name, "mse");
    best->metrics[0].value = 0.0123;
    best->metric_count = 1;
    best->outputs = best->checked = 5000000;
    struct case_result *sampled = fake_case(&fake, 0, "int8_quantize", small, "unfused5", 50125);
    sampled->outputs = 5000000;
    sampled->checked = 312500;
    fake_case(&fake, 0, "int8_quantize", small, "cheating", 3000);
    fake_case(&fake, 0, "int8_quantize", small, "host_round_trip", 1234567)->clock = CLOCK_HOST;
    fake_failure(&fake, 0, "int8_quantize", small, "token_twopass", STATUS_SKIPPED,
                 "needs compute capability 10.0, this device has 9.0");
    fake_failure(&fake, 0, "int8_quantize", small, "rcp16", STATUS_WRONG,
                 "code[1234567] is 17, expected 18; 3 of 5000000 elements differ, which is more "
                 "than the share that the operation allows");
    fake_failure(&fake, 0, "int8_quantize", large, "gridstride", STATUS_CRASHED,
                 "an \"illegal\" address | \\ line one\nline two");
    fake_case(&fake, 0, "int8_quantize", large, "a_variant_with_a_name_that_is_far_too_long_here",
              61000);
    fake.run.expected_count += 2;
}

/* What is shown is there until the next is. */
static FILE *open_shown(void)
{
    free(shown);
    FILE *out = open_memstream(&shown, &shown_size);
    assert_non_null(out);
    return out;
}

static void show_with(const struct show_options *options)
{
    FILE *out = open_shown();
    make_run();
    assert_int_equal(show_run(out, &fake.run, options), 0);
    fclose(out);
    fake_end(&fake);
}

static void show(const char *format, bool ceilings)
{
    show_with(&(const struct show_options){.format = format, .ceilings = ceilings, .width = 80});
}

/* clang-format off */
static const char narrow[] =
    "NVIDIA H200 (cuda:0), driver 580.159.04, CUDA 13.0, clock cupti\n"
    "run 3f2a91c0  suite int8  2026-01-02T03:04:05Z  complete\n"
    "ceilings: r4w1 4.17 TB/s\n"
    "\n"
    "   variant             time        ±       rate  ceiling  speed-up\n"
    "\n"
    "int8_quantize n=5000000 input=fp32 cold  23.8 MiB, ceiling r4w1\n"
    " ! cheating         3.00 us  ±0.20 %  8.33 TB/s    200 %  2.167x\n"
    "   rcp4_fma         6.25 us  ±0.20 %  4.00 TB/s   96.0 %  1.040x\n"
    " * copy_r4w1        6.50 us  ±0.20 %  3.85 TB/s   92.3 %  base\n"
    "   unfused5         50.1 us  ±0.20 %   499 GB/s   12.0 %  0.1297x\n"
    " h host_round_trip  1.23 ms  ±0.20 %  20.3 GB/s  0.486 %  0.0053x\n"
    "   rcp16            wrong: code[1234567] is 17, expected 18; 3 of 5000000\n"
    "                    elements differ, which is more than the share that the\n"
    "                    operation allows\n"
    "   token_twopass    skipped: needs compute capability 10.0, this device has 9.0\n"
    "\n"
    "int8_quantize n=50000000 input=bf16 cold  23.8 MiB, ceiling r4w1\n"
    "   a_variant_with_a_name_that_is_far_too_long_here\n"
    "                    61.0 us  ±0.20 %   410 GB/s   9.84 %\n"
    "   gridstride       crashed: an \"illegal\" address | \\ line one line two\n"
    "\n"
    "*  a baseline; speed-up is against the group's \"base\"\n"
    "!  above the ceiling: data from a cache, a wrong count, or another arithmetic\n"
    "h  timed by the host's clock, from the call to the completed synchronisation\n"
    "compared with the reference: 1 whole, 1 in a sample (6.2 % of it or more)\n"
    "6 ok, 1 skipped, 1 wrong, 1 crashed, 2 missing\n";

static const char whole[] =
    "NVIDIA H200 (cuda:0), driver 580.159.04, CUDA 13.0, clock cupti\n"
    "run 3f2a91c0  suite int8  2026-01-02T03:04:05Z  complete\n"
    "ceilings: r4w1 4.17 TB/s\n"
    "\n"
    "   variant                                             time        ±       rate  ceiling  speed-up\n"
    "\n"
    "int8_quantize n=5000000 input=fp32 cold  23.8 MiB, ceiling r4w1\n"
    " ! cheating                                         3.00 us  ±0.20 %  8.33 TB/s    200 %  2.167x [2.167, 2.167]\n"
    "   rcp4_fma                                         6.25 us  ±0.20 %  4.00 TB/s   96.0 %  1.040x [1.040, 1.040]\n"
    " * copy_r4w1                                        6.50 us  ±0.20 %  3.85 TB/s   92.3 %  base\n"
    "   unfused5                                         50.1 us  ±0.20 %   499 GB/s   12.0 %  0.1297x [0.1297, 0.1297]\n"
    " h host_round_trip                                  1.23 ms  ±0.20 %  20.3 GB/s  0.486 %  0.0053x [0.0053, 0.0053]\n"
    "   rcp16                                            wrong: code[1234567] is 17, expected 18; 3 of 5000000 elements differ, which is more than the share that the operation allows\n"
    "   token_twopass                                    skipped: needs compute capability 10.0, this device has 9.0\n"
    "\n"
    "int8_quantize n=50000000 input=bf16 cold  23.8 MiB, ceiling r4w1\n"
    "   a_variant_with_a_name_that_is_far_too_long_here  61.0 us  ±0.20 %   410 GB/s   9.84 %\n"
    "   gridstride                                       crashed: an \"illegal\" address | \\ line one line two\n"
    "\n"
    "*  a baseline; speed-up is against the group's \"base\"\n"
    "!  above the ceiling: data from a cache, a wrong count, or another arithmetic\n"
    "h  timed by the host's clock, from the call to the completed synchronisation\n"
    "compared with the reference: 1 whole, 1 in a sample (6.2 % of it or more)\n"
    "6 ok, 1 skipped, 1 wrong, 1 crashed, 2 missing\n";
/* clang-format on */

TEST(table_is_as_written_here)
{
    show("table", false);
    assert_string_equal(shown, narrow);
}

/* A group whose only limit is a copy: its ratio is shown, under another word. */
TEST(a_bound_is_not_called_a_baseline)
{
    static const char shape[] = "n=5000000 input=fp32";
    struct show_options options = {.format = "table", .width = 100};
    for (int with_baseline = 0; with_baseline < 2; with_baseline++) {
        FILE *out = open_shown();
        fake_begin(&fake, 1);
        struct case_result *copy =
            fake_baseline(&fake, 0, "int8_quantize", shape, "copy_r4w1", 6500);
        copy->id.kind = ASSAY_BOUND;
        copy->is_baseline = !with_baseline;
        fake_case(&fake, 0, "int8_quantize", shape, "rcp4_fma", 13000);
        if (with_baseline) fake_baseline(&fake, 0, "int8_quantize", shape, "library", 26000);
        assert_int_equal(show_run(out, &fake.run, &options), 0);
        fclose(out);
        fake_end(&fake);
        assert_non_null(strstr(shown, " = copy_r4w1 "));
        assert_non_null(strstr(shown, "\n=  a bound"));
        assert_non_null(strstr(shown, with_baseline ? "  2.000x [" : "  0.5000x ["));
        assert_int_equal(strstr(shown, " * library ") != NULL, with_baseline);
        assert_int_equal(strstr(shown, "  base\n") != NULL, with_baseline);
        assert_int_equal(strstr(shown, "\n*  a baseline") != NULL, with_baseline);
        assert_int_equal(strstr(shown, "  bound\n") != NULL, !with_baseline);
    }
}

TEST(a_file_gets_intervals_and_whole_lines)
{
    show_with(&(const struct show_options){.format = "table"});
    assert_string_equal(shown, whole);
}

TEST(every_line_of_the_table_fits_the_terminal)
{
    for (int width = 72; width <= 120; width++) {
        show_with(
            &(const struct show_options){.format = "table", .ceilings = true, .width = width});
        for (char *rest = shown, *line; (line = strsep(&rest, "\n"));)
            assert_in_range(text_width(line), 0, width);
    }
}

/* The words of a text, whatever lines they are on. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool blank = *from == ' ' || *from == '\n';
        if (!blank || (to > text && to[-1] != ' ')) *to++ = blank ? ' ' : *from;
    }
    *to = '\0';
}

TEST(nothing_is_cut_in_a_narrow_terminal)
{
    show_with(&(const struct show_options){.format = "table", .width = 72});
    join_lines(shown);
    assert_non_null(strstr(shown, " a_variant_with_a_name_that_is_far_too_long_here 61.0 us "));
    assert_non_null(strstr(shown,
                           "wrong: code[1234567] is 17, expected 18; 3 of 5000000 elements "
                           "differ, which is more than the share that the operation allows"));
    assert_null(strstr(shown, "..."));
}

TEST(wide_shows_intervals_though_they_do_not_fit)
{
    show("table", false);
    assert_null(strstr(shown, "[1.040"));
    show_with(&(const struct show_options){.format = "table", .width = 80, .wide = true});
    assert_non_null(strstr(shown, "[1.040, 1.040]"));
    show_with(&(const struct show_options){.format = "table", .width = 120});
    assert_non_null(strstr(shown, "[1.040, 1.040]"));
}

TEST(no_line_of_the_table_ends_in_a_blank)
{
    show("table", true);
    assert_null(strstr(shown, " \n"));
}

TEST(ceilings_are_rows_on_request)
{
    show("table", false);
    assert_null(strstr(shown, "fake_memory"));
    show("table", true);
    assert_non_null(strstr(shown, "fake_memory"));
}

TEST(colour_is_off_unless_asked_for)
{
    show("table", true);
    assert_null(strchr(shown, '\033'));
}

TEST(md_has_as_many_cells_in_every_row)
{
    show("md", true);
    for (char *rest = shown, *line; (line = strsep(&rest, "\n"));) {
        int bars = 0;
        if (line[0] != '|') continue;
        for (char *c = line; *c; c++)
            bars += *c == '|' && (c == line || c[-1] != '\\');
        assert_int_equal(bars, 9);
    }
}

/* Commas outside quotes. */
static int separators(const char *line)
{
    int count = 0;
    bool quoted = false;
    for (; *line; line++) {
        if (*line == '"') quoted = !quoted;
        count += *line == ',' && !quoted;
    }
    return count;
}

TEST(csv_has_as_many_fields_in_every_line)
{
    show("csv", false);
    char *broken = strstr(shown, "line one\nline two");
    assert_non_null(broken); /* a line end within quotes is data */
    broken[strlen("line one")] = ' ';
    char *rest = shown, *line = strsep(&rest, "\n");
    int expected = separators(line);
    int lines = 0;
    while ((line = strsep(&rest, "\n")) && line[0]) {
        assert_int_equal(separators(line), expected);
        lines++;
    }
    assert_int_equal(lines, 9);
}

/* ------------------------------------------------------------------- json -- */

static sqlite3 *sql;

/* What a query that names the document ?1 answers, as text; "" for NULL. */
static void ask(const char *query, char out[512])
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(sql, query, -1, &statement, NULL), SQLITE_OK);
    sqlite3_bind_text(statement, 1, shown, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const char *answer = (const char *)sqlite3_column_text(statement, 0);
    snprintf(out, 512, "%s", answer ? answer : "");
    sqlite3_finalize(statement);
}

static void assert_answer(const char *query, const char *expected)
{
    char answer[512];
    ask(query, answer);
    assert_string_equal(answer, expected);
}

static int open_sql(void **state)
{
    return sqlite3_open(":memory:", &sql);
}

static int close_sql(void **state)
{
    return sqlite3_close(sql);
}

TEST(json_is_one_valid_document)
{
    show("json", true);
    assert_answer("select json_valid(?1)", "1");
    assert_answer("select json_extract(?1, '$.format')", "1");
    assert_answer("select json_extract(?1, '$.assay')", "0.1.0");
    assert_answer("select json_array_length(?1, '$.rows')", "10");
}

TEST(json_rows_have_the_members_of_format_1)
{
    show("json", false);
    assert_answer("select group_concat(key, ' ') from json_each(?1, '$.rows[0]')",
                  "operation variant kind device shape temperature status reason clock samples "
                  "time_ns lo_ns hi_ns event_ns wall_ns first_call_ns bytes ops ceiling "
                  "ceiling_fraction speedup speedup_lo speedup_hi against against_kind "
                  "workspace_bytes energy_mj rate rate_unit launches interval marks note noisy "
                  "quality outputs checked");
    assert_answer("select group_concat(value ->> 'checked', ' ') from json_each(?1, '$.rows')",
                  "5000000 312500");
}

TEST(json_figures_that_were_not_measured_are_null)
{
    show("json", false);
    assert_answer("select json_type(?1, '$.rows[1].event_ns')", "null");
    assert_answer("select json_type(?1, '$.rows[1].energy_mj')", "null");
    assert_answer("select group_concat(distinct json_type(value, '$.time_ns')) from "
                  "json_each(?1, '$.rows') where value ->> 'status' <> 'ok'",
                  "null");
}

TEST(json_shape_is_an_object_with_numbers_as_numbers)
{
    show("json", false);
    assert_answer("select json_extract(?1, '$.rows[0].shape')",
                  "{\"n\":5000000,\"input\":\"fp32\"}");
}

TEST(json_carries_quality_and_ratio)
{
    show("json", false);
    assert_answer("select json_extract(?1, '$.rows[1].quality.mse')", "0.0123");
    assert_answer("select round(json_extract(?1, '$.rows[1].speedup'), 6)", "1.04");
}

TEST(an_unknown_format_is_an_error_with_a_suggestion)
{
    struct show_options options = {.format = "jsn", .width = 100};
    fake_begin(&fake, 1);
    assert_int_equal(show_run(stdout, &fake.run, &options), -1);
    assert_non_null(strstr(assay_last_error(), "json"));
}

/* ------------------------------------------------------------------- text -- */

TEST(text_that_fits_is_left_alone)
{
    char out[64];
    show_fit(out, sizeof out, "µs ±1", 5);
    assert_string_equal(out, "µs ±1");
}

TEST(text_is_cut_between_characters)
{
    char out[64];
    show_fit(out, sizeof out, "µµµµµµ", 5);
    assert_string_equal(out, "µµ...");
    show_fit(out, 9, "µµµµµµ", 6);
    assert_string_equal(out, "µµ...");
}

int main(void)
{
    return test_main(open_sql, close_sql);
}
