/* comparison_html.c - a comparison as one self-contained HTML file, or a part of one. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "show/comparison_formats.h"
#include "show/page.h"

enum { PLOT_WIDTH = 160, PLOT_HEIGHT = 14 };
/* The plot spans a change by this factor in both directions. */
static const double PLOT_SPAN = 1.25;

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

static void row_line(FILE *out, const struct comparison_row *row)
{
    static const char *const classes[] = {"bad", "open", "good", ""};
    const char *class = classes[verdict_mood(row->verdict)];
    struct comparison_words words;
    comparison_words(&words, row);
    xml_print(out, "<tr><td class=\"%s\">%s</td><th scope=\"row\">%s</th>", class, words.verdict,
              words.name);
    page_figure(out, "n", words.base, row->base_ns);
    page_figure(out, "n", words.candidate, row->candidate_ns);
    page_figure(out, "n", words.ratio, row->ratio.mid);
    fprintf(out, "<td class=\"%s\">", class);
    plot(out, row);
    fputs("</td>", out);
    page_figure(out, "n", words.floor, isnan(row->ratio.mid) ? NAN : row->floor);
    page_figure(out, "n", words.finds, row->mde);
    xml_print(out, "<td class=\"n\" data-v=\"%d\">%d</td><td class=\"soft w\">%s</td></tr>\n",
              row->launches, row->launches, words.why);
}

void comparison_html_part(FILE *out, const struct comparison *comparison)
{
    char base[WORDS_LINE], candidate[WORDS_LINE];
    side_text(&comparison->base, base);
    side_text(&comparison->candidate, candidate);
    xml_print(out, "<p><b>base</b> %s</p>\n<p><b>candidate</b> %s</p>\n", base, candidate);
    for (int i = 0; i < comparison->note_count; i++)
        xml_print(out, "<p>%s</p>\n", comparison->note[i]);
    page_table(out, "", "Comparison",
               "Slower cases first, then faster, undecided and unchanged ones; + is slower",
               (const char *const[]){"verdict", "case", "base", "candidate",
                                     metric_text(comparison), "-20 % to +25 %", "floor", "finds",
                                     "launches", "why", NULL});
    for (int i = 0; i < comparison->count; i++)
        row_line(out, &comparison->rows[i]);
    page_table_end(out);
}

int comparison_html(FILE *out, const struct comparison *comparison)
{
    char counts[WORDS_LINE];
    counts_text(comparison, counts);
    page_begin(out, "assay: ", counts);
    comparison_html_part(out, comparison);
    fputs("<h2>Geometric means</h2>\n", out);
    page_table(out, "", "Geometric means", "Of the changes of each operation",
               (const char *const[]){"operation", "change", "cases", NULL});
    for (int i = 0; i < comparison->family_count; i++) {
        const struct comparison_family *family = &comparison->families[i];
        char change[UNITS_MAX];
        comparison_change_text(family->ratio, change);
        xml_print(out, "<tr><th scope=\"row\">%s</th>", family->operation);
        page_figure(out, "n", change, family->ratio);
        xml_print(out, "<td class=\"n\" data-v=\"%d\">%d</td></tr>\n", family->cases,
                  family->cases);
    }
    page_table_end(out);
    page_end(out);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
