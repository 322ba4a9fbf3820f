/* plot_pipeline.c - the data of plots/pipeline.gp. For cases with spans: when the stages of
 * some batches ran, one line per stream. For others: the sums of the stages laid end
 * to end, with the time of a launch below them. */
#include <string.h>

#include "base/stats.h"
#include "plot/plot_data.h"

/* Metrics that are stages, in the order of a batch; the name of a span lacks the "_ns". */
static const char *const stages[] = {"alloc_ns", "h2d_ns", "compute_ns", "d2h_ns"};
enum { STAGES = 4, THE_BATCH = STAGES, MOST_LINES = 40 };

struct batch {
    const struct view_row *row;
    double stage[STAGES]; /* ns; 0 if the case has no such stage */
    double sum, longest;
    int lanes; /* lines in the picture: 1 without spans */
    /* With spans: the batch, from 0, with which the drawn piece begins, when it does, how long the
     * streams take for a batch each, and what is stored from there on. */
    int from;
    double from_ns, round_ns, rest_ns;
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
static void figures(const struct batch *batch, bool cut, char *out, size_t size)
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
    if (cut) text_add(out, size, "; ", "from batch %d", batch->from + 1);
}

static double last_end(const struct samples *samples)
{
    double end = 0;
    for (int i = 0; i < samples->span_count; i++)
        end = fmax(end, samples->span[i].end_ns);
    return end;
}

/* When the batches began, ascending: the beginnings of the earliest of the stages, and in how many
 * streams. Returns how many; -1 with assay_error. */
static int batches_of(struct plot *plot, const struct samples *samples, double **begin,
                      int *streams)
{
    int first = STAGES, count = 0;
    uint64_t lanes = 0; /* bits */
    *begin = plot_alloc(plot, samples->span_count, sizeof **begin);
    if (!*begin) return -1;
    for (int i = 0; i < samples->span_count; i++) {
        int stage = stage_of_span(&samples->span[i]);
        if (stage >= 0 && stage < first) first = stage;
    }
    for (int i = 0; i < samples->span_count; i++)
        if (stage_of_span(&samples->span[i]) == first) {
            (*begin)[count++] = samples->span[i].begin_ns;
            lanes |= 1ull << (samples->span[i].lane & 63);
        }
    stats_sort(*begin, count);
    *streams = __builtin_popcountll(lanes);
    return count;
}

/* Find the piece that repeats. It begins behind as many batches as there are lines, which fill the
 * pipeline, and a round is a batch in each stream. A case of few batches is drawn whole. */
static int piece_find(struct plot *plot, struct batch *batch)
{
    double *begin, end = last_end(samples_of(batch));
    int streams, count = batches_of(plot, samples_of(batch), &begin, &streams);
    if (count < 0) return -1;
    batch->from = count <= 2 * batch->lanes ? 0 : batch->lanes;
    int next = batch->from + streams;
    batch->from_ns = batch->from > 0 ? begin[batch->from] : 0;
    batch->round_ns = (batch->from > 0 && next < count ? begin[next] : end) - batch->from_ns;
    batch->rest_ns = end - batch->from_ns;
    return 0;
}

/* The length of what is drawn: as much as every case has, and a round of each. */
static double length_of(const struct batch *batch, int count, bool spans)
{
    double least = INFINITY, round = 0;
    for (int i = 0; i < count; i++) {
        round = fmax(round,
                     spans ? batch[i].round_ns : fmax(batch[i].sum, batch[i].row->result.time_ns));
        least = fmin(least, spans ? batch[i].rest_ns : 0);
    }
    return fmax(round, least);
}

static void write_box(struct plot *plot, double factor, int stage, double begin_ns, double end_ns,
                      double line, double below)
{
    fprintf(plot->out, "%d\t%.9g\t%.9g\t%.9g\t%.9g\n", stage, begin_ns / factor, end_ns / factor,
            line, below);
}

static void write_spans(struct plot *plot, double factor, const struct batch *batch, int line,
                        double length)
{
    const struct samples *samples = samples_of(batch);
    for (int i = 0; i < samples->span_count; i++) {
        const struct stage_span *span = &samples->span[i];
        int stage = stage_of_span(span), lane = line + span->lane;
        double begin = fmax(span->begin_ns - batch->from_ns, 0);
        double end = fmin(span->end_ns - batch->from_ns, length);
        if (stage >= 0 && begin < end)
            write_box(plot, factor, stage, begin, end, lane - 0.4, lane + 0.4);
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

static void write_labels(struct plot *plot, double factor, const struct batch *batch, int line,
                         bool spans, bool cut)
{
    char name[PLOT_MAX_NAME], text[128];
    plot_common_rest(&plot->common, &batch->row->result.id, name);
    figures(batch, cut, text, sizeof text);
    plot_line(plot, name, text, "%d\t%.9g", line, spans ? NAN : batch->longest / factor);
}

static void write_pipeline(struct plot *plot, const struct batch *batch, int count, int lines,
                           bool spans)
{
    int line = 0;
    bool cut = false;
    double length = length_of(batch, count, spans);
    const struct plot_scale *scale = plot_scale(PLOT_TIME, length);
    for (int i = 0; i < count; i++) {
        plot_common_add(&plot->common, &batch[i].row->result.id);
        cut |= spans && batch[i].from > 0;
    }
    for (int i = 0; i < count; line += batch[i++].lanes)
        write_labels(plot, scale->factor, &batch[i], line, spans, cut);
    plot_block_end(plot);
    line = 0;
    for (int i = 0; i < count; line += batch[i++].lanes)
        if (spans)
            write_spans(plot, scale->factor, &batch[i], line, length);
        else
            write_sums(plot, scale->factor, &batch[i], line);
    plot_title(plot, spans ? "when the stages of batches ran" : "stages of a batch");
    if (cut)
        plot_note(plot, "",
                  "a piece that repeats, behind the batches that fill the pipeline: each case "
                  "from the batch named beside it");
    plot_size_rows(plot, lines + 5);
    plot_setting(plot, "unit", scale->name);
    plot_setting_number(plot, "top", (cut ? 1 : 1.03) * length / scale->factor);
    plot_setting_number(plot, "spans", spans);
    plot_setting_number(plot, "cut", cut);
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
        if (spans && piece_find(plot, &next)) return PLOT_FAILED;
        batch[count++] = next;
        lines += next.lanes;
    }
    if (!count)
        return plot_nothing(plot,
                            "no case with a time has stages (metrics h2d_ns, compute_ns, d2h_ns)");
    write_pipeline(plot, batch, count, lines, spans);
    if (more) plot_note(plot, "; ", "%d more are not drawn (--filter, --only choose)", more);
    return PLOT_DRAWN;
}
