/* plot_roofline.c - the data of plots/roofline.gp (Williams, Waterman, Patterson: Roofline,
 * CACM 52(4), 2009): operations per second against operations per byte. Cases that only move
 * bytes are in a second panel. */
#include <stdlib.h>
#include <string.h>

#include "case/case_name.h"
#include "plot/plot_data.h"
#include "show/show.h"

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
    struct family family[MOST_OPERATIONS];
    int families;
    int left_out;    /* rows with neither operations nor bytes */
    int crowded_out; /* rows of operations beyond MOST_OPERATIONS */
    /* By panel: rows with operations, and those that only move bytes. */
    int rows[2];
    struct plot_extent extent[2];
};

static bool has_place(const struct view_row *row)
{
    return view_bytes(&row->result.work) > 0;
}

static bool moves_only(const struct view_row *row)
{
    return !(view_ops(&row->result.work) > 0);
}

static double x_of(const struct view_row *row)
{
    double bytes = view_bytes(&row->result.work);
    return moves_only(row) ? bytes : view_ops(&row->result.work) / bytes;
}

static double y_of(const struct view_row *row)
{
    const struct assay_work *work = &row->result.work;
    return (moves_only(row) ? view_bytes(work) : view_ops(work)) / row->result.time_ns * 1e9;
}

static int family_of(const struct roofline *roof, const char *operation)
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

/* Whether the row has a place in the picture. */
static bool row_add(struct roofline *roof, const struct view_row *row)
{
    int f = family_of(roof, row->result.id.operation);
    if (!has_place(row)) {
        roof->left_out++;
        return false;
    }
    if (f < 0 && roof->families == MOST_OPERATIONS) {
        roof->crowded_out++;
        return false;
    }
    if (f < 0) {
        f = roof->families++;
        roof->family[f] = (struct family){.operation = row->result.id.operation};
    }
    roof->family[f].rows++;
    roof->rows[moves_only(row)]++;
    plot_extend(&roof->extent[moves_only(row)], x_of(row), y_of(row));
    return true;
}

/* ---------------------------------------------------------------- ceilings -- */

/* A ceiling is drawn if it binds a case or limits an arithmetic that a case uses: 'h' for
 * operations (horizontal), 'd' for bytes (diagonal), 'm' for bytes in the second panel only, 0
 * not at all. */
static char style_of(const struct plot *plot, const struct ceiling *ceiling)
{
    char style = 0;
    int arithmetic = view_arithmetic(ceiling->name);
    for (int i = 0; i < plot->count; i++) {
        const struct view_row *row = plot->row[i];
        bool binds = !strcmp(row->ceiling, ceiling->name);
        if (arithmetic >= 0) {
            if (binds || row->result.work.ops[arithmetic] > 0) return 'h';
        } else if (binds) {
            style = 'm';
            if (!moves_only(row)) return 'd';
        }
    }
    return style;
}

static int by_rate(const void *a, const void *b)
{
    const struct ceiling *x = *(const struct ceiling *const *)a;
    const struct ceiling *y = *(const struct ceiling *const *)b;
    return x->rate < y->rate ? 1 : x->rate > y->rate ? -1 : strcmp(x->name, y->name);
}

/* Write the lines, highest first, and widen the axes for them; their number. */
static int lines_write(struct plot *plot, struct roofline *roof)
{
    const struct ceilings *ceilings = &plot->view.ceilings;
    const struct ceiling *drawn[CEILING_MAX];
    struct plot_extent *extent = roof->extent;
    double ops = 0, bytes = 0;
    int count = 0;
    for (int i = 0; i < ceilings->count; i++)
        if (style_of(plot, &ceilings->item[i])) drawn[count++] = &ceilings->item[i];
    qsort(drawn, (size_t)count, sizeof drawn[0], by_rate);
    fputs("-\t0\tnone\n", plot->out); /* gnuplot does not count an empty block */
    for (int i = 0; i < count; i++) {
        char rate[UNITS_MAX], label[ASSAY_MAX_NAME + UNITS_MAX + 2];
        char style = style_of(plot, drawn[i]);
        show_ceiling_rate(rate, drawn[i]);
        snprintf(label, sizeof label, "%s: %s", drawn[i]->name, rate);
        plot_line(plot, NULL, label, "%c\t%.9g", style, drawn[i]->rate);
        if (style == 'h') ops = fmax(ops, drawn[i]->rate);
        if (style == 'd') bytes = fmax(bytes, drawn[i]->rate);
        if (style != 'h') extent[1].top = fmax(extent[1].top, drawn[i]->rate);
    }
    plot_block_end(plot);
    extent[0].top = fmax(extent[0].top, ops);
    if (!(ops > 0 && bytes > 0)) return count;
    /* The ridge point of the roofline is always visible. */
    extent[0].right = fmax(extent[0].right, 2 * ops / bytes);
    extent[0].left = fmin(extent[0].left, 0.5 * ops / bytes);
    return count;
}

/* ------------------------------------------------------------------ points -- */

static void point_write(struct plot *plot, const struct roofline *roof, const struct view_row *row)
{
    char name[CASE_TEXT];
    const struct case_id *id = &row->result.id;
    case_text(id, name);
    plot_link_point(plot, row, moves_only(row), x_of(row), y_of(row));
    fprintf(plot->out, "%d\t%d\t%d\t%.9g\t%.9g\t", family_of(roof, id->operation) + 1,
            moves_only(row), id->kind == ASSAY_BASELINE || id->kind == ASSAY_BOUND, x_of(row),
            y_of(row));
    plot_text(plot->out, name);
    fputc('\n', plot->out);
}

/* From the position in the older run to the new one; a change below 1 % is too short to see. */
static void arrow_write(struct plot *plot, const struct view_row *row)
{
    int at = plot_row_find(&plot->older, &row->result.id);
    const struct view_row *old = at < 0 ? NULL : &plot->older.rows[at];
    if (!old || !plot_row_taken(plot->request, old)) return;
    if (!has_place(old) || moves_only(old) || moves_only(row)) return;
    double ratio = row->result.time_ns / old->result.time_ns;
    if (fabs(log(ratio)) < 0.01) return;
    fprintf(plot->out, "%d\t%.9g\t%.9g\t%.9g\t%.9g\n", ratio > 1, x_of(old), y_of(old), x_of(row),
            y_of(row));
}

/* Rows of a key below the picture; 0: it is beside it, as always in a terminal. */
static int key_rows(int entries)
{
    return entries > MOST_BESIDE ? (entries + KEY_COLUMNS - 1) / KEY_COLUMNS : 0;
}

static void head(struct plot *plot, const struct roofline *roof, int lines)
{
    const struct plot_request *request = plot->request;
    int chars = plot->chars + 6, entries = roof->families + lines + 1;
    if (plot->right_chars > chars) chars = plot->right_chars;
    plot_title(plot, "roofline of %d cases%s%s", roof->rows[0] + roof->rows[1],
               request->operation ? " of " : "", request->operation ? request->operation : "");
    if (request->against)
        plot_note(plot, "", "arrows from run %.8s, %.10s: blue faster, vermillion slower",
                  request->against->run.id, request->against->started_at);
    if (roof->left_out)
        plot_note(plot, "; ", "cases without declared work, left out: %d", roof->left_out);
    if (roof->crowded_out)
        plot_note(plot, "; ", "cases of further operations, left out: %d", roof->crowded_out);
    plot_size(plot, 1200, 620 + 20 * key_rows(entries), entries > MOST_BESIDE ? entries + 14 : 36);
    plot_setting_number(plot, "key_rows", key_rows(entries));
    plot_setting_number(plot, "right_chars", chars);
    plot_setting_number(plot, "rows", roof->rows[0]);
    plot_setting_number(plot, "moving", roof->rows[1]);
    for (int p = 0; p < 2; p++) {
        const struct plot_extent *extent = &roof->extent[p];
        plot_setting_number(plot, p ? "moving_left" : "left", extent->left / 2);
        plot_setting_number(plot, p ? "moving_right" : "right", extent->right * 2);
        plot_setting_number(plot, p ? "moving_low" : "low", extent->low / 2);
        plot_setting_number(plot, p ? "moving_top" : "top", extent->top * 1.6);
    }
    plot_setting_number(plot, "older", request->against != NULL);
}

enum plot_outcome plot_roofline(struct plot *plot)
{
    struct roofline roof = {.extent = {PLOT_NO_EXTENT, PLOT_NO_EXTENT}};
    const struct stored_run *against = plot->request->against;
    int count = 0;
    if (against && view_make(&plot->older, against)) return PLOT_FAILED;
    for (int i = 0; i < plot->count; i++)
        if (row_add(&roof, plot->row[i])) plot->row[count++] = plot->row[i];
    plot->count = count;
    if (!count) return plot_nothing(plot, "no ok case counts its work");
    qsort(roof.family, (size_t)roof.families, sizeof roof.family[0], family_order);
    for (int f = 0; f < roof.families; f++)
        plot_line(plot, roof.family[f].operation, NULL, "%d", roof.family[f].rows);
    plot_block_end(plot);
    head(plot, &roof, lines_write(plot, &roof));
    for (int i = 0; i < count; i++)
        point_write(plot, &roof, plot->row[i]);
    plot_block_end(plot);
    fputs("0\tNaN\tNaN\tNaN\tNaN\n", plot->out);
    for (int i = 0; i < count; i++)
        arrow_write(plot, plot->row[i]);
    plot_block_end(plot);
    return PLOT_DRAWN;
}
