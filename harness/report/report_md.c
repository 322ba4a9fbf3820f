/* report_md.c - a report for a wiki or a job summary: summary, what failed, the fastest of each
 * group, claims. `assay show --format md` has all rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "judge/comparison.h"
#include "report/report.h"
#include "show/comparison_formats.h"
#include "show/show.h"

enum { MOST_PROBLEMS = 20 };

static int problems(FILE *out, const struct view *view)
{
    struct report_problem *list;
    int count = report_problems(view, &list);
    if (count < 0) return -1;
    if (count > 0)
        fputs("\n### Without a time\n\n| status | cases | of | why |\n|:--|--:|:--|:--|\n", out);
    for (int i = 0; i < count && i < MOST_PROBLEMS; i++) {
        fprintf(out, "| %s | %d | ", status_name((enum case_status)list[i].status), list[i].cases);
        markup_md(out, list[i].operation);
        fputs("/", out);
        markup_md(out, list[i].variant);
        fputs(" | ", out);
        markup_md(out, list[i].reason);
        fputs(" |\n", out);
    }
    if (count > MOST_PROBLEMS) fprintf(out, "\nand %d more kinds.\n", count - MOST_PROBLEMS);
    free(list);
    return 0;
}

/* Rows are sorted by view_row_order: the first ok row of a group is the fastest. */
static void fastest(FILE *out, const struct view *view)
{
    static const struct show_options rows_only = {.ceilings = false};
    static const char head[] =
        "\n### The fastest of each group\n\n| operation | shape | caches | variant | time | ± | "
        "of ceiling | speed-up |\n|:--|:--|:--|:--|--:|--:|--:|:--|\n";
    int group = -1;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        struct show_words words;
        if (row->group == group || row->result.status != STATUS_OK ||
            !show_has(view, i, &rows_only))
            continue;
        if (group < 0) fputs(head, out);
        group = row->group;
        show_words(&words, view, row);
        fputs("| ", out);
        markup_md(out, row->result.id.operation);
        fputs(" | ", out);
        markup_md(out, row->result.id.shape);
        fprintf(out, " | %s | ",
                temperature_name((enum assay_temperature)row->result.id.temperature));
        markup_md(out, words.cell[CELL_VARIANT]);
        fprintf(out, " | %s | %s | %s ", words.cell[CELL_TIME], words.cell[CELL_SPREAD],
                words.cell[CELL_SHARE]);
        markup_md(out, words.cell[CELL_CEILING]);
        fprintf(out, " | %s |\n", words.cell[CELL_RATIO]);
    }
}

static void claims(FILE *out, const struct claim_ledger *ledger)
{
    char text[CLAIM_WHY];
    int listed = ledger ? ledger->count - ledger->verdicts[CLAIM_UNMEASURED] : 0;
    if (!listed) return;
    fputs("\n### Claims\n\n| claim | claimed | measured | verdict | why |\n|:--|:--|:--|:--|:--|\n",
          out);
    for (int i = 0; i < ledger->count; i++) {
        const struct claim_finding *finding = &ledger->item[i];
        if (finding->verdict == CLAIM_UNMEASURED) continue;
        fputs("| ", out);
        markup_md(out, finding->claim->id);
        claim_claimed_text(finding->claim, text, sizeof text);
        fprintf(out, " | %s | ", text);
        claim_measured_text(finding, text, sizeof text);
        markup_md(out, text);
        fprintf(out, " | %s | ", claim_verdict_name(finding->verdict));
        markup_md(out, finding->why);
        fputs(" |\n", out);
    }
}

static void fact(void *context, const char *name, const char *value)
{
    FILE *out = context;
    fputs("| ", out);
    markup_md(out, name);
    fputs(" | ", out);
    markup_md(out, value);
    fputs(" |\n", out);
}

int report_md(FILE *out, const struct report *report)
{
    char sentence[REPORT_SENTENCES][REPORT_SENTENCE];
    report_summary(report, sentence);
    for (int i = 0; i < REPORT_SENTENCES; i++) {
        markup_md(out, sentence[i]);
        fputs("\n", out);
    }
    if (problems(out, report->view)) return -1;
    if (report->comparison) {
        fputs("\n### Against another run\n\n", out);
        if (comparison_md(out, report->comparison, NULL)) return -1;
    }
    fastest(out, report->view);
    claims(out, report->ledger);
    fputs("\n<details><summary>Provenance</summary>\n\n| | |\n|:--|:--|\n", out);
    report_provenance(report->view->run, fact, out);
    fputs("\n</details>\n", out);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
