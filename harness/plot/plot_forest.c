/* plot_forest.c - the data of plots/forest.gp: what changed between two runs. */
#include <math.h>

#include "plot/plot_data.h"
#include "plot/plot_rows.h"
#include "show/comparison_formats.h"

/* --------------------------------------------------------------------- rows -- */

static bool is_taken(const struct plot_request *request, const struct comparison_row *row)
{
    return row->ratio.mid > 0 && plot_takes(request, &row->id);
}

/* "+3.4 %  [2.1, 4.7]" */
static void figures(const struct comparison_row *row, char *out, size_t size)
{
    int used = snprintf(out, size, "%+.1f %%", 100 * (row->ratio.mid - 1));
    if (!isnan(row->ratio.lo))
        used += snprintf(out + used, size - (size_t)used, "  [%+.1f, %+.1f]",
                         100 * (row->ratio.lo - 1), 100 * (row->ratio.hi - 1));
    snprintf(out + used, size - (size_t)used, "  %s", verdict_name(row->verdict));
}

struct page {
    const struct comparison *comparison;
    const struct comparison_row *row[PLOT_MAX_ROWS];
    int shown, taken, without; /* without: included, but without a ratio */
    int more[VERDICTS];        /* counts of rows that are not shown */
    struct plot_common common;
    double least, greatest;
};

/* The rows are sorted worst first, so those that are left out matter least. */
static void page_make(struct page *page, const struct plot_request *request,
                      const struct comparison *comparison)
{
    *page = (struct page){.comparison = comparison, .least = 0.98, .greatest = 1.02};
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!is_taken(request, row)) {
            page->without += plot_takes(request, &row->id);
            continue;
        }
        page->taken++;
        if (page->shown == PLOT_MAX_ROWS) {
            page->more[row->verdict]++;
            continue;
        }
        page->row[page->shown++] = row;
        plot_common_add(&page->common, &row->id);
        page->least = fmin(page->least, plot_or(row->ratio.lo, row->ratio.mid));
        page->greatest = fmax(page->greatest, plot_or(row->ratio.hi, row->ratio.mid));
        page->least = fmin(page->least, 1 / (1 + row->floor));
        page->greatest = fmax(page->greatest, 1 + row->floor);
    }
}

/* "and 440 more: 438 PASS, 2 IMPROVED; 3 without a time on both sides" */
static void page_note(const struct page *page, char *out, size_t size)
{
    size_t used = 0;
    const char *before = ": ";
    out[0] = '\0';
    if (page->taken > page->shown)
        used += (size_t)snprintf(out, size, "worst first, and %d more", page->taken - page->shown);
    for (int v = 0; v < VERDICTS && used < size; v++) {
        if (!page->more[v]) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%d %s", before, page->more[v],
                                 verdict_name((enum verdict)v));
        before = ", ";
    }
    if (page->without && used < size)
        snprintf(out + used, size - used, "%s%d without a time on both sides", used ? "; " : "",
                 page->without);
}

/* An interval beyond a factor of about five leaves the frame. */
static void write_head(FILE *out, const struct plot_request *request, const struct page *page,
                       int chars)
{
    char title[PLOT_MAX_COMMON + 256], common[PLOT_MAX_COMMON], note[320];
    const struct comparison *c = page->comparison;
    plot_common_text(&page->common, common);
    snprintf(title, sizeof title, "change of %s, run %.8s (%.10s) against %.8s (%.10s)%s%s%s",
             c->metric, c->candidate.id, c->candidate.started_at, c->base.id, c->base.started_at,
             common[0] ? "  (" : "", common, common[0] ? ")" : "");
    page_note(page, note, sizeof note);
    plot_head(out, request->run, title, note);
    plot_size_rows(out, page->shown + 2, chars);
    plot_setting_number(out, "left", fmax(page->least / 1.02, 0.2));
    plot_setting_number(out, "right", fmin(page->greatest * 1.02, 5));
}

static void write_rows(FILE *out, const struct plot_request *request, const struct page *page)
{
    char name[PLOT_MAX_NAME], text[128];
    int chars = 0, right_chars = 0;
    for (int i = 0; i < page->shown; i++) {
        plot_common_rest(&page->common, &page->row[i]->id, name);
        figures(page->row[i], text, sizeof text);
        if (plot_width(name) > chars) chars = plot_width(name);
        if (plot_width(text) > right_chars) right_chars = plot_width(text);
    }
    write_head(out, request, page, chars);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "right_chars", right_chars);
    plot_block_end(out);
    for (int i = 0; i < page->shown; i++) {
        const struct comparison_row *row = page->row[i];
        plot_common_rest(&page->common, &row->id, name);
        figures(row, text, sizeof text);
        plot_text(out, name);
        fprintf(out, "\t%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t", verdict_name(row->verdict),
                row->ratio.mid, plot_or(row->ratio.lo, row->ratio.mid),
                plot_or(row->ratio.hi, row->ratio.mid), row->floor, plot_or(row->noise, 0));
        plot_text(out, text);
        fputc('\n', out);
    }
}

/* Report the position of each row, by its case in the run. */
static int places_add(const struct plot_request *request, const struct page *page)
{
    struct view view;
    if (view_make(&view, request->run)) return -1;
    for (int i = 0; i < page->shown; i++) {
        int row = plot_row_find(&view, &page->row[i]->id);
        if (row >= 0) plot_place_line(request->places, row, 1, i);
    }
    view_release(&view);
    return 0;
}

/* "... no case that compares (163 INCOMPARABLE, 10 NEW; most: another GPU)" */
static enum plot_outcome nothing(const struct plot_request *request)
{
    char what[WORDS_LINE + ASSAY_MAX_REASON + 64], counts[WORDS_LINE];
    const char *reason = reason_of_most(request->comparison);
    counts_text(request->comparison, counts);
    snprintf(what, sizeof what, "the two runs have no case that compares%s%s%s%s%s",
             counts[0] ? " (" : "", counts, reason[0] ? "; most: " : "", reason,
             counts[0] ? ")" : "");
    return plot_nothing(request, what);
}

enum plot_outcome plot_forest(FILE *out, const struct plot_request *request)
{
    struct page page;
    page_make(&page, request, request->comparison);
    if (!page.shown) return nothing(request);
    if (request->places && places_add(request, &page)) return PLOT_FAILED;
    write_rows(out, request, &page);
    return PLOT_DRAWN;
}
