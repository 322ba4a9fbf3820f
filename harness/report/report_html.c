/* report_html.c - the HTML page: its head, and its sections in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "report/report.h"
#include "report/report_page.h"
#include "show/show.h"

enum { MOST_UNFOLDED = 12 }; /* lines of skipped cases; a longer table is folded */

/* Cases of ceilings have no row of their own. */
static const struct show_options rows_only = {.ceilings = false};

/* -------------------------------------------------------------------- head -- */

static void title(FILE *out, const struct report *report)
{
    const struct stored_run *run = report->view->run;
    markup_xml(out, run->run.suite);
    fputs(" on ", out);
    markup_xml(out, run->launch_count ? run->launches[0].device.name : "no device");
    char date[16];
    snprintf(date, sizeof date, "%.10s", run->started_at[0] ? run->started_at : "no date");
    fputs(", ", out);
    markup_xml(out, date);
    if (run->run.simulated) fputs(" (simulated)", out);
}

void report_html_head(FILE *out, const struct report *report)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; img-src data:; script-src 'sha256-%s'; base-uri 'none'; "
            "form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>assay: ",
            report_script_hash);
    title(out, report);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", report_style);
    title(out, report);
    fputs("</h1>\n", out);
}

void report_html_foot(FILE *out)
{
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", report_script);
}

/* ---------------------------------------------------------------- sections -- */

static void summary(FILE *out, const struct report *report)
{
    char sentence[REPORT_SENTENCES][REPORT_SENTENCE];
    report_summary(report, sentence);
    fputs("<p id=\"summary\">", out);
    for (int i = 0; i < REPORT_SENTENCES; i++) {
        if (i) fputs("\n", out);
        markup_xml(out, sentence[i]);
    }
    fputs("</p>\n", out);
}

static void contents(FILE *out, const struct report *report)
{
    fputs("<nav aria-label=\"Contents\"><ul><li><a href=\"#problems\">Without a time</a></li>"
          "<li><a href=\"#plots\">Plots</a></li>",
          out);
    if (report->comparison) fputs("<li><a href=\"#against\">Against a run</a></li>", out);
    fputs("<li><a href=\"#rows\">Cases</a></li><li><a href=\"#claims\">Claims</a></li>"
          "<li><a href=\"#ceilings\">Ceilings</a></li>"
          "<li><a href=\"#provenance\">Provenance</a></li></ul></nav>\n",
          out);
}

static void problem_line(FILE *out, const struct view *view, const struct report_problem *problem)
{
    const char *class = problem->status == STATUS_SKIPPED    ? "soft"
                        : problem->status == STATUS_UNSTABLE ? "open"
                                                             : "bad";
    bool has_row = show_has(view, problem->first_row, &rows_only);
    fprintf(out, "<tr><td class=\"%s\">%s</td><td class=\"n\" data-v=\"%d\">%d</td><td>", class,
            status_name((enum case_status)problem->status), problem->cases, problem->cases);
    if (has_row) fprintf(out, "<a href=\"#r%d\">", problem->first_row);
    markup_xml(out, problem->operation);
    fputs("/", out);
    markup_xml(out, problem->variant);
    fputs(has_row ? "</a></td><td>" : "</td><td>", out);
    markup_xml(out, problem->reason);
    fputs("</td></tr>\n", out);
}

static void problem_table(FILE *out, const struct view *view, const struct report_problem *list,
                          int count, const char *caption)
{
    if (!count) return;
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<table class=\"sortable\"><caption>%s, and why</caption>\n"
            "<thead><tr><th scope=\"col\">status</th><th scope=\"col\">cases</th>"
            "<th scope=\"col\">of</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
            caption, caption);
    for (int i = 0; i < count; i++)
        problem_line(out, view, &list[i]);
    fputs("</tbody></table></div>\n", out);
}

/* Failures are always visible. A long list of skipped cases, which only says what a variant is
 * not made for, is folded. */
static int problems(FILE *out, const struct view *view)
{
    struct report_problem *list;
    int count = report_problems(view, &list), failed = 0, skipped = 0;
    int missing = view->run->expected_count - view->run->case_count;
    if (count < 0) return -1;
    fputs("<h2 id=\"problems\">Without a time</h2>\n", out);
    if (missing > 0)
        fprintf(out, "<p class=\"bad\">%d planned case%s missing: the run did not finish.</p>\n",
                missing, missing == 1 ? " is" : "s are");
    if (count == 0) fputs("<p>Every case has one.</p>\n", out);
    while (failed < count && list[failed].status != STATUS_SKIPPED)
        failed++;
    for (int i = failed; i < count; i++)
        skipped += list[i].cases;
    bool folds = count - failed > MOST_UNFOLDED;
    problem_table(out, view, list, failed, "What was wrong or lost");
    if (folds)
        fprintf(out,
                "<details><summary>%d cases were skipped, of %d variants and reasons</summary>\n",
                skipped, count - failed);
    problem_table(out, view, list + failed, count - failed, "What was skipped");
    if (folds) fputs("</details>\n", out);
    free(list);
    return 0;
}

static void ceilings(FILE *out, const struct view *view)
{
    fputs("<h2 id=\"ceilings\">Ceilings</h2>\n", out);
    if (!view->ceilings.count) {
        fputs("<p>None was measured in this run.</p>\n", out);
        return;
    }
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Ceilings\">"
          "<table class=\"sortable\"><caption>The most that this device gave, measured in this "
          "run</caption>\n<thead><tr><th scope=\"col\">ceiling</th><th scope=\"col\">rate</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (int i = 0; i < view->ceilings.count; i++) {
        char rate[UNITS_MAX];
        show_ceiling_rate(rate, &view->ceilings.item[i]);
        fputs("<tr><th scope=\"row\">", out);
        markup_xml(out, show_ceiling_name(view->ceilings.item[i].name));
        fprintf(out, "</th><td class=\"n\" data-v=\"%.9g\">%s</td></tr>\n",
                view->ceilings.item[i].rate, rate);
    }
    fputs("</tbody></table></div>\n", out);
}

static void fact(void *context, const char *name, const char *value)
{
    FILE *out = context;
    fputs("<dt>", out);
    markup_xml(out, name);
    fputs("</dt><dd>", out);
    markup_xml(out, value);
    fputs("</dd>\n", out);
}

int report_html(FILE *out, const struct report *report)
{
    report_html_head(out, report);
    summary(out, report);
    contents(out, report);
    if (problems(out, report->view)) return -1;
    report_html_plots(out, report);
    if (report->comparison) report_html_comparison(out, report->comparison);
    report_html_rows(out, report->view);
    report_html_claims(out, report);
    ceilings(out, report->view);
    fputs("<h2 id=\"provenance\">Provenance</h2>\n<dl>\n", out);
    report_provenance(report->view->run, fact, out);
    fputs("</dl>\n", out);
    report_html_foot(out);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
