/* plot_pipeline.c - the data of plots/pipeline.gp. For cases with spans: when the stages of
 * their first batches ran, one line per stream. For others: the sums of the stages laid end
 * to end, with the time of a launch below them. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "plot/plot_data.h"
#include "plot/plot_rows.h"

/* Metrics that are stages, in the order of a batch; the name of a span lacks the "_ns". */
static const char *const stages[] = {"alloc_ns", "h2d_ns", "compute_ns", "d2h_ns"};
enum { STAGES = 4, THE_BATCH = STAGES, MOST_LINES = 40 };

struct batch {
    const struct view_row *row;
    double stage[STAGES]; /* ns; 0 if the case has no such stage */
    double sum, longest;
    int lanes; /* lines in the picture: 1 without spans */
};

static const struct samples *samples_of(const struct batch *batch)
{
    return &batch->row->stored->result.samples;
}

static int stage_of_span(const struct stage_span *span)
{
    size_t length = strlen(span->name);
    for (int s = 0; s < STAGES; s++)
        if (strncmp(stages[s], span->name, length) == 0 && strcmp(stages[s] + length, "_ns") == 0)
            return s;
    return -1;
}

static int count_lanes(const struct samples *samples)
{
    int lanes = 0;
    for (int i = 0; i < samples->span_count; i++)
        if (samples->span[i].lane >= lanes) lanes = samples->span[i].lane + 1;
    return lanes;
}

static bool batch_make(struct batch *batch, const struct view_row *row, bool spans)
{
    bool any = false;
    *batch = (struct batch){.row = row, .lanes = 1};
    for (int s = 0; s < STAGES; s++)
        for (int i = 0; i < row->result.metric_count; i++) {
            const struct metric *metric = &row->result.metrics[i];
            if (strcmp(metric->name, stages[s]) != 0 || !(metric->value >= 0)) continue;
            batch->stage[s] = metric->value;
            batch->sum += metric->value;
            batch->longest = fmax(batch->longest, metric->value);
            any = true;
        }
    if (spans) batch->lanes = count_lanes(samples_of(batch));
    return spans ? batch->lanes > 0 : any && batch->sum > 0;
}

/* "1.23 ms, 64 % of the possible overlap". Stages are timed separately, so their sum may also be
 * less than the time of the launch. */
static void figures(const struct batch *batch, char *out, size_t size)
{
    char time[UNITS_MAX], share[UNITS_MAX];
    double saved = batch->sum - batch->row->result.time_ns, most = batch->sum - batch->longest;
    units_time(time, batch->row->result.time_ns);
    if (saved > 0 && most > 0) {
        units_percent(share, fmin(saved / most, 1));
        snprintf(out, size, "%s, %s of the possible overlap", time, share);
    } else {
        snprintf(out, size, "%s, no overlap", time);
    }
}

static void write_box(FILE *out, const struct plot_scale *scale, int stage, double begin_ns,
                      double end_ns, double line, double below)
{
    fprintf(out, "%d\t%.9g\t%.9g\t%.9g\t%.9g\n", stage, begin_ns / scale->factor,
            end_ns / scale->factor, line, below);
}

/* The last end of a batch's boxes. */
static double end_of(const struct batch *batch, bool spans)
{
    const struct samples *samples = samples_of(batch);
    double end = spans ? 0 : fmax(batch->sum, batch->row->result.time_ns);
    for (int i = 0; spans && i < samples->span_count; i++)
        end = fmax(end, samples->span[i].end_ns);
    return end;
}

static void write_spans(FILE *out, const struct plot_scale *scale, const struct batch *batch,
                        int line)
{
    const struct samples *samples = samples_of(batch);
    for (int i = 0; i < samples->span_count; i++) {
        const struct stage_span *span = &samples->span[i];
        int stage = stage_of_span(span);
        if (stage < 0) continue;
        write_box(out, scale, stage, span->begin_ns, span->end_ns, line + span->lane - 0.4,
                  line + span->lane + 0.4);
    }
}

static void write_sums(FILE *out, const struct plot_scale *scale, const struct batch *batch,
                       int line)
{
    double from = 0;
    for (int s = 0; s < STAGES; s++) {
        write_box(out, scale, s, from, from + batch->stage[s], line - 0.36, line + 0.08);
        from += batch->stage[s];
    }
    write_box(out, scale, THE_BATCH, 0, batch->row->result.time_ns, line + 0.1, line + 0.32);
}

/* The labels of a batch, at its first lane. */
static void write_lines(FILE *out, const struct plot_scale *scale, const struct plot_common *common,
                        const struct batch *batch, int line, bool spans)
{
    char name[PLOT_MAX_NAME], text[PLOT_MAX_COMMON];
    plot_common_rest(common, &batch->row->result.id, name);
    figures(batch, text, sizeof text);
    plot_text(out, name);
    fprintf(out, "\t%d\t%.9g\t", line, spans ? NAN : batch->longest / scale->factor);
    plot_text(out, text);
    fputc('\n', out);
}

static void write_pipeline(FILE *out, const struct view *view, const struct batch *batch, int count,
                           int more, bool spans)
{
    struct plot_common common = {0};
    char name[PLOT_MAX_NAME], text[PLOT_MAX_COMMON], title[PLOT_MAX_COMMON + 64], note[96] = "";
    int chars = 0, right_chars = 0, lines = 0, line = 0;
    double longest = 0;
    for (int i = 0; i < count; i++)
        plot_common_add(&common, &batch[i].row->result.id);
    for (int i = 0; i < count; i++) {
        plot_common_rest(&common, &batch[i].row->result.id, name);
        figures(&batch[i], text, sizeof text);
        longest = fmax(longest, end_of(&batch[i], spans));
        lines += batch[i].lanes;
        if (plot_width(name) > chars) chars = plot_width(name);
        if (plot_width(text) > right_chars) right_chars = plot_width(text);
    }
    const struct plot_scale *scale = plot_time(longest);
    plot_common_text(&common, text);
    snprintf(title, sizeof title, "%s  (%s)",
             spans ? "when the stages of the first batches ran" : "stages of a batch", text);
    if (more) snprintf(note, sizeof note, "%d more are not drawn (--case, --only choose)", more);
    plot_head(out, view->run, title, note);
    plot_size_rows(out, lines + 5, chars);
    plot_setting(out, "unit", scale->name);
    plot_setting_number(out, "chars", chars);
    plot_setting_number(out, "right_chars", right_chars);
    plot_setting_number(out, "top", 1.03 * longest / scale->factor);
    plot_setting_number(out, "spans", spans);
    plot_setting_number(out, "lines_drawn", lines);
    plot_block_end(out);
    for (int i = 0; i < count; line += batch[i++].lanes)
        write_lines(out, scale, &common, &batch[i], line, spans);
    plot_block_end(out);
    line = 0;
    for (int i = 0; i < count; line += batch[i++].lanes)
        (spans ? write_spans : write_sums)(out, scale, &batch[i], line);
}

static bool any_spans(const struct plot_request *request, const struct view *view)
{
    for (int i = 0; i < view->count; i++)
        if (plot_row_taken(request, &view->rows[i]) &&
            view->rows[i].stored->result.samples.span_count > 0)
            return true;
    return false;
}

enum plot_outcome plot_pipeline(FILE *out, const struct plot_request *request)
{
    struct view view;
    struct batch batch[MOST_LINES], next;
    int count = 0, more = 0, lines = 0;
    if (view_make(&view, request->run)) return PLOT_FAILED;
    bool spans = any_spans(request, &view);
    for (int i = 0; i < view.count; i++) {
        if (!plot_row_taken(request, &view.rows[i]) || !batch_make(&next, &view.rows[i], spans))
            continue;
        if (lines + next.lanes > MOST_LINES) {
            more++;
            continue;
        }
        batch[count++] = next;
        lines += next.lanes;
    }
    if (count) write_pipeline(out, &view, batch, count, more, spans);
    view_release(&view);
    if (!count)
        return plot_nothing(request, "no ok case has stages (metrics h2d_ns, compute_ns, d2h_ns)");
    return PLOT_DRAWN;
}
