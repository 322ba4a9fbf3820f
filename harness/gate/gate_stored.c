/*
 * gate_stored.c - a gate whose base is a stored run. The launches of its two sides
 * are not of one hour, so it asks for more: five launches per side, a base of two
 * sessions, and a change beyond what the history of the case does by itself.
 */
#include <math.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "gate/gate_run_state.h"
#include "judge/history.h"
#include "show/comparison_formats.h"
#include "store/store_gate.h"
#include "suite/plan.h"

enum { LEAST_SESSIONS = 2 };

/* ----------------------------------------------------------------- base -- */

struct base_reader {
    struct store *store;
    struct timings *pool;
    int sessions;
};

static int add_run(const char *id, void *context)
{
    struct base_reader *reader = context;
    struct timings timings;
    if (store_read_timings(reader->store, id, &timings) != 0) return -1;
    reader->sessions += timings.run.launch_count > 0;
    int status = timings_append(reader->pool, &timings);
    timings_release(&timings);
    return status;
}

/* The cases of a share that is not there would go unjudged. */
static bool lacks_shares(const struct stored_run *run, const char *name)
{
    const struct shard *shard = &run->run.shard;
    int shares = run->shares > 0 ? run->shares : 1;
    if (shard->count == 0 || shares == shard->count) return false;
    assay_error("the baseline '%s' is %d share%s of %d: the cases of the others would go unjudged "
                "(%s%s names all that are there)",
                name, shares, shares == 1 ? "" : "s", shard->count,
                shard->group[0] ? "--baseline " : "no name", shard->group);
    return true;
}

int gate_read_baseline(struct store *store, const char *name, struct timings *pool, int *sessions)
{
    struct base_reader reader = {.store = store, .pool = pool};
    char id[STORE_ID];
    if (store_find_run_or_job(store, name, id) != 0) return EXIT_NOTHING;
    if (add_run(id, &reader) != 0) return EXIT_USAGE;
    if (lacks_shares(&pool->run, name)) return EXIT_USAGE;
    if (pool->run.launch_count == 0)
        return assay_error_as(EXIT_NOTHING, "the baseline '%s' has no launch", name);
    if (store_each_sibling(store, id, add_run, &reader) != 0) return EXIT_USAGE;
    *sessions = reader.sessions;
    return GATE_MADE;
}

/* Of the case with most times, among those that the filter names; -1: it names none. */
static int most_launches(const struct timings *pool, const char *filter)
{
    int most = -1, count = 0;
    for (int i = 0; i < pool->count; i++) {
        if (!case_matches(filter, &pool->rows[i].id)) continue;
        bool same = i > 0 && case_id_order(&pool->rows[i - 1].id, &pool->rows[i].id) == 0;
        count = (same ? count : 0) + (pool->rows[i].time_ns > 0);
        if (count > most) most = count;
    }
    return most;
}

/* Before minutes are spent on launches that would have nothing to be compared with. */
static int check_base(const struct gate_run *run)
{
    const char *filter = run->options->filter;
    int most = most_launches(&run->pool[ARM_BASE], filter);
    if (most < 0)
        return assay_error_as(EXIT_NOTHING,
                              "the baseline '%s' has no case in common with the filter '%s'",
                              run->options->baseline, filter ? filter : "*");
    if (most >= GATE_STORED_LAUNCHES) return GATE_MADE;
    return assay_error_as(
        EXIT_NOTHING,
        "no case of the baseline '%s' has a time of more than %d launch%s: a stored gate "
        "needs %d (assay run SUITE --launches %d, with the build of the baseline)",
        run->options->baseline, most, most == 1 ? "" : "es", GATE_STORED_LAUNCHES,
        GATE_STORED_LAUNCHES);
}

/* -------------------------------------------------------------- history -- */

static void note_fences(struct comparison *comparison)
{
    for (int i = 0; i < comparison->count; i++)
        if (!isnan(comparison->rows[i].fence)) return;
    comparison_note(comparison,
                    "no case has the %d changes of history that a fence is made from: a change is "
                    "SUSPECT at most",
                    FENCE_LEAST_CHANGES);
}

/* ----------------------------------------------------------------- gate -- */

static void make_notes(struct gate_run *run, int sessions)
{
    struct comparison *comparison = run->comparison;
    comparison_note(comparison, "the base: %d launches of %d session%s",
                    run->pool[ARM_BASE].run.launch_count, sessions, sessions == 1 ? "" : "s");
    if (!run->options->allow_stored)
        comparison_note(comparison,
                        "the base was measured at another time: a change is SUSPECT at most");
    else if (run->options->speedup)
        comparison_note(comparison, "no fence is known of speed-ups, so a change is SUSPECT at "
                                    "most, in spite of --allow-stored-verdict");
    else if (sessions < LEAST_SESSIONS)
        comparison_note(comparison,
                        "a base of one session proves nothing, in spite of --allow-stored-verdict: "
                        "run the suite once more with the same build");
    else
        comparison_note(comparison,
                        "the base was measured at another time, and "
                        "--allow-stored-verdict lets that count where a fence is known");
}

static int compare(struct gate_run *run, int sessions)
{
    struct history history = {0};
    struct compare_options options = run->compare;
    bool by_time = !options.speedup;       /* what a fence is made of */
    options.filter = run->options->filter; /* what it leaves out is not missing */
    options.across = gate_is_simulated(run);
    options.least_launches = GATE_STORED_LAUNCHES;
    options.presence = PRESENT_IN_ALL;
    options.at_most_suspect = !run->options->allow_stored || sessions < LEAST_SESSIONS || !by_time;
    if (by_time) {
        if (history_read(&history, run->store, "*") != 0) return -1;
        options.history = &history;
        options.setting =
            history_setting_index(&history, &run->pool[ARM_BASE].run.launches[0].device);
    }
    int status = options.setting < 0 ? -1
                                     : compare_runs(run->comparison, &run->pool[ARM_BASE],
                                                    &run->pool[ARM_CANDIDATE], &options);
    history_release(&history);
    if (status != 0) return -1;
    run->comparison->mode = "stored";
    make_notes(run, sessions);
    if (by_time) note_fences(run->comparison);
    return 0;
}

int gate_stored(struct gate_run *run)
{
    int sessions, code = gate_read_baseline(run->store, run->options->baseline,
                                            &run->pool[ARM_BASE], &sessions);
    if (code == GATE_MADE) code = check_base(run);
    for (int round = 0; code == GATE_MADE && round < run->options->launches; round++)
        code = gate_launch(run, ARM_CANDIDATE, round, run->options->filter);
    if (code != GATE_MADE) return code;
    if (gate_read_noise(run) != 0 || compare(run, sessions) != 0) return EXIT_USAGE;
    return gate_finish(run) == 0 ? GATE_MADE : EXIT_USAGE;
}

/* --------------------------------------------------------------- pinned -- */

/* Steps that are each below the floor add up between neighbours unseen, and are seen from a pinned
 * release. That was measured at another time, so this is told and decides nothing. */
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

static void tell_pinned(struct comparison *comparison, const struct gate_run *run,
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
    tell_pinned(run->comparison, run, &against);
    comparison_release(&against);
    return GATE_MADE;
}
