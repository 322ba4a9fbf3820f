/* report_html.c - the HTML page: its sections in order. Cases, changes and kernels are documents,
 * which the page's scripts show. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "report/report.h"
#include "show/comparison_formats.h"
#include "show/page.h"
#include "show/show.h"

enum { MOST_UNFOLDED = 12 }; /* lines of skipped cases; a longer table is folded */

static void begin(FILE *out, const struct stored_run *run)
{
    char title[3 * RESULT_MAX_PROPERTY];
    snprintf(title, sizeof title, "%s on %s, %.10s%s", run->run.suite,
             run->launch_count ? run->launches[0].device.name : "no device",
             run->started_at[0] ? run->started_at : "no date",
             run->run.simulated ? " (simulated)" : "");
    page_begin(out, title);
}

static void summary(FILE *out, const struct report *report)
{
    char sentence[REPORT_SENTENCES][REPORT_SENTENCE], noise[NOISE_TEXT];
    report_summary(report, sentence);
    fputs("<p id=\"summary\">", out);
    for (int i = 0; i < REPORT_SENTENCES; i++)
        xml_print(out, i ? "\n%s" : "%s", sentence[i]);
    fputs("</p>\n", out);
    if (view_noise_text(report->view, noise)) xml_print(out, "<p class=\"bad\">%s</p>\n", noise);
}

static bool is_profiled(const struct report *report)
{
    return report->profiles && show_profile_count(report->view->run, report->profiles) > 0;
}

static void contents(FILE *out, const struct report *report)
{
    fputs("<nav aria-label=\"Contents\"><ul><li><a href=\"#problems\">Without a time</a></li>"
          "<li><a href=\"#rows\">Cases</a></li>",
          out);
    if (report->comparison) fputs("<li><a href=\"#against\">Against a run</a></li>", out);
    if (is_profiled(report)) fputs("<li><a href=\"#profile\">Kernels</a></li>", out);
    fputs("<li><a href=\"#claims\">Claims</a></li>"
          "<li><a href=\"#ceilings\">Ceilings</a></li>"
          "<li><a href=\"#provenance\">Provenance</a></li></ul></nav>\n",
          out);
}

/* The number of a row among those that are shown, by which links know it; -1: it is not shown. */
static int number_of(const struct view *view, int row)
{
    int number = 0;
    for (int i = 0; i < row; i++)
        number += !view->rows[i].is_hidden;
    return view->rows[row].is_hidden ? -1 : number;
}

static void problem_line(FILE *out, const struct view *view, const struct report_problem *problem)
{
    const char *class = problem->status == STATUS_SKIPPED    ? "soft"
                        : problem->status == STATUS_UNSTABLE ? "open"
                                                             : "bad";
    int row = number_of(view, problem->first_row);
    xml_print(out, "<tr><td class=\"%s\">%s</td><td class=\"n\" data-v=\"%d\">%d</td><td>", class,
              status_name(problem->status), problem->cases, problem->cases);
    if (row >= 0) fprintf(out, "<a href=\"#r%d\">", row);
    xml_print(out, "%s/%s", problem->operation, problem->variant);
    xml_print(out, row >= 0 ? "</a></td><td>%s</td></tr>\n" : "</td><td>%s</td></tr>\n",
              problem->reason);
}

static void problem_table(FILE *out, const struct view *view, const struct report_problem *list,
                          int count, const char *name)
{
    char caption[64];
    if (!count) return;
    snprintf(caption, sizeof caption, "%s, and why", name);
    page_table(out, name, caption, (const char *const[]){"status", "cases", "of", "why", NULL});
    for (int i = 0; i < count; i++)
        problem_line(out, view, &list[i]);
    page_table_end(out);
}

/* Failures are always visible. A long list of skipped cases, which only says what a variant is
 * not made for, is folded. */
static int problems(FILE *out, const struct view *view)
{
    struct report_problem *list;
    int count = report_problems(view, &list), failed = 0, skipped = 0;
    int missing = view->run->expected_count - view->run->case_count;
    if (count < 0) return -1;
    fputs(count || missing > 0 ? "<h2 id=\"problems\">Without a time</h2>\n"
                               : "<p id=\"problems\">Every case has a time.</p>\n",
          out);
    if (missing > 0)
        fprintf(out, "<p class=\"bad\">%d planned case%s missing: the run did not finish.</p>\n",
                missing, missing == 1 ? " is" : "s are");
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
    page_table(out, "Ceilings", "The most that this device gave, measured in this run",
               (const char *const[]){"ceiling", "rate", NULL});
    for (int i = 0; i < view->ceilings.count; i++) {
        const struct ceiling *ceiling = &view->ceilings.item[i];
        char rate[UNITS_MAX];
        show_ceiling_rate(rate, ceiling);
        xml_print(out,
                  "<tr><th scope=\"row\">%s</th><td class=\"n\" data-v=\"%.9g\">%s</td></tr>\n",
                  show_ceiling_name(ceiling->name), ceiling->rate, rate);
    }
    page_table_end(out);
}

static void claim_line(FILE *out, const struct view *view, const struct claim_finding *finding)
{
    static const char *const classes[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = "good", [CLAIM_NEAR] = "open",         [CLAIM_IN_DIRECTION] = "open",
        [CLAIM_FAILS] = "bad",  [CLAIM_INCOMPARABLE] = "soft", [CLAIM_UNMEASURED] = "soft",
    };
    const struct claim *claim = finding->claim;
    char text[CLAIM_WHY];
    xml_print(out, "<tr><th scope=\"row\">%s</th><td>%s: %s</td>", claim->id, claim->document,
              claim->says);
    claim_claimed_text(claim, text, sizeof text);
    page_figure(out, text, claim->least);
    claim_measured_text(finding, text, sizeof text);
    page_figure(out, text, finding->measured.mid);
    xml_print(out, "<td class=\"%s\">%s</td><td class=\"w\">%s", classes[finding->verdict],
              claim_verdict_name(finding->verdict), finding->why);
    for (int i = 0; i < CLAIM_SIDES; i++)
        if (finding->row[i] && !finding->row[i]->is_hidden)
            xml_print(out, "%s<a href=\"#r%d\">%s</a>",
                      i ? ", " : " Rows: ", number_of(view, (int)(finding->row[i] - view->rows)),
                      finding->row[i]->result.id.variant);
    fputs("</td></tr>\n", out);
}

static void claims(FILE *out, const struct report *report)
{
    const struct claim_ledger *ledger = report->ledger;
    char counts[256];
    fputs("<h2 id=\"claims\">Claims</h2>\n", out);
    if (!ledger) {
        xml_print(out, "<p>Left out: %s</p>\n", report->claims_lost);
        return;
    }
    claim_counts_text(ledger, counts, sizeof counts);
    fprintf(out, "<p>%s. Those that this run did not measure are not listed.</p>\n", counts);
    if (ledger->count == ledger->verdicts[CLAIM_UNMEASURED]) return;
    page_table(
        out, "Claims", "What published documents say of these kernels, and this run",
        (const char *const[]){"claim", "it says", "claimed", "measured", "verdict", "why", NULL});
    for (int i = 0; i < ledger->count; i++)
        if (ledger->item[i].verdict != CLAIM_UNMEASURED)
            claim_line(out, report->view, &ledger->item[i]);
    page_table_end(out);
}

static void fact(void *out, const char *name, const char *value)
{
    xml_print(out, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

/* ----------------------------------------------------------------- documents -- */

/* The host's name stays at home: a report is made to be passed on. */
static int run_document(FILE *out, const void *what)
{
    struct view view = *(const struct view *)what;
    struct stored_run run = *view.run;
    run.host.hostname[0] = '\0';
    view.run = &run;
    return show_json(out, &view);
}

static int profile_document(FILE *out, const void *what)
{
    const struct report *report = what;
    return show_profiles(out, report->view->run, report->profiles, "json", 0);
}

static void rows(FILE *out, const struct report *report)
{
    fputs("<h2 id=\"rows\">Cases</h2>\n", out);
    page_place(out, "cases", !report->no_charts, "assay show");
    fputs("<p class=\"soft\">", out);
    for (const struct show_mark *mark = show_marks; mark->letter; mark++)
        xml_print(out, "%s<b>%c</b> %s", mark == show_marks ? "" : "; ", mark->letter,
                  mark->meaning);
    fputs(".</p>\n", out);
}

static int documents(FILE *out, const struct report *report)
{
    if (page_document(out, "run", run_document, report->view)) return -1;
    if (!is_profiled(report)) return 0;
    return page_document(out, "profiles", profile_document, report);
}

int report_html(FILE *out, const struct report *report)
{
    begin(out, report->view->run);
    summary(out, report);
    contents(out, report);
    if (problems(out, report->view)) return -1;
    rows(out, report);
    if (report->comparison) {
        fputs("<h2 id=\"against\">Against another run</h2>\n", out);
        if (comparison_html_part(out, report->comparison)) return -1;
    }
    if (is_profiled(report))
        fputs("<h2 id=\"profile\">Kernels</h2>\n<div id=\"kernels\"></div>\n", out);
    claims(out, report);
    ceilings(out, report->view);
    fputs("<h2 id=\"provenance\">Provenance</h2>\n<dl>\n", out);
    report_provenance(report->view->run, fact, out);
    fputs("</dl>\n", out);
    if (documents(out, report)) return -1;
    page_end(out, !report->no_charts);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
