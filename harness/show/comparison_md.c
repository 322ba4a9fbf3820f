/*
 * comparison_md.c - a comparison as a comment on a pull request: worst first, within the
 * limit of 64 KiB for comments; rows that are left out are counted.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "base/units.h"
#include "show/comparison_formats.h"
#include "show/comparison_words.h"

enum { MOST_ROWS = 60, MOST_FAMILIES = 20, MOST_BYTES = 60000 };

static void head(FILE *out, const struct comparison *comparison)
{
    char text[WORDS_LINE];
    counts_text(comparison, text);
    fprintf(out, "### assay: %s\n\n", text);
    fputs("| | |\n|:--|:--|\n| base | ", out);
    side_text(&comparison->base, text);
    markup_md(out, text);
    fputs(" |\n| candidate | ", out);
    side_text(&comparison->candidate, text);
    markup_md(out, text);
    fputs(" |\n", out);
    for (int i = 0; i < comparison->note_count; i++) {
        fputs("\n> ", out);
        markup_md(out, comparison->note[i]);
        fputc('\n', out);
    }
}

static void row_line(FILE *out, const struct comparison_row *row)
{
    char text[WORDS_LINE], floor[UNITS_MAX], finds[UNITS_MAX];
    fprintf(out, "| %s | ", verdict_name(row->verdict));
    comparison_ratio_text(row, text, sizeof text);
    markup_md(out, text);
    units_percent(floor, isnan(row->ratio.mid) ? NAN : row->floor);
    units_percent(finds, row->mde);
    fprintf(out, " | %s | %s | ", floor, finds);
    comparison_row_text(row, text);
    markup_md(out, text);
    fputs(" | ", out);
    why_text(row, text);
    markup_md(out, text);
    fputs(" |\n", out);
}

/* Write the rows, except PASS, which is only counted. Returns how many were written. */
static int rows(FILE *out, const struct comparison *comparison)
{
    int written = 0;
    for (int i = 0; i < comparison->count && written < MOST_ROWS; i++) {
        if (comparison->rows[i].verdict == VERDICT_PASS) continue;
        if (ftell(out) > MOST_BYTES) break;
        if (written++ == 0)
            fprintf(out,
                    "\n| verdict | %s | floor | finds | case | why |\n"
                    "|:--|:--|--:|--:|:--|:--|\n",
                    metric_text(comparison));
        row_line(out, &comparison->rows[i]);
    }
    return written;
}

static void families(FILE *out, const struct comparison *comparison)
{
    int shown = comparison->family_count < MOST_FAMILIES ? comparison->family_count : MOST_FAMILIES;
    for (int i = 0; i < shown; i++) {
        const struct comparison_family *family = &comparison->families[i];
        if (i == 0) fputs("\n| operation | geometric mean | cases |\n|:--|--:|--:|\n", out);
        fputs("| ", out);
        markup_md(out, family->operation);
        fprintf(out, " | %.3fx | %d |\n", family->ratio, family->cases);
    }
    if (shown < comparison->family_count)
        fprintf(out, "\n%d more operations are not shown.\n", comparison->family_count - shown);
}

/* Written to memory first, because ftell does not work on a pipe. */
int comparison_md(FILE *out, const struct comparison *comparison,
                  const struct comparison_options *options)
{
    char *text = NULL;
    size_t size = 0;
    (void)options;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return assay_error("out of memory for the report");
    head(memory, comparison);
    int left = comparison->count - comparison->counts[VERDICT_PASS] - rows(memory, comparison);
    if (left > 0)
        fprintf(memory, "\n%d more row%s left out, less bad than these.\n", left,
                left == 1 ? " is" : "s are");
    families(memory, comparison);
    int status = fclose(memory) == 0 && fwrite(text, 1, size, out) == size ? 0 : -1;
    if (status != 0) assay_error("cannot write the report: %s", strerror(errno));
    free(text);
    return status;
}
