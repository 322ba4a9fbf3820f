/*
 * comparison_table.c - a comparison as a table: slower cases first, then faster, undecided and
 * unchanged ones. On a terminal a case is one line of its width, and the unchanged ones are a
 * count; elsewhere nothing is cut or left out, and each line has its verdict.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "show/comparison_formats.h"
#include "show/show.h"

/* WIDE: from here on there is room for verdicts, intervals, floor and finds. NARROWEST: of
 * names that can be told apart. */
enum { PROSE = 100, WIDE = 120, NARROWEST = 60, INDENT = 14, CELL_LINE = 2 * WORDS_LINE };

struct layout {
    FILE *out;
    const struct comparison *comparison;
    int width; /* 0: nothing is cut */
    bool colour, all, wide;
    bool short_names; /* without the words that all cases of the operation have */
};

static const char *const paints[] = {
    [MOOD_BAD] = "\033[31m", [MOOD_OPEN] = "\033[33m", [MOOD_GOOD] = "\033[32m", [MOOD_PLAIN] = ""};

static void line(const struct layout *layout, const char *paint, const char *text)
{
    char fitted[CELL_LINE];
    bool painted = layout->colour && paint[0];
    show_fit(fitted, sizeof fitted, text, layout->width ? layout->width : CELL_LINE);
    fprintf(layout->out, "%s%s%s\n", painted ? paint : "", fitted, painted ? "\033[0m" : "");
}

static void sentence(const struct layout *layout, const char *text)
{
    text_wrap(layout->out, text, 0, INDENT, layout->width ? layout->width : PROSE);
}

/* ------------------------------------------------------------------ rows -- */

/* "+25.3 % ±1.2": the farther end of the interval. */
static void change_cell(const struct comparison_row *row, const struct comparison_words *words,
                        char out[4 * UNITS_MAX])
{
    double half = fmax(row->ratio.hi - row->ratio.mid, row->ratio.mid - row->ratio.lo);
    snprintf(out, 4 * UNITS_MAX, "%s", words->change);
    if (!isnan(half))
        text_add(out, 4 * UNITS_MAX, " ", "±%.*f", comparison_decimals(row), 100 * half);
}

/* What stands before the name, also of the titles; its width. */
static int figures(const struct layout *layout, char text[CELL_LINE], const char *verdict,
                   const struct comparison_words *words, const char *change)
{
    int blank = (layout->wide ? 24 : 14) - text_width(change);
    text[0] = '\0';
    if (layout->wide) text_add(text, CELL_LINE, "", "%-12s", verdict);
    text_add(text, CELL_LINE, "", "  %s%*s  %7s  %7s", change, blank > 0 ? blank : 0, "",
             words->base, words->candidate);
    if (layout->wide) text_add(text, CELL_LINE, "", "  %6s  %6s", words->floor, words->finds);
    text_add(text, CELL_LINE, "", "  ");
    return text_width(text);
}

/* Cut in the middle: the operation is in front, and what tells shapes apart at the end. */
static void fit_name(char *name, int columns)
{
    char copy[CASE_TEXT], head[CASE_TEXT];
    if (text_width(name) <= columns) return;
    strcpy(copy, name);
    const char *tail = copy + strlen(copy);
    show_fit(head, sizeof head, copy, columns / 3);
    while (tail > copy && text_width(tail) < columns - text_width(head))
        tail--;
    tail += (*tail & 0xc0) == 0x80; /* not within a character */
    snprintf(name, CASE_TEXT, "%s%s", head, tail);
}

/* Returns the width it would have uncut. */
static int row_text(const struct layout *layout, const struct comparison_row *row,
                    char text[CELL_LINE])
{
    struct comparison_words words;
    char change[4 * UNITS_MAX];
    comparison_words(&words, row);
    change_cell(row, &words, change);
    if (layout->short_names) comparison_short_text(layout->comparison, row, words.name);
    int used = figures(layout, text, words.verdict, &words, layout->wide ? words.ratio : change);
    int width = used + text_width(words.name);
    if (layout->width > 0) fit_name(words.name, layout->width - used);
    text_add(text, CELL_LINE, "", "%s", words.name);
    return width;
}

/* Under the last of the rows that have it in common. */
static void why_line(const struct layout *layout, const struct comparison_row *row, int rows)
{
    struct comparison_words words;
    char text[CELL_LINE];
    comparison_words(&words, row);
    if (!words.why[0]) return;
    snprintf(text, sizeof text, "%*s", INDENT, "");
    if (rows > 1) text_add(text, sizeof text, "", "these %d: ", rows);
    text_add(text, sizeof text, "", "%s", words.why);
    line(layout, "", text);
}

static bool same_heading(const struct comparison_row *a, const struct comparison_row *b)
{
    return a->verdict == b->verdict && comparison_section(a) == comparison_section(b);
}

static bool same_why(const struct comparison_row *a, const struct comparison_row *b)
{
    return same_heading(a, b) && a->tags == b->tags && strcmp(a->reason, b->reason) == 0;
}

static bool is_folded(const struct layout *layout, const struct comparison_row *row)
{
    return layout->width > 0 && !layout->all && comparison_section(row) == SECTION_SAME;
}

/* "SUSPECT: 3, slower". */
static void heading(const struct layout *layout, const struct comparison_row *row, int count)
{
    static const char *const words[SECTIONS] = {[SECTION_SLOWER] = ", slower",
                                                [SECTION_FASTER] = ", faster",
                                                [SECTION_SAME] = ", unchanged"};
    const char *word = words[comparison_section(row)];
    if (row->verdict == VERDICT_UNCHANGED) word = ", by proof";
    bool by_counts = strcmp(layout->comparison->metric, "counters") == 0;
    if (by_counts && comparison_section(row) <= SECTION_FASTER)
        word = comparison_section(row) == SECTION_SLOWER ? ", more work" : ", less work";
    bool failed = row->verdict < VERDICT_REGRESSED;
    char text[CELL_LINE];
    snprintf(text, sizeof text, "%s: %d%s%s", verdict_name(row->verdict), count,
             word && !failed ? word : "", is_folded(layout, row) ? " (--all lists them)" : "");
    fputc('\n', layout->out);
    line(layout, "\033[1m", text);
}

static void section(const struct layout *layout, const struct comparison_row *rows, int count)
{
    char text[CELL_LINE];
    int alike = 0;
    heading(layout, rows, count);
    for (int i = 0; i < count && !is_folded(layout, rows); i++) {
        row_text(layout, &rows[i], text);
        line(layout, paints[verdict_mood(rows[i].verdict)], text);
        alike++;
        if (i + 1 < count && same_why(&rows[i], &rows[i + 1])) continue;
        why_line(layout, &rows[i], alike);
        alike = 0;
    }
}

static bool all_fit(const struct layout *layout)
{
    const struct comparison *comparison = layout->comparison;
    char text[CELL_LINE];
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!is_folded(layout, row) && row_text(layout, row, text) > layout->width) return false;
    }
    return true;
}

static void rows(struct layout *layout)
{
    static const struct comparison_words titles = {
        .base = "base", .candidate = "cand.", .floor = "floor", .finds = "finds"};
    const struct comparison *comparison = layout->comparison;
    char text[CELL_LINE];
    layout->short_names = layout->width > 0 && !all_fit(layout);
    figures(layout, text, "verdict", &titles, metric_text(comparison));
    text_add(text, sizeof text, "", "case");
    fputc('\n', layout->out);
    line(layout, "", text);
    for (int from = 0, to = 0; from < comparison->count; from = to) {
        const struct comparison_row *first = &comparison->rows[from];
        while (to < comparison->count && same_heading(first, &comparison->rows[to]))
            to++;
        section(layout, first, to - from);
    }
}

/* ----------------------------------------------------------------- whole -- */

static void sides(const struct layout *layout)
{
    const struct comparison *comparison = layout->comparison;
    char side[WORDS_LINE], text[CELL_LINE];
    side_text(&comparison->base, side);
    snprintf(text, sizeof text, "base:      %s", side);
    sentence(layout, text);
    side_text(&comparison->candidate, side);
    snprintf(text, sizeof text, "candidate: %s", side);
    sentence(layout, text);
    for (int i = 0; i < comparison->note_count; i++)
        sentence(layout, comparison->note[i]);
}

static void families(const struct layout *layout)
{
    const struct comparison *comparison = layout->comparison;
    if (comparison->family_count) fputc('\n', layout->out);
    for (int i = 0; i < comparison->family_count; i++) {
        const struct comparison_family *family = &comparison->families[i];
        char text[CELL_LINE], change[UNITS_MAX];
        comparison_change_text(family->ratio, 1, change);
        snprintf(text, sizeof text, "%s, geometric mean of %d case%s of %s", change, family->cases,
                 family->cases == 1 ? "" : "s", family->operation);
        if (layout->short_names) text_part(text, sizeof text, ", ", "%s", family->common);
        sentence(layout, text);
    }
}

/* Never folded: it is to be pasted. */
static void next_command(const struct layout *layout)
{
    const struct comparison *comparison = layout->comparison;
    if (!comparison->next[0]) return;
    fprintf(layout->out, "\nfor a verdict on what has too few launches:\n  %s\n", comparison->next);
    if (comparison->next_lacks[0]) sentence(layout, comparison->next_lacks);
}

int comparison_table(FILE *out, const struct comparison *comparison,
                     const struct comparison_options *options)
{
    struct layout layout = {.out = out,
                            .comparison = comparison,
                            .width = options->width,
                            .colour = options->colour,
                            .all = options->all};
    char text[WORDS_LINE];
    if (layout.width > 0 && layout.width < NARROWEST) layout.width = NARROWEST;
    layout.wide = layout.width == 0 || layout.width >= WIDE;
    sides(&layout);
    rows(&layout);
    families(&layout);
    counts_text(comparison, text);
    fputc('\n', out);
    line(&layout, "\033[1m", text);
    next_command(&layout);
    return ferror(out) ? assay_error("cannot write the table: %s", strerror(errno)) : 0;
}
