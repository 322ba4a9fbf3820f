/* cmd_profile.c - `assay profile`: a run whose cases are also taken apart. */
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "cmd/run_command.h"
#include "device/counter_sets.h"
#include "show/show.h"
#include "show/view.h"

struct arguments {
    struct given given;
    struct runner_options runner;
    const char *format;
};

static int check(void *given)
{
    static char counters[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC]; /* only looked at */
    struct arguments *arguments = given;
    const char *list = arguments->runner.counters;
    if (list && strlen(list) >= PROFILE_MAX_LIST) return assay_error("--counters is too long");
    if (list && counter_list(list, counters) < 0) return -1;
    return run_command_check(&arguments->runner, given);
}

static int print_profile(const struct given *given, const char *run_id)
{
    const struct arguments *arguments = (const void *)given;
    struct stored_run run;
    if (run_choice_read(&run, true, run_id, arguments->runner.database)) return -1;
    int shown = show_profile_count(&run, run.profiles), ok = 0;
    for (int i = 0; i < run.case_count; i++)
        ok += status_has_time(run.cases[i].result.status);
    int status = show_profiles(stdout, &run, run.profiles, arguments->format, terminal_columns());
    int code = view_exit_code(&run);
    if (code == EXIT_FINE && shown == 0) code = EXIT_NOTHING;
    stored_run_release(&run);
    fflush(stdout); /* in the order said, where both are one terminal */
    if (shown < ok)
        fprintf(stderr,
                "assay profile: %d of %d cases have no profile: no records of their launch\n",
                ok - shown, ok);
    return status < 0 ? -1 : code;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    return run_command(given, &arguments->runner, print_profile);
}

static const struct command_option options[] = {
    OPTION_FILTER(VALUE_VARIANT, runner.plan.filter),
    {"counters", VALUE_TEXT, "LIST", AT(runner.counters),
     .help =
         "sets (default, memory, compute, stalls, work, all, none) and metrics by NVIDIA's names "
         "(dram__bytes_read.sum), a comma between",
     .choices = "default memory compute stalls work all none"},
    {"device", VALUE_DEVICE, "D", AT(runner.device),
     .help = "auto (default) or cuda:N; the host has nothing to profile by"},
    {"no-times", VALUE_FLAG, .at = AT(runner.check_only),
     .help = "check the answers and take launches apart, time nothing"},
    OPTION_FORMAT("table md json"),
    OPTION_LABEL,
    {"db", VALUE_DATABASE, "FILE", AT(runner.database), .help = OPTION_DB_HELP},
    OPTION_SEED,
    OPTIONS_OBJECT,
    {0},
};

const struct command cmd_profile = {
    .name = "profile",
    .summary = "a launch of each case taken apart: kernels, counters, what bounds",
    .options = options,
    RUN_COMMAND_WORDS,
    .about = "Checks and times every case as assay run does, then takes one launch of each\n"
             "apart: its kernels by CUPTI's records, their hardware counters, and a line on\n"
             "what bounds each. Stored with the run; assay show RUN --profile shows it again.\n",
    .notes = "Counters take one launch per pass, a few dozen for the default set, each from\n"
             "caches in the case's own state. Clocks are left alone. Where the driver keeps\n"
             "counters for administrators the kernels are shown without them, and how to get\n"
             "them.\n",
    .examples = "assay profile int8 --filter 'int8_quantize/rcp4*'",
    .exit = "as assay run does; 4 where the device has nothing to profile by.",
    .loads = true,
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.format = "table",
                                          .runner = {RUN_COMMAND_DEFAULTS, .profile = true}},
    .check = check,
    .run = run,
};
