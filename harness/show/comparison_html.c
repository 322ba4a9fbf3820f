/* comparison_html.c - a comparison as one self-contained HTML file. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "base/units.h"
#include "show/comparison_formats.h"
#include "show/comparison_words.h"

enum { PLOT_WIDTH = 160, PLOT_HEIGHT = 14 };
/* The plot spans a change by this factor in both directions. */
static const double PLOT_SPAN = 1.25;

static const char style[] =
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #ddd}td.n{text-align:right;font-variant-numeric:tabular-nums;"
    "white-space:nowrap}.bad{color:#b00020}.open{color:#8a6100}.good{color:#1b6e2c}"
    ".why{color:#666}svg{vertical-align:middle}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}td,th{border-color:#333}"
    ".bad{color:#ff8a80}.open{color:#ffd54f}.good{color:#81c784}.why{color:#999}}";

static const char *class_of(enum verdict verdict)
{
    if (verdict <= VERDICT_REGRESSED) return "bad";
    if (verdict <= VERDICT_INCOMPARABLE) return "open";
    return verdict == VERDICT_IMPROVED ? "good" : "";
}

static double place(double ratio)
{
    double at = PLOT_WIDTH * (0.5 + 0.5 * log(ratio) / log(PLOT_SPAN));
    return fmin(fmax(at, 0), PLOT_WIDTH);
}

/* Draw the floor as a band, no change as a line, the interval and the estimate. */
static void plot(FILE *out, const struct comparison_row *row)
{
    if (isnan(row->ratio.mid)) return;
    double from = place(1 / (1 + row->floor)), to = place(1 + row->floor);
    fprintf(out,
            "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"interval\">"
            "<rect x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\" fill=\"#8884\"/>"
            "<path d=\"M%.1f 0v%d\" stroke=\"#888\"/>",
            PLOT_WIDTH, PLOT_HEIGHT, from, to - from, PLOT_HEIGHT, place(1), PLOT_HEIGHT);
    if (!isnan(row->ratio.lo))
        fprintf(out, "<path d=\"M%.1f 7H%.1f\" stroke=\"currentColor\" stroke-width=\"2\"/>",
                place(row->ratio.lo), place(row->ratio.hi));
    fprintf(out, "<circle cx=\"%.1f\" cy=\"7\" r=\"3.5\" fill=\"currentColor\"/></svg>",
            place(row->ratio.mid));
}

static void time_cell(FILE *out, double ns)
{
    char text[UNITS_MAX];
    units_time(text, ns);
    fprintf(out, "<td class=\"n\">%s</td>", text);
}

static void row_line(FILE *out, const struct comparison_row *row)
{
    char text[WORDS_LINE];
    fprintf(out, "<tr><td class=\"%s\">%s</td><td>", class_of(row->verdict),
            verdict_name(row->verdict));
    comparison_row_text(row, text);
    markup_xml(out, text);
    fputs("</td>", out);
    time_cell(out, row->base_ns);
    time_cell(out, row->candidate_ns);
    comparison_ratio_text(row, text, sizeof text);
    fprintf(out, "<td class=\"n\">%s</td><td class=\"%s\">", text, class_of(row->verdict));
    plot(out, row);
    units_percent(text, isnan(row->ratio.mid) ? NAN : row->floor);
    fprintf(out, "</td><td class=\"n\">%s</td>", text);
    units_percent(text, row->mde);
    fprintf(out, "<td class=\"n\">%s</td><td class=\"n\">%d</td><td class=\"why\">", text,
            row->launches);
    why_text(row, text);
    markup_xml(out, text);
    fputs("</td></tr>\n", out);
}

static void paragraph(FILE *out, const char *before, const char *text)
{
    fprintf(out, "<p>%s", before);
    markup_xml(out, text);
    fputs("</p>\n", out);
}

int comparison_html(FILE *out, const struct comparison *comparison,
                    const struct comparison_options *options)
{
    char text[WORDS_LINE];
    (void)options;
    counts_text(comparison, text);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<title>assay: %s</title><style>%s</style></head><body>\n<h1>%s</h1>\n",
            text, style, text);
    side_text(&comparison->base, text);
    paragraph(out, "<b>base</b> ", text);
    side_text(&comparison->candidate, text);
    paragraph(out, "<b>candidate</b> ", text);
    for (int i = 0; i < comparison->note_count; i++)
        paragraph(out, "", comparison->note[i]);
    fprintf(out,
            "<table><tr><th>verdict</th><th>case</th><th>base</th><th>candidate</th>"
            "<th>%s</th><th>&minus;20 %% to +25 %%</th><th>floor</th>"
            "<th>finds</th><th>launches</th><th></th></tr>\n",
            metric_text(comparison));
    for (int i = 0; i < comparison->count; i++)
        row_line(out, &comparison->rows[i]);
    fputs("</table>\n<h2>Geometric means</h2>\n<table><tr><th>operation</th><th>ratio</th>"
          "<th>cases</th></tr>\n",
          out);
    for (int i = 0; i < comparison->family_count; i++) {
        fputs("<tr><td>", out);
        markup_xml(out, comparison->families[i].operation);
        fprintf(out, "</td><td class=\"n\">%.3fx</td><td class=\"n\">%d</td></tr>\n",
                comparison->families[i].ratio, comparison->families[i].cases);
    }
    fputs("</table></body></html>\n", out);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
