/*
 * comparison_md.c - a comparison as a comment on a pull request: what changed first, in one screen,
 * and everything else folded below it, within the limit of 64 KiB for comments; rows that are left
 * out are counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/markup.h"
#include "show/comparison_formats.h"

enum { MOST_CHANGES = 10, MOST_ROWS = 60, MOST_FAMILIES = 20, MOST_BYTES = 60000 };

/* A fold of GitHub's: Markdown in it needs the blank line. */
static void fold(FILE *out, const char *summary)
{
    md_print(out, "\n<details><summary>%s</summary>\n", summary);
}

static void fold_end(FILE *out)
{
    fputs("\n</details>\n", out);
}

static void head(FILE *out, const struct comparison *comparison)
{
    char text[WORDS_LINE];
    counts_text(comparison, text);
    fprintf(out, "### assay: %s\n", text);
    if (comparison->exit == EXIT_NOTHING) {
        unjudged_text(comparison, text);
        md_print(out, "\n%s\n", text);
    }
    if (comparison->base.simulated || comparison->candidate.simulated)
        fputs("\nSIMULATED: no hardware was measured\n", out);
}

static bool is_change(const struct comparison_row *row)
{
    enum comparison_section section = comparison_section(row);
    return section == SECTION_SLOWER || section == SECTION_FASTER;
}

/* Rows are ordered by section, so that the slower ones are among the first. */
static void changes(FILE *out, const struct comparison *comparison)
{
    struct comparison_words words;
    int count = 0;
    for (int i = 0; i < comparison->count; i++) {
        if (!is_change(&comparison->rows[i]) || count++ >= MOST_CHANGES) continue;
        if (count == 1)
            fprintf(out,
                    "\n| verdict | %s | base | candidate | case |\n"
                    "|:--|:--|--:|--:|:--|\n",
                    metric_text(comparison));
        comparison_words(&words, &comparison->rows[i]);
        md_print(out, "| %s | %s | %s | %s | %s |\n", words.verdict, words.ratio, words.base,
                 words.candidate, words.name);
    }
    if (count > MOST_CHANGES)
        fprintf(out, "\nand %d more, below.\n", count - MOST_CHANGES);
    else if (count == 0)
        fputs("\nNo case is shown to have changed.\n", out);
}

/* Nothing is to be told of these but how many they are. */
static bool is_fine(const struct comparison_row *row)
{
    return row->verdict == VERDICT_PASS || row->verdict == VERDICT_UNCHANGED;
}

/* Write the rows, except those that are fine. Returns how many were written. */
static int rows(FILE *out, const struct comparison *comparison)
{
    struct comparison_words words;
    int written = 0;
    for (int i = 0; i < comparison->count && written < MOST_ROWS; i++) {
        if (is_fine(&comparison->rows[i])) continue;
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

static void cases(FILE *out, const struct comparison *comparison)
{
    const int *counts = comparison->tally.counts;
    int count = comparison->count - counts[VERDICT_PASS] - counts[VERDICT_UNCHANGED];
    char summary[112];
    if (count == 0) return;
    snprintf(summary, sizeof summary, "The %d case%s that %s not PASS%s, with floors and reasons",
             count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
             counts[VERDICT_UNCHANGED] ? " or UNCHANGED" : "");
    fold(out, summary);
    int left = count - rows(out, comparison);
    if (left > 0) fprintf(out, "\n%d more row%s left out.\n", left, left == 1 ? " is" : "s are");
    fold_end(out);
}

static void sides(FILE *out, const struct comparison *comparison)
{
    char base[WORDS_LINE], candidate[WORDS_LINE];
    side_text(&comparison->base, base);
    side_text(&comparison->candidate, candidate);
    fold(out, "What was compared, and notes");
    md_print(out, "\n| | |\n|:--|:--|\n| base | %s |\n| candidate | %s |\n", base, candidate);
    for (int i = 0; i < comparison->note_count; i++)
        md_print(out, "\n> %s\n", comparison->note[i]);
    fold_end(out);
}

static void families(FILE *out, const struct comparison *comparison)
{
    int shown = comparison->family_count < MOST_FAMILIES ? comparison->family_count : MOST_FAMILIES;
    if (shown == 0) return;
    fold(out, "Geometric means of the operations");
    for (int i = 0; i < shown; i++) {
        const struct comparison_family *family = &comparison->families[i];
        char change[UNITS_MAX];
        comparison_change_text(family->ratio, 1, change);
        if (i == 0) fputs("\n| operation | geometric mean | cases |\n|:--|--:|--:|\n", out);
        md_print(out, "| %s | %s | %d |\n", family->operation, change, family->cases);
    }
    if (shown < comparison->family_count)
        fprintf(out, "\n%d more operations are not shown.\n", comparison->family_count - shown);
    fold_end(out);
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
    changes(memory, comparison);
    next_command(memory, comparison);
    cases(memory, comparison);
    families(memory, comparison);
    sides(memory, comparison);
    int status = fclose(memory) == 0 && fwrite(text, 1, size, out) == size ? 0 : -1;
    if (status != 0) assay_error("cannot write the report: %s", strerror(errno));
    free(text);
    return status;
}
