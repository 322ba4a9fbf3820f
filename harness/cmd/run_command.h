/*
 * run_command.h - what the commands that measure (run, profile) share: how they
 * start, which suites they take, and how they say that nothing came of it.
 */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include "run/runner.h"

enum { RUN_COMMAND_MAX = 512 };

/* One launch on the best device, a random seed, the device's own flush, no ceilings.
 * `command` becomes argv as typed, before getopt puts it in another order; it is
 * borrowed by `runner`. */
void run_command_init(struct runner_options *runner, char command[RUN_COMMAND_MAX], int argc,
                      char **argv);

/* The arguments from optind on are suites. 0, or the exit code of a misuse of `name`. */
int run_command_suites(struct runner_options *runner, const char *name, int argc, char **argv);

/* The options that such commands have alike; a command's own begin behind them. */
enum {
    RUN_COMMAND_DEVICE = 256,
    RUN_COMMAND_FILTER,
    RUN_COMMAND_LABEL,
    RUN_COMMAND_SEED,
    RUN_COMMAND_OWN,
};

/* Take one of these; NULL, or what is wrong with its value. */
const char *run_command_option(struct runner_options *runner, int option, const char *value);

/* "assay NAME: interrupted before the first case"; the exit code of that. */
int run_command_interrupted(const char *name);

#endif
