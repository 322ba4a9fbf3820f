/* comparison_table.c - a comparison on a terminal, worst rows first. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "show/comparison_formats.h"
#include "show/comparison_words.h"
#include "show/show.h"

enum { NARROWEST = 60, INDENT = 14 };

struct layout {
    FILE *out;
    int width;
    bool colour;
};

static const char *paint_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_ERROR:
    case VERDICT_MISSING:
    case VERDICT_REGRESSED:
        return "\033[31m";
    case VERDICT_SUSPECT:
    case VERDICT_UNSTABLE:
    case VERDICT_INCONCLUSIVE:
    case VERDICT_INCOMPARABLE:
        return "\033[33m";
    case VERDICT_IMPROVED:
        return "\033[32m";
    default:
        return "";
    }
}

static void line(const struct layout *layout, const char *paint, const char *text)
{
    char fitted[2 * WORDS_LINE];
    bool painted = layout->colour && paint[0];
    show_fit(fitted, sizeof fitted, text, layout->width);
    fprintf(layout->out, "%s%s%s\n", painted ? paint : "", fitted, painted ? "\033[0m" : "");
}

/* Wrap a sentence; lines after the first are indented. */
static void sentence(const struct layout *layout, const char *text)
{
    int indent = 0;
    while (show_width(text) > layout->width - indent) {
        int width = layout->width - indent, cut = width;
        while (cut > width / 2 && text[cut] != ' ')
            cut--;
        if (text[cut] != ' ') cut = width;
        fprintf(layout->out, "%*s%.*s\n", indent, "", cut, text);
        text += cut + strspn(text + cut, " ");
        indent = INDENT;
    }
    fprintf(layout->out, "%*s%s\n", indent, "", text);
}

static void row_lines(const struct layout *layout, const struct comparison_row *row)
{
    char ratio[64], floor[UNITS_MAX], finds[UNITS_MAX], name[WORDS_LINE], why[WORDS_LINE],
        text[2 * WORDS_LINE];
    comparison_ratio_text(row, ratio, sizeof ratio);
    comparison_row_text(row, name);
    units_percent(floor, isnan(row->ratio.mid) ? NAN : row->floor);
    units_percent(finds, row->mde);
    int used = snprintf(text, sizeof text, "%-12s  %-22s  %6s  %6s  ", verdict_name(row->verdict),
                        ratio, floor, finds);
    bool fits = used + show_width(name) <= layout->width;
    if (fits)
        strcat(text, name);
    else
        text[used - 2] = '\0'; /* no blanks at its end */
    line(layout, paint_of(row->verdict), text);
    if (!fits) {
        snprintf(text, sizeof text, "%*s%s", INDENT, "", name);
        line(layout, "", text);
    }
    why_text(row, why);
    if (!why[0]) return;
    snprintf(text, sizeof text, "%*s%s", INDENT, "", why);
    line(layout, "", text);
}

int comparison_table(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options)
{
    struct layout layout = {out, options->width > 0 ? options->width : 100, options->colour};
    char side[WORDS_LINE], text[2 * WORDS_LINE];
    if (layout.width < NARROWEST) layout.width = NARROWEST;
    side_text(&comparison->base, side);
    snprintf(text, sizeof text, "base:      %s", side);
    sentence(&layout, text);
    side_text(&comparison->candidate, side);
    snprintf(text, sizeof text, "candidate: %s", side);
    sentence(&layout, text);
    for (int i = 0; i < comparison->note_count; i++)
        sentence(&layout, comparison->note[i]);
    snprintf(text, sizeof text, "\n%-12s  %-22s  %6s  %6s  %s", "verdict", metric_text(comparison),
             "floor", "finds", "case");
    fprintf(out, "%s\n", text);
    for (int i = 0; i < comparison->count; i++)
        row_lines(&layout, &comparison->rows[i]);
    if (comparison->family_count) fputc('\n', out);
    for (int i = 0; i < comparison->family_count; i++) {
        const struct comparison_family *family = &comparison->families[i];
        snprintf(text, sizeof text, "geometric mean  %.3fx  of %d case%s of %s", family->ratio,
                 family->cases, family->cases == 1 ? "" : "s", family->operation);
        line(&layout, "", text);
    }
    counts_text(comparison, side);
    fputc('\n', out);
    line(&layout, "\033[1m", side);
    return ferror(out) ? assay_error("cannot write the table: %s", strerror(errno)) : 0;
}
