/* cmd_run.c - `assay run`: measure suites, store them, print the table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/run_command.h"
#include "show/view.h"

const char usage_run[] =
    "usage: assay run SUITE|FILE.ini ... [options]\n"
    "\n"
    "Measures every case of the suites, stores all samples and prints the table.\n"
    "\n"
    "  --device D       auto (default), cuda:N, host or sim:KEY=VALUE,... (simulated)\n"
    "  --filter GLOB    only these cases: operation/variant, and behind it words of the shape, "
    "cold\n"
    "                   or hot, as a dry run prints them; GLOB,GLOB: any of them\n"
    "  --launches N     measure the suite in N fresh processes (default 1)\n"
    "  --budget S       sampling time a case, in seconds (default: the suite's)\n"
    "  --precision PCT  stop when the median is known to +-PCT % (default: the suite's)\n"
    "  --label TEXT     a name for the run\n"
    "  --db FILE        the database (default results/assay.sqlite, or ASSAY_DB)\n"
    "  --resume         go on with the newest unfinished run of the suite\n"
    "  --shard I/N      only part I of N of the groups\n"
    "  --clock C        cupti (default where it works) or event\n"
    "  --flush F        how cold caches are made: read, write, or, on a host, lines\n"
    "                   (default: lines where the processor can, else read)\n"
    "  --seed N         of the inputs and the order of measuring\n"
    "  --no-ceilings    do not measure the ceilings that the suite needs\n"
    "  --format F       table (default), md, csv or json\n"
    "  --check          check every answer once, time nothing\n"
    "  --dry-run        print what would be measured\n"
    "\n"
    "example: assay run smoke --device host\n"
    "         assay run int8 --filter 'int8_quantize/*' --launches 3 --label before\n"
    "         assay run int8 --filter 'int8_quantize n=5000000 cold' --dry-run\n"
    "\n"
    "Exit: 0 fine, 1 a wrong answer, or a right one that the suite expects to be\n"
    "wrong, 2 usage, 4 nothing measured, 5 a case crashed or timed out, 130\n"
    "interrupted (what was complete is stored).\n";

struct run_arguments {
    struct runner_options runner;
    const char *database;
    const char *format;
};

static bool parse_number(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return errno == 0 && end != text && *end == '\0' && *value > 0;
}

static bool parse_shard(const char *text, struct plan_options *plan)
{
    int used = 0;
    return sscanf(text, "%d/%d%n", &plan->shard, &plan->shards, &used) == 2 && text[used] == '\0' &&
           plan->shard >= 1 && plan->shard <= plan->shards;
}

static bool parse_launches(const char *text, int *launches)
{
    double value;
    if (!parse_number(text, &value) || value != (int)value || value > 1000) return false;
    *launches = (int)value;
    return true;
}

/* One of two words. */
static bool parse_choice(const char *text, const char *no, const char *yes, bool *value)
{
    *value = strcmp(text, yes) == 0;
    return *value || strcmp(text, no) == 0;
}

enum {
    OPT_LAUNCHES = RUN_COMMAND_OWN,
    OPT_BUDGET,
    OPT_PRECISION,
    OPT_DB,
    OPT_RESUME,
    OPT_SHARD,
    OPT_CLOCK,
    OPT_FLUSH,
    OPT_NO_CEILINGS,
    OPT_FORMAT,
    OPT_CHECK,
    OPT_DRY_RUN,
};

const struct option options_run[] = {
    {"device", required_argument, NULL, RUN_COMMAND_DEVICE},
    {"filter", required_argument, NULL, RUN_COMMAND_FILTER},
    {"launches", required_argument, NULL, OPT_LAUNCHES},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"precision", required_argument, NULL, OPT_PRECISION},
    {"label", required_argument, NULL, RUN_COMMAND_LABEL},
    {"db", required_argument, NULL, OPT_DB},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"shard", required_argument, NULL, OPT_SHARD},
    {"clock", required_argument, NULL, OPT_CLOCK},
    {"flush", required_argument, NULL, OPT_FLUSH},
    {"seed", required_argument, NULL, RUN_COMMAND_SEED},
    {"no-ceilings", no_argument, NULL, OPT_NO_CEILINGS},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"check", no_argument, NULL, OPT_CHECK},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {NULL, 0, NULL, 0},
};

/* NULL, or what is wrong with the option's value. */
static const char *take_option(struct run_arguments *arguments, int option, const char *value)
{
    struct runner_options *run = &arguments->runner;
    bool fine = true;
    switch (option) {
    case OPT_DB:
        arguments->database = value;
        return NULL;
    case OPT_FORMAT:
        arguments->format = value;
        return NULL;
    case OPT_RESUME:
        run->resume = true;
        return NULL;
    case OPT_NO_CEILINGS:
        run->plan.with_ceilings = false;
        return NULL;
    case OPT_CHECK:
        run->check_only = true;
        run->plan.with_ceilings = false; /* nothing would be held against them */
        return NULL;
    case OPT_DRY_RUN:
        run->dry_run = true;
        return NULL;
    case OPT_LAUNCHES:
        fine = parse_launches(value, &run->launches);
        return fine ? NULL : "--launches wants a whole number from 1 to 1000";
    case OPT_BUDGET:
        fine = parse_number(value, &run->plan.budget_s);
        return fine ? NULL : "--budget wants seconds";
    case OPT_PRECISION:
        fine = parse_number(value, &run->plan.precision_pct);
        return fine ? NULL : "--precision wants a percentage";
    case OPT_SHARD:
        fine = parse_shard(value, &run->plan);
        return fine ? NULL : "--shard wants I/N with 1 <= I <= N";
    case OPT_CLOCK:
        fine = parse_choice(value, "cupti", "event", &run->use_events);
        return fine ? NULL : "--clock is cupti or event";
    case OPT_FLUSH:
        run->flush = flush_parse(value);
        return run->flush >= 0 ? NULL : "--flush is read, write or lines";
    default:
        return run_command_option(run, option, value);
    }
}

/* 0, or the exit code of a misuse. */
static int parse_arguments(int argc, char **argv, struct run_arguments *arguments)
{
    int option;
    opterr = 0;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_run, NULL)) != -1) {
        if (option == '?' || option == ':')
            return command_bad_option("run", argv, options_run, option);
        const char *wrong = take_option(arguments, option, optarg);
        if (wrong) return command_misused("run", wrong);
    }
    return run_command_suites(&arguments->runner, "run", argc, argv);
}

/* Print the run as it is stored: what is shown is what was kept. */
static int print_run(const struct run_arguments *arguments, const char *run_id)
{
    struct store *store = NULL;
    struct stored_run run;
    struct show_options show = {
        .format = arguments->format, .colour = terminal_colour(), .width = terminal_columns()};
    if (store_open(&store, arguments->runner.database, STORE_READ) < 0) return -1;
    int status = store_read_run(store, run_id, true, &run);
    int code = -1;
    if (status == 0) {
        status = show_run(stdout, &run, &show);
        code = view_exit_code(&run);
        stored_run_release(&run);
    }
    store_close(store);
    fprintf(stderr, "assay: run %.8s is in %s\n", run_id, arguments->runner.database);
    return status < 0 ? -1 : code;
}

int cmd_run(int argc, char **argv)
{
    char command[RUN_COMMAND_MAX], run_id[STORE_ID];
    struct run_arguments arguments = {.format = "table"};
    run_command_init(&arguments.runner, command, argc, argv);
    arguments.runner.plan.with_ceilings = true;
    int misuse = parse_arguments(argc, argv, &arguments);
    if (misuse != 0) return misuse;
    if (!show_knows_format(arguments.format)) return command_misused("run", assay_last_error());
    arguments.runner.database = command_database(arguments.database);

    enum runner_end end = runner_run(&arguments.runner, run_id);
    if (end == RUNNER_FAILED) return command_failed("run");
    if (end == RUNNER_INTERRUPTED && run_id[0] == '\0') return run_command_interrupted("run");
    if (arguments.runner.dry_run) return EXIT_FINE;
    int code = print_run(&arguments, run_id);
    if (code < 0) return command_failed("run");
    return end == RUNNER_INTERRUPTED ? EXIT_INTERRUPTED : code;
}
