#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "case/comparability.h"
#include "judge/compare_parts.h"
#include "judge/gate_stats.h"

/* The first difference of any launch from the first one of the base; of a run that GPUs divided, it
 * is found for each case (compare_difference). */
static void find_difference(struct comparing *comparing)
{
    const struct stored_run *base = &comparing->base->run, *candidate = &comparing->candidate->run;
    char *out = comparing->difference;
    comparing->is_divided = stored_run_rounds(base) < base->launch_count ||
                            stored_run_rounds(candidate) < candidate->launch_count;
    if (base->launch_count == 0 || comparing->is_divided) return;
    for (int i = 0; i < candidate->launch_count && !out[0]; i++)
        comparability_difference(&base->launches[0], &candidate->launches[i], out,
                                 sizeof comparing->difference);
    for (int i = 1; i < base->launch_count && !out[0]; i++)
        comparability_difference(&base->launches[0], &base->launches[i], out,
                                 sizeof comparing->difference);
    if (strstr(out, "driver")) comparing->key_tags |= TAG_DRIVER;
}

static void find_case_difference(const struct comparing *comparing, const struct side_figures *base,
                                 const struct side_figures *candidate, char out[ASSAY_MAX_REASON])
{
    const struct launch_info *of_base = comparing->base->run.launches;
    const struct launch_info *of_candidate = comparing->candidate->run.launches;
    const struct launch_info *first = &of_base[base->rows[0].launch];
    for (int i = 0; i < candidate->count && !out[0]; i++)
        comparability_difference(first, &of_candidate[candidate->rows[i].launch], out,
                                 ASSAY_MAX_REASON);
    for (int i = 1; i < base->count && !out[0]; i++)
        comparability_difference(first, &of_base[base->rows[i].launch], out, ASSAY_MAX_REASON);
}

const char *compare_difference(struct comparing *comparing, const struct side_figures *base,
                               const struct side_figures *candidate, char out[ASSAY_MAX_REASON])
{
    out[0] = '\0';
    if (!comparing->is_divided) return comparing->difference;
    if (base->count > 0 && candidate->count > 0)
        find_case_difference(comparing, base, candidate, out);
    if (strstr(out, "driver")) comparing->key_tags |= TAG_DRIVER;
    if (!comparing->difference[0])
        snprintf(comparing->difference, sizeof comparing->difference, "%s", out);
    return out;
}

/* Whether launches of two models of device are among these. Their times say nothing of the code, so
 * `across` judges a case by its ratio to the group's baseline in the same launch, and where there
 * is none, as of the baselines themselves, by its share of the ceiling (timing.ceiling_ns). */
static bool has_other_models(const struct timings *base, const struct timings *candidate)
{
    const struct timings *const sides[] = {base, candidate};
    const char *model = NULL;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < sides[side]->run.launch_count; i++) {
            const char *name = sides[side]->run.launches[i].device.name;
            if (model && strcmp(model, name) != 0) return true;
            model = name;
        }
    return false;
}

/* ---------------------------------------------------------------- cases -- */

/* Number of rows of the case that begins at `at`. */
static int case_rows(const struct timings *timings, int at)
{
    int end = at;
    while (end < timings->count &&
           case_id_order(&timings->rows[at].id, &timings->rows[end].id) == 0)
        end++;
    return end - at;
}

static int compare_cases(struct comparing *comparing)
{
    const struct timings *base = comparing->base, *candidate = comparing->candidate;
    int b = 0, c = 0;
    while (b < base->count || c < candidate->count) {
        int order = b == base->count ? 1
                    : c == candidate->count
                        ? -1
                        : case_id_order(&base->rows[b].id, &candidate->rows[c].id);
        struct side_figures left = {.rows = base->rows + b}, right = {.rows = candidate->rows + c};
        if (order <= 0) left.count = case_rows(base, b);
        if (order >= 0) right.count = case_rows(candidate, c);
        if (compare_case(comparing, &left, &right) != 0) return -1;
        b += left.count;
        c += right.count;
    }
    return 0;
}

/* The losses of a side that has no row of the case at all, nor has the other: what the suite of a
 * gate names must be there, or both sides could lose it unseen. */
static void compare_lost(struct comparing *comparing, const struct timings *side)
{
    for (int i = 0; i < side->lost_count; i++) {
        const struct case_id *id = &side->lost[i].id;
        bool seen = i > 0 && case_id_order(id, &side->lost[i - 1].id) == 0;
        bool other_side = side == comparing->candidate && timings_first_lost(comparing->base, id);
        if (seen || other_side || timings_first(comparing->base, id) ||
            timings_first(comparing->candidate, id) ||
            !case_matches(comparing->options->filter, id))
            continue;
        compare_lost_case(comparing, id);
    }
}

/* ------------------------------------------------- false discovery rate -- */

/* Whatever its verdict: noise spares those that are not found, so that a family without them would
 * consist of what was found. */
static bool is_tested(const struct comparison_row *row)
{
    return !isnan(row->p_slower);
}

/* The case changed by its own test, but not after the correction. */
static void take_back(struct comparison_row *row)
{
    row_decide(row, VERDICT_INCONCLUSIVE,
               "changed by itself, but not at the false discovery rate of all cases");
    comparison_row_doubt(row);
}

/* Judge one direction by Benjamini-Hochberg. Only the direction with the smaller p-value may be
 * found, so that no case is both slower and faster, whatever the rate. Returns how many tests. */
static int judge_side(struct comparison *comparison, enum verdict found, double rate,
                      struct hypothesis *family)
{
    bool slower = found == VERDICT_REGRESSED;
    int count = 0;
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!is_tested(row)) continue;
        double p = slower ? row->p_slower : row->p_faster;
        family[count++] = (struct hypothesis){.p = p, .index = i};
    }
    bh_reject(family, count, rate);
    for (int i = 0; i < count; i++) {
        struct comparison_row *row = &comparison->rows[family[i].index];
        double opposite = slower ? row->p_faster : row->p_slower;
        bool is_found = family[i].rejected && family[i].p < opposite;
        if (is_found && !(row->tags & TAG_CLOCK)) {
            row->verdict = found;
            row->reason[0] = '\0';
        } else if (!is_found && row->verdict == found) {
            take_back(row);
        }
    }
    return count;
}

/* What a case that changes alone must pass: with few launches no p-value is that small. Also sets
 * what each case could find so. */
static int check_power(struct comparison *comparison, double rate)
{
    int tests = 0;
    double least = 1;
    for (int i = 0; i < comparison->count; i++) {
        if (!is_tested(&comparison->rows[i])) continue;
        tests++;
        least = fmin(least, comparison->rows[i].p_least);
    }
    double alone = rate / tests;
    if (tests > 0 && least > alone)
        return assay_error("--fdr %g: so few launches cannot find one change among %d cases (p is "
                           "at least %.2g, and %.2g is wanted): measure both with --launches %d",
                           100 * rate, tests, least, alone, rank_sum_values_for(alone));
    for (int i = 0; i < comparison->count; i++) {
        struct comparison_row *row = &comparison->rows[i];
        if (!is_tested(row)) continue;
        row->mde =
            row->p_least > alone ? NAN : detectable_at(row->mde, row->floor, COMPARE_ALPHA, alone);
    }
    return 0;
}

static int correct(struct comparison *comparison, double rate)
{
    if (check_power(comparison, rate) != 0) return -1;
    struct hypothesis *family = calloc((size_t)comparison->count + 1, sizeof *family);
    if (!family) return assay_error("out of memory for %d tests", comparison->count);
    judge_side(comparison, VERDICT_REGRESSED, rate, family);
    int count = judge_side(comparison, VERDICT_IMPROVED, rate, family);
    free(family);
    comparison_note(comparison,
                    "%d tests corrected together: of what is called changed, %.3g %% is expected "
                    "to be false (--fdr)",
                    count, 100 * rate);
    return 0;
}

/* ----------------------------------------------------------------- runs -- */

/* What the suites say of judging, where that is not what one would expect. */
static void note_suites(const struct comparing *comparing)
{
    struct comparison *comparison = comparing->comparison;
    const char *base = comparing->base->run.suite_text;
    const char *candidate = comparing->candidate->run.suite_text;
    if (strcmp(comparison->base.suite, comparison->candidate.suite) != 0)
        comparison_note(comparison, "different suites: %.60s and %.60s", comparison->base.suite,
                        comparison->candidate.suite);
    else if (comparing->options->presence != PRESENT_SOMEWHERE &&
             strcmp(base ? base : "", candidate ? candidate : "") != 0)
        comparison_note(comparison, "the sides have different texts of the suite %.60s",
                        comparison->candidate.suite);
    if (comparing->laxest_refused > 0)
        comparison_note(comparison,
                        "the candidate's suite has thresholds up to %.3g %%, above those of the "
                        "base's: the stricter ones count (--threshold sets one for all)",
                        100 * comparing->laxest_refused);
    if (comparing->laxest_taken > 0)
        comparison_note(comparison,
                        "by the suite's thresholds, changes of up to %.3g %% count for nothing in "
                        "some cases (--threshold sets one for all)",
                        100 * comparing->laxest_taken);
}

static void make_notes(const struct comparing *comparing)
{
    struct comparison *comparison = comparing->comparison;
    if (!comparison_has_common_case(comparison))
        comparison_note(comparison, "the sides have no case in common");
    int b = comparison->base.launches, c = comparison->candidate.launches;
    if (comparing->options->twins)
        comparison_note(comparison, "both builds in one process, launched in turns: what the host "
                                    "adds between processes is not seen");
    else if (b == 1 && c == 1)
        comparison_note(comparison, "one launch on each side: the intervals come from samples of "
                                    "one process and cannot see how launches differ; measure with "
                                    "--launches 5 or more");
    else if (b < 4 || c < 4)
        comparison_note(comparison,
                        "%d and %d launches: too few for 95 %% intervals (4 on each side), so "
                        "they show smallest to largest",
                        b, c);
    const struct noise *noise = comparing->by_limits ? NULL : comparing->options->noise;
    int sessions = noise ? noise_sessions(noise) : 0;
    if (sessions > 0)
        comparison_note(comparison,
                        "no floor is below the noise of unchanged code here: %d block%s of "
                        "launches, %d session%s",
                        noise->count, noise->count == 1 ? "" : "s", sessions,
                        sessions == 1 ? "" : "s");
    if (comparison->base.simulated || comparison->candidate.simulated)
        comparison_note(comparison, "SIMULATED: no hardware was measured");
    note_suites(comparing);
    if (comparing->difference[0])
        comparison_note(comparison, "the runs were not measured under the same conditions: %s%s",
                        comparing->difference,
                        comparing->options->across ? "; compared because that was asked for" : "");
    if (comparing->by_limits)
        comparison_note(comparison, "between two models times are no verdict: cases are judged by "
                                    "their ratio to the baseline of the same launch, and those "
                                    "without one by their share of the ceiling");
    strcpy(comparison->difference, comparing->difference);
    if (strcmp(comparison->base.id, comparison->candidate.id) == 0 && !comparing->options->twins)
        comparison_note(comparison, "both sides are the same run");
}

int compare_runs(struct comparison *comparison, const struct timings *base,
                 const struct timings *candidate, const struct compare_options *options)
{
    struct comparing comparing = {
        .comparison = comparison, .base = base, .candidate = candidate, .options = options};
    size_t space = (size_t)(base->count > candidate->count ? base->count : candidate->count) + 1;
    int status = -1;
    *comparison = (struct comparison){.mode = options->at_most_suspect ? "stored" : "compare",
                                      .metric = options->speedup ? "speedup" : "time",
                                      .fdr = options->fdr > 0 ? options->fdr : NAN,
                                      .tally.least_judged = NAN};
    comparison->threshold = options->threshold > 0 ? options->threshold : NAN;
    comparison->rows = calloc((size_t)base->count + (size_t)candidate->count +
                                  (size_t)base->lost_count + (size_t)candidate->lost_count + 1,
                              sizeof *comparison->rows);
    double *numbers = calloc(3 * space, sizeof *numbers);
    if (!comparison->rows || !numbers) {
        assay_error("out of memory for the comparison");
        goto out;
    }
    comparing.logs[0] = numbers;
    comparing.logs[1] = numbers + space;
    comparing.scratch = numbers + 2 * space;
    comparison_side_of(&comparison->base, &base->run);
    comparison_side_of(&comparison->candidate, &candidate->run);
    find_difference(&comparing);
    comparing.by_limits = options->across && has_other_models(base, candidate);
    if (comparing.by_limits) comparison->metric = "limits";
    if (compare_cases(&comparing) != 0) goto out;
    if (options->presence != PRESENT_SOMEWHERE) {
        compare_lost(&comparing, base);
        compare_lost(&comparing, candidate);
    }
    if (options->fdr > 0 && correct(comparison, options->fdr) != 0) goto out;
    make_notes(&comparing);
    status = comparison_finish(comparison, options->fail_on);
out:
    free(numbers);
    if (status != 0) comparison_release(comparison);
    return status;
}

void comparability_difference(const struct launch_info *a, const struct launch_info *b, char *out,
                              size_t size)
{
    struct comparability x, y;
    bool same_model = strcmp(a->device.name, b->device.name) == 0;
    comparability_of(&a->device, &x);
    comparability_of(&b->device, &y);
    out[0] = '\0';
    for (int i = 0; i < COMPARABILITY_PARTS; i++)
        if (strcmp(x.part[i], y.part[i]) != 0 && (same_model || !comparability_is_of_card(i)))
            text_add(out, size, ", ", "%s %s and %s", comparability_part_name(i),
                     x.part[i][0] ? x.part[i] : "unknown", y.part[i][0] ? y.part[i] : "unknown");
}
