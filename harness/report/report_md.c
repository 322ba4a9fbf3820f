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
    for (int i = 0; i < count && i < MOST_PROBLEMS; i++)
        md_print(out, "| %s | %d | %s/%s | %s |\n", status_name(list[i].status), list[i].cases,
                 list[i].operation, list[i].variant, list[i].reason);
    if (count > MOST_PROBLEMS) fprintf(out, "\nand %d more kinds.\n", count - MOST_PROBLEMS);
    free(list);
    return 0;
}

/* Rows are sorted by view_row_order: the first ok row of a group is the fastest. */
static void fastest(FILE *out, const struct view *view)
{
    static const char head[] =
        "\n### The fastest of each group\n\n| operation | shape | caches | variant | time | ± | "
        "of ceiling | speed-up |\n|:--|:--|:--|:--|--:|--:|--:|:--|\n";
    int group = -1;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        struct show_words words;
        if (row->group == group || !status_has_time(row->result.status) || row->is_hidden) continue;
        if (group < 0) fputs(head, out);
        group = row->group;
        show_words(&words, view, row);
        md_print(out, "| %s | %s | %s | %s | %s | %s | %s %s", row->result.id.operation,
                 row->result.id.shape, temperature_name(row->result.id.temperature),
                 words.cell[CELL_VARIANT], words.cell[CELL_TIME], words.cell[CELL_SPREAD],
                 words.cell[CELL_SHARE], words.cell[CELL_CEILING]);
        fprintf(out, " | %s |\n", words.cell[CELL_RATIO]);
    }
}

static void claims(FILE *out, const struct claim_ledger *ledger)
{
    char claimed[CLAIM_WHY], measured[CLAIM_WHY];
    if (!ledger || ledger->count == ledger->verdicts[CLAIM_UNMEASURED]) return;
    fputs("\n### Claims\n\n| claim | claimed | measured | verdict | why |\n|:--|:--|:--|:--|:--|\n",
          out);
    for (int i = 0; i < ledger->count; i++) {
        const struct claim_finding *finding = &ledger->item[i];
        if (finding->verdict == CLAIM_UNMEASURED) continue;
        claim_claimed_text(finding->claim, claimed, sizeof claimed);
        claim_measured_text(finding, measured, sizeof measured);
        md_print(out, "| %s | %s | %s | %s | %s |\n", finding->claim->id, claimed, measured,
                 claim_verdict_name(finding->verdict), finding->why);
    }
}

static void fact(void *out, const char *name, const char *value)
{
    md_print(out, "| %s | %s |\n", name, value);
}

int report_md(FILE *out, const struct report *report)
{
    char sentence[REPORT_SENTENCES][REPORT_SENTENCE];
    report_summary(report, sentence);
    for (int i = 0; i < REPORT_SENTENCES; i++)
        md_print(out, "%s\n", sentence[i]);
    if (problems(out, report->view)) return -1;
    if (report->comparison) {
        fputs("\n### Against another run\n\n", out);
        if (comparison_md(out, report->comparison)) return -1;
    }
    fastest(out, report->view);
    claims(out, report->ledger);
    fputs("\n<details><summary>Provenance</summary>\n\n| | |\n|:--|:--|\n", out);
    report_provenance(report->view->run, fact, out);
    fputs("\n</details>\n", out);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
