/* gate_keep.c - what a gate takes from the database about noise, and what it leaves there. */
#include <math.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "gate/gate_run_state.h"
#include "show/comparison_formats.h"
#include "store/store_gate.h"

int gate_read_noise(struct gate_run *run)
{
    const char *id = run->pool[ARM_BASE].run.launches[0].id;
    if (store_comparability(run->store, id, run->comparability) != 0) return -1;
    noise_release(&run->noise);
    return store_read_noise(run->store, run->comparability,
                            run->options->speedup ? "speedup" : "time", run->session, &run->noise);
}

int gate_keep_block(const struct gate_run *run, const struct case_id *id, double time_ns,
                    const struct gate_rounds *rounds, const char *source, int first)
{
    struct noise_block block = {
        .id = *id, .first = first, .rounds = rounds->count, .time_ns = time_ns};
    double copy[SIGNED_RANK_MAX];
    if (rounds->count < GATE_LEAST_ROUNDS) return 0;
    snprintf(block.session, sizeof block.session, "%s", run->session);
    block.shift = fabs(signed_rank_interval(rounds->value, rounds->count, 0.95).mid);
    memcpy(copy, rounds->value, sizeof copy);
    block.spread = stats_mad(copy, rounds->count);
    return store_add_noise(run->store, run->comparability, source,
                           run->options->speedup ? "speedup" : "time", &block);
}

/* Whether what the programs differed by in the screen is noise: only of a case whose screen showed
 * it to be unchanged, for what the host hands to identical kernels may have changed. A floor made
 * of these is rather too low than too high. */
static bool is_unchanged(const struct gate_run *run, const struct comparison_row *row,
                         const struct gate_case *one)
{
    bool settled = !one->slower.suspect && !one->faster.suspect;
    return gate_runs_same_kernels(run, row) && row->verdict == VERDICT_PASS && settled;
}

int gate_keep_noise(const struct gate_run *run)
{
    for (int i = 0; i < run->comparison->count; i++) {
        const struct comparison_row *row = &run->comparison->rows[i];
        const struct gate_case *one = &run->cases[i];
        if (!gate_is_judged(row)) continue;
        /* A second build is not the base once more: what it differs by is no noise of launches. */
        if (!run->options->null &&
            gate_keep_block(run, &row->id, row->base_ns, &one->null, "null", 0) != 0)
            return -1;
        if (is_unchanged(run, row, one) &&
            gate_keep_block(run, &row->id, row->base_ns, &one->screen, "code", 0) != 0)
            return -1;
    }
    return 0;
}

/* A base that hardly works must not look like one that passed. */
static void note_coverage(struct comparison *comparison)
{
    char why[WORDS_LINE];
    const struct verdict_tally *tally = &comparison->tally;
    if (comparison->exit == EXIT_NOTHING) {
        unjudged_text(comparison, why);
        comparison_note(comparison, "%.390s", why);
    } else if (tally->judged < tally->cases) {
        const char *reason =
            reason_of_most(comparison, true); /* those that are missing have rows */
        comparison_note(comparison, "only %d of %d cases %s judged%s%.300s", tally->judged,
                        tally->cases, tally->judged == 1 ? "was" : "were",
                        reason[0] ? "; of the others most: " : "", reason);
    }
}

/* What builds of the same code differ by here, where that is known and not nothing. */
static void note_layout(const struct gate_run *run)
{
    int twins = 0;
    for (int i = 0; run->cases && i < run->comparison->count; i++)
        twins += run->cases[i].twin.count >= GATE_LEAST_ROUNDS;
    if (twins < GATE_LEAST_TWINS || !(run->cases[0].layout > 0)) return;
    comparison_note(run->comparison,
                    "builds that do the same may differ by %.2g %% by how they lie in memory (%s, "
                    "%d cases): no floor is below that",
                    100 * run->cases[0].layout,
                    run->options->null ? "a second build of the base" : "identical machine code",
                    twins);
}

int gate_finish(struct gate_run *run)
{
    struct comparison *comparison = run->comparison;
    const struct gate_options *options = run->options;
    snprintf(comparison->base.program, sizeof comparison->base.program, "%s",
             options->baseline ? "" : options->base);
    snprintf(comparison->candidate.program, sizeof comparison->candidate.program, "%s",
             options->candidate);
    struct host_info here;
    host_describe(&here, "");
    text_copy(comparison->base.host, sizeof comparison->base.host, here.hostname);
    comparison->candidate.label[0] = '\0'; /* each launch had its own */
    if (!options->baseline) comparison->base.label[0] = '\0';
    if (run->no_twins[0])
        comparison_note(comparison, "launched one after the other, not as twins: %s",
                        run->no_twins);
    if (run->noise.count == 0 && gate_measures(run) && !run->compare.twins && !options->counts)
        comparison_note(comparison,
                        "no noise floor is known for this device: assay calibrate "
                        "%.60s makes one",
                        options->suite);
    note_layout(run);
    if (store_apply_acks(run->store, comparison) != 0) return -1;
    comparison->tally.least_judged = options->least_judged;
    if (comparison_finish(comparison, options->fail_on) != 0) return -1;
    note_coverage(comparison);
    return store_add_gate(run->store, run->session, run->comparability, comparison);
}
