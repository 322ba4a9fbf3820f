/* cmd_bisect.c - `assay bisect`: the commit that made something slower. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/explain_side.h"
#include "cmd/gate_command.h"
#include "device/code_read.h"
#include "gate/revision_search.h"
#include "show/show.h"
#include "show/explanation.h"

struct arguments {
    struct given given;
    struct gate_command gating;
    const char *make, *good, *bad;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    if (!arguments->good || !arguments->bad)
        return assay_error("between which revisions? (--good REV --bad REV)");
    arguments->gating.gate.suite = arguments->given.count > 0 ? arguments->given.word[0] : "core";
    return gate_command_check(&arguments->gating, given);
}

/* Its build failed or was stopped: the exit code; 0: a search may go on without it. */
static int without(enum build_end end, const char *name)
{
    fprintf(stderr, "assay bisect: %s: %s\n", name, assay_last_error());
    return end == BUILD_STOPPED ? EXIT_INTERRUPTED : EXIT_FINE;
}

/* ---------------------------------------------------------------- one step -- */

/* Gate a program against the good one. GATED_...; what else it returns is an exit code. */
enum { GATED_GOOD = -1, GATED_BAD = -2, GATED_OPEN = -3 };

static int gate(struct arguments *arguments, const char *program, struct comparison *comparison)
{
    arguments->gating.gate.candidate = program;
    int code = gate_command_compare(&arguments->gating, comparison);
    if (code >= 0) {
        fprintf(stderr, "assay bisect: %s\n", assay_last_error());
        return code;
    }
    return comparison->exit == EXIT_REGRESSED ? GATED_BAD
           : comparison->exit == EXIT_FINE    ? GATED_GOOD
                                              : GATED_OPEN;
}

/* Only what is slower in the end is looked for: other cases may have been slower in between. Where
 * the names do not fit all cases are looked at. */
static void look_for(struct arguments *arguments, const struct comparison *comparison, char *filter,
                     size_t size)
{
    char name[CASE_TEXT];
    bool fits = true;
    filter[0] = '\0';
    for (int i = 0; i < comparison->count; i++) {
        if (comparison->rows[i].verdict != VERDICT_REGRESSED) continue;
        comparison_row_text(&comparison->rows[i], name);
        fits &= strlen(filter) + strlen(name) + 2 < size;
        text_add(filter, size, ",", "%s", name);
    }
    if (fits && filter[0]) arguments->gating.gate.filter = filter;
}

/* Of the commit that the search asks for. The exit code, or GATED_... */
static int judge(struct arguments *arguments, const char *commit)
{
    char title[256], program[PATH_MAX];
    struct comparison comparison;
    if (revision_title(commit, title, sizeof title) != 0) return EXIT_USAGE;
    fprintf(stderr, "assay bisect: %s\n", title);
    enum build_end end = gate_command_build(commit, arguments->make, program);
    if (end != BUILD_DONE) {
        int code = without(end, title);
        return code == EXIT_FINE ? GATED_OPEN : code;
    }
    int code = gate(arguments, program, &comparison);
    /* A program that does not run is skipped too, as one that does not build. */
    if (code >= 0) return code == EXIT_INTERRUPTED ? code : GATED_OPEN;
    comparison_release(&comparison);
    fprintf(stderr, "assay bisect: %s: %s\n", title,
            code == GATED_BAD    ? "slower"
            : code == GATED_GOOD ? "not slower"
                                 : "undecided, skipped");
    return code;
}

/* -------------------------------------------------------------------- whole -- */

/* What differs in the machine code. Where it cannot be read that is said, and is no failure. */
static void tell_code(FILE *out, const char *before, const char *program)
{
    enum { FUNCTIONS = 6, LINES = 24 };
    struct code_difference difference;
    fputs("what it changed in the machine code:\n", out);
    if (code_difference_read(&difference, before, program) != 0) {
        fprintf(out, "  not compared: %s\n\n", assay_last_error());
        return;
    }
    code_show(out, &difference, FUNCTIONS, LINES);
    fputc('\n', out);
    code_difference_release(&difference);
}

/* What the difference of the times is made of, where the device counts what launches do. */
static void tell_account(FILE *out, const struct arguments *arguments, const char *program)
{
    const struct gate_options *gate = &arguments->gating.gate;
    const char *const programs[] = {gate->base, program};
    const char *const devices[] = {gate->base_device, gate->candidate_device};
    struct stored_run sides[2] = {0};
    struct explanation explanation;
    int code = EXIT_FINE;
    for (int i = 0; i < 2 && code == EXIT_FINE; i++) {
        const struct program_call call = {.program = programs[i],
                                          .suite = gate->suite,
                                          .device = devices[i],
                                          .filter = gate->filter,
                                          .objects = arguments->given.object,
                                          .allow_load = arguments->given.allow_load,
                                          .seed = gate->seed,
                                          .timeout_s = gate->timeout_s};
        code = explain_side_measure(&sides[i], &call, true, arguments->gating.db);
    }
    if (code == EXIT_FINE) {
        if (explanation_make(&explanation, sides, gate->filter) == 0 &&
            explanation_says(&explanation)) {
            fputs("\nwhat the difference is made of (assay explain):\n", out);
            (void)explanation_write(out, &explanation, "table");
        }
        explanation_release(&explanation);
    }
    for (int i = 0; i < 2; i++)
        stored_run_release(&sides[i]);
}

/* What the commit did: it against its parent, or where that does not build against the good one. */
static int report(struct arguments *arguments, const char *commit)
{
    char parent[REVISION_COMMIT + 1], before[PATH_MAX], program[PATH_MAX], title[256];
    snprintf(parent, sizeof parent, "%s^", commit);
    if (revision_title(commit, title, sizeof title) != 0) return EXIT_USAGE;
    bool is_table = !arguments->gating.output && strcmp(arguments->gating.format, "table") == 0;
    FILE *out = is_table ? stdout : stderr;
    fprintf(out, "the first slower commit: %s\n\n", title);
    enum build_end end = gate_command_build(parent, arguments->make, before);
    if (end == BUILD_DONE) arguments->gating.gate.base = before;
    if (end != BUILD_DONE && without(end, parent) != EXIT_FINE) return EXIT_INTERRUPTED;
    end = gate_command_build(commit, arguments->make, program);
    if (end != BUILD_DONE) return without(end, title) == EXIT_FINE ? EXIT_USAGE : EXIT_INTERRUPTED;
    tell_code(out, arguments->gating.gate.base, program);
    fflush(out);
    arguments->gating.gate.candidate = program;
    int code = gate_command_run(&arguments->gating, &arguments->given);
    if (code >= 0 && code != EXIT_INTERRUPTED) tell_account(out, arguments, program);
    return code < 0 || code == EXIT_INTERRUPTED ? code : EXIT_REGRESSED;
}

static int search(struct arguments *arguments)
{
    struct revision_search search;
    char commit[REVISION_COMMIT];
    int code = EXIT_USAGE;
    enum search_end end = revision_search_begin(&search, arguments->good, arguments->bad);
    while (end == SEARCH_GOES_ON) {
        code = judge(arguments, search.commit);
        if (code >= 0) break;
        end = revision_search_tell(&search, code == GATED_GOOD  ? SEARCH_GOOD
                                            : code == GATED_BAD ? SEARCH_BAD
                                                                : SEARCH_SKIP);
    }
    text_copy(commit, sizeof commit, search.commit);
    revision_search_end(&search);
    if (end == SEARCH_FOUND) return report(arguments, commit);
    if (end == SEARCH_FAILED) return -1;
    if (end == SEARCH_OPEN) {
        fprintf(stderr,
                "assay bisect: only commits that were skipped are left: one of those above\n");
        return EXIT_UNDECIDED;
    }
    return code;
}

/* GOOD or BAD does not build, or is not there. */
static int refuse(void)
{
    char why[ASSAY_MAX_REASON];
    snprintf(why, sizeof why, "%s", assay_last_error());
    return revision_is_shallow()
               ? assay_error("%s (this clone is shallow: git fetch --unshallow)", why)
               : -1;
}

static int run(void *given)
{
    struct arguments *arguments = given;
    char good[PATH_MAX], bad[PATH_MAX], filter[4096];
    struct comparison comparison;
    if (gate_command_try(&arguments->gating) != 0) return -1;
    if (revision_is_dirty())
        fputs("assay bisect: what is not committed is in no revision, and is not looked at\n",
              stderr);
    const char *const words[] = {arguments->good, arguments->bad};
    if (revision_is_before(arguments->bad, arguments->good))
        return assay_error("--bad %s is not after --good %s: are they the wrong way round?",
                           arguments->bad, arguments->good);
    char *const paths[] = {good, bad};
    for (int i = 0; i < 2; i++) {
        enum build_end end = gate_command_build(words[i], arguments->make, paths[i]);
        if (end == BUILD_FAILED) return refuse();
        if (end == BUILD_STOPPED) return without(end, words[i]);
    }
    arguments->gating.gate.base = good;
    int code = gate(arguments, bad, &comparison);
    if (code >= 0) return code;
    look_for(arguments, &comparison, filter, sizeof filter);
    comparison_release(&comparison);
    if (code == GATED_BAD) return search(arguments);
    fprintf(stderr, "assay bisect: %s is %s than %s\n", arguments->bad,
            code == GATED_GOOD ? "not slower" : "not known to be slower", arguments->good);
    return code == GATED_GOOD ? EXIT_FINE : EXIT_UNDECIDED;
}

static const struct command_option options[] = {
    {"good", VALUE_TEXT, "REV", AT(good), .help = "a revision that is fast enough"},
    {"bad", VALUE_TEXT, "REV", AT(bad), .help = "a later one that is slower"},
    OPTIONS_GATE_DEVICES,
    OPTIONS_GATE_MEASURE,
    {"twin", VALUE_FLAG, .at = AT(gating.gate.twin), .help = TWIN_HELP},
    OPTION_PROCESSES,
    {"no-proof", VALUE_NO_FLAG, .at = AT(gating.gate.proof), .help = NO_PROOF_HELP},
    {"make", VALUE_TEXT, "COMMAND", AT(make), .help = MAKE_HELP},
    OPTIONS_OBJECT,
    OPTIONS_GATE_REPORT,
    {0},
};

const struct command cmd_bisect = {
    .name = "bisect",
    .summary = "the commit that made something slower",
    .options = options,
    .words = {{"SUITE|FILE.ini", .kind = VALUE_SUITE_FILE}},
    .most = 1,
    .only = "one suite only",
    .synopsis = "--good REV --bad REV [SUITE|FILE.ini] [options]",
    .about =
        "Searches the commits between two revisions, as git bisect does, for the first that\n"
        "is slower. GOOD and BAD are gated first; then each commit that git asks for is built\n"
        "and gated against GOOD, in the cases that are slower in BAD alone. One that does not\n"
        "build or run, or comes to no verdict, is skipped.\n"
        "\n"
        "In the end the commit is named, with the functions and kernels whose machine code it\n"
        "changed: instructions by kind, registers, stack, calls, and the two listings side by\n"
        "side (by objdump, and cuobjdump of the CUDA Toolkit). Then it is gated against its\n"
        "parent: that report says by how much, and the lines before it what differs in each\n"
        "case that is not proven unchanged.\n"
        "Programs are built as `assay ab` builds them, each once.\n",
    .examples = "assay bisect --good v0.1.0 --bad main\n"
                "assay bisect --good v0.1.0 --bad main int8 --filter 'int8_quantize/*'",
    .exit = "0 BAD is not slower, 1 the commit is named, 2 usage, or GOOD or BAD does not build, "
            "3 undecided, 130 interrupted.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gating = {GATE_COMMAND_DEFAULTS}},
    .check = check,
    .run = run,
};
