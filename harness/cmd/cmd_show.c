/* cmd_show.c - `assay show`: the rows of a run. */
#include <stdio.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/terminal.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "show/show_profile.h"
#include "show/view.h"

const char usage_show[] =
    "usage: assay show [RUN] [--format table|md|csv|json] [--ceilings | --profile]\n"
    "                  [--db FILE]\n"
    "\n"
    "Print the rows of a run: time with its interval, rate, share of the ceiling\n"
    "that binds, and speed-up against the group's baseline.\n"
    "\n"
    "RUN is an id or its beginning, a label, latest (the default) or latest~N;\n"
    "FILE.sqlite:RUN takes it from another database.\n"
    "\n"
    "  --format NAME  table (default), md, csv or json\n"
    "  --ceilings     also the cases that were measured for their ceiling only\n"
    "  --profile      what assay profile found instead: kernels, counters, what bounds\n"
    "                 them (table, md or json)\n"
    "  --db FILE      the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay show\n"
    "         assay show latest~1 --format csv\n"
    "\n"
    "Exit: 0 fine, 1 a case is wrong, 2 usage, 4 nothing was measured, 5 a case\n"
    "crashed, timed out or is missing.\n";

const struct option options_show[] = {
    {"format", required_argument, NULL, 'f'}, {"ceilings", no_argument, NULL, 'c'},
    {"profile", no_argument, NULL, 'p'},      {"db", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},         {0},
};

struct arguments {
    const char *run, *db;
    struct show_options show;
    bool profile;
};

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    optind = 0; /* start anew: main has parsed its own */
    while ((option = getopt_long(argc, argv, ":", options_show, NULL)) != -1) {
        switch (option) {
        case 'f':
            arguments->show.format = optarg;
            break;
        case 'c':
            arguments->show.ceilings = true;
            break;
        case 'p':
            arguments->profile = true;
            break;
        case 'd':
            arguments->db = optarg;
            break;
        case 'h':
            return 1;
        default:
            return option_misused(argv, option, options_show);
        }
    }
    if (arguments->profile && arguments->show.ceilings)
        return assay_error("--ceilings or --profile, not both");
    if (optind < argc) arguments->run = argv[optind++];
    if (optind < argc) return assay_error("one run only, not '%s' too", argv[optind]);
    return 0;
}

/* The exit code. */
static int show_the_profiles(const char *name, const struct arguments *arguments)
{
    struct stored_run run;
    struct profile **profiles;
    int code = EXIT_FINE;
    if (!show_profile_knows_format(arguments->show.format))
        return command_misused(name, assay_last_error());
    if (run_choice_read_profiles(&run, &profiles, arguments->run, arguments->db))
        return command_failed(name);
    if (show_profile_count(&run, profiles) == 0) {
        fprintf(stderr, "assay %s: run %.8s has no profile; assay profile SUITE makes one\n", name,
                run.run.id);
        code = EXIT_NOTHING;
    } else if (show_profiles(stdout, &run, profiles, arguments->show.format)) {
        code = command_failed(name);
    }
    store_profiles_release(&run, profiles);
    stored_run_release(&run);
    return code;
}

int cmd_show(int argc, char **argv)
{
    struct stored_run run;
    struct arguments arguments = {
        .show = {.format = "table", .colour = terminal_colour(), .width = terminal_columns()},
    };
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_show, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (arguments.profile) return show_the_profiles(argv[0], &arguments);
    if (run_choice_read(&run, arguments.run, arguments.db)) return command_failed(argv[0]);
    int failed = show_run(stdout, &run, &arguments.show);
    int code = failed ? command_failed(argv[0]) : view_exit_code(&run);
    stored_run_release(&run);
    return code;
}
