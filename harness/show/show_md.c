/* show_md.c - a run as GitHub tables, one per group. */
#include <string.h>

#include "base/markup.h"
#include "case/case_name.h"
#include "show/show.h"

static void head(FILE *out, const struct view *view)
{
    const struct stored_run *run = view->run;
    const struct device_info *device = run->launch_count ? &run->launches[0].device : NULL;
    char noise[NOISE_TEXT];
    if (view_noise_text(view, noise)) md_print(out, "%s\n\n", noise);
    md_print(out, "**%s**", device ? device->name : "no launch");
    if (device)
        md_print(out, "%s, %s %s, clock %s", device->simulated ? ", SIMULATED" : "",
                 device->place == ASSAY_HOST ? "kernel" : "driver", device->driver,
                 clock_name(device->clock));
    md_print(out, "; run `%.8s`, suite %s, %s, %d launch%s, %s\n", run->run.id, run->run.suite,
             run->started_at, run->launch_count, run->launch_count == 1 ? "" : "es", run->status);
    for (int i = 0; i < view->ceilings.count; i++) {
        const struct ceiling *ceiling = &view->ceilings.item[i];
        char rate[UNITS_MAX];
        show_ceiling_rate(rate, ceiling);
        md_print(out, i ? ", %s %s" : "\nCeilings: %s %s", show_ceiling_name(ceiling->name), rate);
    }
    if (view->ceilings.count) fputc('\n', out);
}

static void group_head(FILE *out, const struct case_id *id)
{
    char name[CASE_TEXT];
    case_group_text(id, name);
    fputs("\n#### ", out);
    md_code(out, name);
    fputs("\n\n", out);
    fputs("| variant | time | ± | rate | of ceiling | ceiling | speed-up | |\n"
          "|:--|--:|--:|--:|--:|:--|:--|:--|\n",
          out);
}

static void row_line(FILE *out, const struct view *view, const struct view_row *row)
{
    struct show_words words;
    show_words(&words, view, row);
    fputs("|", out);
    for (int c = 0; c < CELLS; c++)
        md_print(out, c + 1 < CELLS ? " %s |" : " %s", words.cell[c]);
    if (!status_has_time(row->result.status))
        md_print(out, "%s%s%s", status_name(row->result.status), row->result.reason[0] ? ": " : "",
                 row->result.reason);
    fputs(" |\n", out);
}

/* The stages of a launch: the total in the column of times, calls and average in the last. */
static void stage_lines(FILE *out, const struct view_row *row)
{
    struct show_stage stage[SHOW_STAGES];
    int count = show_stages(&row->result, stage);
    for (int i = 0; i < count; i++)
        md_print(out, "| &emsp;%s | %s | | | | | | %lld calls, %s each |\n", stage[i].name,
                 stage[i].total, (long long)stage[i].calls, stage[i].each);
}

int show_md(FILE *out, const struct view *view)
{
    char counts[256], used[SHOW_MARKS];
    int group = -1;
    head(out, view);
    for (int i = 0; i < view->count; i++) {
        if (view->rows[i].is_hidden) continue;
        if (view->rows[i].group != group) group_head(out, &view->rows[i].result.id);
        group = view->rows[i].group;
        row_line(out, view, &view->rows[i]);
        stage_lines(out, &view->rows[i]);
    }
    show_counts(counts, sizeof counts, view);
    fprintf(out, "\n%s\n", counts);
    show_marks_used(used, view);
    for (const struct show_mark *mark = show_marks; mark->letter; mark++)
        if (strchr(used, mark->letter)) fprintf(out, "\n`%c` %s\n", mark->letter, mark->meaning);
    return 0;
}
