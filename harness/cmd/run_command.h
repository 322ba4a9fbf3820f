/*
 * run_command.h - what the commands that measure (run, profile) share.
 */
#pragma once

#include "cmd/commands.h"
#include "run/runner.h"

/* One launch on the best device, the device's own flush, no ceilings. */
#define RUN_COMMAND_DEFAULTS .device = "auto", .launches = 1, .flush = -1

/* Options that they have alike, of a struct runner_options `runner`. */
#define OPTION_LABEL                                                                               \
    {                                                                                              \
        "label", VALUE_TEXT, "TEXT", AT(runner.label), .help = "a name for the run"                \
    }
#define OPTION_SEED                                                                                \
    {                                                                                              \
        "seed", VALUE_SEED, "N", AT(runner.seed),                                                  \
            .help = "the seed of the inputs and of the order of measuring (default: random)"       \
    }
#define RUN_COMMAND_WORDS                                                                          \
    .words = {{"SUITE|FILE.ini", .kind = VALUE_SUITE_FILE}}, .least = 1,                           \
    .most = RUNNER_MAX_SUITES, .which = "which suite? assay list suites names them",               \
    .only = "16 suites at most"

/* Take what was given: the suites, the line as typed, a random seed unless told. 0, or -1 with
 * assay_error for a label that cannot be one. */
int run_command_check(struct runner_options *runner, const struct given *given);

/* Measure, then print the run by `print`, which returns an exit code or -1 with assay_error, and
 * say where it is. The exit code, or -1 with assay_error. */
int run_command(const struct given *given, const struct runner_options *runner,
                int (*print)(const struct given *given, const char *run_id));
