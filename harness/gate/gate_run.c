/* gate_run.c - the launches of a gate, stage by stage, and what is kept of them. */
#include "gate/gate_run_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/rng.h"
#include "gate/program_launch.h"
#include "store/store_gate.h"
#include "store/store_id.h"

static const double ALPHA = 0.05;

/* ------------------------------------------------------------- launches -- */

static int exit_of(enum launch_end end)
{
    static const int codes[] = {
        [LAUNCH_REFUSED] = EXIT_USAGE, [LAUNCH_DIED] = EXIT_LOST,
        [LAUNCH_EMPTY] = EXIT_NOTHING, [LAUNCH_STOPPED] = EXIT_INTERRUPTED,
        [LAUNCH_FAILED] = EXIT_USAGE,
    };
    return codes[end];
}

/* The arms of a round share their inputs and their order; the null arm has others, as
 * another launch of the base would. Of a simulated device the seed is the luck of
 * the launch as well, which no two of them share. */
static uint64_t seed_of(const struct gate_run *run, enum arm arm, int round, const char *device)
{
    if (strncmp(device, "sim", 3) == 0)
        return rng_mix(run->seed, ARMS * (uint64_t)round + (uint64_t)arm);
    return rng_mix(run->seed, 2 * (uint64_t)round + (arm == ARM_NULL));
}

static const char *arm_name(const struct gate_run *run, enum arm arm)
{
    static const char *const arms[ARMS] = {"base", "candidate", "base again"};
    static const char *const unchanged[ARMS] = {"unchanged", "unchanged again"};
    return (run->is_calibration ? unchanged : arms)[arm];
}

void gate_label(const struct gate_run *run, enum arm arm, int round, char out[GATE_LABEL])
{
    snprintf(out, GATE_LABEL, "gate %.8s round %d, %s", run->session, round + 1 + run->label_skip,
             arm_name(run, arm));
}

struct program_call gate_call(const struct gate_run *run, enum arm arm, int round,
                              const char *filter)
{
    const struct gate_options *options = run->options;
    bool is_base = arm != ARM_CANDIDATE;
    const char *device = is_base ? options->base_device : options->candidate_device;
    return (struct program_call){
        .program = is_base ? options->base : options->candidate,
        .suite = options->suite,
        .device = device,
        .filter = filter,
        .budget = options->budget ? options->budget : GATE_BUDGET_S,
        .precision = options->precision,
        .seed = seed_of(run, arm, round, device),
        .timeout_s = options->timeout_s,
    };
}

int gate_launch(struct gate_run *run, enum arm arm, int round, const char *filter)
{
    char label[GATE_LABEL];
    struct timings timings;
    struct program_call call = gate_call(run, arm, round, filter);
    gate_label(run, arm, round, label);
    call.label = label;
    fprintf(stderr, "assay: round %d, %s\n", round + 1, arm_name(run, arm));
    enum launch_end end = program_launch(&call, run->store, &timings);
    if (end != LAUNCH_DONE) return exit_of(end);
    if (timings.run.run.simulated && !run->options->allow_simulated) {
        timings_release(&timings);
        assay_error("the device is simulated: a gate of it proves nothing (--allow-simulated)");
        return EXIT_USAGE;
    }
    int status = gate_check_launch(run, arm, &timings);
    if (status == 0) status = timings_append(&run->pool[arm], &timings);
    timings_release(&timings);
    return status == 0 ? GATE_MADE : EXIT_USAGE;
}

/* Rounds alternate AB, BA, so that a drift falls on both alike. */
enum arm gate_arm_at(int round, int turn)
{
    return (enum arm)(round % 2 ? ARMS - 1 - turn : turn);
}

static int launch_rounds(struct gate_run *run, int from, int to, bool with_null, const char *filter)
{
    for (int round = from; round < to; round++) {
        for (int turn = 0; turn < ARMS; turn++) {
            enum arm arm = gate_arm_at(round, turn);
            if (arm == ARM_NULL && !with_null) continue;
            int code = gate_launch(run, arm, round, filter);
            if (code != GATE_MADE) return code;
        }
    }
    return GATE_MADE;
}

int gate_launch_rounds(struct gate_run *run, int from, int to, bool with_null, const char *filter)
{
    int taken = gate_take_rounds(run, from, to, with_null);
    if (taken < 0) return EXIT_USAGE;
    return launch_rounds(run, from + taken, to, with_null, filter);
}

/* ---------------------------------------------------------------- stages -- */

int gate_read_noise(struct gate_run *run)
{
    const char *id = run->pool[ARM_BASE].run.launches[0].id;
    if (store_comparability(run->store, id, run->comparability) != 0) return -1;
    noise_release(&run->noise);
    return store_read_noise(run->store, run->comparability,
                            run->options->speedup ? "speedup" : "time", &run->noise);
}

bool gate_is_wanted(const struct gate_run *run, const struct gate_case *one)
{
    return run->extending ? gate_is_open(one) : one->slower.suspect || one->faster.suspect;
}

/* Rounds [from, to) of what is still to be judged. Where all of them are stored the programs are
 * not asked which filters they know. */
static int measure_wanted(struct gate_run *run, int from, int to)
{
    char filter[GATE_FILTER];
    int taken = gate_take_rounds(run, from, to, true);
    if (taken < 0) return EXIT_USAGE;
    if (from + taken == to) return GATE_MADE;
    return launch_rounds(run, from + taken, to, true, gate_wanted_filter(run, filter));
}

/* GATE_MADE, or the exit code of a failure. */
static int second_stage(struct gate_run *run, int suspects)
{
    int open;
    run->confirm_rounds = gate_confirm_rounds(run->cases, run->comparison->count, &run->rules);
    int looked = run->screen_rounds + run->confirm_rounds;
    fprintf(stderr, "assay: %d suspect%s, %d fresh rounds with the base once more\n", suspects,
            suspects == 1 ? "" : "s", run->confirm_rounds);
    int code = measure_wanted(run, run->screen_rounds, looked);
    if (code != GATE_MADE) return code;
    if (gate_judge(run, &suspects, &open) != 0) return EXIT_USAGE;
    int most = run->screen_rounds + GATE_EXTENDED_ROUNDS;
    if (!run->options->extend || open == 0 || looked >= most) return GATE_MADE;
    fprintf(stderr, "assay: %d still open, %d rounds more\n", open, most - looked);
    run->extending = true;
    code = measure_wanted(run, looked, most);
    if (code != GATE_MADE) return code;
    return gate_judge(run, &suspects, &open) == 0 ? GATE_MADE : EXIT_USAGE;
}

/* --------------------------------------------------------------- keeping -- */

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

/* Whether what the programs differed by in the screen is noise. Identical kernels are not all
 * of a program: what the host adds, or hands to the kernels, is a change like any other, so
 * only the timestamps of the kernels count, and only of a case whose screen showed it to be
 * unchanged. A floor made of these is rather too low than too high. */
static bool is_unchanged(const struct gate_run *run, const struct comparison_row *row,
                         const struct gate_case *one)
{
    const struct device_info *device = &run->pool[ARM_BASE].run.launches[0].device;
    bool by_kernels = device->clock == CLOCK_CUPTI && row->id.place == ASSAY_CUDA;
    bool settled = !one->slower.suspect && !one->faster.suspect;
    return (row->tags & TAG_SAME_CODE) && by_kernels && row->verdict == VERDICT_PASS && settled;
}

/* What a gate learns about noise on its way: its null arm, and the cases of which both
 * programs ran the same machine code. */
static int keep_noise(const struct gate_run *run)
{
    for (int i = 0; i < run->comparison->count; i++) {
        const struct comparison_row *row = &run->comparison->rows[i];
        const struct gate_case *one = &run->cases[i];
        if (!gate_is_judged(row)) continue;
        if (gate_keep_block(run, &row->id, row->base_ns, &one->null, "null", 0) != 0) return -1;
        if (is_unchanged(run, row, one) &&
            gate_keep_block(run, &row->id, row->base_ns, &one->screen, "code", 0) != 0)
            return -1;
    }
    return 0;
}

/* A base that hardly works must not look like one that passed. NEW cases are in no base. */
static void note_coverage(struct comparison *comparison)
{
    int judged = 0, cases = 0;
    const char *why = "";
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (row->verdict == VERDICT_NEW) continue;
        cases++;
        judged += gate_is_judged(row);
        if (!gate_is_judged(row) && !why[0]) why = row->reason;
    }
    if (judged > 0 && judged < cases)
        comparison_note(comparison, "only %d of %d cases %s judged; of the others one: %s", judged,
                        cases, judged == 1 ? "was" : "were", why);
}

int gate_finish(struct gate_run *run)
{
    struct comparison *comparison = run->comparison;
    const struct gate_options *options = run->options;
    snprintf(comparison->base.program, sizeof comparison->base.program, "%s",
             options->baseline ? "" : options->base);
    snprintf(comparison->candidate.program, sizeof comparison->candidate.program, "%s",
             options->candidate);
    comparison->candidate.label[0] = '\0'; /* each launch had its own */
    if (!options->baseline) comparison->base.label[0] = '\0';
    if (run->noise.count == 0)
        comparison_note(comparison,
                        "no noise floor is known for this device: assay calibrate "
                        "%.60s makes one",
                        options->suite);
    note_coverage(comparison);
    if (store_apply_acks(run->store, comparison) != 0) return -1;
    if (comparison_finish(comparison, options->fail_on) != 0) return -1;
    return store_add_gate(run->store, run->session, run->comparability, comparison);
}

/* ----------------------------------------------------------------- modes -- */

static int paired(struct gate_run *run)
{
    int suspects, open, code = GATE_MADE;
    const char *pinned = run->options->pinned;
    run->screen_rounds = GATE_SCREEN_ROUNDS;
    if (run->options->resume && gate_resume(run) != 0) return EXIT_USAGE;
    if (pinned) code = gate_read_baseline(run->store, pinned, &run->pinned, &run->pinned_sessions);
    if (code != GATE_MADE) return code;
    code = gate_launch_rounds(run, 0, run->screen_rounds, false, run->options->filter);
    if (code != GATE_MADE) return code;
    if (gate_read_noise(run) != 0 || gate_judge(run, &suspects, &open) != 0) return EXIT_USAGE;
    if (suspects > 0) {
        code = second_stage(run, suspects);
        if (code != GATE_MADE) return code;
    }
    if (keep_noise(run) != 0) return EXIT_USAGE;
    gate_note_resumed(run);
    if (pinned && (code = gate_compare_pinned(run)) != GATE_MADE) return code;
    return gate_finish(run) == 0 ? GATE_MADE : EXIT_USAGE;
}

int gate_begin(struct gate_run *run, struct store *store, const struct gate_options *options,
               struct comparison *comparison)
{
    *run = (struct gate_run){
        .store = store,
        .options = options,
        .comparison = comparison,
        .compare = {.speedup = options->speedup,
                    .threshold = options->threshold,
                    .noise = &run->noise,
                    .fail_on = options->fail_on},
        /* Who interrupts a gate may have read what its first look left open: that look has its
         * share of alpha, and giving up the second one must not enlarge it afterwards. */
        .rules = {.alpha = ALPHA, .extend = options->extend || options->resume},
    };
    memset(comparison, 0, sizeof *comparison);
    if (id_random(run->session) != 0) return -1;
    run->seed = options->has_seed ? options->seed : strtoull(run->session + 16, NULL, 16);
    return 0;
}

void gate_end(struct gate_run *run)
{
    for (int arm = 0; arm < ARMS; arm++)
        timings_release(&run->pool[arm]);
    timings_release(&run->pinned);
    noise_release(&run->noise);
    free(run->cases);
}

int gate_run(struct store *store, const struct gate_options *options, struct comparison *comparison)
{
    struct gate_run run;
    if (options->base && program_check(options->base) != 0) return EXIT_USAGE;
    if (program_check(options->candidate) != 0) return EXIT_USAGE;
    if (gate_begin(&run, store, options, comparison) != 0) return EXIT_USAGE;
    int code = options->baseline ? gate_stored(&run) : paired(&run);
    gate_end(&run);
    if (code != GATE_MADE) comparison_release(comparison);
    return code;
}
