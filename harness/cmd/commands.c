/* commands.c - the table of commands and what they share. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "measure/worker.h"

const struct command commands[] = {
    {"run", cmd_run, "measure suites, store every sample, print the table", usage_run, options_run},
    {"show", cmd_show, "a run's rows: time, rate, share of the ceiling, ratio", usage_show,
     options_show},
    {"profile", cmd_profile, "a launch of each case taken apart: kernels, counters, what bounds",
     usage_profile, options_profile},
    {"compare", cmd_compare, "two stored runs, case by case, with intervals", usage_compare,
     options_compare},
    {"gate", cmd_gate, "is this build slower than that one, with known error rates", usage_gate,
     options_gate},
    {"calibrate", cmd_calibrate, "how far unchanged code differs from itself", usage_calibrate,
     options_calibrate},
    {"baseline", cmd_baseline, "names for runs to compare with", usage_baseline, options_baseline},
    {"ack", cmd_ack, "take a known slowdown on for a while", usage_ack, options_ack},
    {"list", cmd_list, "suites, operations, variants, runs, devices", usage_list, options_list},
    {"plot", cmd_plot, "draw a run with gnuplot", usage_plot, options_plot},
    {"history", cmd_history, "a case over runs, and where its level changed", usage_history,
     options_history},
    {"claims", cmd_claims, "what the documents said, what was measured, and the verdict",
     usage_claims, options_claims},
    {"report", cmd_report, "a run as one page that needs nothing else", usage_report,
     options_report},
    {"export", cmd_export, "write a run for other tools: ndjson, csv, gbench, bmf, prometheus",
     usage_export, options_export},
    {"import", cmd_import, "take such files, or those of NVBench and Google Benchmark",
     usage_import, options_import},
    {"merge", cmd_merge, "other databases into one", usage_merge, options_merge},
    {"doctor", cmd_doctor, "what this machine can and cannot measure", usage_doctor,
     options_doctor},
    {"help", cmd_help, "the manual of a command", usage_help, options_help},
    {"worker", cmd_worker, NULL, "", NULL},
    {"complete", cmd_complete, NULL, "", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int command_misused(const char *name, const char *message)
{
    fprintf(stderr, "assay %s: %s (see: assay help %s)\n", name, message, name);
    return EXIT_USAGE;
}

int command_bad_option(const char *name, char **argv, const struct option *options, int kind)
{
    option_misused(argv, kind, options);
    return command_misused(name, assay_last_error());
}

const char *command_database(const char *option)
{
    if (option) return option;
    const char *set = getenv("ASSAY_DB");
    return set && set[0] ? set : "results/assay.sqlite";
}

int program_itself(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0) return assay_error("cannot find this program: %s", strerror(errno));
    path[length] = '\0';
    return 0;
}

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0 && command->summary) return command;
    return NULL;
}

int command_unknown(const char *name)
{
    const char *names[32];
    int count = 0;
    for (const struct command *command = commands; command->name; command++)
        if (command->summary) names[count++] = command->name;
    const char *near = text_nearest(name, names, count);
    fprintf(stderr, "assay: there is no command '%s'%s%s%s (see: assay help)\n", name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return EXIT_USAGE;
}
