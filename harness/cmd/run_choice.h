/*
 * run_choice.h - the runs that a command's arguments name, read from their databases.
 * A run is [PATH.sqlite:]RUN (NULL: the latest) of the database `db`.
 */
#pragma once

/* What makes a row noisy: a fraction in arguments.most_spread. */
#define OPTION_NOISY                                                                               \
    {                                                                                              \
        "noisy", VALUE_FRACTION, "PCT", AT(most_spread),                                           \
            .help = "a row is noisy when its interval is wider than +-PCT % (default 5)"           \
    }

#include "cmd/commands.h"
#include "judge/compare.h"
#include "show/view.h"

/* Read a run with its samples, and with the profiles of its cases where they are wanted.
 * stored_run_release frees; -1 with assay_error, and nothing is to be freed. */
int run_choice_read(struct stored_run *run, bool with_profiles, const char *spec, const char *db);

/* case_hint of the cases of a run. */
const char *run_choice_hint(char out[TEXT_HINT], const struct stored_run *run, const char *filter);

/* Say that a filter matches no case of the run, and what is near: EXIT_NOTHING. */
int run_choice_no_case(const struct given *given, const struct stored_run *run, const char *filter);

/* On a terminal, what to type next for a run whose table was just printed; `spec` as above. */
void run_choice_say_next(const struct stored_run *run, const char *spec, const char *db,
                         bool had_best);

/* Compare two runs, by the noise floors that their databases know (options->noise is not
 * looked at; NULL: none) and what the candidate's has acknowledged. A filter that no case
 * matches is said on standard error. comparison_release frees; -1 with assay_error. */
int run_choice_compare(struct comparison *comparison, const char *base, const char *candidate,
                       const char *db, const struct compare_options *options);

/* Say on standard error what each job lacks whose name is `job`; NULL: any job. `command` may be
 * NULL. *lacks: whether something was said. 0, or -1 with assay_error. */
int shares_say(struct store *store, const char *command, const char *job, bool *lacks);
