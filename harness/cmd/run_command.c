/* run_command.c - see run_command.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/run_command.h"

void run_command_init(struct runner_options *runner, char command[RUN_COMMAND_MAX], int argc,
                      char **argv)
{
    *runner = (struct runner_options){.device = "auto",
                                      .launches = 1,
                                      .flush = -1,
                                      .command = command,
                                      .plan = {.shard = 1, .shards = 1}};
    if (getrandom(&runner->seed, sizeof runner->seed, 0) < 0) runner->seed = 1;
    size_t used = (size_t)snprintf(command, RUN_COMMAND_MAX, "assay");
    for (int i = 0; i < argc && used < RUN_COMMAND_MAX; i++)
        used += (size_t)snprintf(command + used, RUN_COMMAND_MAX - used, " %s", argv[i]);
}

int run_command_suites(struct runner_options *runner, const char *name, int argc, char **argv)
{
    int count = argc - optind;
    if (count == 0) return command_misused(name, "which suite? assay list suites names them");
    if (count > RUNNER_MAX_SUITES) return command_misused(name, "too many suites");
    for (int i = 0; i < count; i++)
        runner->suites[i] = argv[optind + i];
    runner->suite_count = count;
    return 0;
}

/* A whole number, 0x... too. */
static bool parse_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

/* A name to be typed again: one that is cut, or breaks a line, would not be found. */
static bool is_label(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)text[i])) return false;
    return length < RESULT_MAX_PROPERTY;
}

const char *run_command_option(struct runner_options *runner, int option, const char *value)
{
    switch (option) {
    case RUN_COMMAND_DEVICE:
        runner->device = value;
        return NULL;
    case RUN_COMMAND_FILTER:
        runner->plan.filter = value;
        return NULL;
    case RUN_COMMAND_LABEL:
        runner->label = value;
        return is_label(value) ? NULL : "--label wants a line of at most 127 bytes";
    case RUN_COMMAND_SEED:
        return parse_seed(value, &runner->seed) ? NULL : "--seed wants a whole number";
    default:
        return "";
    }
}

int run_command_interrupted(const char *name)
{
    fprintf(stderr, "assay %s: interrupted before the first case\n", name);
    return EXIT_INTERRUPTED;
}
