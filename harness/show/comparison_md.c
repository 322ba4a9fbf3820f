/*
 * comparison_md.c - a comparison as a comment on a pull request: slower cases first, within
 * the limit of 64 KiB for comments; rows that are left out are counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "show/comparison_formats.h"

enum { MOST_ROWS = 60, MOST_FAMILIES = 20, MOST_BYTES = 60000 };

static void head(FILE *out, const struct comparison *comparison)
{
    char counts[WORDS_LINE], base[WORDS_LINE], candidate[WORDS_LINE];
    counts_text(comparison, counts);
    side_text(&comparison->base, base);
    side_text(&comparison->candidate, candidate);
    fprintf(out, "### assay: %s\n\n", counts);
    md_print(out, "| | |\n|:--|:--|\n| base | %s |\n| candidate | %s |\n", base, candidate);
    for (int i = 0; i < comparison->note_count; i++)
        md_print(out, "\n> %s\n", comparison->note[i]);
}

/* Write the rows, except PASS, which is only counted. Returns how many were written. */
static int rows(FILE *out, const struct comparison *comparison)
{
    struct comparison_words words;
    int written = 0;
    for (int i = 0; i < comparison->count && written < MOST_ROWS; i++) {
        if (comparison->rows[i].verdict == VERDICT_PASS) continue;
        if (ftell(out) > MOST_BYTES) break;
        if (written++ == 0)
            fprintf(out,
                    "\n| verdict | %s | base | candidate | floor | finds | case | why |\n"
                    "|:--|:--|--:|--:|--:|--:|:--|:--|\n",
                    metric_text(comparison));
        comparison_words(&words, &comparison->rows[i]);
        md_print(out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", words.verdict, words.ratio,
                 words.base, words.candidate, words.floor, words.finds, words.name, words.why);
    }
    return written;
}

static void families(FILE *out, const struct comparison *comparison)
{
    int shown = comparison->family_count < MOST_FAMILIES ? comparison->family_count : MOST_FAMILIES;
    for (int i = 0; i < shown; i++) {
        const struct comparison_family *family = &comparison->families[i];
        char change[UNITS_MAX];
        comparison_change_text(family->ratio, change);
        if (i == 0) fputs("\n| operation | geometric mean | cases |\n|:--|--:|--:|\n", out);
        md_print(out, "| %s | %s | %d |\n", family->operation, change, family->cases);
    }
    if (shown < comparison->family_count)
        fprintf(out, "\n%d more operations are not shown.\n", comparison->family_count - shown);
}

static void next_command(FILE *out, const struct comparison *comparison)
{
    if (!comparison->next[0]) return;
    fprintf(out, "\nFor a verdict on what has too few launches:\n\n    %s\n", comparison->next);
    if (comparison->next_lacks[0]) md_print(out, "\n%s\n", comparison->next_lacks);
}

/* Written to memory first, because ftell does not work on a pipe. */
int comparison_md(FILE *out, const struct comparison *comparison)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return assay_error("out of memory for the report");
    head(memory, comparison);
    int left =
        comparison->count - comparison->tally.counts[VERDICT_PASS] - rows(memory, comparison);
    if (left > 0) fprintf(memory, "\n%d more row%s left out.\n", left, left == 1 ? " is" : "s are");
    families(memory, comparison);
    next_command(memory, comparison);
    int status = fclose(memory) == 0 && fwrite(text, 1, size, out) == size ? 0 : -1;
    if (status != 0) assay_error("cannot write the report: %s", strerror(errno));
    free(text);
    return status;
}
