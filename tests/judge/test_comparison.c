/* test_comparison.c - what a comparison comes to as a whole, and how it is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "show/comparison_formats.h"
#include "compare_fixture.h"

TEST(geometric_means_are_by_operation)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    begin(&base, "a", 1, 3);
    begin(&candidate, "b", 1, 3);
    for (int i = 0; i < 2; i++) {
        struct timings *side = i ? &candidate : &base;
        add(side, 0, "x", i ? 200 : 100);
        add(side, 0, "y", i ? 800 : 100);
        strcpy(add(side, 0, "z", i ? 300 : 100)->id.operation, "linear");
    }
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.family_count, 2);
    assert_true(fabs(comparison.families[0].ratio - 4) < 1e-12);
    assert_int_equal(comparison.families[0].cases, 2);
    assert_true(fabs(comparison.families[1].ratio - 3) < 1e-12);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

/* `width` as of a terminal; 0: none. */
static char *written_at(const struct comparison *comparison, const char *format, int width)
{
    const struct comparison_options options = {.format = format, .width = width};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int status = strcmp(format, "junit") == 0         ? comparison_junit(out, comparison)
                 : strcmp(format, "annotations") == 0 ? comparison_annotations(out, comparison)
                                                      : comparison_write(out, comparison, &options);
    assert_int_equal(status, 0);
    fclose(out);
    return text;
}

static char *written(const struct comparison *comparison, const char *format)
{
    return written_at(comparison, format, 0);
}

static struct comparison many(int cases)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    begin(&base, "a", 5, cases);
    begin(&candidate, "b", 5, cases);
    for (int i = 0; i < cases; i++) {
        char name[32];
        snprintf(name, sizeof name, "v%d<&|\"", i);
        for (int l = 0; l < 5; l++) {
            add(&base, l, name, 1000);
            add(&candidate, l, name, 1100 + i);
        }
    }
    struct comparison comparison = compare(&base, &candidate, &options);
    timings_release(&base);
    timings_release(&candidate);
    return comparison;
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

TEST(markdown_fits_a_comment_and_says_what_it_dropped)
{
    struct comparison comparison = many(1000);
    char *text = written(&comparison, "md");
    assert_true(strlen(text) < 65536);
    assert_non_null(strstr(text, "940 more rows are left out."));
    assert_non_null(strstr(text, "v999")); /* the worst is in */
    free(text);
    comparison_release(&comparison);
}

TEST(annotations_keep_within_ten_and_say_how_many_more)
{
    struct comparison comparison = many(50);
    char *text = written(&comparison, "annotations");
    assert_int_equal(count_of(text, "::error "), 10);
    assert_non_null(strstr(text, "41 more"));
    free(text);
    comparison_release(&comparison);
}

/* Cases of five launches, each with its ratio of times. */
static struct comparison of_ratios(const char *const *names, const double *ratios, int cases)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    begin(&base, "a", 5, cases);
    begin(&candidate, "b", 5, cases);
    for (int i = 0; i < cases; i++)
        for (int l = 0; l < 5; l++) {
            strcpy(add(&base, l, names[i], 1000)->id.shape, "n=1000000 input=fp32 scale=odd");
            strcpy(add(&candidate, l, names[i], 1000 * ratios[i])->id.shape,
                   "n=1000000 input=fp32 scale=odd");
        }
    struct comparison comparison = compare(&base, &candidate, &options);
    timings_release(&base);
    timings_release(&candidate);
    return comparison;
}

TEST(what_changed_comes_first_and_slower_before_faster)
{
    static const char *const names[] = {"same", "faster", "slower", "slowest", "fastest"};
    static const char *const order[] = {"slowest", "slower", "fastest", "faster", "same"};
    static const double ratios[] = {1.001, 0.9, 1.1, 1.2, 0.5};
    struct comparison comparison = of_ratios(names, ratios, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(comparison.rows[i].id.variant, order[i]);
    comparison_release(&comparison);
}

TEST(a_terminal_has_one_line_per_changed_case)
{
    static const char *const names[] = {"same", "a_variant_whose_name_is_rather_long", "slower"};
    static const double ratios[] = {1.001, 1.1, 1.2534};
    struct comparison comparison = of_ratios(names, ratios, 3);
    char *text = written_at(&comparison, "table", 80);
    for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        assert_true(text_width(at) <= 80);
        *end = '\n';
    }
    assert_non_null(strstr(text, "REGRESSED: 2, slower\n"
                                 "  +25.3 % ±0.0    1.00 us  1.25 us  copy/slower\n"
                                 "  +10.0 % ±0.0    1.00 us  1.10 us  copy/a_variant_whose_name_"
                                 "is_rather_long\n"));
    assert_non_null(strstr(text, "PASS: 1, unchanged (--all lists them)\n\n"));
    assert_non_null(strstr(text, "of copy, n=1000000"));
    assert_null(strstr(text, "copy/same"));
    free(text);
    text = written_at(&comparison, "table", 60);
    assert_non_null(strstr(text, "copy/...e_is_rather_long\n"));
    free(text);
    comparison_release(&comparison);
}

TEST(what_is_no_terminal_has_it_all)
{
    static const char *const names[] = {"same", "slower"};
    static const double ratios[] = {1, 1.25};
    struct comparison comparison = of_ratios(names, ratios, 2);
    char *text = written(&comparison, "table");
    assert_non_null(strstr(text, "\nREGRESSED     +25.0 % [+25.0, +25.0]    1.00 us  1.25 us"));
    assert_non_null(strstr(text, "copy/slower n=1000000 input=fp32 scale=odd cold\n"));
    assert_non_null(strstr(text, "\nPASS          0.0 % [0.0, 0.0]"));
    free(text);
    for (int i = 0; i < 2; i++) {
        text = written(&comparison, i ? "md" : "html");
        assert_non_null(strstr(text, i ? "1.00 us" : "\"base_ns\": 1000"));
        assert_non_null(strstr(text, i ? "1.25 us" : "\"candidate_ns\": 1250"));
        free(text);
    }
    comparison_release(&comparison);
}

TEST(a_change_is_a_signed_percentage_of_time)
{
    static const struct {
        double ratio;
        const char *text;
    } changes[] = {{1.024, "+2.4 %"}, {0.5, "-50.0 %"},  {0.99999, "0.0 %"}, {1, "0.0 %"},
                   {20, "+1900.0 %"}, {1e9, "+1e+11 %"}, {NAN, "-"}};
    char text[UNITS_MAX];
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        comparison_change_text(changes[i].ratio, 1, text);
        assert_string_equal(text, changes[i].text);
    }
}

TEST(a_change_has_the_decimals_that_its_floor_needs)
{
    struct comparison_row row = {.ratio = {0.99904, 0.998996, 1.0000001}, .floor = 0.001};
    char text[4 * UNITS_MAX];
    comparison_ratio_text(&row, text, sizeof text);
    assert_string_equal(text, "-0.096 % [-0.100, 0.000]");
    row.floor = 0.005;
    comparison_ratio_text(&row, text, sizeof text);
    assert_string_equal(text, "-0.1 % [-0.1, 0.0]");
}

TEST(markup_stays_text)
{
    struct comparison comparison = many(3);
    static const struct {
        const char *format, *name;
    } formats[] = {{"html", "v1\\u003c&|\\\""}, {"junit", "v1&lt;&amp;|&quot;"}};
    for (int i = 0; i < 2; i++) {
        char *text = written(&comparison, formats[i].format);
        assert_null(strstr(text, "v1<"));
        assert_non_null(strstr(text, formats[i].name));
        free(text);
    }
    comparison_release(&comparison);
}

TEST(a_program_is_named_with_what_is_known_of_its_source)
{
    struct comparison_side side = {.version = "0.1.0"};
    char text[WORDS_LINE];
    side_text(&side, text);
    assert_string_equal(text, "assay 0.1.0, 0 launches");
    strcpy(side.diff_hash, "ff");
    side_text(&side, text);
    assert_string_equal(text, "assay 0.1.0 (changed), 0 launches");
    strcpy(side.commit, "0123456789");
    side_text(&side, text);
    assert_string_equal(text, "assay 0.1.0 (01234567, changed), 0 launches");
    side.diff_hash[0] = '\0';
    side_text(&side, text);
    assert_string_equal(text, "assay 0.1.0 (01234567), 0 launches");
}

TEST(an_empty_comparison_is_nothing_and_never_green)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    begin(&base, "a", 1, 0);
    begin(&candidate, "b", 1, 0);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.exit, EXIT_NOTHING);
    char *text = written(&comparison, "junit");
    assert_non_null(strstr(text, "errors=\"1\""));
    free(text);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(a_name_at_both_places_is_told_apart_in_junit)
{
    struct timings sides[2];
    struct compare_options options = plain();
    for (int side = 0; side < 2; side++) {
        begin(&sides[side], side ? "b" : "a", 1, 2);
        add(&sides[side], 0, "vec4", 1000);
        add(&sides[side], 0, "vec4", 2000);
        sides[side].rows[0].id.place = ASSAY_HOST;
        sides[side].rows[1].id.place = ASSAY_CUDA;
        qsort(sides[side].rows, 2, sizeof *sides[side].rows, timing_order);
    }
    struct comparison comparison = compare(&sides[0], &sides[1], &options);
    char *text = written(&comparison, "junit");
    assert_non_null(strstr(text, " host\" time="));
    assert_non_null(strstr(text, " cuda\" time="));
    free(text);
    comparison_release(&comparison);
    for (int side = 0; side < 2; side++)
        timings_release(&sides[side]);
}

static void other_drivers(struct timings *base, struct timings *candidate)
{
    begin(base, "a", 1, 20);
    begin(candidate, "b", 1, 20);
    strcpy(candidate->run.launches[0].device.driver, "590");
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "v%d", i);
        add(base, 0, name, 1000);
        add(candidate, 0, name, 1000);
    }
}

TEST(what_cannot_be_compared_is_never_green)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    other_drivers(&base, &candidate);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.exit, EXIT_NOTHING);
    char *junit = written(&comparison, "junit"), *notes = written(&comparison, "annotations");
    assert_non_null(strstr(junit, "tests=\"21\" failures=\"0\" errors=\"1\" skipped=\"20\""));
    assert_non_null(
        strstr(junit, "<error message=\"nothing could be compared: driver 580 and 590"));
    assert_int_equal(strncmp(notes, "::error title=assay::nothing could be compared: driver", 54),
                     0);
    assert_int_equal(count_of(notes, "::error "), 1);
    free(junit);
    free(notes);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

TEST(the_cause_is_that_of_the_cases_on_both_sides)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    char why[WORDS_LINE];
    begin(&base, "a", 1, 1);
    begin(&candidate, "b", 1, 4);
    strcpy(candidate.run.launches[0].device.driver, "590");
    add(&base, 0, "x", 1000);
    for (int i = 0; i < 4; i++)
        add(&candidate, 0, &"w\0x\0y\0z"[2 * i], 1000);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.tally.counts[VERDICT_NEW], 3);
    assert_int_equal(comparison.exit, EXIT_NOTHING);
    nothing_text(&comparison, why);
    assert_non_null(strstr(why, "driver 580 and 590"));
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

/* One case of this verdict, which nobody acknowledged. */
static void set(struct verdict_tally *tally, enum verdict verdict)
{
    tally->counts[verdict] = tally->blocking[verdict] = 1;
    tally->cases++;
    tally->judged += verdict_is_judged(verdict);
}

TEST(exit_codes_have_their_precedence)
{
    struct verdict_tally tally = {.least_judged = NAN}, strangers = tally;
    int *counts = tally.counts;
    unsigned any;
    assert_int_equal(verdict_set_parse("any", &any), 0);
    assert_int_equal(verdict_exit(&tally, 0), EXIT_NOTHING);
    set(&tally, VERDICT_INCOMPARABLE);
    assert_int_equal(verdict_exit(&tally, any), EXIT_NOTHING);
    set(&tally, VERDICT_PASS);
    assert_int_equal(verdict_exit(&tally, 0), EXIT_FINE);
    set(&tally, VERDICT_INCONCLUSIVE);
    assert_int_equal(verdict_exit(&tally, 0), EXIT_FINE);
    assert_int_equal(verdict_exit(&tally, any), EXIT_UNDECIDED);
    tally.redefined = 1;
    assert_int_equal(verdict_exit(&tally, 0), EXIT_FINE); /* this is no gate */
    tally.least_judged = 0;
    assert_int_equal(verdict_exit(&tally, any), EXIT_NOTHING);
    set(&tally, VERDICT_REGRESSED);
    assert_int_equal(verdict_exit(&tally, any), EXIT_REGRESSED);
    set(&tally, VERDICT_ERROR);
    assert_int_equal(verdict_exit(&tally, any), EXIT_LOST);
    assert_int_equal(counts[VERDICT_ERROR], 1);
    strangers.counts[VERDICT_NEW] = 3;
    strangers.counts[VERDICT_MISSING] = 2;
    assert_int_equal(verdict_exit(&strangers, any), EXIT_NOTHING);
}

/* Ten cases, `judged` of them PASS and the rest UNSTABLE, of a gate that wants this share. */
static int exit_of(int judged, double least_judged)
{
    struct verdict_tally tally = {.cases = 10, .judged = judged, .least_judged = least_judged};
    tally.counts[VERDICT_PASS] = tally.blocking[VERDICT_PASS] = judged;
    tally.counts[VERDICT_UNSTABLE] = tally.blocking[VERDICT_UNSTABLE] = 10 - judged;
    return verdict_exit(&tally, 0);
}

TEST(a_gate_that_judged_too_little_is_not_fine)
{
    assert_int_equal(exit_of(0, 0.5), EXIT_NOTHING);
    assert_int_equal(exit_of(4, 0.5), EXIT_NOTHING);
    assert_int_equal(exit_of(5, 0.5), EXIT_FINE);
    assert_int_equal(exit_of(9, 1), EXIT_NOTHING);
    assert_int_equal(exit_of(1, 0), EXIT_FINE);
    assert_int_equal(exit_of(0, 0), EXIT_NOTHING); /* whatever share is asked for */
    assert_int_equal(exit_of(0, NAN), EXIT_FINE);  /* assay compare */
}
