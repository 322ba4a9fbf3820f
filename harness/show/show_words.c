/* show_words.c - the texts of a row. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "show/show.h"

/* Above the measured ceiling by more than the repeatability of that measurement. */
static const double ABOVE_CEILING = 1.05;

/* The mark of a kind, before all others. */
static const char kind_marks[] = {[ASSAY_BASELINE] = '*', [ASSAY_BOUND] = '='};

const struct show_mark show_marks[] = {
    {'*', "a baseline; speed-up is against the group's \"base\""},
    {'=', "a bound (a copy, say); speed-up is against \"bound\" where there is no \"base\""},
    {'u', "unchecked: nothing says whether its answer is right"},
    {'!', "above the ceiling: data from a cache, a wrong count, or another arithmetic"},
    {'e', "timed by an event pair less its floor: recording its kernels stretches their span"},
    {'h', "timed by the host's clock, from the call to the completed synchronisation"},
    {'m', "measured in some launches only"},
    {'r', "± is smallest to largest: the medians of 2, 3, 4, 5 launches hold the true one between "
          "them in 50, 75, 88, 94 % of runs"},
    {'~', "noisy: its interval is too wide to rely on, and no ceiling is taken from it"},
    {'?', "the share is not known: the ceiling was measured by a noisy case"},
    {'\0', NULL},
};

static const char memory[] = "memory_";

const char *show_ceiling_name(const char *name)
{
    size_t length = sizeof memory - 1;
    return strncmp(name, memory, length) ? name : name + length;
}

static void rate_text(char out[UNITS_MAX], double rate, bool is_ops, int arithmetic)
{
    if (is_ops)
        units_ops(out, rate, arithmetic == ASSAY_INT8_OPS);
    else
        units_rate(out, rate);
}

void show_ceiling_rate(char out[UNITS_MAX], const struct ceiling *ceiling)
{
    int arithmetic = view_arithmetic(ceiling->name);
    rate_text(out, ceiling->rate, arithmetic >= 0, arithmetic);
}

/* ------------------------------------------------------------------- text -- */

/* Bytes of the first `columns` columns of text. */
static size_t bytes_of(const char *text, int columns)
{
    size_t bytes = 0;
    while (columns-- > 0 && text[bytes])
        do
            bytes++;
        while (((unsigned char)text[bytes] & 0xc0) == 0x80);
    return bytes;
}

void show_fit(char *out, size_t size, const char *text, int columns)
{
    bool cut = text_width(text) > columns;
    int kept = cut ? (columns > 3 ? columns - 3 : 0) : columns;
    size_t bytes = bytes_of(text, kept);
    while (bytes > size - 4) { /* leave space for the dots */
        bytes = bytes_of(text, --kept);
        cut = true;
    }
    memcpy(out, text, bytes);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)out[i] < ' ') out[i] = ' ';
    strcpy(out + bytes, cut ? "..." + (columns < 3 ? 3 - columns : 0) : "");
}

/* ------------------------------------------------------------------- rows -- */

static void spread(char out[SHOW_CELL], const struct case_result *result)
{
    double half = interval_spread(result->time_ns, result->lo_ns, result->hi_ns);
    if (!isnan(half)) snprintf(out, SHOW_CELL, "±%.*f %%", half < 0.1 ? 2 : 0, 100 * half);
}

/* Three significant digits, and one more if the interval would round to a point. */
static int decimals(const struct interval *x)
{
    if (!(x->mid > 0)) return 2;
    int digits = 2 - (int)floor(log10(x->mid));
    if (digits < 0) return 0;
    if (x->hi - x->lo < 2 * pow(10, -digits)) digits++;
    return digits < 4 ? digits : 4;
}

void show_ratio(char *out, size_t size, const struct interval *x)
{
    int digits = decimals(x);
    if (isnan(x->mid))
        snprintf(out, size, "-");
    else if (isnan(x->lo) || isnan(x->hi))
        snprintf(out, size, "%.*fx", digits, x->mid);
    else
        snprintf(out, size, "%.*fx [%.*f, %.*f]", digits, x->mid, digits, x->lo, digits, x->hi);
}

static char kind_mark(int kind)
{
    return kind >= 0 && (size_t)kind < sizeof kind_marks ? kind_marks[kind] : '\0';
}

/* Marks of what was measured, which only a row with a time has. */
static void time_marks(char out[SHOW_MARKS], const struct view *view, const struct view_row *row)
{
    const struct stored_run *run = view->run;
    int clock = run->launch_count ? run->launches[0].device.clock : -1;
    int n = 0;
    out[0] = '\0';
    if (!status_has_time(row->result.status)) return;
    if (row->result.status == STATUS_UNCHECKED) out[n++] = 'u';
    if (row->ceiling_fraction > ABOVE_CEILING) out[n++] = '!';
    if (row->result.clock == CLOCK_EVENT && clock != CLOCK_EVENT) out[n++] = 'e';
    if (row->result.clock == CLOCK_HOST && clock != CLOCK_HOST) out[n++] = 'h';
    if (row->launches < stored_run_rounds(run)) out[n++] = 'm';
    if (stats_is_range(row->launches)) out[n++] = 'r';
    if (row->is_noisy) out[n++] = '~';
    if (row->ceiling[0] && isnan(row->ceiling_fraction)) out[n++] = '?';
    out[n] = '\0';
}

void show_marks_of(char out[SHOW_MARKS], const struct view *view, const struct view_row *row)
{
    const char mark[] = {kind_mark(row->result.id.kind), '\0'};
    time_marks(out, view, row);
    text_add(out, SHOW_MARKS, "", "%s", mark);
}

void show_words(struct show_words *words, const struct view *view, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    memset(words, 0, sizeof *words);
    const char mark[] = {kind_mark(result->id.kind), '\0'};
    snprintf(words->cell[CELL_VARIANT], SHOW_CELL, "%s%s%s", result->id.variant, mark[0] ? " " : "",
             mark);
    time_marks(words->cell[CELL_MARKS], view, row);
    if (!status_has_time(result->status)) return;

    units_time(words->cell[CELL_TIME], result->time_ns);
    spread(words->cell[CELL_SPREAD], result);
    rate_text(words->cell[CELL_RATE], row->rate, row->rate_is_ops, row->arithmetic);
    if (row->ceiling[0]) {
        units_percent(words->cell[CELL_SHARE], row->ceiling_fraction);
        strcpy(words->cell[CELL_CEILING], show_ceiling_name(row->ceiling));
    }
    if (row->baseline[0] && result->is_baseline)
        strcpy(words->cell[CELL_RATIO], result->id.kind == ASSAY_BOUND ? "bound" : "base");
    else if (row->baseline[0])
        show_ratio(words->cell[CELL_RATIO], SHOW_CELL, &row->speedup);
}

void show_marks_used(char out[SHOW_MARKS], const struct view *view)
{
    char all[SHOW_MARKS];
    out[0] = '\0';
    for (int i = 0; i < view->count; i++) {
        if (view->rows[i].is_hidden) continue;
        show_marks_of(all, view, &view->rows[i]);
        for (const char *mark = all; *mark; mark++)
            if (!strchr(out, *mark)) text_add(out, SHOW_MARKS, "", "%c", *mark);
    }
}

void show_counts(char *out, size_t size, const struct view *view)
{
    int seen[STATUSES] = {0};
    int missing = view->run->expected_count - view->run->case_count;
    for (int i = 0; i < view->count; i++)
        if (!view->rows[i].is_hidden) seen[view->rows[i].result.status]++;
    out[0] = '\0';
    for (int s = 0; s < STATUSES; s++)
        if (seen[s]) text_add(out, size, ", ", "%d %s", seen[s], status_name(s));
    if (missing > 0) text_add(out, size, ", ", "%d missing", missing);
}

void show_checked(char *out, size_t size, const struct view *view)
{
    int whole = 0, sampled = 0;
    double least = 1;
    for (int i = 0; i < view->count; i++) {
        const struct case_result *result = &view->rows[i].result;
        if (view->rows[i].is_hidden || result->status != STATUS_OK || result->outputs <= 0 ||
            result->checked <= 0)
            continue;
        whole += result->checked >= result->outputs;
        sampled += result->checked < result->outputs;
        least = fmin(least, (double)result->checked / (double)result->outputs);
    }
    out[0] = '\0';
    if (whole + sampled == 0) return;
    snprintf(out, size, "compared with the reference: %d whole", whole);
    if (sampled > 0)
        text_add(out, size, ", ", "%d in a sample (%.2g %% of it or more)", sampled, 100 * least);
}

/* ----------------------------------------------------------------- stages -- */

/* In the order in which a batch passes them. */
static const struct {
    const char *name, *total, *each;
} stages[SHOW_STAGES] = {
    {"alloc", "alloc_ns", "alloc_each_ns"}, {"staging", "staging_ns", "staging_each_ns"},
    {"h2d", "h2d_ns", "h2d_each_ns"},       {"compute", "compute_ns", "compute_each_ns"},
    {"d2h", "d2h_ns", "d2h_each_ns"},
};

int show_stages(const struct case_result *result, struct show_stage out[SHOW_STAGES])
{
    int count = 0;
    double calls = view_metric(result, "calls");
    if (!status_has_time(result->status) || !(calls > 0)) return 0;
    for (int i = 0; i < SHOW_STAGES; i++) {
        double total_ns = view_metric(result, stages[i].total);
        double each_ns = view_metric(result, stages[i].each);
        if (!(total_ns >= 0)) continue; /* no such stage, or too short to be measured */
        struct show_stage *stage = &out[count++];
        *stage = (struct show_stage){stages[i].name, (int64_t)calls, "", ""};
        units_time(stage->total, total_ns);
        units_time(stage->each, isnan(each_ns) ? total_ns / calls : each_ns);
    }
    return count;
}
