/* gate_run.c - a gate from its programs to a comparison, stage by stage. */
#include "base/exit_code.h"
#include "device/device.h"
#include "gate/gate_run_state.h"

int gate_refuse_all(const char *device)
{
    if (!device || device_choice(device) != DEVICE_ALL) return 0;
    return assay_error("launches are compared on one GPU, not on --device %s", device);
}

/* Rounds [from, to): those that are stored are taken from there, the rest is launched. Where all
 * are stored the programs are not asked which filters they know. */
static int measure(struct gate_run *run, int from, int to)
{
    char wanted[GATE_FILTER];
    const char *filter = run->filter;
    bool is_screen = from < run->screen_rounds, with_null = !is_screen || run->options->null;
    int taken = gate_take_rounds(run, from, to, with_null);
    if (taken < 0) return EXIT_USAGE;
    if (from + taken == to) return GATE_MADE;
    if (!is_screen) filter = gate_wanted_filter(run, wanted);
    return gate_launch_rounds(run, from + taken, to, with_null, filter);
}

/* Whether there is no use in, or no time for, the stage that would come. */
static bool ends_early(struct gate_run *run)
{
    run->final = !run->out_of_time && gate_is_final(run, true);
    return run->out_of_time || run->final;
}

/* GATE_MADE, or the exit code of a failure. */
static int second_stage(struct gate_run *run, int suspects)
{
    int open;
    run->confirm_rounds = gate_confirm_rounds(run->cases, run->comparison->count, &run->rules);
    int looked = run->screen_rounds + run->confirm_rounds;
    gate_tell("%d suspect%s, %d fresh rounds with the base once more%s", suspects,
              suspects == 1 ? "" : "s", run->confirm_rounds,
              run->options->extend ? ", and up to ten more where they do not decide" : "");
    int code = measure(run, run->screen_rounds, looked);
    if (code != GATE_MADE) return code;
    if (gate_judge(run, &suspects, &open) != 0) return EXIT_USAGE;
    int most = run->screen_rounds + GATE_EXTENDED_ROUNDS;
    if (!run->options->extend || open == 0 || looked >= most || ends_early(run)) return GATE_MADE;
    gate_tell("%d still open, %d rounds more", open, most - looked);
    run->extending = true;
    code = measure(run, looked, most);
    if (code != GATE_MADE) return code;
    return gate_judge(run, &suspects, &open) == 0 ? GATE_MADE : EXIT_USAGE;
}

static int measure_all(struct gate_run *run)
{
    int suspects, open, code = run->options->twin ? gate_twins(run) : TWINS_NONE;
    if (code != TWINS_NONE) return code;
    gate_tell("%d launches of each program screen all cases; 10 rounds or more of what then looks "
              "changed",
              run->screen_rounds);
    code = measure(run, 0, run->screen_rounds);
    if (code != GATE_MADE) return code;
    if (gate_read_noise(run) != 0 || gate_judge(run, &suspects, &open) != 0) return EXIT_USAGE;
    if (suspects > 0 && !ends_early(run)) {
        code = second_stage(run, suspects);
        if (code != GATE_MADE) return code;
    }
    if (gate_keep_noise(run) != 0) return EXIT_USAGE;
    gate_note_resumed(run);
    gate_note_end(run, run->pool[ARM_BASE].run.launch_count, "rounds");
    return run->options->pinned ? gate_compare_pinned(run) : GATE_MADE;
}

static int paired(struct gate_run *run)
{
    int code = GATE_MADE;
    const char *pinned = run->options->pinned;
    run->screen_rounds = GATE_SCREEN_ROUNDS;
    if (run->options->resume && gate_resume(run) != 0) return EXIT_USAGE;
    if (pinned) code = gate_read_baseline(run->store, pinned, &run->pinned, &run->pinned_sessions);
    if (code == GATE_MADE) code = gate_prove(run);
    if (code == GATE_MADE && gate_measures(run))
        code = run->options->counts ? gate_count(run) : measure_all(run);
    if (code != GATE_MADE) return code;
    return gate_add_proven(run) == 0 && gate_finish(run) == 0 ? GATE_MADE : EXIT_USAGE;
}

int gate_try(const struct gate_options *options)
{
    struct gate_run run;
    struct comparison nothing;
    if (gate_begin(&run, NULL, options, &nothing) != 0) return -1;
    bool plans = gate_both_plan(&run, options->filter);
    gate_end(&run);
    return plans ? 0 : -1;
}

int gate_run(struct store *store, const struct gate_options *options, struct comparison *comparison)
{
    struct gate_run run;
    if (gate_begin(&run, store, options, comparison) != 0) return EXIT_USAGE;
    int code = options->baseline ? gate_stored(&run) : paired(&run);
    gate_end(&run);
    if (code != GATE_MADE) comparison_release(comparison);
    return code;
}
