/* show_table.c - a run on a terminal: a head, then one table per group. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "show/show.h"

enum { NARROWEST = 60, LINE = 512, GAP = 2 };

/* Escape sequences; every one is "" without colour. */
struct paint {
    const char *bold, *faint, *red, *green, *off;
};

static const struct paint plain = {"", "", "", "", ""};
static const struct paint coloured = {"\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[0m"};

struct table {
    FILE *out;
    const struct view *view;
    struct paint paint;
    int columns;      /* width of a line */
    int width[CELLS]; /* 0: the column is empty in all rows and is left out */
};

static const bool right_aligned[CELLS] = {
    [CELL_TIME] = true,
    [CELL_SPREAD] = true,
    [CELL_RATE] = true,
    [CELL_SHARE] = true,
};

/* A line of `text`, cut to the table's columns. */
static void line(const struct table *table, const char *before, const char *text)
{
    char fitted[LINE];
    show_fit(fitted, sizeof fitted, text, table->columns);
    fprintf(table->out, "%s%s%s\n", before, fitted, before[0] ? table->paint.off : "");
}

/* ------------------------------------------------------------------- head -- */

static void head_device(const struct table *table, const struct launch_info *launch)
{
    const struct device_info *device = &launch->device;
    char text[LINE] = "";
    bool host = device->place == ASSAY_HOST;
    text_part(text, LINE, ", ", "%s", device->simulated ? "SIMULATED" : "");
    text_part(text, LINE, ", ", "%s", device->name);
    text_part(text, LINE, " ", "(%s)", device->spec);
    text_part(text, LINE, ", ", host ? "kernel %s" : "driver %s", device->driver);
    text_part(text, LINE, ", ", "CUDA %s", device->runtime);
    text_part(text, LINE, ", ", "clock %s", clock_name(device->clock));
    if (device->flush == FLUSH_WRITE) text_part(text, LINE, ", ", "%s", "flushed by writing");
    if (device->flush == FLUSH_LINES) text_part(text, LINE, ", ", "%s", "flushed by lines");
    line(table, table->paint.bold, text);
    if (device->clock == CLOCK_EVENT && !isnan(device->event_floor_ns)) {
        char floor[UNITS_MAX];
        snprintf(text, sizeof text, "an empty kernel takes %s by this clock",
                 units_time(floor, device->event_floor_ns));
        line(table, "", text);
    }
}

/* First of all, in red. */
static void head_noise(const struct table *table)
{
    char text[NOISE_TEXT], *rest = text, *one;
    if (!view_noise_text(table->view, text)) return;
    while ((one = strsep(&rest, "\n")))
        line(table, table->paint.red, one);
}

static void head_run(const struct table *table)
{
    const struct stored_run *run = table->view->run;
    char text[LINE] = "", id[9], launches[32];
    snprintf(id, sizeof id, "%.8s", run->run.id);
    snprintf(launches, sizeof launches, run->launch_count == 1 ? "" : "%d launches",
             run->launch_count);
    text_part(text, LINE, "  ", "run %s", id);
    text_part(text, LINE, "  ", "suite %s", run->run.suite);
    text_part(text, LINE, "  ", "%s", run->started_at);
    text_part(text, LINE, "  ", "%s", launches);
    text_part(text, LINE, "  ", "%s", run->status);
    text_part(text, LINE, "  ", "\"%s\"", run->run.label);
    line(table, "", text);
}

/* All ceilings, wrapped. */
static void head_ceilings(const struct table *table)
{
    const struct ceilings *ceilings = &table->view->ceilings;
    char text[LINE] = "ceilings:";
    for (int i = 0; i < ceilings->count; i++) {
        char rate[UNITS_MAX], one[LINE];
        show_ceiling_rate(rate, &ceilings->item[i]);
        snprintf(one, sizeof one, " %s %s%s", show_ceiling_name(ceilings->item[i].name), rate,
                 i + 1 < ceilings->count ? "," : "");
        if (text_width(text) + text_width(one) > table->columns) {
            line(table, "", text);
            strcpy(text, "         ");
        }
        text_add(text, LINE, "", "%s", one);
    }
    if (ceilings->count) line(table, "", text);
}

/* ------------------------------------------------------------------- rows -- */

static int total(const struct table *table)
{
    int sum = 0;
    for (int c = 0; c < CELLS; c++)
        if (table->width[c]) sum += GAP + table->width[c];
    return sum;
}

/* Narrow a column, at most down to `least`, if the line is too long. */
static void narrow(struct table *table, enum show_cell cell, int least)
{
    int over = total(table) - table->columns, spare = table->width[cell] - least;
    if (over > 0 && spare > 0) table->width[cell] -= over < spare ? over : spare;
}

static void measure_columns(struct table *table)
{
    struct show_words words;
    for (int i = 0; i < table->view->count; i++) {
        if (table->view->rows[i].is_hidden) continue;
        show_words(&words, table->view, &table->view->rows[i]);
        for (int c = 0; c < CELLS; c++) {
            int width = text_width(words.cell[c]);
            if (width > table->width[c]) table->width[c] = width;
        }
    }
    for (int c = 0; c < CELLS; c++) {
        int title = text_width(show_titles[c]);
        if (table->width[c] && table->width[c] < title) table->width[c] = title;
    }
    /* Figures are never cut. First a long ceiling name is (the head has all of it), then a
     * long variant name. */
    narrow(table, CELL_CEILING, 10);
    narrow(table, CELL_VARIANT, 12);
}

static void cells(const struct table *table, char const (*cell)[SHOW_CELL], char out[LINE])
{
    size_t used = 0;
    for (int c = 0; c < CELLS; c++) {
        char fitted[SHOW_CELL + 4];
        if (!table->width[c]) continue;
        show_fit(fitted, sizeof fitted, cell[c], table->width[c]);
        int pad = table->width[c] - text_width(fitted);
        int before = right_aligned[c] ? pad : 0;
        used += (size_t)snprintf(out + used, LINE - used, "%*s%s%*s", GAP + before, "", fitted,
                                 pad - before, "");
    }
    while (used > 0 && out[used - 1] == ' ')
        out[--used] = '\0';
}

static void titles(const struct table *table)
{
    struct show_words words;
    char text[LINE] = "";
    for (int c = 0; c < CELLS; c++)
        strcpy(words.cell[c], show_titles[c]);
    cells(table, words.cell, text);
    fprintf(table->out, "\n%s%s%s\n", table->paint.faint, text, table->paint.off);
}

static const char *row_paint(const struct table *table, const struct view_row *row)
{
    if (row->result.status == STATUS_SKIPPED) return table->paint.faint;
    if (row->result.status != STATUS_OK) return table->paint.red;
    if (row->result.id.kind != ASSAY_KERNEL) return table->paint.faint;
    return row->speedup.lo > 1 && !row->is_noisy ? table->paint.green : "";
}

/* A case without a time: status and reason instead of figures. */
static void reason(const struct table *table, const struct show_words *words,
                   const struct view_row *row)
{
    const struct case_result *result = &row->result;
    char name[SHOW_CELL + 4], all[LINE], fitted[LINE];
    int width = table->width[CELL_VARIANT], before = 2 * GAP + width;
    show_fit(name, sizeof name, words->cell[CELL_VARIANT], width);
    snprintf(all, sizeof all, "%s%s%s", status_name(result->status), result->reason[0] ? ": " : "",
             result->reason);
    show_fit(fitted, sizeof fitted, all, table->columns - before);
    fprintf(table->out, "%*s%s%*s%s", GAP, "", name, width - text_width(name) + GAP, "", fitted);
}

static void row_line(const struct table *table, const struct view_row *row)
{
    struct show_words words;
    char text[LINE] = "";
    const char *paint = row_paint(table, row);
    show_words(&words, table->view, row);
    fputs(paint, table->out);
    if (row->result.status == STATUS_OK) {
        cells(table, words.cell, text);
        fputs(text, table->out);
    } else {
        reason(table, &words, row);
    }
    fprintf(table->out, "%s\n", paint[0] ? table->paint.off : "");
}

/* One line per stage of a launch: calls, total, average. */
static void stage_lines(const struct table *table, const struct view_row *row)
{
    struct show_stage stage[SHOW_STAGES];
    int count = show_stages(&row->result, stage);
    for (int i = 0; i < count; i++) {
        char text[LINE];
        snprintf(text, sizeof text, "%*s%-8s %7lld calls  %9s in all  %9s each", 3 * GAP, "",
                 stage[i].name, (long long)stage[i].calls, stage[i].total, stage[i].each);
        line(table, table->paint.faint, text);
    }
}

/* The bytes of a group, from the first case that knows them: a skipped one may not. */
static double group_bytes(const struct view *view, int group)
{
    for (int i = 0; i < view->count; i++) {
        double bytes = view_bytes(&view->rows[i].result.work);
        if (view->rows[i].group == group && bytes > 0) return bytes;
    }
    return NAN;
}

static void group_head(const struct table *table, const struct view_row *row)
{
    char text[LINE] = "", name[CASE_TEXT], bytes[UNITS_MAX] = "";
    double amount = group_bytes(table->view, row->group);
    if (!isnan(amount)) units_bytes(bytes, amount);
    case_group_text(&row->result.id, name);
    snprintf(text, LINE, "%s%s%s", name, bytes[0] ? "  " : "", bytes);
    fputc('\n', table->out);
    line(table, table->paint.bold, text);
}

/* ------------------------------------------------------------------- foot -- */

static void foot(const struct table *table)
{
    char text[LINE], used[16];
    bool has[ASSAY_REFERENCE + 1] = {false};
    for (int i = 0; i < table->view->count; i++)
        if (!table->view->rows[i].is_hidden) has[table->view->rows[i].result.id.kind] = true;
    show_marks_used(used, table->view);
    fputc('\n', table->out);
    if (has[ASSAY_BASELINE])
        line(table, "", "*  a baseline; speed-up is against the group's \"base\"");
    if (has[ASSAY_BOUND])
        line(table, "",
             "=  a bound (a copy, say); speed-up is against \"bound\" where there is no \"base\"");
    for (const struct show_mark *mark = show_marks; mark->letter; mark++) {
        if (!strchr(used, mark->letter)) continue;
        snprintf(text, sizeof text, "%c  %s", mark->letter, mark->meaning);
        line(table, "", text);
    }
    show_checked(text, sizeof text, table->view);
    if (text[0]) line(table, "", text);
    show_counts(text, sizeof text, table->view);
    line(table, table->paint.bold, text);
}

int show_table(FILE *out, const struct view *view, const struct show_options *options)
{
    struct table table = {.out = out, .view = view};
    int group = -1;
    table.paint = options->colour ? coloured : plain;
    table.columns = options->width <= 0          ? 100
                    : options->width < NARROWEST ? NARROWEST
                                                 : options->width;
    measure_columns(&table);
    head_noise(&table);
    if (view->run->launch_count) head_device(&table, &view->run->launches[0]);
    head_run(&table);
    head_ceilings(&table);
    if (table.width[CELL_TIME]) titles(&table);
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->is_hidden) continue;
        if (row->group != group) group_head(&table, row);
        group = row->group;
        row_line(&table, row);
        stage_lines(&table, row);
    }
    foot(&table);
    return 0;
}
