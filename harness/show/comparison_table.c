/* comparison_table.c - a comparison on a terminal, worst rows first. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "show/comparison_formats.h"
#include "show/show.h"

enum { NARROWEST = 60, INDENT = 14 };

struct layout {
    FILE *out;
    int width;
    bool colour;
};

static const char *const paints[] = {
    [MOOD_BAD] = "\033[31m", [MOOD_OPEN] = "\033[33m", [MOOD_GOOD] = "\033[32m", [MOOD_PLAIN] = ""};

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
    text_wrap(layout->out, text, 0, INDENT, layout->width);
}

static void indented(const struct layout *layout, const char *text)
{
    char line_text[2 * WORDS_LINE];
    snprintf(line_text, sizeof line_text, "%*s%s", INDENT, "", text);
    line(layout, "", line_text);
}

static void row_lines(const struct layout *layout, const struct comparison_row *row)
{
    struct comparison_words words;
    char text[2 * WORDS_LINE];
    comparison_words(&words, row);
    int used = snprintf(text, sizeof text, "%-12s  %-22s  %6s  %6s", words.verdict, words.ratio,
                        words.floor, words.finds);
    bool fits = used + 2 + text_width(words.name) <= layout->width;
    if (fits) text_add(text, sizeof text, "  ", "%s", words.name);
    line(layout, paints[verdict_mood(row->verdict)], text);
    if (!fits) indented(layout, words.name);
    if (words.why[0]) indented(layout, words.why);
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
    fprintf(out, "\n%-12s  %-22s  %6s  %6s  %s\n", "verdict", metric_text(comparison), "floor",
            "finds", "case");
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
