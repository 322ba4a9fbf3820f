/*
 * gate_command.h - what the commands that gate (gate, ab) have alike: options, reports, exit code.
 */
#pragma once

#include <math.h>

#include "cmd/commands.h"
#include "gate/gate_run.h"
#include "gate/program_build.h"
#include "judge/twin_processes.h"

/* The member `gating` of their struct arguments. */
struct gate_command {
    struct gate_options gate;
    const char *device, *db, *format, *metric, *fail_on;
    const char *output, *junit, *markdown, *json;
    bool annotations, all;
};

/* All the rounds that they need, half of the cases to be judged, the best device. */
#define GATE_COMMAND_DEFAULTS                                                                      \
    .gate.threshold = NAN, .gate.least_judged = 0.5, .gate.extend = true, .gate.timeout_s = 3600,  \
    .gate.proof = true, .device = "auto", .format = "table", .metric = "time"

/* Rows of a table of options, without a comma behind the last. */
#define OPTIONS_GATE_DEVICES                                                                       \
    {"device", VALUE_DEVICE, "D", AT(gating.device),                                               \
     .help = "the device of both programs (default auto)"},                                        \
    {                                                                                              \
        "cand-device", VALUE_DEVICE, "D", AT(gating.gate.candidate_device),                        \
            .help = "the device of the candidate alone"                                            \
    }

#define TWIN_HELP                                                                                  \
    "have both builds in one process where that can be, and launch them in turns: finds half a "   \
    "per cent in about a second per case"

#define PROCESSES_HELP                                                                             \
    "so many such processes (8 to 64), which tell a change from where copies of the code lie: "    \
    "for --threshold 0.1"

#define OPTION_PROCESSES                                                                           \
    {                                                                                              \
        "processes", VALUE_COUNT, "N", AT(gating.gate.processes),                                  \
            .help = PROCESSES_HELP, .least = TWIN_LEAST_PROCESSES, .most = TWIN_MOST_PROCESSES,    \
            .with = "twin"                                                                         \
    }

#define OPTIONS_GATE_MEASURE                                                                       \
    OPTION_FILTER(VALUE_VARIANT, gating.gate.filter),                                              \
        {"budget", VALUE_TEXT, "S", AT(gating.gate.budget),                                        \
         .help = "sampling time per case (default 0.05)"},                                         \
        {"precision", VALUE_TEXT, "PCT", AT(gating.gate.precision),                                \
         .help = "stop when the median is known to +-PCT %"},                                      \
        {"threshold", VALUE_FRACTION, "PCT", AT(gating.gate.threshold),                            \
         .help = "the smallest change that counts (default: the suite's, else 2 where the SM "     \
                 "clock stays the same, else 5)"},                                                 \
        OPTION_METRIC(gating.metric, "time (default), or speedup: the ratio to the baseline"),     \
        {"least-judged", VALUE_FRACTION, "PCT", AT(gating.gate.least_judged),                      \
         .help = "end with 4 where less than this share of the base's cases was judged: PASS, "    \
                 "IMPROVED, REGRESSED or SUSPECT (default 50)"},                                   \
        {"fail-on",                                                                                \
         VALUE_TEXT,                                                                               \
         "LIST",                                                                                   \
         AT(gating.fail_on),                                                                       \
         .help = "verdicts that end with 3: INCONCLUSIVE,UNSTABLE, or any",                        \
         .choices = "any INCONCLUSIVE UNSTABLE"},                                                  \
        OPTION_NUMBER("max-time", "S", gating.gate.max_time_s,                                     \
                      "no round that would end later; what is not decided then is INCONCLUSIVE"),  \
        {"fail-fast", VALUE_FLAG, .at = AT(gating.gate.fail_fast),                                 \
         .help = "end where a case failed or is REGRESSED, and more rounds could not help"},       \
        {"allow-simulated", VALUE_FLAG, .at = AT(gating.gate.allow_simulated),                     \
         .help = "gate a simulated device"},                                                       \
        OPTION_NUMBER("timeout", "S", gating.gate.timeout_s, "the longest launch (default 3600)"), \
    {                                                                                              \
        "seed", VALUE_SEED, "N", AT(gating.gate.seed),                                             \
            .help = "the seed of all launches (default: random)"                                   \
    }

#define NO_PROOF_HELP "measure the cases that are proven unchanged too"

#define MAKE_HELP                                                                                  \
    "what makes build/assay of a revision, in its folder (default: make -jN, with CUDA where "     \
    "this program has it)"

#define OPTIONS_GATE_REPORT                                                                         \
    {"all", VALUE_FLAG, .at = AT(gating.all),                                                       \
     .help = "list the unchanged cases on a terminal too"},                                         \
        {"format", VALUE_CHOICE, "NAME", AT(gating.format), .choices = "table md json html"},       \
        {"output", VALUE_FILE, "FILE", AT(gating.output), .help = "write it there", .letter = 'o'}, \
        {"junit", VALUE_FILE, "FILE", AT(gating.junit), .help = "also as JUnit XML"},               \
        {"markdown", VALUE_FILE, "FILE", AT(gating.markdown), .help = "also as Markdown"},          \
        {"json", VALUE_FILE, "FILE", AT(gating.json), .help = "also as JSON"},                      \
        {"annotations", VALUE_FLAG, .at = AT(gating.annotations),                                   \
         .help = "also as GitHub annotations, on standard error"},                                  \
    {                                                                                               \
        "db", VALUE_DATABASE, "FILE", AT(gating.db), .help = OPTION_DB_HELP                         \
    }

/* Complete what follows from the options; both programs load the objects. -1 with assay_error. */
int gate_command_check(struct gate_command *command, const struct given *given);

/* Whether the reports can be written, before minutes are spent. 0, or -1 with assay_error. */
int gate_command_try(const struct gate_command *command);

/* Whether the word of a side names a shared object. */
bool gate_command_is_object(const char *word);

/* The same of two words that each name a program, a shared object, which this program loads, or a
 * revision, which is built by `make` (NULL: as this program was built). The exit code, or -1. */
int gate_command_ab(struct gate_command *command, const struct given *given,
                    const char *const word[2], const char *make);

/* The program of such a word, and the objects that it loads, with --load's; NULL behind them. */
enum build_end gate_command_side(const struct given *given, const char *word, const char *make,
                                 const char *objects[OBJECTS_MOST + 2], char path[PATH_MAX]);

/* The verdict over gates that were made, and the reports. The exit code, or -1. */
int gate_command_over(const struct gate_command *command, const struct given *given,
                      const struct over_options *over);

/* The program of a revision (program_of), built by `make`; NULL: as this program was built. */
enum build_end gate_command_build(const char *word, const char *make, char path[PATH_MAX]);

/* Gate alone: as gate_run, in the command's database. */
int gate_command_compare(const struct gate_command *command, struct comparison *comparison);

/* Gate and report, in the name of the command that was given. The exit code, or -1. */
int gate_command_run(const struct gate_command *command, const struct given *given);
