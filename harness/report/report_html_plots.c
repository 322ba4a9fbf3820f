/* report_html_plots.c - the plots, and over each one a second SVG with links from its cases to
 * their rows, so that gnuplot's SVG needs no links. */
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "case/case_name.h"
#include "report/report.h"
#include "show/show.h"

/* In pixels; larger than a mark, so that it is easy to click. */
static const int POINT_RADIUS = 6;

/* ------------------------------------------------------------------- links -- */

/* "int8_quantize/best n=5000000 cold: 12.3 us, 4.30 TB/s, 1.93x" */
static void mark_text(FILE *out, const struct view *view, const struct plot_place *place)
{
    const struct view_row *row = &view->rows[place->row];
    char name[CASE_TEXT];
    static const int figures[] = {CELL_TIME, CELL_RATE, CELL_RATIO};
    struct show_words words;
    show_words(&words, view, row);
    case_text(&row->result.id, name);
    xml_print(out, "%s", name);
    const char *before = ": ";
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (!words.cell[figures[i]][0]) continue;
        xml_print(out, "%s%s", before, words.cell[figures[i]]);
        before = ", ";
    }
    if (place->cases > 1) fprintf(out, "; the first of %d cases", place->cases);
}

static void case_link(FILE *out, const struct report *report, const struct plot_places *places,
                      const struct plot_place *place)
{
    fprintf(out, "<a href=\"#r%d\"><title>", place->row);
    mark_text(out, report->view, place);
    fputs("</title>", out);
    if (isnan(place->x))
        fprintf(out, "<rect x=\"2\" y=\"%.1f\" width=\"%.0f\" height=\"%.1f\"/></a>\n",
                place->y - place->high / 2 + 1, places->wide - 4, place->high - 2);
    else
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/></a>\n", place->x, place->y,
                POINT_RADIUS);
}

static int links_of(const struct plot_places *places)
{
    return places->count < REPORT_LINKS ? places->count : REPORT_LINKS;
}

/* A link that lets keyboard users skip the links of the plot. */
static void skip_link(FILE *out, const struct report_plot *plot, int index)
{
    int links = links_of(&plot->places);
    if (!links) return;
    fprintf(out, "<a class=\"past\" href=\"#plot%d-end\">Past %d link%s to rows</a>", index, links,
            links == 1 ? "" : "s");
}

static void links(FILE *out, const struct report *report, const struct report_plot *plot)
{
    const struct plot_places *places = &plot->places;
    if (!places->count) return;
    xml_print(out,
              "<svg class=\"links\" viewBox=\"0 0 %.0f %.0f\" role=\"group\" "
              "aria-label=\"Links to rows: %s\">\n",
              places->wide, places->high, plot->title);
    for (int i = 0; i < links_of(places); i++)
        case_link(out, report, places, &places->place[i]);
    fputs("</svg>", out);
}

/* ----------------------------------------------------------------- figures -- */

/* The first row of an operation, for a link; -1: none. */
static int first_row(const struct view *view, const char *operation)
{
    for (int i = 0; i < view->count; i++)
        if (!view->rows[i].is_hidden &&
            (!operation[0] || !strcmp(view->rows[i].result.id.operation, operation)))
            return i;
    return -1;
}

static void caption(FILE *out, const struct report *report, const struct report_plot *plot,
                    int index)
{
    int row = first_row(report->view, plot->operation);
    int cases = plot->places.count, links = links_of(&plot->places);
    xml_print(out, "<figcaption id=\"plot%d-end\" tabindex=\"-1\"><b>%s</b>: %s", index,
              plot->title, plot->text);
    if (row >= 0) fprintf(out, " <a href=\"#r%d\">Its rows</a>", row);
    if (links == cases && links) fputs("; each mark is a link to its own.", out);
    if (links < cases) fprintf(out, "; the first %d of %d marks are links.", links, cases);
    fputs("</figcaption>", out);
}

/* The links are beside the element with role img, since screen readers skip its content. */
static void plot_figure(FILE *out, const struct report *report, int index)
{
    const struct report_plot *plot = &report->plots[index];
    fprintf(out, "<figure id=\"plot%d\">", index);
    skip_link(out, plot, index);
    xml_print(out,
              "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Plot: %s\">"
              "<div class=\"plot\"><div role=\"img\" aria-label=\"%s: %s\">",
              plot->title, plot->title, plot->text);
    fprintf(out, "%s</div>", plot->svg);
    links(out, report, plot);
    fputs("</div></div>", out);
    caption(out, report, plot, index);
    fputs("</figure>\n", out);
}

void report_html_plots(FILE *out, const struct report *report)
{
    fputs("<h2 id=\"plots\">Plots</h2>\n", out);
    if (report->plots_lost[0]) xml_print(out, "<p>%s</p>\n", report->plots_lost);
    if (!report->plot_count && !report->plots_lost[0])
        fputs("<p>There is nothing to draw.</p>\n", out);
    for (int i = 0; i < report->plot_count; i++)
        plot_figure(out, report, i);
}
