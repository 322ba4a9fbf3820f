/* commands.c - the table of commands, and how one is run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/help.h"
#include "cmd/options.h"
#include "measure/worker.h"

static const struct command hidden_worker = {"worker", .raw = cmd_worker};
static const struct command hidden_complete = {"complete", .raw = complete_command};

/* In the order that help has. */
const struct command *const commands[] = {
    &cmd_run,      &cmd_bench,  &cmd_show,    &cmd_profile, &cmd_time,      &cmd_compare,
    &cmd_ab,       &cmd_bisect, &cmd_explain, &cmd_watch,   &cmd_gate,      &cmd_calibrate,
    &cmd_baseline, &cmd_ack,    &cmd_fleet,   &cmd_list,    &cmd_new,       &cmd_plot,
    &cmd_history,  &cmd_claims, &cmd_report,  &cmd_export,  &cmd_import,    &cmd_merge,
    &cmd_push,     &cmd_pull,   &cmd_doctor,  &cmd_help,    &hidden_worker, &hidden_complete,
    NULL,
};

const struct command *command_find(const char *name, bool hidden_too)
{
    const char *names[64];
    char hint[TEXT_HINT];
    int count = 0;
    for (const struct command *const *command = commands; *command; command++) {
        if (!(*command)->summary && !hidden_too) continue;
        if (strcmp((*command)->name, name) == 0) return *command;
        if ((*command)->summary) names[count++] = (*command)->name;
    }
    return assay_error_as(NULL, "there is no command '%s'%s", name,
                          text_hint(hint, name, names, count, NULL));
}

/* "assay run: MESSAGE"; the program itself has no name. */
static int report(const struct command *command, bool misuse)
{
    const char *name = command->name, *blank = name[0] ? " " : "";
    fprintf(stderr, "assay%s%s: %s", blank, name, assay_last_error());
    if (misuse) fprintf(stderr, " (see: assay help%s%s)", blank, name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

/* Help is had wherever it is asked for, whatever else is wrong. What stands behind -- is no
 * option: it may be another program's. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

/* What a command has of objects: the user's folder, and what was asked for. */
static int load_objects(const struct given *given)
{
    if (!given->command->loads) return 0;
    objects_allow_suites(given->allow_load);
    if (objects_load_folder() != 0) return -1;
    return objects_load(given->object, given->object_count);
}

int command_run(const struct command *command, int argc, char **argv)
{
    char line[LINE_MOST] = "assay";
    if (command->raw) return command->raw(argc, argv);
    struct given *arguments = calloc(1, command->size);
    if (!arguments) {
        assay_error("out of memory");
        return report(command, false);
    }
    if (command->defaults) memcpy(arguments, command->defaults, command->size);
    for (int i = 0; i < argc; i++)
        text_add(line, sizeof line, " ", "%s", argv[i]);
    arguments->line = line;

    int code = EXIT_FINE;
    int parsed = asks_for_help(argc, argv) ? 1 : options_parse(command, argc, argv, arguments);
    if (parsed > 0)
        help_print(command);
    else if (parsed < 0 || (command->check && command->check(arguments) != 0))
        code = report(command, true);
    else if ((code = load_objects(arguments)) < 0 || (code = command->run(arguments)) < 0)
        code = report(command, false);
    free(arguments);
    return code;
}
