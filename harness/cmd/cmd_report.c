/* cmd_report.c - `assay report`: a run as one page. */
#include <stdio.h>

#include "base/error.h"
#include "base/out_file.h"
#include "base/text.h"
#include "cmd/ab_offer.h"
#include "cmd/options.h"
#include "cmd/run_choice.h"
#include "report/report.h"

struct arguments {
    struct given given;
    const char *against, *output, *format, *claims, *filter, *db;
    bool no_plots;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    if (!arguments->output) return assay_error("where to? -o FILE.html");
    if (!arguments->format) arguments->format = text_ends(arguments->output, ".md") ? "md" : "html";
    return 0;
}

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
    bool failed = claims_read(claims, arguments->claims) != 0;
    if (!failed) claims_select(claims, arguments->filter);
    if (failed || claim_ledger_make(ledger, claims, report->view, 1))
        snprintf(report->claims_lost, sizeof report->claims_lost, "%s", assay_last_error());
    else
        report->ledger = ledger;
}

static int report_run(const struct arguments *arguments, const struct stored_run *run)
{
    struct view view;
    struct comparison comparison = {0};
    struct ab_offer offer;
    struct claims claims = {0};
    struct claim_ledger ledger = {0};
    const struct view_selection selection = {.filter = arguments->filter};
    const struct compare_options compare = {.filter = arguments->filter};
    struct report report = {
        .view = &view, .profiles = run->profiles, .no_charts = arguments->no_plots};
    int status = -1;
    if (view_make(&view, run)) return -1;
    if (view_select(&view, &selection) == 0 && arguments->filter) {
        status = run_choice_no_case(&arguments->given, run, arguments->filter);
        goto out;
    }
    if (arguments->against) {
        if (run_choice_compare(&comparison, arguments->against, arguments->given.word[0],
                               arguments->db, &compare))
            goto out;
        ab_offer_make(&offer, &comparison, &compare, arguments->db);
        report.comparison = &comparison;
    }
    settle(arguments, &report, &claims, &ledger);
    status = write_report(arguments, &report);
out:
    claim_ledger_release(&ledger);
    claims_release(&claims);
    comparison_release(&comparison);
    view_release(&view);
    return status;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct stored_run stored;
    if (run_choice_read(&stored, true, arguments->given.word[0], arguments->db)) return -1;
    int status = report_run(arguments, &stored);
    stored_run_release(&stored);
    return status;
}

static const struct command_option options[] = {
    OPTION_OUTPUT("where to; - is standard output (.md asks for --format md)"),
    {"against", VALUE_RUN, "RUN", AT(against),
     .help = "also what got faster or slower than in RUN"},
    {"format", VALUE_CHOICE, "NAME", AT(format),
     .help = "html (default), or md for a wiki or a job summary", .choices = "html md"},
    OPTION_FILTER(VALUE_CASE, filter),
    {"no-plots", VALUE_FLAG, .at = AT(no_plots), .help = "without charts"},
    {"claims", VALUE_FILE, "FILE", AT(claims), .help = "another file of claims, or its name"},
    OPTION_DB,
    {0},
};

const struct command cmd_report = {
    .name = "report",
    .summary = "a run as one page that needs nothing else",
    .options = options,
    .words = {{"RUN", .kind = VALUE_RUN}},
    .most = 1,
    .only = "one run only",
    .synopsis = "[RUN] [--against RUN] -o FILE.html [options]",
    .about = "Writes a run as one page that needs no network: a summary, what was skipped or\n"
             "wrong and why, charts to zoom and choose in, every case in a table that sorts\n"
             "and filters, its kernels and counters if it was profiled, the claims that the\n"
             "run settles, and where it comes from.\n"
             "\n" ABOUT_RUN,
    .examples = "assay report latest --against latest~1 -o report.html\n"
                "assay report latest --format md -o summary.md",
    .exit = "0 written (whatever is in it), 2 usage, or it cannot be written, 4 no case "
            "matches.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.claims = "claims"},
    .check = check,
    .run = run,
};
