/* gate_state.c - a gate that begins and ends, and what its launches ask their programs for. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/terminal.h"
#include "device/profile_counts.h"
#include "gate/gate_run_state.h"
#include "store/store_id.h"

static const double ALPHA = 0.05;

int gate_begin(struct gate_run *run, struct store *store, const struct gate_options *options,
               struct comparison *comparison)
{
    *run = (struct gate_run){
        .store = store,
        .options = options,
        .comparison = comparison,
        .start_s = clock_s(),
        .filter = options->filter,
        .compare = {.speedup = options->speedup,
                    .threshold = options->threshold,
                    .noise = &run->noise,
                    .fail_on = options->fail_on},
        /* Who interrupts a gate may have read what its first look left open: that look has its
         * share of alpha, and giving up the second one must not enlarge it afterwards. */
        .rules = {.alpha = ALPHA, .extend = options->extend || options->resume},
    };
    memset(comparison, 0, sizeof *comparison);
    if (options->base && program_find(options->base, &run->file[ARM_BASE]) != 0) return -1;
    if (program_find(options->candidate, &run->file[ARM_CANDIDATE]) != 0) return -1;
    if (options->null && program_find(options->null, &run->file[ARM_NULL]) != 0) return -1;
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
    proof_plan_release(&run->plan);
    free(run->unproven);
    free(run->cases);
}

/* The arms of a round share their inputs and their order; the null arm has others, as
 * another launch of the base would. Of a simulated device the seed is the luck of
 * the launch as well, which no two of them share. */
static uint64_t seed_of(const struct gate_run *run, enum arm arm, int round, const char *device)
{
    if (strncmp(device, "sim", 3) == 0)
        return rng_mix(run->seed, ARMS * (uint64_t)round + (uint64_t)arm);
    if (run->options->counts) round = 0; /* what is counted may depend on the inputs */
    return rng_mix(run->seed, 2 * (uint64_t)round + (arm == ARM_NULL));
}

enum arm gate_program_of(const struct gate_run *run, enum arm arm)
{
    return arm == ARM_NULL && !run->options->null ? ARM_BASE : arm;
}

const char *gate_arm_name(const struct gate_run *run, enum arm arm)
{
    static const char *const arms[ARMS] = {"base", "candidate", "base again"};
    static const char *const unchanged[ARMS] = {"unchanged", "unchanged again"};
    if (arm == ARM_NULL && run->options->null) return "second build";
    return (run->is_calibration ? unchanged : arms)[arm];
}

void gate_label(const struct gate_run *run, enum arm arm, int round, char out[GATE_LABEL])
{
    snprintf(out, GATE_LABEL, "gate %.8s round %d, %s", run->session, round + 1 + run->label_skip,
             gate_arm_name(run, arm));
}

struct program_call gate_call(const struct gate_run *run, enum arm arm, int round,
                              const char *filter)
{
    const struct gate_options *options = run->options;
    const char *const program[ARMS] = {options->base, options->candidate, options->null};
    bool is_base = arm != ARM_CANDIDATE;
    const char *device = is_base ? options->base_device : options->candidate_device;
    return (struct program_call){
        .program = program[gate_program_of(run, arm)],
        .suite = options->suite,
        .device = device,
        .objects = is_base ? options->base_objects : options->candidate_objects,
        .allow_load = options->allow_load,
        .filter = filter,
        .counters = options->counts ? PROFILE_COUNTS_SET : NULL,
        .budget = options->counts   ? NULL
                  : options->budget ? options->budget
                                    : GATE_BUDGET_S,
        .precision = options->counts ? NULL : options->precision,
        .seed = seed_of(run, arm, round, device),
        .timeout_s = options->timeout_s,
    };
}

/* Rounds alternate AB, BA, so that a drift falls on both alike. */
enum arm gate_arm_at(int round, int turn)
{
    return round % 2 ? ARMS - 1 - turn : turn;
}

void gate_tell(const char *format, ...)
{
    va_list values;
    if (terminal_is_quiet()) return;
    fputs("assay: ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

void gate_draw_bar(int done, int all, const char *text)
{
    char bar[TERMINAL_BAR];
    if (!terminal_is_live(stderr) || terminal_is_quiet()) return;
    terminal_bar(done, all, bar);
    fprintf(stderr, "\r%s %s\033[K", bar, text);
}

void gate_end_bar(void)
{
    if (terminal_is_live(stderr)) fputs("\r\033[K", stderr);
}

void gate_note_end(const struct gate_run *run, int made, const char *what)
{
    if (run->out_of_time)
        comparison_note(run->comparison,
                        "ended by --max-time %d after %d %s: what these do not decide is "
                        "INCONCLUSIVE",
                        run->options->max_time_s, made, what);
    else if (run->final)
        comparison_note(run->comparison,
                        "ended after %d %s (--fail-fast): further ones could not make it pass",
                        made, what);
}
