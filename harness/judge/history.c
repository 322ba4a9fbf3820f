/* history.c - splits the series of a history by device and finds their changes. */
#include "judge/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/stats.h"
#include "base/text.h"
#include "judge/change_point.h"
#include "judge/comparison.h"
#include "judge/timings.h"

/* ------------------------------------------------------------ settings -- */

static bool same_parts(const struct comparability *a, const struct comparability *b,
                       enum comparability_part from, enum comparability_part to)
{
    for (int i = from; i <= (int)to; i++)
        if (strcmp(a->part[i], b->part[i]) != 0) return false;
    return true;
}

int history_setting_index(struct history *history, const struct device_info *device)
{
    int count = history->setting_count;
    struct history_setting setting = {.device = count, .facts = *device};
    comparability_of(device, &setting.parts);
    for (int i = count - 1; i >= 0; i--) {
        const struct history_setting *other = &history->settings[i];
        if (!same_parts(&other->parts, &setting.parts, PART_SIMULATED, PART_UUID)) continue;
        if (same_parts(&other->parts, &setting.parts, PART_FIRMWARE, PART_FLUSH)) return i;
        setting.device = other->device;
    }
    return grow_keep(&history->settings, &history->setting_count, &setting, sizeof setting,
                     "the history") == 0
               ? count
               : -1;
}

static int device_of(const struct history *history, const struct history_point *point)
{
    return history->settings[point->setting].device;
}

/* -------------------------------------------------------------- causes -- */

bool history_is_cause(const struct history_change *change, enum comparability_part part)
{
    return change->causes >> part & 1;
}

const char *history_part_at(const struct history *history, const struct history_series *series,
                            int at, enum comparability_part part)
{
    return history->settings[series->points[at].setting].parts.part[part];
}

const char *history_part_before(const struct history *history, const struct history_series *series,
                                int at, enum comparability_part part)
{
    int device = device_of(history, &series->points[at - 1]);
    for (int i = at - 1; i >= 0 && device_of(history, &series->points[i]) == device; i--) {
        const char *value = history_part_at(history, series, i, part);
        if (value[0]) return value;
    }
    return "";
}

/* With another device, the other parts are not reported. */
static unsigned causes_at(const struct history *history, const struct history_series *series,
                          int at)
{
    const struct history_point *point = &series->points[at];
    unsigned causes = 0;
    if (point[-1].setting == point->setting) return 0;
    if (device_of(history, &point[-1]) != device_of(history, point)) return 1u << PART_NAME;
    for (int part = PART_FIRMWARE; part < COMPARABILITY_PARTS; part++) {
        const char *here = history_part_at(history, series, at, part);
        if (!here[0]) continue;
        const char *before = history_part_before(history, series, at, part);
        if (before[0] && strcmp(before, here) != 0) causes |= 1u << part;
    }
    return causes;
}

void history_border_text(const struct history *history, const struct history_series *series,
                         const struct history_change *change, char *out, size_t size)
{
    out[0] = '\0';
    for (int part = 0; part < COMPARABILITY_PARTS; part++) {
        if (!history_is_cause(change, part)) continue;
        const char *from = history_part_before(history, series, change->at, part);
        const char *to = history_part_at(history, series, change->at, part);
        const char *name = comparability_part_name(part);
        if (strcmp(from, to) != 0)
            text_add(out, size, ", ", "%s %s -> %s", name, from[0] ? from : "?", to[0] ? to : "?");
        else /* the name is the same, the card is not */
            text_add(out, size, ", ", "another %s", name);
    }
}

/* ------------------------------------------------------------- devices -- */

/* Whether a device returns after another one was in use. */
static bool devices_take_turns(const struct history *history, const struct history_series *series)
{
    for (int i = 1; i < series->point_count; i++) {
        int device = device_of(history, &series->points[i]);
        if (device == device_of(history, &series->points[i - 1])) continue;
        for (int j = 0; j < i - 1; j++)
            if (device_of(history, &series->points[j]) == device) return true;
    }
    return false;
}

static struct history_series *series_add(struct history *history, const struct case_id *id)
{
    struct history_series *series =
        grow_add(&history->series, &history->series_count, sizeof *series, "the history");
    if (series) series->id = *id;
    return series;
}

static int add_device(struct history *split, const struct history *history,
                      const struct history_series *from, int device)
{
    struct history_series *series = NULL;
    for (int i = 0; i < from->point_count; i++) {
        if (device_of(history, &from->points[i]) != device) continue;
        if (!series) {
            series = series_add(split, &from->id);
            if (!series) return -1;
            series->points = calloc((size_t)from->point_count, sizeof *series->points);
            if (!series->points) return assay_error("out of memory for the history");
        }
        series->points[series->point_count++] = from->points[i];
    }
    return 0;
}

static void series_release(struct history_series *series)
{
    free(series->points);
    free(series->changes);
}

/* Split the series whose devices alternate. `failed` is not known per device, so the first
 * series gets it. */
static int split_devices(struct history *history)
{
    struct history split = {0};
    int status = 0;
    for (int i = 0; status == 0 && i < history->series_count; i++) {
        struct history_series *series = &history->series[i];
        int first = split.series_count;
        if (!devices_take_turns(history, series)) {
            struct history_series *kept = series_add(&split, &series->id);
            if (!kept) status = -1;
            if (!kept) continue;
            *kept = *series;
            *series = (struct history_series){0};
            continue;
        }
        for (int s = 0; status == 0 && s < history->setting_count; s++)
            if (history->settings[s].device == s) status = add_device(&split, history, series, s);
        if (split.series_count > first) split.series[first].failed = series->failed;
    }
    for (int i = 0; i < history->series_count; i++)
        series_release(&history->series[i]);
    free(history->series);
    history->series = split.series;
    history->series_count = split.series_count;
    return status;
}

/* ------------------------------------------------------------- changes -- */

static double level(const struct history_series *series, int from, int to, double *scratch)
{
    for (int i = from; i < to; i++)
        scratch[i - from] = series->points[i].time_ns;
    return stats_median(scratch, to - from);
}

static void add_levels(struct history_series *series, double *scratch)
{
    int from = 0;
    for (int i = 0; i < series->change_count; i++) {
        struct history_change *change = &series->changes[i];
        int to = i + 1 < series->change_count ? change[1].at : series->point_count;
        change->before_ns = level(series, from, change->at, scratch);
        change->after_ns = level(series, change->at, to, scratch);
        from = change->at;
    }
}

static int merge_changes(struct history_series *series, const unsigned *causes, const int *at,
                         int count)
{
    series->changes = calloc((size_t)series->point_count + 1, sizeof *series->changes);
    if (!series->changes) return assay_error("out of memory for the history");
    for (int i = 1, next = 0; i < series->point_count; i++) {
        bool changed = next < count && at[next] == i;
        if (!changed && !causes[i]) continue;
        series->changes[series->change_count++] =
            (struct history_change){.at = i, .causes = causes[i]};
        next += changed;
    }
    return 0;
}

/* On logarithms, so that a ratio is a distance. */
static int find_changes(const struct history *history, struct history_series *series)
{
    size_t count = (size_t)series->point_count + 1;
    double *values = calloc(count, sizeof *values);
    int *segment = calloc(count, sizeof *segment), *at = calloc(count, sizeof *at);
    unsigned *causes = calloc(count, sizeof *causes);
    int status = values && segment && at && causes ? 0 : -1;
    if (status != 0) assay_error("out of memory for the history");
    for (int i = 0; status == 0 && i < series->point_count; i++) {
        values[i] = log(series->points[i].time_ns);
        if (i == 0) continue;
        causes[i] = causes_at(history, series, i);
        segment[i] = segment[i - 1] + (causes[i] != 0);
    }
    if (status == 0) {
        int changes = change_points(values, segment, series->point_count, at);
        status = merge_changes(series, causes, at, changes);
    }
    if (status == 0) add_levels(series, values);
    free(values);
    free(segment);
    free(at);
    free(causes);
    return status;
}

static void keep_last(struct history_series *series, int last)
{
    int dropped = series->point_count - last;
    if (last <= 0 || dropped <= 0) return;
    memmove(series->points, series->points + dropped, (size_t)last * sizeof *series->points);
    series->point_count = last;
}

int history_analyse(struct history *history, int last)
{
    if (split_devices(history) != 0) return -1;
    for (int i = 0; i < history->series_count; i++) {
        keep_last(&history->series[i], last);
        if (find_changes(history, &history->series[i]) != 0) return -1;
    }
    return 0;
}

void history_release(struct history *history)
{
    for (int i = 0; i < history->series_count; i++)
        series_release(&history->series[i]);
    free(history->series);
    free(history->settings);
    free(history->runs);
    free(history->acks);
    *history = (struct history){0};
}

double history_fence(const struct history_series *series, int setting)
{
    double change[FENCE_MOST_CHANGES], newer = NAN;
    int count = 0;
    for (int i = series->point_count - 1; i >= 0 && count < FENCE_MOST_CHANGES; i--) {
        if (series->points[i].setting != setting) continue;
        double here = log(series->points[i].time_ns);
        if (!isnan(newer)) change[count++] = fabs(newer - here);
        newer = here;
    }
    if (count < FENCE_LEAST_CHANGES) return NAN;
    stats_sort(change, count);
    double q1 = stats_quantile_sorted(change, count, 0.25);
    double q3 = stats_quantile_sorted(change, count, 0.75);
    return expm1((q3 + 3 * (q3 - q1)) * (1 + (double)FENCE_LEAST_CHANGES / count));
}

double history_case_fence(const struct history *history, const struct case_id *id, int setting)
{
    for (int i = 0; i < history->series_count; i++)
        if (case_id_order(&history->series[i].id, id) == 0)
            return history_fence(&history->series[i], setting);
    return NAN;
}
