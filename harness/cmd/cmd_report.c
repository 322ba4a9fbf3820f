/* cmd_report.c - `assay report`: a run as one page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "report/report.h"

const char usage_report[] =
    "usage: assay report [RUN] [--against RUN] -o FILE.html [options]\n"
    "\n"
    "Write a run as one page that needs no network and works without scripting: a\n"
    "summary, what was skipped or wrong and why, plots, every case in a table that\n"
    "sorts and filters, the claims that the run settles, and where it comes from.\n"
    "\n"
    "RUN is an id or its beginning, a label, latest (the default) or latest~N;\n"
    "FILE.sqlite:RUN takes it from another database.\n"
    "\n"
    "  -o, --output FILE  where to; - is standard output (.md asks for --format md)\n"
    "  --against RUN      also what got faster or slower than in RUN\n"
    "  --format NAME      html (default), or md for a wiki or a job summary\n"
    "  --no-plots         without pictures (they need gnuplot)\n"
    "  --claims FILE      another file of claims, or its name\n"
    "  --db FILE          the database (default: ASSAY_DB, else results/assay.sqlite)\n"
    "\n"
    "example: assay report latest --against latest~1 -o report.html\n"
    "         assay report latest --format md -o summary.md\n"
    "\n"
    "Exit: 0 written (whatever is in it), 2 usage, or it cannot be written.\n";

const struct option options_report[] = {
    {"output", required_argument, NULL, 'o'}, {"against", required_argument, NULL, 'a'},
    {"format", required_argument, NULL, 'f'}, {"no-plots", no_argument, NULL, 'n'},
    {"claims", required_argument, NULL, 'c'}, {"db", required_argument, NULL, 'd'},
    {"help", no_argument, NULL, 'h'},         {0},
};

struct arguments {
    const char *run, *against, *output, *format, *claims, *db;
    bool no_plots;
};

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && !strcmp(text + length - tail, ending);
}

static int finish(int argc, char **argv, struct arguments *arguments)
{
    if (optind < argc) arguments->run = argv[optind++];
    if (optind < argc) return assay_error("one run only, not '%s' too", argv[optind]);
    if (!arguments->output) return assay_error("where to? -o FILE.html");
    if (!arguments->format) arguments->format = ends_in(arguments->output, ".md") ? "md" : "html";
    return report_knows_format(arguments->format) ? 0 : -1;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    int option;
    optind = 0; /* start anew: main has parsed its own */
    while ((option = getopt_long(argc, argv, ":o:", options_report, NULL)) != -1) {
        switch (option) {
        case 'o':
            arguments->output = optarg;
            break;
        case 'a':
            arguments->against = optarg;
            break;
        case 'f':
            arguments->format = optarg;
            break;
        case 'n':
            arguments->no_plots = true;
            break;
        case 'c':
            arguments->claims = optarg;
            break;
        case 'd':
            arguments->db = optarg;
            break;
        case 'h':
            return 1;
        default:
            return option_misused(argv, option, options_report);
        }
    }
    return finish(argc, argv, arguments);
}

/* ------------------------------------------------------------------- report -- */

static int write_report(const struct arguments *arguments, const struct report *report)
{
    struct out_file file;
    if (out_file_open(&file, arguments->output)) return -1;
    return out_file_close(&file, report_write(file.stream, report, arguments->format));
}

/* A report without claims is still a report. */
static void settle(const struct arguments *arguments, struct report *report, struct claims *claims,
                   struct claim_ledger *ledger)
{
    const char *file = arguments->claims ? arguments->claims : "claims";
    if (claims_read(claims, file) || claim_ledger_make(ledger, claims, report->view, 1))
        snprintf(report->claims_lost, sizeof report->claims_lost, "%s", assay_last_error());
    else
        report->ledger = ledger;
}

static const struct compare_options as_compare_does = {0};

static int report_run(const struct arguments *arguments, const struct stored_run *run)
{
    struct view view;
    struct stored_run base = {0};
    struct comparison comparison = {0};
    struct claims claims = {0};
    struct claim_ledger ledger = {0};
    struct report report = {.view = &view};
    int status = -1;
    if (view_make(&view, run)) return -1;
    if (arguments->against) {
        if (run_choice_read(&base, arguments->against, arguments->db) ||
            run_choice_compare(&comparison, arguments->against, arguments->run, arguments->db,
                               &as_compare_does))
            goto out;
        report.base = &base;
        report.comparison = &comparison;
    }
    settle(arguments, &report, &claims, &ledger);
    bool draws = !arguments->no_plots && !strcmp(arguments->format, "html");
    if (draws) report_draw(&report);
    if (arguments->no_plots) strcpy(report.plots_lost, "Left out, as asked for.");
    status = write_report(arguments, &report);
out:
    report_release(&report);
    claim_ledger_release(&ledger);
    claims_release(&claims);
    comparison_release(&comparison);
    stored_run_release(&base);
    view_release(&view);
    return status;
}

int cmd_report(int argc, char **argv)
{
    struct stored_run run;
    struct arguments arguments = {0};
    int parsed = parse(argc, argv, &arguments);
    if (parsed > 0) {
        fputs(usage_report, stdout);
        return EXIT_FINE;
    }
    if (parsed < 0) return command_misused(argv[0], assay_last_error());
    if (run_choice_read(&run, arguments.run, arguments.db)) return command_failed(argv[0]);
    int failed = report_run(&arguments, &run);
    int code = failed ? command_failed(argv[0]) : EXIT_FINE;
    stored_run_release(&run);
    return code;
}
