/* show_table.c - a run on a terminal: a head, then one table per group. It is as wide as the
 * terminal allows; what does not fit goes to a line of its own, and nothing is cut. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "show/show.h"

enum {
    NARROWEST = 72,
    WIDEST = 1 << 20, /* where no width is set */
    LEAST_NAME = 12,  /* of a column of names; longer ones have a line to themselves */
    LINE = 1024,
    GAP = 2,
    BELOW = 6 /* indent of what is said below a row */
};

/* Escape sequences; every one is "" without colour. */
struct paint {
    const char *bold, *faint, *red, *green, *off;
};

static const struct paint plain = {"", "", "", "", ""};
static const struct paint coloured = {"\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[0m"};

/* The columns of figures, in their order; the marks and the name of the variant are before them. */
static const struct {
    enum show_cell cell;
    const char *title;
    bool right;
} figures[] = {
    {CELL_TIME, "time", true},     {CELL_SPREAD, "±", true},        {CELL_RATE, "rate", true},
    {CELL_SHARE, "ceiling", true}, {CELL_RATIO, "speed-up", false},
};
enum { FIGURES = sizeof figures / sizeof *figures };

struct table {
    FILE *out;
    const struct view *view;
    const struct show_options *options;
    struct paint paint;
    int columns;           /* width of a line */
    int marks, name;       /* widths of their columns */
    int width[FIGURES];    /* 0: the column is empty in all rows and is left out */
    bool intervals;        /* those of the speed-ups are shown */
    char used[SHOW_MARKS]; /* marks of the rows shown */
};

/* A text, wrapped: lines after the first begin at `indent`. */
static void wrap(const struct table *table, const char *paint, const char *text, int at, int indent)
{
    char clean[LINE];
    text_printable(clean, sizeof clean, text, "");
    fputs(paint, table->out);
    text_wrap(table->out, clean, at, indent, table->columns);
    if (paint[0]) fputs(table->paint.off, table->out);
}

static void line(const struct table *table, const char *paint, const char *text)
{
    wrap(table, paint, text, 0, 4);
}

static void line_below(const struct table *table, const char *text)
{
    fprintf(table->out, "%*s", BELOW, "");
    wrap(table, table->paint.faint, text, BELOW, BELOW + GAP);
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

static void head_noise(const struct table *table)
{
    char text[NOISE_TEXT], *rest = text, *one;
    if (!view_noise_text(table->view, text)) return;
    while ((one = strsep(&rest, "\n")))
        line(table, table->paint.red, one);
}

static int gpu_count(const struct stored_run *run)
{
    int count = 0;
    for (int i = 0, j; i < run->launch_count; i++) {
        for (j = 0; strcmp(run->launches[i].device.uuid, run->launches[j].device.uuid); j++)
            continue;
        count += i == j;
    }
    return count;
}

/* "4 launches"; "12 launches on 4 GPUs"; "" one. */
static void launches_text(const struct stored_run *run, char out[48])
{
    int gpus = gpu_count(run);
    out[0] = '\0';
    if (run->launch_count == 1) return;
    snprintf(out, 48, gpus > 1 ? "%d launches on %d GPUs" : "%d launches", run->launch_count, gpus);
}

static void head_run(const struct table *table)
{
    const struct stored_run *run = table->view->run;
    const struct shard *shard = &run->run.shard;
    char text[LINE] = "", id[9], launches[48], share[RESULT_MAX_PROPERTY + 48] = "";
    snprintf(id, sizeof id, "%.8s", run->run.id);
    launches_text(run, launches);
    if (run->shares > 0)
        snprintf(share, sizeof share, "%d of %d shares of %s", run->shares, shard->count,
                 shard->group);
    else if (shard->count > 0)
        snprintf(share, sizeof share, "share %d of %d%s%s", shard->index, shard->count,
                 shard->group[0] ? " of " : "", shard->group);
    text_part(text, LINE, "  ", "run %s", id);
    text_part(text, LINE, "  ", "suite %s", run->run.suite);
    text_part(text, LINE, "  ", "%s", run->started_at);
    text_part(text, LINE, "  ", "%s", launches);
    text_part(text, LINE, "  ", "%s", share);
    text_part(text, LINE, "  ", "%s", run->status);
    text_part(text, LINE, "  ", "\"%s\"", run->run.label);
    line(table, "", text);
}

/* Name and rate of each, which stay together where lines are broken. */
static void head_ceilings(const struct table *table)
{
    const struct ceilings *ceilings = &table->view->ceilings;
    int at = ceilings->count ? fprintf(table->out, "ceilings:") : 0, indent = at;
    for (int i = 0; i < ceilings->count; i++) {
        char rate[UNITS_MAX], text[LINE];
        show_ceiling_rate(rate, &ceilings->item[i]);
        snprintf(text, sizeof text, " %s %s%s", show_ceiling_name(ceilings->item[i].name), rate,
                 i + 1 < ceilings->count ? "," : "");
        if (at + text_width(text) > table->columns)
            at = fprintf(table->out, "\n%*s", indent, "") - 1;
        fputs(text, table->out);
        at += text_width(text);
    }
    if (ceilings->count) fputc('\n', table->out);
}

/* ------------------------------------------------------------------- rows -- */

/* The texts of a row; of a speed-up without its interval, if that does not fit. */
static void row_words(const struct table *table, const struct view_row *row,
                      struct show_words *words)
{
    show_words(words, table->view, row);
    char *ratio = words->cell[CELL_RATIO];
    if (!table->intervals) ratio[strcspn(ratio, " ")] = '\0';
}

static int name_at(const struct table *table)
{
    return 1 + table->marks + 1;
}

static int total(const struct table *table)
{
    int sum = name_at(table) + table->name;
    for (int f = 0; f < FIGURES; f++)
        if (table->width[f]) sum += GAP + table->width[f];
    return sum;
}

static void widen(int *width, const char *text)
{
    int needed = text_width(text);
    if (needed > *width) *width = needed;
}

static void measure_figures(struct table *table)
{
    struct show_words words;
    memset(table->width, 0, sizeof table->width);
    for (int i = 0; i < table->view->count; i++) {
        if (table->view->rows[i].is_hidden) continue;
        row_words(table, &table->view->rows[i], &words);
        for (int f = 0; f < FIGURES; f++)
            widen(&table->width[f], words.cell[figures[f].cell]);
    }
    for (int f = 0; f < FIGURES; f++)
        if (table->width[f]) widen(&table->width[f], figures[f].title);
}

/* Columns for marks and for names, of which only those of at most `longest` columns count. */
static void measure_names(struct table *table, int longest)
{
    char marks[SHOW_MARKS];
    table->name = text_width("variant");
    table->marks = 1;
    for (int i = 0; i < table->view->count; i++) {
        const struct view_row *row = &table->view->rows[i];
        const char *name = row->result.id.variant;
        if (row->is_hidden) continue;
        show_marks_of(marks, table->view, row);
        widen(&table->marks, marks);
        if (text_width(name) <= longest) widen(&table->name, name);
    }
}

/* First the intervals of the speed-ups give way to the width of a line, then the longest names. */
static void measure_columns(struct table *table)
{
    measure_names(table, WIDEST);
    table->intervals = true;
    measure_figures(table);
    if (total(table) > table->columns) {
        table->intervals = table->options->wide;
        measure_figures(table);
    }
    int over = total(table) - table->columns;
    if (over > 0)
        measure_names(table, table->name - over > LEAST_NAME ? table->name - over : LEAST_NAME);
}

/* Marks and name; where the name is too long for its column, what follows is on the next line. */
static void row_begin(const struct table *table, const struct view_row *row)
{
    char marks[SHOW_MARKS];
    const char *name = row->result.id.variant;
    int pad = table->name - text_width(name);
    show_marks_of(marks, table->view, row);
    fprintf(table->out, " %*s %s", table->marks, marks, name);
    if (pad < 0)
        fprintf(table->out, "\n%*s", name_at(table) + table->name, "");
    else
        fprintf(table->out, "%*s", pad, "");
}

/* The figures of a row, or their titles, with nothing behind the last. */
static void put_figures(const struct table *table, const char *const text[FIGURES])
{
    int owed = 0; /* blanks before the next figure */
    for (int f = 0; f < FIGURES; f++) {
        if (!table->width[f]) continue;
        int pad = table->width[f] - text_width(text[f]);
        int before = figures[f].right ? pad : 0;
        owed += GAP;
        if (text[f][0]) {
            fprintf(table->out, "%*s%s", owed + before, "", text[f]);
            owed = pad - before;
        } else {
            owed += pad;
        }
    }
    fputc('\n', table->out);
}

static void titles(const struct table *table)
{
    const char *text[FIGURES];
    for (int f = 0; f < FIGURES; f++)
        text[f] = figures[f].title;
    fprintf(table->out, "\n%s%*s%-*s", table->paint.faint, name_at(table), "", table->name,
            "variant");
    put_figures(table, text);
    fputs(table->paint.off, table->out);
}

static const char *row_paint(const struct table *table, const struct view_row *row)
{
    if (row->result.status == STATUS_SKIPPED) return table->paint.faint;
    if (!status_has_time(row->result.status)) return table->paint.red;
    if (row->result.id.kind != ASSAY_KERNEL) return table->paint.faint;
    return row->speedup.lo > 1 && !row->is_noisy ? table->paint.green : "";
}

static void reason(const struct table *table, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    char text[LINE];
    int at = name_at(table) + table->name + GAP;
    snprintf(text, sizeof text, "%s%s%s", status_name(result->status),
             result->reason[0] ? ": " : "", result->reason);
    fprintf(table->out, "%*s", GAP, "");
    wrap(table, "", text, at, at);
}

static void row_line(const struct table *table, const struct view_row *row)
{
    const char *paint = row_paint(table, row);
    struct show_words words;
    const char *text[FIGURES];
    row_words(table, row, &words);
    for (int f = 0; f < FIGURES; f++)
        text[f] = words.cell[figures[f].cell];
    fputs(paint, table->out);
    row_begin(table, row);
    if (status_has_time(row->result.status))
        put_figures(table, text);
    else
        reason(table, row);
    if (paint[0]) fputs(table->paint.off, table->out);
}

static void stage_lines(const struct table *table, const struct view_row *row)
{
    struct show_stage stage[SHOW_STAGES];
    int count = show_stages(&row->result, stage);
    for (int i = 0; i < count; i++) {
        char text[LINE];
        snprintf(text, sizeof text, "%-8s %7lld calls  %9s in all  %9s each", stage[i].name,
                 (long long)stage[i].calls, stage[i].total, stage[i].each);
        line_below(table, text);
    }
}

static void notes(const struct table *table, const struct view_row *row)
{
    char text[LINE];
    if (show_contradiction(text, sizeof text, row)) line_below(table, text);
    if (table->options->wide && row->result.note[0]) line_below(table, row->result.note);
    if (!table->options->selection.best) return;
    if (show_advice(text, sizeof text, table->view, row, table->options->profiles))
        line_below(table, text);
    if (!show_ncu(text, sizeof text, table->view->run, row)) return;
    for (char *rest = text, *command; (command = strsep(&rest, "\n"));) {
        fprintf(table->out, "%*s", BELOW, "");
        wrap(table, "", command, BELOW, BELOW);
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

/* The ceiling that binds the cases of a group, which is one for all of them; "" none. */
static const char *group_ceiling(const struct view *view, int group)
{
    for (int i = 0; i < view->count; i++)
        if (view->rows[i].group == group && view->rows[i].ceiling[0]) return view->rows[i].ceiling;
    return "";
}

/* "n=5000000 input=fp32 cold  23.8 MiB, ceiling r4w1"; on two lines where that is too long. */
static void group_head(const struct table *table, const struct view_row *row)
{
    char facts[LINE] = "", name[CASE_TEXT], bytes[UNITS_MAX] = "", text[LINE];
    double amount = group_bytes(table->view, row->group);
    if (!isnan(amount)) units_bytes(bytes, amount);
    case_group_text(&row->result.id, name);
    text_part(facts, LINE, "", "%s", bytes);
    text_part(facts, LINE, ", ", "ceiling %s",
              show_ceiling_name(group_ceiling(table->view, row->group)));
    snprintf(text, sizeof text, "%s%s%s", name, facts[0] ? "  " : "", facts);
    bool fits = text_width(text) <= table->columns;
    fputc('\n', table->out);
    line(table, table->paint.bold, fits ? text : name);
    if (fits || !facts[0]) return;
    fputs("    ", table->out);
    wrap(table, table->paint.bold, facts, 4, 4);
}

/* ------------------------------------------------------------------- foot -- */

static void foot(const struct table *table)
{
    char text[LINE];
    fputc('\n', table->out);
    for (const struct show_mark *mark = show_marks; mark->letter; mark++) {
        if (!strchr(table->used, mark->letter)) continue;
        fprintf(table->out, "%c  ", mark->letter);
        wrap(table, "", mark->meaning, 3, 3);
    }
    show_checked(text, sizeof text, table->view);
    if (text[0]) line(table, "", text);
    show_counts(text, sizeof text, table->view);
    line(table, table->paint.bold, text);
}

int show_table(FILE *out, const struct view *view, const struct show_options *options)
{
    struct table table = {.out = out, .view = view, .options = options};
    int group = -1, width = options->width;
    table.paint = options->colour ? coloured : plain;
    table.columns = width <= 0 ? WIDEST : width < NARROWEST ? NARROWEST : width;
    show_marks_used(table.used, view);
    measure_columns(&table);
    head_noise(&table);
    if (view->run->launch_count) head_device(&table, &view->run->launches[0]);
    head_run(&table);
    head_ceilings(&table);
    if (table.width[0]) titles(&table);
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (row->is_hidden) continue;
        if (row->group != group) group_head(&table, row);
        group = row->group;
        row_line(&table, row);
        stage_lines(&table, row);
        notes(&table, row);
    }
    foot(&table);
    return 0;
}
