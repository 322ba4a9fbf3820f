/* compare_fdr.c - corrects the tests of all cases together, by Benjamini-Hochberg. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "judge/compare_parts.h"
#include "judge/gate_stats.h"

/* Whether the verdict is the result of a test. */
static bool is_tested(const struct comparison_row *row)
{
    bool by_test = row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED ||
                   row->verdict == VERDICT_PASS || row->verdict == VERDICT_INCONCLUSIVE;
    return by_test && !isnan(row->p_slower) && !isnan(row->p_faster);
}

/* The case changed by its own test, but not after the correction. */
static void take_back(struct comparison_row *row)
{
    row->verdict = VERDICT_INCONCLUSIVE;
    snprintf(row->reason, sizeof row->reason,
             "changed by itself, but not at the false discovery rate of all cases");
}

/* Judge one direction. Only the direction with the smaller p-value may be found, so that no
 * case is both slower and faster, whatever the rate. */
static void judge_side(struct comparison_row **row, const double *p, const double *opposite,
                       int count, double rate, enum verdict found, int *order, bool *rejected)
{
    bh_reject(p, count, rate, order, rejected);
    for (int i = 0; i < count; i++) {
        bool is_found = rejected[i] && p[i] < opposite[i];
        if (is_found && !(row[i]->tags & TAG_CLOCK)) {
            row[i]->verdict = found;
            row[i]->reason[0] = '\0';
        } else if (!is_found && row[i]->verdict == found) {
            take_back(row[i]);
        }
    }
}

int compare_fdr(struct comparison *comparison, double rate)
{
    size_t space = (size_t)comparison->count + 1;
    struct comparison_row **row = calloc(space, sizeof *row);
    double *slower = calloc(space, sizeof *slower), *faster = calloc(space, sizeof *faster);
    int *order = calloc(space, sizeof *order), count = 0, status = -1;
    bool *rejected = calloc(space, sizeof *rejected);
    if (!row || !slower || !faster || !order || !rejected) {
        assay_error("out of memory for %d tests", comparison->count);
        goto out;
    }
    for (int i = 0; i < comparison->count; i++) {
        if (!is_tested(&comparison->rows[i])) continue;
        slower[count] = comparison->rows[i].p_slower;
        faster[count] = comparison->rows[i].p_faster;
        row[count++] = &comparison->rows[i];
    }
    judge_side(row, slower, faster, count, rate, VERDICT_REGRESSED, order, rejected);
    judge_side(row, faster, slower, count, rate, VERDICT_IMPROVED, order, rejected);
    comparison_note(comparison,
                    "%d tests corrected together: of what is called changed, %.3g %% is expected "
                    "to be false (--fdr)",
                    count, 100 * rate);
    status = 0;
out:
    free(row);
    free(slower);
    free(faster);
    free(order);
    free(rejected);
    return status;
}
