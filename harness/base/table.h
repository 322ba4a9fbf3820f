/*
 * table.h - aligned columns of text. Each column is as wide as its widest cell;
 * the last column wraps onto further lines where it does not fit the width, and stands on lines of
 * its own where the others leave it too little. The same cells as a table of Markdown, on request.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_MAX_COLUMNS = 8 };

struct table {
    int columns;
    bool right[TABLE_MAX_COLUMNS]; /* right-aligned: numbers */
    char **cell;                   /* rows of cells; the first row is the heading */
    int cell_count;
    bool is_loose; /* a last cell that does not fit behind its row stands on a line of its own */
    bool is_md;    /* Markdown, of any width, with what is markup in a cell escaped */
    bool failed;   /* out of memory */
};

/* A table with these headings; a heading that begins with '>' is right-aligned. */
void table_init(struct table *table, const char *const *headings, int columns);

/* The next cell, row by row; the text is copied. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write the table in at most `width` columns, and release it. -1 with assay_error. */
int table_print(struct table *table, FILE *out, int width);
/* Release it without. */
void table_release(struct table *table);
