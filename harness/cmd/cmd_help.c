/* cmd_help.c - assay help: the list of commands, the manual of one, the man page of all. */
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "case/run_record.h"
#include "cmd/commands.h"
#include "cmd/manual.h"

const char usage_help[] =
    "usage: assay help [COMMAND]\n"
    "       assay help --man\n"
    "\n"
    "All of a command's manual; without one, the list of commands. With --man all of them\n"
    "as a man page.\n"
    "\n"
    "example: assay help run\n"
    "         assay help --man >assay.1\n";

const struct option options_help[] = {{"man", no_argument, NULL, 'm'}, {0}};

static const char program[] =
    "usage: assay COMMAND [arguments]\n"
    "\n"
    "Assay measures GPU kernels against vendor baselines, checks every answer it times,\n"
    "keeps every sample in SQLite, and says with statistics what is faster than what.\n"
    "Results are on standard output, progress and messages on standard error.\n"
    "\n"
    "Start with: `assay doctor`, `assay run smoke`.\n";

static const char exit_codes[] =
    "  0    fine\n"
    "  1    regressed, or a wrong answer\n"
    "  2    usage or configuration; one line says what\n"
    "  3    measured but undecided (only where asked for with --fail-on)\n"
    "  4    nothing measured, or nothing comparable\n"
    "  5    a case crashed, timed out or went missing\n"
    "  130  interrupted; what was measured is stored\n";

static const char environment[] =
    "  ASSAY_DB      the database where --db is not given\n"
    "  ASSAY_SUITES  a folder of suites, looked at before the others\n"
    "  ASSAY_PLOTS   a folder of gnuplot scripts, looked at before the others\n"
    "  ASSAY_CUPTI   the file of CUPTI, in the place of a search\n"
    "  ASSAY_NVML    the file of NVML, the same\n"
    "  ASSAY_OPENBLAS       the file of OpenBLAS, the same\n"
    "  ASSAY_HOST_CACHE     the host's last-level cache (32Mi), where the system tells another\n"
    "  ASSAY_DB_TIMEOUT_MS  how long a locked database is waited for (default 10000)\n"
    "  NO_COLOR      no colour on a terminal either\n";

static const char files[] =
    "  results/assay.sqlite  the database, below the current folder\n"
    "  PREFIX/share/assay    suites and gnuplot scripts that were installed; suites/ and plots/\n"
    "                        of the current folder come before them\n"
    "  PREFIX/share/doc/assay  how a number is made, the schema of the database, the gate\n";

static const struct manual_section sections[] = {
    {"Exit codes", exit_codes}, {"Environment", environment}, {"Files", files}, {NULL, NULL}};

static void print_summary(void)
{
    fputs(program, stdout);
    fputs("\nCommands:\n", stdout);
    for (const struct command *command = commands; command->name; command++)
        if (command->summary) printf("  %-9s  %s\n", command->name, command->summary);
    for (const struct manual_section *section = sections; section->heading; section++)
        printf("\n%s:\n%s", section->heading, section->text);
}

static void print_page(void)
{
    struct program_info info;
    provenance_program(&info);
    manual_page(stdout, info.version, program, sections, commands);
}

int cmd_help(int argc, char **argv)
{
    int option;
    bool page = false;
    optind = 0;
    while ((option = getopt_long(argc, argv, ":", options_help, NULL)) != -1) {
        if (option != 'm') return command_bad_option(argv[0], argv, options_help, option);
        page = true;
    }
    if (argc - optind > (page ? 0 : 1)) return command_misused(argv[0], "one command at a time");
    if (page)
        print_page();
    else if (optind == argc)
        print_summary();
    else {
        const struct command *command = command_find(argv[optind]);
        if (!command) return command_unknown(argv[optind]);
        fputs(command->usage, stdout);
    }
    return EXIT_FINE;
}
