/* plot_roofline.c - the data of plots/roofline.gp (Williams, Waterman, Patterson: Roofline,
 * CACM 52(4), 2009): operations per second against operations per byte. Cases that only move
 * bytes are in a second panel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "case/case_name.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

enum {
    MOST_OPERATIONS = 64,
    MOST_BESIDE = 14, /* a key with more entries is placed below the picture, not beside it */
    KEY_COLUMNS = 4,  /* of a key below, as in roofline.gp */
};

/* The rows of one operation, which have the same colour. */
struct family {
    const char *operation;
    int rows;
};

struct roofline {
    const struct plot_request *request;
    const struct view *view;
    const struct view *older; /* NULL: none */
    struct family family[MOST_OPERATIONS];
    int families;
    int rows, moving, left_out;   /* with operations and bytes; only bytes; neither */
    int crowded_out;              /* rows of operations beyond MOST_OPERATIONS */
    double left, right, low, top; /* extents of the axes */
    double moving_left, moving_right, moving_low, moving_top; /* extents of the second panel */
};

static double rate_of(double work, const struct case_result *result)
{
    return work / result->time_ns * 1e9;
}

static bool moves_only(const struct view_row *row)
{
    return view_bytes(&row->result.work) > 0 && !(view_ops(&row->result.work) > 0);
}

static bool has_place(const struct view_row *row)
{
    return view_bytes(&row->result.work) > 0 && view_ops(&row->result.work) > 0;
}

static int family_of(struct roofline *roof, const char *operation)
{
    for (int i = 0; i < roof->families; i++)
        if (!strcmp(roof->family[i].operation, operation)) return i;
    return -1;
}

static int family_order(const void *a, const void *b)
{
    const struct family *x = a, *y = b;
    return x->rows != y->rows ? y->rows - x->rows : strcmp(x->operation, y->operation);
}

static void row_add(struct roofline *roof, const struct view_row *row)
{
    const struct assay_work *work = &row->result.work;
    int f = family_of(roof, row->result.id.operation);
    if (!has_place(row) && !moves_only(row)) {
        roof->left_out++;
        return;
    }
    if (f < 0) {
        if (roof->families == MOST_OPERATIONS) {
            roof->crowded_out++;
            return;
        }
        f = roof->families++;
        roof->family[f] = (struct family){.operation = row->result.id.operation};
    }
    roof->family[f].rows++;
    if (moves_only(row)) {
        double rate = rate_of(view_bytes(work), &row->result);
        roof->moving++;
        roof->moving_left = fmin(roof->moving_left, view_bytes(work));
        roof->moving_right = fmax(roof->moving_right, view_bytes(work));
        roof->moving_low = fmin(roof->moving_low, rate);
        roof->moving_top = fmax(roof->moving_top, rate);
        return;
    }
    double x = view_ops(work) / view_bytes(work), y = rate_of(view_ops(work), &row->result);
    roof->rows++;
    roof->left = fmin(roof->left, x);
    roof->right = fmax(roof->right, x);
    roof->low = fmin(roof->low, y);
    roof->top = fmax(roof->top, y);
}

/* ---------------------------------------------------------------- ceilings -- */

static bool uses(const struct view_row *row, const char *arithmetic)
{
    for (int a = 0; a < ASSAY_ARITHMETICS; a++)
        if (row->result.work.ops[a] > 0 &&
            !strcmp(arithmetic_name((enum assay_arithmetic)a), arithmetic))
            return true;
    return false;
}

/* A ceiling is drawn if it binds a case or limits an arithmetic that a case uses: 'h' for
 * operations (horizontal), 'd' for bytes (diagonal), 'm' for bytes in the second panel only, 0
 * not at all. */
static char style_of(const struct roofline *roof, const struct ceiling *ceiling)
{
    char style = 0;
    for (int i = 0; i < roof->view->count; i++) {
        const struct view_row *row = &roof->view->rows[i];
        if (!plot_row_taken(roof->request, row)) continue;
        bool binds = !strcmp(row->ceiling, ceiling->name);
        if (plot_ceiling_is_ops(ceiling->name)) {
            if (binds || uses(row, ceiling->name)) return 'h';
        } else if (binds) {
            style = 'm';
            if (has_place(row)) return 'd';
        }
    }
    return style;
}

struct line {
    char style;
    const struct ceiling *ceiling;
    char label[96];
};

struct lines {
    int count, chars;
    struct line line[CEILING_MAX];
};

static int by_rate(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    double p = x->ceiling->rate, q = y->ceiling->rate;
    return p < q ? 1 : p > q ? -1 : strcmp(x->ceiling->name, y->ceiling->name);
}

static void line_label(struct line *line)
{
    char rate[UNITS_MAX];
    const struct ceiling *c = line->ceiling;
    if (line->style == 'h')
        units_ops(rate, c->rate, !strcmp(c->name, "int8"));
    else
        units_rate(rate, c->rate);
    snprintf(line->label, sizeof line->label, "%s: %s", c->name, rate);
}

/* Choose the lines, highest first, and widen the axes for them. */
static void lines_choose(struct roofline *roof, struct lines *lines)
{
    double ops = 0, bytes = 0;
    *lines = (struct lines){0};
    for (int i = 0; i < roof->view->ceilings.count; i++) {
        const struct ceiling *c = &roof->view->ceilings.item[i];
        struct line *line = &lines->line[lines->count];
        *line = (struct line){.style = style_of(roof, c), .ceiling = c};
        if (!line->style) continue;
        line_label(line);
        lines->count++;
        if (plot_width(line->label) > lines->chars) lines->chars = plot_width(line->label);
        if (line->style == 'h') ops = fmax(ops, c->rate);
        if (line->style == 'd') bytes = fmax(bytes, c->rate);
        if (line->style != 'h') roof->moving_top = fmax(roof->moving_top, c->rate);
    }
    qsort(lines->line, (size_t)lines->count, sizeof lines->line[0], by_rate);
    roof->top = fmax(roof->top, ops);
    if (!(ops > 0 && bytes > 0)) return;
    /* The ridge point of the roofline is always visible. */
    roof->right = fmax(roof->right, 2 * ops / bytes);
    roof->left = fmin(roof->left, 0.5 * ops / bytes);
}

static void lines_write(FILE *out, const struct lines *lines)
{
    fputs("-\t0\tnone\n", out); /* gnuplot does not count an empty block */
    for (int i = 0; i < lines->count; i++) {
        fprintf(out, "%c\t%.9g\t", lines->line[i].style, lines->line[i].ceiling->rate);
        plot_text(out, lines->line[i].label);
        fputc('\n', out);
    }
    plot_block_end(out);
}

/* ------------------------------------------------------------------ points -- */

static void point_write(FILE *out, struct roofline *roof, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    const struct case_id *id = &result->id;
    char name[CASE_TEXT];
    int f = family_of(roof, id->operation);
    double bytes = view_bytes(&result->work), ops = view_ops(&result->work);
    double x = moves_only(row) ? bytes : ops / bytes;
    double y = rate_of(moves_only(row) ? bytes : ops, result);
    plot_place_point(roof->request->places, (int)(row - roof->view->rows), moves_only(row), x, y);
    fprintf(out, "%d\t%d\t%d\t%.9g\t%.9g\t", f + 1, moves_only(row), id->kind == ASSAY_BASELINE, x,
            y);
    case_text(id, name);
    plot_text(out, name);
    fputc('\n', out);
}

/* The row of the case in the older run; NULL: none. */
static const struct view_row *older_of(const struct roofline *roof, const struct case_id *id)
{
    int at = roof->older ? plot_row_find(roof->older, id) : -1;
    const struct view_row *row = at < 0 ? NULL : &roof->older->rows[at];
    return row && plot_row_taken(roof->request, row) ? row : NULL;
}

/* From the position in the older run to the new one; a change below 1 % is too short to see. */
static void arrows_write(FILE *out, const struct roofline *roof)
{
    fputs("0\tNaN\tNaN\tNaN\tNaN\n", out);
    for (int i = 0; i < roof->view->count; i++) {
        const struct view_row *row = &roof->view->rows[i];
        if (!plot_row_taken(roof->request, row) || !has_place(row)) continue;
        const struct view_row *old = older_of(roof, &row->result.id);
        if (!old || !has_place(old)) continue;
        double ratio = row->result.time_ns / old->result.time_ns;
        if (fabs(log(ratio)) < 0.01) continue;
        double from = rate_of(view_ops(&old->result.work), &old->result);
        double to = rate_of(view_ops(&row->result.work), &row->result);
        fprintf(out, "%d\t%.9g\t%.9g\t%.9g\t%.9g\n", ratio > 1,
                view_ops(&old->result.work) / view_bytes(&old->result.work), from,
                view_ops(&row->result.work) / view_bytes(&row->result.work), to);
    }
    plot_block_end(out);
}

/* "arrows from run 1a2b3c4d, 2026-11-21: ...; cases without declared work, left out: 3" */
static void note_write(const struct roofline *roof, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (roof->older)
        used += (size_t)snprintf(
            out, size, "arrows from run %.8s, %.10s: blue faster, vermillion slower",
            roof->request->against->run.id, roof->request->against->started_at);
    if (roof->left_out)
        used +=
            (size_t)snprintf(out + used, size - used, "%scases without declared work, left out: %d",
                             used ? "; " : "", roof->left_out);
    if (roof->crowded_out)
        snprintf(out + used, size - used, "%scases of further operations, left out: %d",
                 used ? "; " : "", roof->crowded_out);
}

/* Rows of a key below the picture; 0: it is beside it, as always in a terminal. */
static int key_rows(int entries)
{
    return entries > MOST_BESIDE ? (entries + KEY_COLUMNS - 1) / KEY_COLUMNS : 0;
}

static void head(FILE *out, const struct roofline *roof, const struct lines *lines)
{
    char title[160], note[240];
    int chars = lines->chars, entries = roof->families + lines->count + 1;
    for (int f = 0; f < roof->families; f++)
        if (plot_width(roof->family[f].operation) + 6 > chars)
            chars = plot_width(roof->family[f].operation) + 6;
    snprintf(title, sizeof title, "roofline of %d cases%s%s", roof->rows + roof->moving,
             roof->request->operation ? " of " : "",
             roof->request->operation ? roof->request->operation : "");
    note_write(roof, note, sizeof note);
    plot_head(out, roof->view->run, title, note);
    plot_size(out, 1200, 620 + 20 * key_rows(entries), entries > MOST_BESIDE ? entries + 14 : 36);
    plot_setting_number(out, "key_rows", key_rows(entries));
    plot_setting_number(out, "right_chars", chars);
    plot_setting_number(out, "rows", roof->rows);
    plot_setting_number(out, "moving", roof->moving);
    plot_setting_number(out, "left", roof->left / 2);
    plot_setting_number(out, "right", roof->right * 2);
    plot_setting_number(out, "low", roof->low / 2);
    plot_setting_number(out, "top", roof->top * 1.6);
    plot_setting_number(out, "moving_left", roof->moving_left / 2);
    plot_setting_number(out, "moving_right", roof->moving_right * 2);
    plot_setting_number(out, "moving_low", roof->moving_low / 2);
    plot_setting_number(out, "moving_top", roof->moving_top * 1.6);
    plot_setting_number(out, "older", roof->older != NULL);
    plot_block_end(out);
}

static void write_roofline(FILE *out, struct roofline *roof)
{
    struct lines lines;
    lines_choose(roof, &lines);
    head(out, roof, &lines);
    for (int f = 0; f < roof->families; f++) {
        plot_text(out, roof->family[f].operation);
        fprintf(out, "\t%d\n", roof->family[f].rows);
    }
    plot_block_end(out);
    lines_write(out, &lines);
    for (int i = 0; i < roof->view->count; i++) {
        const struct view_row *row = &roof->view->rows[i];
        if (plot_row_taken(roof->request, row) && (has_place(row) || moves_only(row)) &&
            family_of(roof, row->result.id.operation) >= 0)
            point_write(out, roof, row);
    }
    plot_block_end(out);
    arrows_write(out, roof);
}

enum plot_outcome plot_roofline(FILE *out, const struct plot_request *request)
{
    struct view view, older;
    struct roofline roof = {.request = request,
                            .view = &view,
                            .left = INFINITY,
                            .low = INFINITY,
                            .moving_left = INFINITY,
                            .moving_low = INFINITY};
    if (view_make(&view, request->run)) return PLOT_FAILED;
    if (request->against) {
        if (view_make(&older, request->against)) {
            view_release(&view);
            return PLOT_FAILED;
        }
        roof.older = &older;
    }
    for (int i = 0; i < view.count; i++)
        if (plot_row_taken(request, &view.rows[i])) row_add(&roof, &view.rows[i]);
    qsort(roof.family, (size_t)roof.families, sizeof roof.family[0], family_order);
    bool any = roof.rows + roof.moving > 0;
    if (any) write_roofline(out, &roof);
    if (roof.older) view_release(&older);
    view_release(&view);
    return any ? PLOT_DRAWN : plot_nothing(request, "no ok case counts its work");
}
