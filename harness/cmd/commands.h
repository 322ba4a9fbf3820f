/*
 * commands.h - the table of commands. A command parses its arguments, calls
 * one module and returns an exit code; the work is in the module.
 *
 * To add one: write harness/cmd_NAME.c, declare it here and give it a row in
 * commands.c; what its words and values may be, in complete.c. The man page and
 * the completion of the shells follow from these.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <getopt.h>
#include <stddef.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    const char *summary;               /* one line; NULL hides it from help */
    const char *usage;                 /* all of `assay help NAME`; manual.h says of what form */
    const struct option *options;      /* what it takes, for completion too */
};

extern const struct command commands[]; /* ended by a NULL name */

int cmd_compare(int argc, char **argv);
int cmd_gate(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_baseline(int argc, char **argv);
int cmd_ack(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_claims(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_complete(int argc, char **argv); /* for the shells' completion */

/* The usage texts and the options live beside their commands. */
extern const char usage_list[], usage_run[], usage_show[], usage_plot[], usage_history[],
    usage_export[], usage_import[], usage_doctor[], usage_compare[], usage_gate[],
    usage_calibrate[], usage_baseline[], usage_ack[], usage_merge[], usage_claims[], usage_report[],
    usage_help[], usage_profile[];
extern const struct option options_list[], options_run[], options_show[], options_plot[],
    options_history[], options_export[], options_import[], options_doctor[], options_compare[],
    options_gate[], options_calibrate[], options_baseline[], options_ack[], options_merge[],
    options_claims[], options_report[], options_help[], options_profile[];

/* "assay NAME: MESSAGE" on standard error and a hint at the help; returns
 * EXIT_USAGE. */
int command_misused(const char *name, const char *message);

/* The same for what getopt_long refused: `kind` is its '?' or ':'. */
int command_bad_option(const char *name, char **argv, const struct option *options, int kind);

/* The command of this name, not a hidden one; NULL when there is none. */
const struct command *command_find(const char *name);

/* The same for a command that does not exist. */
int command_unknown(const char *name);

/* The path of this very program. 0, or -1 with assay_error. */
int program_itself(char *path, size_t size);

/* The database a command works on: --db, else ASSAY_DB, else results/assay.sqlite. */
const char *command_database(const char *option);

#endif
