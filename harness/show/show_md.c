/* show_md.c - a run as GitHub tables, one per group. */
#include <string.h>

#include "base/markup.h"
#include "case/case_name.h"
#include "show/show.h"
#include "show/show_stages.h"

static void head(FILE *out, const struct view *view)
{
    const struct stored_run *run = view->run;
    const struct device_info *device = run->launch_count ? &run->launches[0].device : NULL;
    fputs("**", out);
    markup_md(out, device ? device->name : "no launch");
    fputs("**", out);
    if (device) {
        if (device->simulated) fputs(", SIMULATED", out);
        fputs(device->place == ASSAY_HOST ? ", kernel " : ", driver ", out);
        markup_md(out, device->driver);
        fprintf(out, ", clock %s", clock_name((enum clock_source)device->clock));
    }
    fprintf(out, "; run `%.8s`, suite ", run->run.id);
    markup_md(out, run->run.suite);
    fprintf(out, ", %s, %d launch%s, %s\n", run->started_at, run->launch_count,
            run->launch_count == 1 ? "" : "es", run->status);
    for (int i = 0; i < view->ceilings.count; i++) {
        char rate[UNITS_MAX];
        show_ceiling_rate(rate, &view->ceilings.item[i]);
        fputs(i ? ", " : "\nCeilings: ", out);
        markup_md(out, show_ceiling_name(view->ceilings.item[i].name));
        fprintf(out, " %s", rate);
    }
    if (view->ceilings.count) fputc('\n', out);
}

static void group_head(FILE *out, const struct case_id *id)
{
    char name[CASE_TEXT];
    case_group_text(id, name);
    fprintf(out, "\n#### `%s`\n\n", name);
    fputs("| variant | time | ± | rate | of ceiling | ceiling | speed-up | |\n"
          "|:--|--:|--:|--:|--:|:--|:--|:--|\n",
          out);
}

static void row_line(FILE *out, const struct view *view, const struct view_row *row)
{
    struct show_words words;
    show_words(&words, view, row);
    fputs("|", out);
    for (int c = 0; c < CELLS; c++) {
        fputc(' ', out);
        markup_md(out, words.cell[c]);
        if (c + 1 < CELLS) fputs(" |", out);
    }
    if (row->result.status != STATUS_OK) {
        fputs(status_name((enum case_status)row->result.status), out);
        fputs(row->result.reason[0] ? ": " : "", out);
        markup_md(out, row->result.reason);
    }
    fputs(" |\n", out);
}

/* The stages of a launch: the total in the column of times, calls and average in the last. */
static void stage_lines(FILE *out, const struct view_row *row)
{
    struct show_stage stage[SHOW_STAGES];
    int count = show_stages(&row->result, stage);
    for (int i = 0; i < count; i++)
        fprintf(out, "| &emsp;%s | %s | | | | | | %lld calls, %s each |\n", stage[i].name,
                stage[i].total, (long long)stage[i].calls, stage[i].each);
}

int show_md(FILE *out, const struct view *view, const struct show_options *options)
{
    char counts[256];
    int group = -1;
    head(out, view);
    for (int i = 0; i < view->count; i++) {
        if (!show_has(view, i, options)) continue;
        if (view->rows[i].group != group) group_head(out, &view->rows[i].result.id);
        group = view->rows[i].group;
        row_line(out, view, &view->rows[i]);
        stage_lines(out, &view->rows[i]);
    }
    show_counts(counts, sizeof counts, view, options);
    fprintf(out, "\n%s\n", counts);
    for (const struct show_mark *mark = show_marks; mark->letter; mark++) {
        bool used = false;
        for (int i = 0; i < view->count && !used; i++) {
            struct show_words words;
            show_words(&words, view, &view->rows[i]);
            used = show_has(view, i, options) && strchr(words.cell[CELL_MARKS], mark->letter);
        }
        if (used) fprintf(out, "\n`%c` %s\n", mark->letter, mark->meaning);
    }
    return 0;
}
