/*
 * run_command.h - what the commands that measure (run, profile) share: how they
 * start, which suites they take, and how they say that nothing came of it.
 */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include "runner.h"

enum { RUN_COMMAND_MAX = 512 };

/* One launch on the best device, a random seed, the device's own flush, no ceilings.
 * `command` becomes argv as typed, before getopt puts it in another order; it is
 * borrowed by `runner`. */
void run_command_init(struct runner_options *runner, char command[RUN_COMMAND_MAX], int argc,
                      char **argv);

/* The arguments from optind on are suites. 0, or the exit code of a misuse of `name`. */
int run_command_suites(struct runner_options *runner, const char *name, int argc, char **argv);

/* A whole number, 0x... too. */
bool run_command_seed(const char *text, uint64_t *seed);

#endif
