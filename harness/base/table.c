#define _GNU_SOURCE /* vasprintf */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/grow.h"
#include "base/markup.h"
#include "base/table.h"
#include "base/text.h"

/* The last cell of a row stands below the others, indented, where they leave it less than this. */
enum { LEAST_WIDTH = 16, BELOW_INDENT = 4 };

/* Takes over `text`; NULL is a failed allocation. */
static void add_cell(struct table *table, char *text)
{
    if (text && grow_keep(&table->cell, &table->cell_count, &text, sizeof text, "a table") == 0)
        return;
    free(text);
    table->failed = true;
}

void table_init(struct table *table, const char *const *headings, int columns)
{
    *table = (struct table){.columns = columns};
    for (int i = 0; i < columns; i++) {
        table->right[i] = headings[i][0] == '>';
        add_cell(table, strdup(headings[i] + table->right[i]));
    }
}

void table_cell(struct table *table, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    add_cell(table, length < 0 ? NULL : text);
}

static void print_md(const struct table *table, FILE *out)
{
    for (int i = 0; i < table->cell_count; i++) {
        bool ends_line = i % table->columns == table->columns - 1;
        md_print(out, "| %s ", table->cell[i]);
        if (ends_line) fputs("|\n", out);
        if (i != table->columns - 1) continue;
        for (int column = 0; column < table->columns; column++)
            fputs(table->right[column] ? "|--:" : "|:--", out);
        fputs("|\n", out);
    }
}

static void print_text(const struct table *table, FILE *out, int width)
{
    int wide[TABLE_MAX_COLUMNS] = {0}, indent = 0;
    for (int i = 0; i < table->cell_count; i++) {
        int *column = &wide[i % table->columns];
        int needed = text_width(table->cell[i]);
        if (needed > *column) *column = needed;
    }
    for (int i = 0; i + 1 < table->columns; i++)
        indent += wide[i] + 2;
    bool all_below = table->columns > 1 && width < indent + LEAST_WIDTH && !table->is_loose;
    int further = all_below || table->is_loose ? BELOW_INDENT : indent;
    for (int i = 0; i < table->cell_count; i++) {
        int column = i % table->columns;
        const char *text = table->cell[i];
        int pad = wide[column] - text_width(text);
        if (table->right[column]) fprintf(out, "%*s", pad, "");
        if (column == table->columns - 1) {
            bool below = all_below || (table->is_loose && indent + text_width(text) > width);
            if (below) fprintf(out, "\n%*s", BELOW_INDENT, "");
            text_wrap(out, text, below ? BELOW_INDENT : indent, further, width);
            continue;
        }
        bool ends_line = all_below && column == table->columns - 2;
        fprintf(out, "%s%*s", text, ends_line ? 0 : table->right[column] ? 2 : pad + 2, "");
    }
}

int table_print(struct table *table, FILE *out, int width)
{
    int status = table->failed ? assay_error("out of memory") : 0;
    if (status == 0 && table->is_md) print_md(table, out);
    if (status == 0 && !table->is_md) print_text(table, out, width);
    if (status == 0 && ferror(out))
        status = assay_error("cannot write the table: %s", strerror(errno));
    table_release(table);
    return status;
}

void table_release(struct table *table)
{
    for (int i = 0; i < table->cell_count; i++)
        free(table->cell[i]);
    free(table->cell);
    *table = (struct table){0};
}
