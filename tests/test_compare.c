/* test_compare.c - two runs, case by case: what is said, and what is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "assay.h"
#include "commands.h"
#include "compare.h"
#include "device.h"

enum { MAX_LAUNCHES = 16 };

static struct compare_options plain(void)
{
    return (struct compare_options){.threshold = 0.02};
}

static void begin(struct timings *timings, const char *id, int launches, int cases)
{
    memset(timings, 0, sizeof *timings);
    strcpy(timings->run.run.id, id);
    strcpy(timings->run.run.suite, "smoke");
    timings->run.launch_count = launches;
    timings->run.launches = calloc((size_t)launches, sizeof *timings->run.launches);
    timings->rows = calloc((size_t)(launches * cases) + 1, sizeof *timings->rows);
    for (int i = 0; i < launches; i++) {
        struct launch_info *launch = &timings->run.launches[i];
        strcpy(launch->device.name, "NVIDIA H200");
        strcpy(launch->device.driver, "580");
        launch->device.clock = CLOCK_CUPTI;
        launch->device.clock_step_ns = NAN;
    }
}

static struct timing *add(struct timings *timings, int launch, const char *variant, double time_ns)
{
    struct timing *row = &timings->rows[timings->count++];
    strcpy(row->id.operation, "copy");
    strcpy(row->id.variant, variant);
    strcpy(row->id.shape, "n=1");
    row->launch = launch;
    row->status = STATUS_OK;
    row->time_ns = time_ns;
    row->lo_ns = time_ns * 0.999;
    row->hi_ns = time_ns * 1.001;
    row->sm_mhz = 1980;
    row->bytes = 8;
    return row;
}

/* One case, `launches` times, each a little different. */
static void fill(struct timings *timings, const char *id, int launches, double time_ns)
{
    begin(timings, id, launches, 1);
    for (int i = 0; i < launches; i++)
        add(timings, i, "fast", time_ns * (1 + 1e-4 * i));
}

static struct comparison compare(struct timings *base, struct timings *candidate,
                                 const struct compare_options *options)
{
    struct comparison comparison;
    qsort(base->rows, (size_t)base->count, sizeof *base->rows, timing_order);
    qsort(candidate->rows, (size_t)candidate->count, sizeof *candidate->rows, timing_order);
    assert_int_equal(compare_runs(&comparison, base, candidate, options), 0);
    return comparison;
}

/* The one verdict of `ratio` measured in so many launches a side. */
static enum verdict verdict_at(double ratio, int launches, unsigned *tags)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", launches, 1000);
    fill(&candidate, "b", launches, 1000 * ratio);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 1);
    enum verdict verdict = comparison.rows[0].verdict;
    if (tags) *tags = comparison.rows[0].tags;
    assert_true(fabs(comparison.rows[0].ratio.mid / ratio - 1) < 0.01);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
    return verdict;
}

static void five_launches_a_side_show_a_change_in_either_direction(void **state)
{
    (void)state;
    assert_int_equal(verdict_at(1.05, 5, NULL), VERDICT_REGRESSED);
    assert_int_equal(verdict_at(1 / 1.05, 5, NULL), VERDICT_IMPROVED);
    assert_int_equal(verdict_at(1, 5, NULL), VERDICT_PASS);
}

static void few_launches_make_a_change_suspect_at_most(void **state)
{
    unsigned tags;
    (void)state;
    for (int launches = 1; launches < 4; launches++) {
        assert_int_equal(verdict_at(1.5, launches, &tags), VERDICT_SUSPECT);
        assert_false(tags & TAG_FASTER);
        assert_int_equal(verdict_at(1 / 1.5, launches, &tags), VERDICT_SUSPECT);
        assert_true(tags & TAG_FASTER);
        assert_int_equal(verdict_at(1, launches, NULL), VERDICT_INCONCLUSIVE);
    }
}

static void one_launch_a_side_says_what_it_cannot_see(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
    fill(&base, "a", 1, 1000);
    fill(&candidate, "b", 1, 1000);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].evidence, EVIDENCE_SAMPLES);
    assert_non_null(strstr(comparison.note[0], "cannot see how launches differ"));
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

static void the_order_of_rows_changes_nothing(void **state)
{
    struct timings base, candidate, turned;
    struct compare_options options = plain();
    (void)state;
    fill(&base, "a", 6, 1000);
    fill(&candidate, "b", 6, 1040);
    begin(&turned, "b", 6, 1);
    for (int i = 5; i >= 0; i--)
        turned.rows[turned.count++] = candidate.rows[i];
    struct comparison one = compare(&base, &candidate, &options);
    struct comparison two = compare(&base, &turned, &options);
    assert_memory_equal(&one.rows[0].ratio, &two.rows[0].ratio, sizeof one.rows[0].ratio);
    comparison_release(&one);
    comparison_release(&two);
    timings_release(&base);
    timings_release(&candidate);
    timings_release(&turned);
}

static const struct comparison_row *row_of(const struct comparison *comparison, const char *variant)
{
    for (int i = 0; i < comparison->count; i++)
        if (strcmp(comparison->rows[i].id.variant, variant) == 0) return &comparison->rows[i];
    fail_msg("there is no row %s", variant);
    return NULL;
}

static void what_has_no_ratio_has_its_word(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
    begin(&base, "a", 1, 8);
    begin(&candidate, "b", 1, 8);
    add(&base, 0, "gone", 10);
    add(&candidate, 0, "new", 10);
    add(&base, 0, "broken", 10);
    add(&candidate, 0, "broken", NAN)->status = STATUS_WRONG;
    add(&base, 0, "skipped", NAN)->status = STATUS_SKIPPED;
    add(&candidate, 0, "skipped", NAN)->status = STATUS_SKIPPED;
    add(&base, 0, "redefined", 10)->bytes = 16;
    add(&candidate, 0, "redefined", 10);
    add(&base, 0, "healed", NAN)->status = STATUS_CRASHED;
    add(&candidate, 0, "healed", 10);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 5); /* what both skipped is nobody's row */
    assert_int_equal(row_of(&comparison, "gone")->verdict, VERDICT_MISSING);
    assert_int_equal(row_of(&comparison, "new")->verdict, VERDICT_NEW);
    assert_int_equal(row_of(&comparison, "broken")->verdict, VERDICT_ERROR);
    assert_int_equal(row_of(&comparison, "redefined")->verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(row_of(&comparison, "healed")->verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(comparison.exit, EXIT_LOST);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_ERROR); /* worst first */
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

static void another_device_is_incomparable_and_named(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1000);
    strcpy(candidate.run.launches[3].device.name, "NVIDIA A100");
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_INCOMPARABLE);
    assert_non_null(strstr(comparison.rows[0].reason, "NVIDIA H200 and NVIDIA A100"));
    assert_int_equal(comparison.exit, EXIT_NOTHING);
    comparison_release(&comparison);
    options.across = true;
    comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_PASS);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

static void the_ratio_to_the_baseline_cancels_the_clock(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
    begin(&base, "a", 5, 2);
    begin(&candidate, "b", 5, 2);
    for (int i = 0; i < 5; i++) {
        add(&base, i, "blas", 500 + i)->is_baseline = true;
        add(&base, i, "mine", 1000 + 2 * i);
        add(&candidate, i, "blas", 1.2 * (500 + i))->is_baseline = true;
        add(&candidate, i, "mine", 1.2 * (1000 + 2 * i));
    }
    struct comparison time = compare(&base, &candidate, &options);
    assert_int_equal(row_of(&time, "mine")->verdict, VERDICT_REGRESSED);
    options.speedup = true;
    struct comparison speedup = compare(&base, &candidate, &options);
    assert_int_equal(row_of(&speedup, "mine")->verdict, VERDICT_PASS);
    comparison_release(&time);
    comparison_release(&speedup);
    timings_release(&base);
    timings_release(&candidate);
}

static void a_change_that_is_the_clocks_is_unstable(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1100);
    for (int i = 0; i < 5; i++) {
        base.rows[i].ops = candidate.rows[i].ops = 1e6; /* it follows the clock */
        candidate.rows[i].sm_mhz = 1980 / 1.1;
    }
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.rows[0].verdict, VERDICT_UNSTABLE);
    assert_true(comparison.rows[0].tags & TAG_CLOCK);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

static void the_threshold_is_wider_where_the_clock_moved(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.threshold = NAN;
    (void)state;
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1000);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_true(comparison.threshold == COMPARE_STEADY_THRESHOLD);
    comparison_release(&comparison);
    candidate.rows[4].sm_mhz = 1700;
    comparison = compare(&base, &candidate, &options);
    assert_true(comparison.threshold == COMPARE_LOOSE_THRESHOLD);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

/* One case of six launches a side, as `change` makes it; the row it comes to. */
static struct comparison_row judged(void (*change)(struct timings *base, struct timings *candidate,
                                                   struct compare_options *options),
                                    double ratio)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    fill(&base, "a", 6, 1000);
    fill(&candidate, "b", 6, 1000 * ratio);
    change(&base, &candidate, &options);
    struct comparison comparison = compare(&base, &candidate, &options);
    assert_int_equal(comparison.count, 1);
    struct comparison_row row = comparison.rows[0];
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
    return row;
}

static void nothing(struct timings *base, struct timings *candidate,
                    struct compare_options *options)
{
    (void)base, (void)candidate, (void)options;
}

static void throttled(struct timings *base, struct timings *candidate,
                      struct compare_options *options)
{
    (void)base, (void)options;
    candidate->rows[2].clock_reasons = 0x20; /* NVML: software thermal slow-down */
}

static void same_code(struct timings *base, struct timings *candidate,
                      struct compare_options *options)
{
    (void)options;
    strcpy(base->rows[0].code_hash, "c0de");
    strcpy(candidate->rows[0].code_hash, "c0de");
}

static void other_driver(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    (void)base;
    strcpy(candidate->run.launches[1].device.driver, "590");
    options->across = true;
}

static void in_two_modes(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    (void)base, (void)options;
    for (int i = 3; i < 6; i++)
        candidate->rows[i].time_ns *= 1.04;
}

static void causes_are_tags_and_no_verdicts(void **state)
{
    (void)state;
    assert_int_equal(judged(nothing, 1).tags, 0);
    assert_int_equal(judged(throttled, 1).tags, TAG_THROTTLE);
    assert_int_equal(judged(same_code, 1).tags, TAG_SAME_CODE);
    assert_int_equal(judged(other_driver, 1).tags, TAG_DRIVER);
    assert_int_equal(judged(in_two_modes, 1).tags, TAG_BIMODAL);
    assert_int_equal(judged(throttled, 1).verdict, VERDICT_PASS);
    assert_int_equal(judged(same_code, 1.1).verdict, VERDICT_REGRESSED);
}

static void unknown_work(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    (void)options;
    for (int i = 0; i < 6; i++)
        base->rows[i].bytes = candidate->rows[i].bytes = NAN;
}

static void work_that_nobody_stated_is_no_other_work(void **state)
{
    (void)state;
    assert_int_equal(judged(unknown_work, 1).verdict, VERDICT_PASS);
}

static void coarse_clock(struct timings *base, struct timings *candidate,
                         struct compare_options *options)
{
    (void)candidate, (void)options;
    base->run.launches[0].device.clock_step_ns = 32;
}

static void nothing_below_two_steps_of_the_clock_is_a_change(void **state)
{
    (void)state;
    assert_int_equal(judged(nothing, 1.05).verdict, VERDICT_REGRESSED);
    struct comparison_row row = judged(coarse_clock, 1.05);
    assert_int_equal(row.verdict, VERDICT_PASS);
    assert_true(fabs(row.floor - 0.064) < 1e-4); /* 2 x 32 of 1000 ns */
}

static void wide_group(struct timings *base, struct timings *candidate,
                       struct compare_options *options)
{
    (void)base;
    options->threshold = NAN;
    candidate->run.suite_text = strdup("[group wide]\nthreshold = 10\n");
    for (int i = 0; i < 6; i++)
        strcpy(candidate->rows[i].group, "wide");
}

static void wide_group_overruled(struct timings *base, struct timings *candidate,
                                 struct compare_options *options)
{
    wide_group(base, candidate, options);
    options->threshold = 0.02;
}

static void a_group_s_threshold_holds_unless_the_command_line_has_one(void **state)
{
    (void)state;
    assert_int_equal(judged(wide_group, 1.05).verdict, VERDICT_PASS);
    assert_true(fabs(judged(wide_group, 1.05).threshold - 0.1) < 1e-12);
    assert_int_equal(judged(wide_group_overruled, 1.05).verdict, VERDICT_REGRESSED);
}

static void every_tested_case_has_its_p_and_what_it_could_find(void **state)
{
    struct comparison_row row = judged(nothing, 1.05);
    (void)state;
    assert_true(fabs(row.p_slower - 1.0 / 924) < 1e-12); /* 12 over 6 ways, one as extreme */
    assert_true(fabs(row.p_faster - 1) < 1e-12);
    assert_true(row.mde > row.floor && row.mde < 0.03);
}

/* `count` cases, of which the first `slowed` are slower by 10 %. */
static struct comparison slowed_cases(int count, int slowed, double fdr)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    options.fdr = fdr;
    begin(&base, "a", 5, count);
    begin(&candidate, "b", 5, count);
    for (int c = 0; c < count; c++) {
        char name[16];
        snprintf(name, sizeof name, "v%03d", c);
        for (int i = 0; i < 5; i++) {
            add(&base, i, name, 1000 + i);
            add(&candidate, i, name, (c < slowed ? 1100 : 1000) + i);
        }
    }
    struct comparison comparison = compare(&base, &candidate, &options);
    timings_release(&base);
    timings_release(&candidate);
    return comparison;
}

static void a_rate_of_false_discoveries_asks_more_of_the_few_than_of_the_many(void **state)
{
    (void)state;
    /* Five a side reach p = 1/252: of 100 cases at 5 % eight such make one another
     * significant (8/100 of 5 % is 0.4 %), a single one does not. */
    struct comparison one = slowed_cases(100, 1, 0.05), eight = slowed_cases(100, 8, 0.05);
    struct comparison alone = slowed_cases(100, 1, NAN);
    assert_int_equal(alone.counts[VERDICT_REGRESSED], 1);
    assert_int_equal(one.counts[VERDICT_REGRESSED], 0);
    assert_int_equal(one.counts[VERDICT_INCONCLUSIVE], 1);
    assert_int_equal(eight.counts[VERDICT_REGRESSED], 8);
    assert_int_equal(eight.counts[VERDICT_PASS], 92);
    assert_non_null(strstr(eight.note[0], "100 tests taken together"));
    comparison_release(&one);
    comparison_release(&eight);
    comparison_release(&alone);
}

static void options_that_nobody_gave_are_zero(void **state)
{
    const struct compare_options nothing_said = {0};
    struct timings base, candidate;
    (void)state;
    fill(&base, "a", 5, 1000);
    fill(&candidate, "b", 5, 1050);
    struct comparison comparison = compare(&base, &candidate, &nothing_said);
    assert_true(comparison.threshold == COMPARE_STEADY_THRESHOLD);
    assert_true(isnan(comparison.fdr));
    assert_int_equal(comparison.rows[0].verdict, VERDICT_REGRESSED);
    comparison_release(&comparison);
    timings_release(&base);
    timings_release(&candidate);
}

static void swapping_the_runs_mirrors_every_verdict(void **state)
{
    static const enum verdict mirror[VERDICTS] = {
        [VERDICT_REGRESSED] = VERDICT_IMPROVED, [VERDICT_IMPROVED] = VERDICT_REGRESSED,
        [VERDICT_PASS] = VERDICT_PASS,          [VERDICT_INCONCLUSIVE] = VERDICT_INCONCLUSIVE,
        [VERDICT_SUSPECT] = VERDICT_SUSPECT,
    };
    static const double ratios[] = {0.8, 0.97, 1, 1.01, 1.03, 1.3};
    (void)state;
    for (int launches = 1; launches < 9; launches++)
        for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
            enum verdict there = verdict_at(ratios[i], launches, NULL);
            assert_int_equal(verdict_at(1 / ratios[i], launches, NULL), mirror[there]);
        }
}

static void other_driver_unasked(struct timings *base, struct timings *candidate,
                                 struct compare_options *options)
{
    other_driver(base, candidate, options);
    options->across = false;
}

static void another_driver_is_incomparable_and_tagged(void **state)
{
    struct comparison_row row = judged(other_driver_unasked, 1);
    (void)state;
    assert_int_equal(row.verdict, VERDICT_INCOMPARABLE);
    assert_int_equal(row.tags, TAG_DRIVER);
}

static void two_modes_are_seen(void **state)
{
    double two[] = {0, 0.001, 0.002, 0.04, 0.041, 0.0405},
           one[] = {0, 0.01, 0.02, 0.03, 0.04, 0.05};
    double far[] = {0, 0.001, 0.002, 0.001, 0.0015, 0.3}; /* one outlier is no mode */
    (void)state;
    assert_true(is_bimodal(two, 6));
    assert_false(is_bimodal(one, 6));
    assert_false(is_bimodal(far, 6));
    assert_false(is_bimodal(two, 5));
}

static void geometric_means_are_by_operation(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
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

/* --------------------------------------------------------------- reports -- */

static char *written(const struct comparison *comparison, const char *format)
{
    const struct comparison_options options = {.format = format, .width = 100};
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

static void markdown_fits_a_comment_and_says_what_it_dropped(void **state)
{
    struct comparison comparison = many(1000);
    char *text = written(&comparison, "md");
    (void)state;
    assert_true(strlen(text) < 65536);
    assert_non_null(strstr(text, "940 more rows are left out, less bad"));
    assert_non_null(strstr(text, "v999")); /* the worst is in */
    free(text);
    comparison_release(&comparison);
}

static void annotations_keep_within_ten_and_say_how_many_more(void **state)
{
    struct comparison comparison = many(50);
    char *text = written(&comparison, "annotations");
    (void)state;
    assert_int_equal(count_of(text, "::error "), 10);
    assert_non_null(strstr(text, "41 more"));
    free(text);
    comparison_release(&comparison);
}

static void markup_stays_text(void **state)
{
    struct comparison comparison = many(3);
    const char *const formats[] = {"html", "junit"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *text = written(&comparison, formats[i]);
        assert_null(strstr(text, "v1<"));
        assert_non_null(strstr(text, "v1&lt;&amp;|&quot;"));
        free(text);
    }
    comparison_release(&comparison);
}

static void an_empty_comparison_is_nothing_and_never_green(void **state)
{
    struct timings base, candidate;
    struct compare_options options = plain();
    (void)state;
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

static void exit_codes_have_their_precedence(void **state)
{
    int counts[VERDICTS] = {0};
    unsigned any;
    (void)state;
    assert_int_equal(verdict_set_parse("any", &any), 0);
    assert_int_equal(verdict_exit(counts, counts, 0), EXIT_NOTHING);
    counts[VERDICT_INCOMPARABLE] = 1;
    assert_int_equal(verdict_exit(counts, counts, any), EXIT_NOTHING);
    counts[VERDICT_PASS] = 1;
    assert_int_equal(verdict_exit(counts, counts, 0), EXIT_FINE);
    counts[VERDICT_INCONCLUSIVE] = 1;
    assert_int_equal(verdict_exit(counts, counts, 0), EXIT_FINE);
    assert_int_equal(verdict_exit(counts, counts, any), EXIT_UNDECIDED);
    counts[VERDICT_REGRESSED] = 1;
    assert_int_equal(verdict_exit(counts, counts, any), EXIT_REGRESSED);
    counts[VERDICT_ERROR] = 1;
    assert_int_equal(verdict_exit(counts, counts, any), EXIT_LOST);
    int strangers[VERDICTS] = {[VERDICT_NEW] = 3, [VERDICT_MISSING] = 2};
    assert_int_equal(verdict_exit(strangers, strangers, any), EXIT_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_launches_a_side_show_a_change_in_either_direction),
        cmocka_unit_test(few_launches_make_a_change_suspect_at_most),
        cmocka_unit_test(one_launch_a_side_says_what_it_cannot_see),
        cmocka_unit_test(the_order_of_rows_changes_nothing),
        cmocka_unit_test(what_has_no_ratio_has_its_word),
        cmocka_unit_test(another_device_is_incomparable_and_named),
        cmocka_unit_test(the_ratio_to_the_baseline_cancels_the_clock),
        cmocka_unit_test(a_change_that_is_the_clocks_is_unstable),
        cmocka_unit_test(the_threshold_is_wider_where_the_clock_moved),
        cmocka_unit_test(causes_are_tags_and_no_verdicts),
        cmocka_unit_test(work_that_nobody_stated_is_no_other_work),
        cmocka_unit_test(nothing_below_two_steps_of_the_clock_is_a_change),
        cmocka_unit_test(a_group_s_threshold_holds_unless_the_command_line_has_one),
        cmocka_unit_test(every_tested_case_has_its_p_and_what_it_could_find),
        cmocka_unit_test(a_rate_of_false_discoveries_asks_more_of_the_few_than_of_the_many),
        cmocka_unit_test(options_that_nobody_gave_are_zero),
        cmocka_unit_test(swapping_the_runs_mirrors_every_verdict),
        cmocka_unit_test(another_driver_is_incomparable_and_tagged),
        cmocka_unit_test(two_modes_are_seen),
        cmocka_unit_test(geometric_means_are_by_operation),
        cmocka_unit_test(markdown_fits_a_comment_and_says_what_it_dropped),
        cmocka_unit_test(annotations_keep_within_ten_and_say_how_many_more),
        cmocka_unit_test(markup_stays_text),
        cmocka_unit_test(an_empty_comparison_is_nothing_and_never_green),
        cmocka_unit_test(exit_codes_have_their_precedence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
