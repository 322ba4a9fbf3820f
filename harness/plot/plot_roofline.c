/* plot_roofline.c - the data of plots/roofline.gp (Williams, Waterman, Patterson: Roofline,
 * CACM 52(4), 2009): operations per second against operations per byte. Cases that only move
 * bytes are in a second panel. */
#include <stdlib.h>
#include <string.h>

#include "case/case_name.h"
#include "plot/plot_data.h"

enum {
    MOST_COLOURS = 7, /* of roofline.gp; operations beyond them share the grey */
    MOST_POINTS = 60, /* with more, each group shows its best kernel and its best baseline */
    WIDE = 1200,
    HIGH = 620,
};

/* The rows of one operation, which have the same colour. */
struct family {
    const char *operation;
    int rows;
};

struct roofline {
    struct family *family; /* by number of rows */
    int families;
    int left_out; /* rows with neither operations nor bytes */
    int drawn;
    double least_bytes, most_bytes;
    /* By panel: rows with operations, and those that only move bytes. */
    int rows[2];
    struct plot_extent extent[2];
};

/* Why a case of the older run has no arrow. */
struct arrows {
    int drawn, unchanged, absent;
};

static bool moves_only(const struct view_row *row)
{
    return !(view_ops(&row->result.work) > 0);
}

static double x_of(const struct view_row *row)
{
    double bytes = view_bytes(&row->result.work);
    return moves_only(row) ? bytes : view_ops(&row->result.work) / bytes;
}

/* Each direction of a link has a limit of its own, so the busier one counts there. */
static double y_of(const struct view_row *row)
{
    const struct case_work work = view_work(&row->result);
    double moved = work.over_link ? fmax(work.read_bytes, work.write_bytes) : view_bytes(&work);
    return (moves_only(row) ? moved : view_ops(&work)) / row->result.time_ns * 1e9;
}

/* ------------------------------------------------------------- which cases -- */

static bool is_reference_line(const struct view_row *row)
{
    return row->result.id.kind == ASSAY_BOUND || row->result.id.kind == ASSAY_REFERENCE;
}

/* Keep the first, which is the fastest, of the kernels and of the baselines of each group: a
 * picture of all of them is two vertical lines. The rows stand group by group, by time. */
static void keep_best(struct plot *plot)
{
    int count = 0, group = -1;
    bool has[2] = {false, false};
    for (int i = 0; i < plot->count; i++) {
        const struct view_row *row = plot->row[i];
        bool baseline = row->result.id.kind == ASSAY_BASELINE;
        if (row->group != group) has[0] = has[1] = false;
        group = row->group;
        if (is_reference_line(row) || has[baseline]) continue;
        has[baseline] = true;
        plot->row[count++] = row;
    }
    if (count) plot->count = count; /* a run of bounds alone shows them */
}

static int family_of(const struct roofline *roof, const char *operation)
{
    int i = 0;
    while (i < roof->families && strcmp(roof->family[i].operation, operation))
        i++;
    return i;
}

static int family_order(const void *a, const void *b)
{
    const struct family *x = a, *y = b;
    return x->rows != y->rows ? y->rows - x->rows : strcmp(x->operation, y->operation);
}

static void row_add(struct roofline *roof, const struct view_row *row)
{
    double bytes = view_bytes(&row->result.work);
    int f = family_of(roof, row->result.id.operation);
    if (f == roof->families)
        roof->family[roof->families++] = (struct family){.operation = row->result.id.operation};
    roof->family[f].rows++;
    roof->rows[moves_only(row)]++;
    roof->least_bytes = fmin(roof->least_bytes, bytes);
    roof->most_bytes = fmax(roof->most_bytes, bytes);
    plot_extend(&roof->extent[moves_only(row)], x_of(row), y_of(row));
}

static int choose(struct plot *plot, struct roofline *roof)
{
    int all = plot->count;
    if (all > MOST_POINTS && !plot->request->cases) keep_best(plot);
    roof->family = plot_alloc(plot, plot->count + 1, sizeof *roof->family);
    if (!roof->family) return -1;
    int count = 0;
    for (int i = 0; i < plot->count; i++) {
        if (view_bytes(&plot->row[i]->result.work) > 0)
            plot->row[count++] = plot->row[i];
        else
            roof->left_out++;
    }
    if (plot->count < all) plot_note(plot, "; ", "best kernel and best baseline of each group");
    plot->count = count;
    for (int i = 0; i < count; i++)
        row_add(roof, plot->row[i]);
    qsort(roof->family, (size_t)roof->families, sizeof roof->family[0], family_order);
    return 0;
}

static void families_write(struct plot *plot, const struct roofline *roof)
{
    int others = 0;
    for (int f = 0; f < roof->families; f++) {
        if (f < MOST_COLOURS)
            plot_line(plot, roof->family[f].operation, NULL, "%d", roof->family[f].rows);
        else
            others += roof->family[f].rows;
    }
    if (others) {
        char name[48];
        int more = roof->families - MOST_COLOURS;
        snprintf(name, sizeof name, "%d more operation%s", more, more > 1 ? "s" : "");
        plot_line(plot, name, NULL, "%d", others);
    }
    plot_block_end(plot);
}

/* ------------------------------------------------------------------ points -- */

/* From 0 to 1, by the logarithm of the bytes. */
static double size_of(const struct roofline *roof, const struct view_row *row)
{
    double span = log(roof->most_bytes / roof->least_bytes);
    return span > 0 ? log(view_bytes(&row->result.work) / roof->least_bytes) / span : 0.4;
}

static void point_write(struct plot *plot, const struct roofline *roof, const struct view_row *row)
{
    char name[CASE_TEXT];
    const struct case_id *id = &row->result.id;
    int f = family_of(roof, id->operation);
    case_text(id, name);
    plot_line(plot, NULL, name, "%d\t%d\t%d\t%.9g\t%.9g\t%.3f",
              (f < MOST_COLOURS ? f : MOST_COLOURS) + 1, moves_only(row), id->kind != ASSAY_KERNEL,
              x_of(row), y_of(row), size_of(roof, row));
}

/* From the position in the older run to the new one; a change below 1 % is too short to see. */
static void arrow_write(struct plot *plot, const struct view_row *row, struct arrows *arrows)
{
    const struct view_row *old = view_row_of(&plot->older, &row->result.id);
    if (!old || !plot_row_taken(plot->request, old) || !(view_bytes(&old->result.work) > 0) ||
        moves_only(old) != moves_only(row)) {
        arrows->absent++;
        return;
    }
    if (fabs(log(row->result.time_ns / old->result.time_ns)) < 0.01) {
        arrows->unchanged++;
        return;
    }
    arrows->drawn++;
    fprintf(plot->out, "%d\t%.9g\t%.9g\t%.9g\t%.9g\n", moves_only(row), x_of(old), y_of(old),
            x_of(row), y_of(row));
}

static void arrows_write(struct plot *plot)
{
    const struct stored_run *against = plot->request->against;
    struct arrows arrows = {0};
    fputs("0\tNaN\tNaN\tNaN\tNaN\n", plot->out);
    for (int i = 0; against && i < plot->count; i++)
        arrow_write(plot, plot->row[i], &arrows);
    plot_block_end(plot);
    if (!against) return;
    char said[256] = "";
    text_add(said, sizeof said, "", "%d arrow%s from run %.8s, %.10s", arrows.drawn,
             arrows.drawn == 1 ? "" : "s", against->run.id, against->started_at);
    if (arrows.unchanged)
        text_add(said, sizeof said, "; ", "changed by less than 1 %%: %d", arrows.unchanged);
    if (arrows.absent) text_add(said, sizeof said, "; ", "not in it: %d", arrows.absent);
    plot_setting(plot, "more", said);
}

/* -------------------------------------------------------------------- all -- */

/* Some per cent above a ceiling are noise; cases of several devices are twice as fast and more. */
static const double ABOVE_ARITHMETIC = 1.1;

static void head(struct plot *plot, const struct roofline *roof)
{
    const char *operation = plot->request->operation;
    int cases = roof->rows[0] + roof->rows[1];
    plot_title(plot, "roofline of %d case%s%s%s", cases, cases == 1 ? "" : "s",
               operation ? " of " : "", operation ? operation : "");
    if (roof->left_out)
        plot_note(plot, "; ", "cases without declared work, left out: %d", roof->left_out);
    int above = 0;
    for (int i = 0; i < plot->count; i++)
        above += view_arithmetic(plot->row[i]->ceiling) >= 0 &&
                 plot->row[i]->ceiling_fraction > ABOVE_ARITHMETIC;
    if (above) plot_note(plot, "; ", "above what one device was measured to compute: %d", above);
    plot_size(plot, WIDE, HIGH, 36);
    plot_setting_number(plot, "key_chars", plot->chars + 7);
    plot_setting_number(plot, "rows", roof->rows[0]);
    plot_setting_number(plot, "moving", roof->rows[1]);
    for (int p = 0; p < 2; p++) {
        const struct plot_extent *extent = &roof->extent[p];
        plot_setting_number(plot, p ? "moving_left" : "left", extent->left);
        plot_setting_number(plot, p ? "moving_right" : "right", extent->right);
        plot_setting_number(plot, p ? "moving_low" : "low", extent->low);
        plot_setting_number(plot, p ? "moving_top" : "top", extent->top);
    }
}

enum plot_outcome plot_roofline(struct plot *plot)
{
    struct roofline roof = {.extent = {PLOT_NO_EXTENT, PLOT_NO_EXTENT}, .least_bytes = INFINITY};
    const struct stored_run *against = plot->request->against;
    if (against && view_make(&plot->older, against)) return PLOT_FAILED;
    if (choose(plot, &roof)) return PLOT_FAILED;
    if (!plot->count) return plot_nothing(plot, "no case with a time counts its work");
    if (roof_find(plot)) return PLOT_FAILED;
    families_write(plot, &roof);
    roof_write(plot, roof.extent);
    head(plot, &roof);
    for (int i = 0; i < plot->count; i++)
        point_write(plot, &roof, plot->row[i]);
    plot_block_end(plot);
    arrows_write(plot);
    return PLOT_DRAWN;
}
