/* plot_pipeline.c - the data of plots/pipeline.gp. For cases with spans: when the stages of
 * their first batches ran, one line per stream. For others: the sums of the stages laid end
 * to end, with the time of a launch below them. */
#include <string.h>

#include "plot/plot_data.h"

/* Metrics that are stages, in the order of a batch; the name of a span lacks the "_ns". */
static const char *const stages[] = {"alloc_ns", "h2d_ns", "compute_ns", "d2h_ns"};
enum { STAGES = 4, THE_BATCH = STAGES, MOST_LINES = 40 };

/* Spans of a case that fix the end of the axis: about four batches, which show how the stages lie.
 * Hundreds of boxes in a line would show nothing. */
enum { SPANS_SHOWN = 12 };

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

/* Whether it has something to draw: spans, or else a sum of stages. */
static bool batch_make(struct batch *batch, const struct view_row *row, bool spans)
{
    *batch = (struct batch){.row = row, .lanes = spans ? 0 : 1};
    for (int s = 0; s < STAGES; s++) {
        double ns = view_metric(&row->result, stages[s]);
        if (!(ns >= 0)) continue;
        batch->stage[s] = ns;
        batch->sum += ns;
        batch->longest = fmax(batch->longest, ns);
    }
    const struct samples *samples = samples_of(batch);
    for (int i = 0; spans && i < samples->span_count; i++)
        if (samples->span[i].lane >= batch->lanes) batch->lanes = samples->span[i].lane + 1;
    return spans ? batch->lanes > 0 : batch->sum > 0;
}

/* "1.23 ms, 64 % of the possible overlap". Stages are timed separately, so their sum may also be
 * less than the time of the launch. */
static void figures(const struct batch *batch, char *out, size_t size)
{
    char time[UNITS_MAX], share[UNITS_MAX];
    double saved = batch->sum - batch->row->result.time_ns, most = batch->sum - batch->longest;
    units_time(time, batch->row->result.time_ns);
    if (saved > 0 && most > 0) {
        snprintf(out, size, "%s, %s of the possible overlap", time,
                 units_percent(share, fmin(saved / most, 1)));
    } else {
        snprintf(out, size, "%s, no overlap", time);
    }
}

/* When the first spans of a case had ended. */
static double shown_of(const struct samples *samples)
{
    double end = 0;
    for (int shown = 0; shown < SPANS_SHOWN; shown++) {
        double next = INFINITY;
        for (int i = 0; i < samples->span_count; i++)
            if (samples->span[i].end_ns > end) next = fmin(next, samples->span[i].end_ns);
        if (!isfinite(next)) break;
        end = next;
    }
    return end;
}

/* When the last span of a case that is stored ended. */
static double last_of(const struct batch *batch)
{
    double end = 0;
    for (int i = 0; i < samples_of(batch)->span_count; i++)
        end = fmax(end, samples_of(batch)->span[i].end_ns);
    return end;
}

/* The end of what is drawn of a batch. */
static double end_of(const struct batch *batch, bool spans)
{
    return spans ? shown_of(samples_of(batch)) : fmax(batch->sum, batch->row->result.time_ns);
}

static void write_box(struct plot *plot, double factor, int stage, double begin_ns, double end_ns,
                      double line, double below)
{
    fprintf(plot->out, "%d\t%.9g\t%.9g\t%.9g\t%.9g\n", stage, begin_ns / factor, end_ns / factor,
            line, below);
}

static void write_spans(struct plot *plot, double factor, const struct batch *batch, int line)
{
    const struct samples *samples = samples_of(batch);
    for (int i = 0; i < samples->span_count; i++) {
        const struct stage_span *span = &samples->span[i];
        int stage = stage_of_span(span), lane = line + span->lane;
        if (stage >= 0)
            write_box(plot, factor, stage, span->begin_ns, span->end_ns, lane - 0.4, lane + 0.4);
    }
}

static void write_sums(struct plot *plot, double factor, const struct batch *batch, int line)
{
    double from = 0;
    for (int s = 0; s < STAGES; s++) {
        write_box(plot, factor, s, from, from + batch->stage[s], line - 0.36, line + 0.08);
        from += batch->stage[s];
    }
    write_box(plot, factor, THE_BATCH, 0, batch->row->result.time_ns, line + 0.1, line + 0.32);
}

/* The labels of a batch, at its first lane. */
static void write_labels(struct plot *plot, double factor, const struct batch *batch, int line,
                         bool spans)
{
    char name[PLOT_MAX_NAME], text[128];
    plot_common_rest(&plot->common, &batch->row->result.id, name);
    figures(batch, text, sizeof text);
    plot_line(plot, name, text, "%d\t%.9g", line, spans ? NAN : batch->longest / factor);
}

static void write_pipeline(struct plot *plot, const struct batch *batch, int count, int lines,
                           bool spans)
{
    char from[UNITS_MAX], to[UNITS_MAX];
    int line = 0;
    double longest = 0, last = 0;
    for (int i = 0; i < count; i++) {
        plot_common_add(&plot->common, &batch[i].row->result.id);
        longest = fmax(longest, end_of(&batch[i], spans));
        last = fmax(last, spans ? last_of(&batch[i]) : 0);
    }
    const struct plot_scale *scale = plot_scale(PLOT_TIME, longest);
    for (int i = 0; i < count; line += batch[i++].lanes)
        write_labels(plot, scale->factor, &batch[i], line, spans);
    plot_block_end(plot);
    line = 0;
    for (int i = 0; i < count; line += batch[i++].lanes)
        (spans ? write_spans : write_sums)(plot, scale->factor, &batch[i], line);
    plot_title(plot, spans ? "when the stages of the first batches ran" : "stages of a batch");
    if (last > 1.03 * longest)
        plot_note(plot, "", "the first %s of %s", units_time(from, longest), units_time(to, last));
    plot_size_rows(plot, lines + 5);
    plot_setting(plot, "unit", scale->name);
    plot_setting_number(plot, "top", 1.03 * longest / scale->factor);
    plot_setting_number(plot, "spans", spans);
    plot_setting_number(plot, "lines_drawn", lines);
}

enum plot_outcome plot_pipeline(struct plot *plot)
{
    struct batch batch[MOST_LINES], next;
    int count = 0, more = 0, lines = 0;
    bool spans = false;
    for (int i = 0; i < plot->count; i++)
        spans |= plot->row[i]->stored->result.samples.span_count > 0;
    for (int i = 0; i < plot->count; i++) {
        if (!batch_make(&next, plot->row[i], spans)) continue;
        if (lines + next.lanes > MOST_LINES) {
            more++;
            continue;
        }
        batch[count++] = next;
        lines += next.lanes;
    }
    if (!count)
        return plot_nothing(plot, "no ok case has stages (metrics h2d_ns, compute_ns, d2h_ns)");
    write_pipeline(plot, batch, count, lines, spans);
    if (more) plot_note(plot, "; ", "%d more are not drawn (--case, --only choose)", more);
    return PLOT_DRAWN;
}
