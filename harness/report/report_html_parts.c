/* report_html_parts.c - the comparison with another run, and the claims. */
#include <math.h>

#include "base/markup.h"
#include "report/report.h"
#include "show/comparison_words.h"
#include "show/show.h"

static void text_cell(FILE *out, const char *class, const char *text)
{
    fprintf(out, class[0] ? "<td class=\"%s\">" : "<td>", class);
    markup_xml(out, text);
    fputs("</td>", out);
}

static void number_cell(FILE *out, const char *text, double value)
{
    if (isnan(value))
        fputs("<td class=\"n\" data-v=\"\">", out);
    else
        fprintf(out, "<td class=\"n\" data-v=\"%.6g\">", value);
    markup_xml(out, text);
    fputs("</td>", out);
}

static void begin_table(FILE *out, const char *name, const char *caption, const char *const *heads,
                        int count)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<table class=\"sortable\"><caption>%s</caption>\n<thead><tr>",
            name, caption);
    for (int i = 0; i < count; i++)
        fprintf(out, "<th scope=\"col\">%s</th>", heads[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void end_table(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

/* -------------------------------------------------------------- comparison -- */

static const char *verdict_class(enum verdict verdict)
{
    if (verdict <= VERDICT_REGRESSED) return "bad";
    if (verdict <= VERDICT_INCOMPARABLE) return "open";
    return verdict == VERDICT_IMPROVED ? "good" : "";
}

static void comparison_line(FILE *out, const struct comparison_row *row)
{
    char text[WORDS_LINE], time[UNITS_MAX];
    fputs("<tr>", out);
    text_cell(out, verdict_class(row->verdict), verdict_name(row->verdict));
    comparison_row_text(row, text);
    fputs("<th scope=\"row\">", out);
    markup_xml(out, text);
    fputs("</th>", out);
    units_time(time, row->base_ns);
    number_cell(out, time, row->base_ns);
    units_time(time, row->candidate_ns);
    number_cell(out, time, row->candidate_ns);
    comparison_ratio_text(row, text, sizeof text);
    number_cell(out, text, row->ratio.mid);
    units_percent(time, isnan(row->ratio.mid) ? NAN : row->floor);
    number_cell(out, time, isnan(row->ratio.mid) ? NAN : row->floor);
    why_text(row, text);
    text_cell(out, "soft w", text);
    fputs("</tr>\n", out);
}

void report_html_comparison(FILE *out, const struct comparison *comparison)
{
    static const char *const heads[] = {"verdict",         "case",  "base", "this run",
                                        "this run / base", "floor", "why"};
    char text[WORDS_LINE];
    fputs("<h2 id=\"against\">Against another run</h2>\n<p>Base: ", out);
    side_text(&comparison->base, text);
    markup_xml(out, text);
    fputs(".</p>\n", out);
    for (int i = 0; i < comparison->note_count; i++) {
        fputs("<p>", out);
        markup_xml(out, comparison->note[i]);
        fputs("</p>\n", out);
    }
    begin_table(out, "Against another run", "Worst first; a ratio above 1 is slower than the base",
                heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < comparison->count; i++)
        comparison_line(out, &comparison->rows[i]);
    end_table(out);
}

/* ------------------------------------------------------------------ claims -- */

static const char *claim_class(enum claim_verdict verdict)
{
    static const char *const classes[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = "good",        [CLAIM_IN_DIRECTION] = "open", [CLAIM_FAILS] = "bad",
        [CLAIM_INCOMPARABLE] = "soft", [CLAIM_UNMEASURED] = "soft",
    };
    return classes[verdict];
}

static void claim_line(FILE *out, const struct report *report, const struct claim_finding *finding)
{
    char text[CLAIM_WHY];
    fputs("<tr><th scope=\"row\">", out);
    markup_xml(out, finding->claim->id);
    fputs("</th>", out);
    snprintf(text, sizeof text, "%s: %s", finding->claim->document, finding->claim->says);
    text_cell(out, "", text);
    claim_claimed_text(finding->claim, text, sizeof text);
    number_cell(out, text, finding->claim->least);
    claim_measured_text(finding, text, sizeof text);
    number_cell(out, text, finding->measured.mid);
    text_cell(out, claim_class(finding->verdict), claim_verdict_name(finding->verdict));
    fputs("<td class=\"w\">", out);
    markup_xml(out, finding->why);
    for (int i = 0; i < CLAIM_SIDES; i++) {
        if (!finding->row[i]) continue;
        fprintf(out, "%s<a href=\"#r%d\">",
                i ? ", " : " Rows: ", (int)(finding->row[i] - report->view->rows));
        markup_xml(out, finding->row[i]->result.id.variant);
        fputs("</a>", out);
    }
    fputs("</td></tr>\n", out);
}

void report_html_claims(FILE *out, const struct report *report)
{
    static const char *const heads[] = {"claim",    "it says", "claimed",
                                        "measured", "verdict", "why"};
    char counts[256];
    fputs("<h2 id=\"claims\">Claims</h2>\n", out);
    if (!report->ledger) {
        fputs("<p>Left out: ", out);
        markup_xml(out, report->claims_lost);
        fputs("</p>\n", out);
        return;
    }
    claim_counts_text(report->ledger, counts, sizeof counts);
    fprintf(out, "<p>%s. Those that this run did not measure are not listed.</p>\n", counts);
    int listed = report->ledger->count - report->ledger->verdicts[CLAIM_UNMEASURED];
    if (!listed) return;
    begin_table(out, "Claims", "What published documents say of these kernels, and this run", heads,
                sizeof heads / sizeof *heads);
    for (int i = 0; i < report->ledger->count; i++)
        if (report->ledger->item[i].verdict != CLAIM_UNMEASURED)
            claim_line(out, report, &report->ledger->item[i]);
    end_table(out);
}
