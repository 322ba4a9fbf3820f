/* plot_forest.c - the data of plots/forest.gp: what changed between two runs. */
#include "plot/plot_data.h"
#include "show/comparison_formats.h"

/* "+3.4 % [+2.1, +4.7]  REGRESSED" */
static void figures(const struct comparison_row *row, char *out, size_t size)
{
    comparison_ratio_text(row, out, size);
    text_add(out, size, "  ", "%s", verdict_name(row->verdict));
}

static struct interval ratio_of(const struct comparison_row *row)
{
    return plot_interval(row->ratio.mid, row->ratio.lo, row->ratio.hi);
}

struct page {
    const struct comparison_row *row[PLOT_MAX_ROWS];
    int shown, taken, without; /* without: included, but without a ratio */
    int more[VERDICTS];        /* counts of rows that are not shown */
    double least, greatest;
};

/* The rows are sorted worst first, so those that are left out matter least. */
static void page_make(struct page *page, struct plot *plot)
{
    const struct comparison *comparison = plot->request->comparison;
    *page = (struct page){.least = 0.98, .greatest = 1.02};
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!plot_takes(plot->request, &row->id)) continue;
        if (!(row->ratio.mid > 0)) {
            page->without++;
            continue;
        }
        page->taken++;
        if (page->shown == PLOT_MAX_ROWS) {
            page->more[row->verdict]++;
            continue;
        }
        page->row[page->shown++] = row;
        plot_common_add(&plot->common, &row->id);
        struct interval ratio = ratio_of(row);
        page->least = fmin(page->least, fmin(ratio.lo, 1 / (1 + row->floor)));
        page->greatest = fmax(page->greatest, fmax(ratio.hi, 1 + row->floor));
    }
}

/* "worst first, and 440 more: 438 PASS, 2 IMPROVED; 3 without a time on both sides" */
static void write_note(struct plot *plot, const struct page *page)
{
    const char *before = ": ";
    if (page->taken > page->shown)
        plot_note(plot, "", "worst first, and %d more", page->taken - page->shown);
    for (int v = 0; v < VERDICTS; v++) {
        if (!page->more[v]) continue;
        plot_note(plot, before, "%d %s", page->more[v], verdict_name(v));
        before = ", ";
    }
    if (page->without) plot_note(plot, "; ", "%d without a time on both sides", page->without);
}

static void write_row(struct plot *plot, const struct comparison_row *row)
{
    char name[PLOT_MAX_NAME], text[128];
    struct interval ratio = ratio_of(row);
    plot_common_rest(&plot->common, &row->id, name);
    figures(row, text, sizeof text);
    plot_line(plot, name, text, "%s\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g", verdict_name(row->verdict),
              ratio.mid, ratio.lo, ratio.hi, row->floor, plot_or(row->noise, 0));
}

/* "... no case that compares (163 INCOMPARABLE, 10 NEW; most: another GPU)" */
static enum plot_outcome nothing(const struct plot *plot)
{
    char what[WORDS_LINE + ASSAY_MAX_REASON + 64], counts[WORDS_LINE];
    const char *reason = reason_of_most(plot->request->comparison, false);
    counts_text(plot->request->comparison, counts);
    snprintf(what, sizeof what, "the two runs have no case that compares%s%s%s%s%s",
             counts[0] ? " (" : "", counts, reason[0] ? "; most: " : "", reason,
             counts[0] ? ")" : "");
    return plot_nothing(plot, what);
}

enum plot_outcome plot_forest(struct plot *plot)
{
    struct page page;
    const struct comparison *c = plot->request->comparison;
    page_make(&page, plot);
    if (!page.shown) return nothing(plot);
    for (int i = 0; i < page.shown; i++)
        write_row(plot, page.row[i]);
    plot_title(plot, "change of %s, run %.8s (%.10s) against %.8s (%.10s)", c->metric,
               c->candidate.id, c->candidate.started_at, c->base.id, c->base.started_at);
    write_note(plot, &page);
    plot_size_rows(plot, page.shown + 2);
    /* An interval beyond a factor of about five leaves the frame. */
    plot_setting_number(plot, "left", fmax(page.least / 1.02, 0.2));
    plot_setting_number(plot, "right", fmin(page.greatest * 1.02, 5));
    return PLOT_DRAWN;
}
