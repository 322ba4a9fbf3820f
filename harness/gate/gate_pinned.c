/*
 * gate_pinned.c - the candidate of a paired gate against a pinned release: steps that are
 * each below the floor add up between neighbours unseen, and are seen from there. The
 * release was measured at another time, so this is told and decides nothing.
 */
#include <math.h>

#include "base/exit_code.h"
#include "gate/gate_run_state.h"
#include "show/comparison_formats.h"

struct tally {
    int compared, slower, faster;
    const struct comparison_row *worst;
};

static struct tally count_rows(const struct comparison *comparison)
{
    struct tally tally = {0};
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!gate_is_judged(row)) continue;
        tally.compared++;
        if (row->verdict != VERDICT_SUSPECT) continue;
        bool faster = row->tags & TAG_FASTER;
        tally.faster += faster;
        tally.slower += !faster;
        if (!faster && (!tally.worst || row->ratio.mid > tally.worst->ratio.mid)) tally.worst = row;
    }
    return tally;
}

static void tell(struct comparison *comparison, const struct gate_run *run,
                 const struct comparison *against)
{
    const char *name = run->options->pinned;
    struct tally tally = count_rows(against);
    if (tally.compared == 0) {
        char why[WORDS_LINE];
        nothing_text(against, why);
        comparison_note(comparison, "nothing can be compared with %.60s: %s", name, why);
        return;
    }
    comparison_note(comparison,
                    "against %.60s (%d launches of %d session%s, at another time) %d of %d cases "
                    "look slower by more than the floor, %d faster",
                    name, run->pinned.run.launch_count, run->pinned_sessions,
                    run->pinned_sessions == 1 ? "" : "s", tally.slower, tally.compared,
                    tally.faster);
    if (!tally.worst) return;
    char text[CASE_TEXT], ratio[64];
    comparison_row_text(tally.worst, text);
    comparison_ratio_text(tally.worst, ratio, sizeof ratio);
    comparison_note(comparison, "the slowest against %.60s: %s %s", name, text, ratio);
}

int gate_compare_pinned(struct gate_run *run)
{
    struct comparison against;
    struct compare_options options = run->compare;
    options.at_most_suspect = true;
    options.presence = PRESENT_SOMEWHERE;
    options.least_launches = GATE_STORED_LAUNCHES;
    if (compare_runs(&against, &run->pinned, &run->pool[ARM_CANDIDATE], &options) != 0)
        return EXIT_USAGE;
    tell(run->comparison, run, &against);
    comparison_release(&against);
    return GATE_MADE;
}
