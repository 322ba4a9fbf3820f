/* plot_pipeline.c - the data of plots/pipeline.gp: the stages of a batch laid end to
 * end, and the time that the batch took. What is saved is what ran side by side. */
#include <math.h>
#include <string.h>

#include "plot_data.h"
#include "plot_rows.h"
#include "units.h"

/* Metrics that are stages, in the order of a batch. */
static const char *const stages[] = {"alloc_ns", "h2d_ns", "compute_ns", "d2h_ns"};
enum { STAGES = 4, MOST_BATCHES = 40 };

struct batch {
    const struct view_row *row;
    double stage[STAGES]; /* ns; 0 where the case has no such stage */
    double sum, longest;
};

static bool batch_make(struct batch *batch, const struct view_row *row)
{
    bool any = false;
    *batch = (struct batch){.row = row};
    for (int s = 0; s < STAGES; s++)
        for (int i = 0; i < row->result.metric_count; i++) {
            const struct metric *metric = &row->result.metrics[i];
            if (strcmp(metric->name, stages[s]) != 0 || !(metric->value >= 0)) continue;
            batch->stage[s] = metric->value;
            batch->sum += metric->value;
            batch->longest = fmax(batch->longest, metric->value);
            any = true;
        }
    return any && batch->sum > 0;
}

/* "1.23 ms, 64 % of the overlap there could be". Stages are timed by themselves, so
 * that their sum may also be less than the batch. */
static void figures(const struct batch *batch, char *out, size_t size)
{
    char time[UNITS_MAX], share[UNITS_MAX];
    double saved = batch->sum - batch->row->result.time_ns, most = batch->sum - batch->longest;
    units_time(time, batch->row->result.time_ns);
    if (saved > 0 && most > 0) {
        units_percent(share, saved / most);
        snprintf(out, size, "%s, overlap %s of the possible", time, share);
    } else {
        snprintf(out, size, "%s, no overlap", time);
    }
}

static void write_pipeline(FILE *out, const struct view *view, const struct batch *batch, int count,
                           int more)
{
    struct plot_common common = {0};
    char name[PLOT_MAX_NAME], text[PLOT_MAX_COMMON], title[PLOT_MAX_COMMON + 64], note[96] = "";
    int chars = 0, right_chars = 0;
    double longest = 0;
    for (int i = 0; i < count; i++)
        plot_common_add(&common, &batch[i].row->result.id);
    for (int i = 0; i < count; i++) {
        plot_common_rest(&common, &batch[i].row->result.id, name);
        figures(&batch[i], text, sizeof text);
        longest = fmax(longest, fmax(batch[i].sum, batch[i].row->result.time_ns));
        if (plot_width(name) > chars) chars = plot_width(name);
        if (plot_width(text) > right_chars) right_chars = plot_width(text);
    }
    const struct plot_scale *scale = plot_time(longest);
    plot_common_text(&common, text);
    snprintf(title, sizeof title, "stages of a batch  (%s)", text);
    if (more) snprintf(note, sizeof note, "%d more are not drawn (--case, --only choose)", more);
    plot_head(out, view->run, title, note);
    plot_size_rows(out, count + 5, chars);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "right_chars", right_chars);
    plot_setting_number(out, "top", 1.03 * longest / scale->factor);
    plot_block_end(out);
    for (int i = 0; i < count; i++) {
        plot_common_rest(&common, &batch[i].row->result.id, name);
        figures(&batch[i], text, sizeof text);
        plot_text(out, name);
        for (int s = 0; s < STAGES; s++)
            fprintf(out, "\t%.9g", batch[i].stage[s] / scale->factor);
        fprintf(out, "\t%.9g\t%.9g\t", batch[i].row->result.time_ns / scale->factor,
                batch[i].longest / scale->factor);
        plot_text(out, text);
        fputc('\n', out);
    }
}

enum plot_outcome plot_pipeline(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct batch batch[MOST_BATCHES], next;
    int count = 0, more = 0;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    for (int i = 0; i < view.count; i++) {
        if (!plot_row_taken(request, &view.rows[i]) || !batch_make(&next, &view.rows[i])) continue;
        if (count < MOST_BATCHES)
            batch[count++] = next;
        else
            more++;
    }
    if (count) write_pipeline(out, &view, batch, count, more);
    view_release(&view);
    if (!count)
        return plot_nothing(request, "no ok case has stages (metrics h2d_ns, compute_ns, d2h_ns)");
    return PLOT_DRAWN;
}
