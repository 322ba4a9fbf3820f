#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/options.h"
#include "cmd/run_command.h"

_Static_assert(RUNNER_MAX_SUITES == 16, "RUN_COMMAND_WORDS says so");

/* A name to be typed again: one that is cut, or breaks a line, would not be found. */
static bool is_label(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)text[i])) return false;
    return length < RESULT_MAX_PROPERTY;
}

int run_command_check(struct runner_options *runner, const struct given *given)
{
    if (runner->label && !is_label(runner->label))
        return assay_error("--label wants a line of at most %d bytes", RESULT_MAX_PROPERTY - 1);
    if (!option_given(given, "seed") && getrandom(&runner->seed, sizeof runner->seed, 0) < 0)
        runner->seed = 1;
    for (int i = 0; i < given->count; i++)
        runner->suites[i] = given->word[i];
    runner->suite_count = given->count;
    runner->command = given->line;
    return 0;
}

int run_command(const struct given *given, const struct runner_options *runner,
                int (*print)(const struct given *given, const char *run_id))
{
    const char *name = given->command->name;
    char run_id[STORE_ID];
    enum runner_end end = runner_run(runner, run_id);
    if (end == RUNNER_FAILED) return -1;
    if (end == RUNNER_NOTHING) {
        fprintf(stderr, "assay %s: %s\n", name, assay_last_error());
        return EXIT_NOTHING;
    }
    if (end == RUNNER_INTERRUPTED && run_id[0] == '\0') {
        fprintf(stderr, "assay %s: interrupted before the first case\n", name);
        return EXIT_INTERRUPTED;
    }
    if (runner->dry_run) return EXIT_FINE;
    int code = print(given, run_id);
    fprintf(stderr, "assay: run %.8s is in %s\n", run_id, runner->database);
    if (end != RUNNER_INTERRUPTED) return code;
    /* A terminal that was closed takes no table, and the run is interrupted for all that. */
    if (code < 0) fprintf(stderr, "assay %s: %s\n", name, assay_last_error());
    return EXIT_INTERRUPTED;
}
