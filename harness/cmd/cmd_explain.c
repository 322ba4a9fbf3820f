/* cmd_explain.c - `assay explain`: what the difference of a case's times is made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/terminal.h"
#include "cmd/explain_side.h"
#include "cmd/gate_command.h"
#include "cmd/run_choice.h"
#include "show/explanation.h"

struct arguments {
    struct given given;
    const char *db, *format, *output, *suite, *device, *make;
    bool allow_simulated;
    int timeout_s;
    uint64_t seed;
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    if (strncmp(arguments->device, "sim", 3) == 0 && !arguments->allow_simulated)
        return assay_error("a simulated device explains nothing (--allow-simulated)");
    return gate_refuse_all(arguments->device);
}

static bool is_file(const char *word)
{
    struct stat about;
    return gate_command_is_object(word) || (stat(word, &about) == 0 && S_ISREG(about.st_mode));
}

/* A program, object or revision. EXIT_FINE, or the exit code after assay_error. */
static int measure(const struct arguments *arguments, const char *word, struct stored_run *side)
{
    const char *objects[OBJECTS_MOST + 2];
    char path[PATH_MAX];
    enum build_end end = gate_command_side(&arguments->given, word, arguments->make, objects, path);
    if (end != BUILD_DONE) return end == BUILD_STOPPED ? EXIT_INTERRUPTED : EXIT_USAGE;
    const struct program_call call = {.program = path,
                                      .suite = arguments->suite,
                                      .device = arguments->device,
                                      .filter = arguments->given.word[2],
                                      .objects = objects,
                                      .allow_load = arguments->given.allow_load,
                                      .seed = arguments->seed,
                                      .timeout_s = arguments->timeout_s};
    if (!terminal_is_quiet()) fprintf(stderr, "assay: measuring %s\n", word);
    return explain_side_measure(side, &call, false, arguments->db);
}

static int find_side(const struct arguments *arguments, const char *word, struct stored_run *side)
{
    char no_run[ASSAY_MAX_REASON], no_program[ASSAY_MAX_REASON];
    if (is_file(word)) return measure(arguments, word, side);
    if (run_choice_read(side, true, word, arguments->db) == 0) return EXIT_FINE;
    snprintf(no_run, sizeof no_run, "%s", assay_last_error());
    int code = measure(arguments, word, side);
    if (code != EXIT_USAGE) return code;
    snprintf(no_program, sizeof no_program, "%s", assay_last_error());
    return assay_error_as(code, "%s; %s", no_run, no_program);
}

static int print(const struct arguments *arguments, const struct explanation *explanation,
                 const struct stored_run *candidate)
{
    const char *cases = arguments->given.word[2];
    char hint[TEXT_HINT];
    struct out_file out;
    if (explanation->count == 0) {
        fprintf(stderr, "assay explain: the two runs have no time of a case that matches '%s'%s\n",
                cases, run_choice_hint(hint, candidate, cases));
        return EXIT_NOTHING;
    }
    if (out_file_open(&out, arguments->output) != 0) return -1;
    int status = explanation_write(out.stream, explanation, arguments->format);
    return out_file_close(&out, status) == 0 ? EXIT_FINE : -1;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct stored_run sides[2] = {0};
    struct explanation explanation;
    int code = out_file_try(arguments->output) == 0 ? EXIT_FINE : -1;
    for (int i = 0; i < 2 && code == EXIT_FINE; i++) {
        code = find_side(arguments, arguments->given.word[i], &sides[i]);
        if (code != EXIT_FINE) fprintf(stderr, "assay explain: %s\n", assay_last_error());
    }
    if (code == EXIT_FINE) {
        code = explanation_make(&explanation, sides, arguments->given.word[2]);
        if (code == 0) code = print(arguments, &explanation, &sides[1]);
        explanation_release(&explanation);
    }
    for (int i = 0; i < 2; i++)
        stored_run_release(&sides[i]);
    return code;
}

static const struct command_option options[] = {
    {"suite", VALUE_SUITE_FILE, "SUITE", AT(suite),
     .help = "the suite that has the case, for programs (default core)"},
    {"device", VALUE_DEVICE, "D", AT(device), .help = "of programs: auto (default), cuda:N, host"},
    {"seed", VALUE_SEED, "N", AT(seed), .help = "of the inputs of programs (default 1)"},
    OPTION_NUMBER("timeout", "S", timeout_s, "the longest launch (default 3600)"),
    {"allow-simulated", VALUE_FLAG, .at = AT(allow_simulated),
     .help = "measure programs on a simulated device"},
    {"make", VALUE_TEXT, "COMMAND", AT(make), .help = MAKE_HELP},
    OPTIONS_OBJECT,
    OPTION_FORMAT("table md json"),
    OPTION_OUTPUT("write it there"),
    OPTION_DB,
    {0},
};

const struct command cmd_explain = {
    .name = "explain",
    .summary = "what the difference of a case's times is made of",
    .options = options,
    .words = {{"BASE", .kind = VALUE_RUN},
              {"CAND", .kind = VALUE_RUN},
              {"CASE", .kind = VALUE_CASE}},
    .least = 3,
    .most = 3,
    .which = "which two, and which case? (two runs, programs or revisions of git, and a case as it "
             "is printed)",
    .only = "two sides and one case only (quote a case that has blanks)",
    .synopsis = "BASE CAND CASE [options]",
    .about =
        "Divides the difference of the two times into terms: more launches, longer gaps\n"
        "between them, the clock, bytes of memory, instructions, waits. They are arithmetic\n"
        "on what is stored; what no fact accounts for is shown as unexplained, and all of\n"
        "them add up to the difference.\n"
        "\n"
        "BASE and CAND are each a stored run (an id, a label, a named baseline, latest), or\n"
        "a program, an object or a revision as assay ab takes them, which is measured with\n"
        "its counters; a file goes before a run of the same name. CASE is a case or a pattern\n"
        "of cases, as --filter takes them.\n",
    .notes = "Launches, gaps and clock are known of runs on a GPU that CUPTI timed. Bytes,\n"
             "instructions and waits take a profile: where a run has none, the last line is\n"
             "the command that stores one.\n",
    .examples = "assay explain latest~1 latest 'int8_quantize/*'\n"
                "assay explain v0.1.0 build/assay 'int8_quantize/host_*' --suite smoke",
    .exit = "0 explained, 2 usage, or a side that is neither a run nor a program, 4 no time of the "
            "case on both sides, 5 a program died, 130 interrupted.",
    .size = sizeof(struct arguments),
    .defaults =
        &(const struct arguments){
            .format = "table", .suite = "core", .device = "auto", .timeout_s = 3600, .seed = 1},
    .check = check,
    .run = run,
};
