/*
 * show.h - between the formats of `assay show` (show_*.c) and show.c, which
 * picks one. Each format is one function from a view to a stream.
 */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/units.h"
#include "show/view.h"

int show_table(FILE *out, const struct view *view, const struct show_options *options);
int show_md(FILE *out, const struct view *view, const struct show_options *options);
int show_csv(FILE *out, const struct view *view, const struct show_options *options);
int show_json(FILE *out, const struct view *view, const struct show_options *options);

/* Whether a row is shown: those that were measured for their ceiling only are
 * on request, unless the run has nothing else. */
bool show_has(const struct view *view, int row, const struct show_options *options);

/* The figures of a row in words, one cell a column; "" where a row has none. */
enum show_cell {
    CELL_VARIANT, /* baselines marked "*" */
    CELL_TIME,
    CELL_SPREAD, /* the farther end of the interval: "±0.21 %" */
    CELL_RATE,
    CELL_SHARE,   /* of the ceiling: "96.1 %" */
    CELL_CEILING, /* its short name */
    CELL_RATIO,   /* to the group's baseline: "1.93x [1.92, 1.94]", "base" */
    CELL_MARKS,   /* the letters that the foot explains */
    CELLS,
};

enum { SHOW_CELL = 80 };

struct show_words {
    char cell[CELLS][SHOW_CELL];
};

void show_words(struct show_words *words, const struct view *view, const struct view_row *row);

extern const char *const show_titles[CELLS];

/* What a letter in CELL_MARKS means. */
struct show_mark {
    char letter;
    const char *meaning;
};
extern const struct show_mark show_marks[]; /* ended by a letter '\0' */

/* "copy" for memory_copy: the device's memory is what bandwidth means by default. */
const char *show_ceiling_name(const char *name);

/* "4.30 TB/s" or "915 TOP/s": a ceiling's name says which. */
void show_ceiling_rate(char out[UNITS_MAX], const struct ceiling *ceiling);

/* "12 ok, 1 skipped; 3 missing" over the rows shown. */
void show_counts(char *out, size_t size, const struct view *view,
                 const struct show_options *options);

/* Columns that UTF-8 text takes, a column a code point. */
int show_width(const char *text);

/* Copy `text` into at most `columns` columns, cut with "..." when it is longer;
 * line ends and other control characters become spaces. */
void show_fit(char *out, size_t size, const char *text, int columns);

#endif
