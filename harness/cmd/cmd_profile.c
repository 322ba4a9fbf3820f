/* cmd_profile.c - `assay profile`: a run whose cases are also taken apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "cmd/run_command.h"
#include "device/counter_sets.h"
#include "show/show_profile.h"
#include "show/view.h"

const char usage_profile[] =
    "usage: assay profile SUITE|FILE.ini ... [options]\n"
    "\n"
    "Checks and times every case as assay run does, then takes one launch of each\n"
    "apart: its kernels by CUPTI's records, their hardware counters, and a line on\n"
    "what bounds each. Stored with the run; assay show RUN --profile shows it again.\n"
    "\n"
    "  --filter GLOB    only these cases: operation/variant, and behind it words of the shape, "
    "cold\n"
    "                   or hot, as a dry run prints them; GLOB,GLOB: any of them\n"
    "  --counters LIST  sets (default, memory, compute, stalls, all, none) and metrics by\n"
    "                   NVIDIA's names (dram__bytes_read.sum), a comma between\n"
    "  --device D       auto (default) or cuda:N; the host has nothing to profile by\n"
    "  --format F       table (default), md or json\n"
    "  --label TEXT     a name for the run\n"
    "  --db FILE        the database (default results/assay.sqlite, or ASSAY_DB)\n"
    "  --seed N         of the inputs and the order of measuring\n"
    "\n"
    "Counters take a launch a pass, a few dozen for the default set, each from caches\n"
    "in the case's own state. Clocks are left alone. Where the driver keeps counters\n"
    "for administrators the kernels are shown without them, and how to get them.\n"
    "\n"
    "example: assay profile int8 --filter 'int8_quantize/rcp4*'\n"
    "\n"
    "Exit: as of assay run; 4 where the device has nothing to profile by.\n";

struct profile_arguments {
    struct runner_options runner;
    const char *database, *format;
};

enum { OPT_COUNTERS = RUN_COMMAND_OWN, OPT_FORMAT, OPT_DB };

const struct option options_profile[] = {
    {"device", required_argument, NULL, RUN_COMMAND_DEVICE},
    {"filter", required_argument, NULL, RUN_COMMAND_FILTER},
    {"counters", required_argument, NULL, OPT_COUNTERS},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"label", required_argument, NULL, RUN_COMMAND_LABEL},
    {"db", required_argument, NULL, OPT_DB},
    {"seed", required_argument, NULL, RUN_COMMAND_SEED},
    {NULL, 0, NULL, 0},
};

/* NULL, or what is wrong with the option's value. */
static const char *take_option(struct profile_arguments *arguments, int option, const char *value)
{
    static char counters[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC]; /* only looked at */
    struct runner_options *run = &arguments->runner;
    switch (option) {
    case OPT_COUNTERS:
        run->counters = value;
        if (strlen(value) >= PROFILE_MAX_LIST) return "--counters is too long";
        return counter_list(value, counters) < 0 ? assay_last_error() : NULL;
    case OPT_FORMAT:
        arguments->format = value;
        return show_profile_knows_format(value) ? NULL : assay_last_error();
    case OPT_DB:
        arguments->database = value;
        return NULL;
    default:
        return run_command_option(run, option, value);
    }
}

/* 0, or the exit code of a misuse. */
static int parse_arguments(int argc, char **argv, struct profile_arguments *arguments)
{
    int option;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_profile, NULL)) != -1) {
        if (option == '?' || option == ':')
            return command_bad_option("profile", argv, options_profile, option);
        const char *wrong = take_option(arguments, option, optarg);
        if (wrong) return command_misused("profile", wrong);
    }
    return run_command_suites(&arguments->runner, "profile", argc, argv);
}

/* Print what was stored; the exit code, or -1. */
static int print_profile(const struct profile_arguments *arguments, const char *run_id)
{
    struct stored_run run;
    struct profile **profiles;
    if (run_choice_read_profiles(&run, &profiles, run_id, arguments->runner.database)) return -1;
    int shown = show_profile_count(&run, profiles), ok = 0;
    for (int i = 0; i < run.case_count; i++)
        ok += run.cases[i].result.status == STATUS_OK;
    int status = show_profiles(stdout, &run, profiles, arguments->format);
    int code = view_exit_code(&run);
    if (code == EXIT_FINE && shown == 0) code = EXIT_NOTHING;
    store_profiles_release(&run, profiles);
    stored_run_release(&run);
    fflush(stdout); /* in the order said, where both are one terminal */
    if (shown < ok)
        fprintf(stderr,
                "assay profile: %d of %d cases have no profile: no records of their launch\n",
                ok - shown, ok);
    fprintf(stderr, "assay: run %.8s is in %s\n", run_id, arguments->runner.database);
    return status < 0 ? -1 : code;
}

int cmd_profile(int argc, char **argv)
{
    char command[RUN_COMMAND_MAX], run_id[STORE_ID];
    struct profile_arguments arguments = {.format = "table"};
    run_command_init(&arguments.runner, command, argc, argv);
    arguments.runner.profile = true;
    int misuse = parse_arguments(argc, argv, &arguments);
    if (misuse != 0) return misuse;
    arguments.runner.database = command_database(arguments.database);

    enum runner_end end = runner_run(&arguments.runner, run_id);
    if (end == RUNNER_FAILED) return command_failed("profile");
    if (end == RUNNER_NOTHING) {
        command_failed("profile");
        return EXIT_NOTHING;
    }
    if (run_id[0] == '\0') return run_command_interrupted("profile");
    int code = print_profile(&arguments, run_id);
    if (code < 0) return command_failed("profile");
    return end == RUNNER_INTERRUPTED ? EXIT_INTERRUPTED : code;
}
