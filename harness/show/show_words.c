/* show_words.c - the text of the cells of a row, for tables. */
#include <math.h>
#include <string.h>

#include "show/show.h"

/* Above the measured ceiling by more than the repeatability of that measurement. */
static const double ABOVE_CEILING = 1.05;

const char *const show_titles[CELLS] = {
    [CELL_VARIANT] = "variant", [CELL_TIME] = "time", [CELL_SPREAD] = "±",
    [CELL_RATE] = "rate",       [CELL_SHARE] = "of",  [CELL_CEILING] = "ceiling",
    [CELL_RATIO] = "speed-up",  [CELL_MARKS] = "",
};

const struct show_mark show_marks[] = {
    {'!', "above the ceiling: the data came from a cache, or the byte count is wrong"},
    {'e', "timed by an event pair less its floor: recording its kernels stretches their span"},
    {'h', "timed by the host's clock, from the call to the completed synchronisation"},
    {'m', "measured in some launches only"},
    {'\0', NULL},
};

static const char memory[] = "memory_";

const char *show_ceiling_name(const char *name)
{
    size_t length = sizeof memory - 1;
    return strncmp(name, memory, length) ? name : name + length;
}

void show_ceiling_rate(char out[UNITS_MAX], const struct ceiling *ceiling)
{
    for (int a = 0; a < ASSAY_ARITHMETICS; a++)
        if (!strcmp(ceiling->name, arithmetic_name((enum assay_arithmetic)a))) {
            units_ops(out, ceiling->rate, a == ASSAY_INT8_OPS);
            return;
        }
    units_rate(out, ceiling->rate);
}

/* ------------------------------------------------------------------- text -- */

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

int show_width(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += starts_character(*text);
    return columns;
}

/* The first byte after `columns` columns of text. */
static const char *after(const char *text, int columns)
{
    while (*text) {
        if (starts_character(*text) && columns-- <= 0) break;
        text++;
    }
    return text;
}

void show_fit(char *out, size_t size, const char *text, int columns)
{
    bool cut = show_width(text) > columns;
    int kept = cut ? (columns > 3 ? columns - 3 : 0) : columns;
    size_t bytes = (size_t)(after(text, kept) - text);
    if (bytes > size - 4) { /* leave space for the dots */
        bytes = size - 4;
        cut = true;
    }
    while (bytes > 0 && !starts_character(text[bytes]))
        bytes--;
    memcpy(out, text, bytes);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)out[i] < ' ') out[i] = ' ';
    strcpy(out + bytes, cut ? "..." + (columns < 3 ? 3 - columns : 0) : "");
}

/* ------------------------------------------------------------------- rows -- */

bool show_has(const struct view *view, int row, const struct show_options *options)
{
    if (options->ceilings || !view->rows[row].is_ceiling) return true;
    for (int i = 0; i < view->count; i++)
        if (!view->rows[i].is_ceiling) return false;
    return true;
}

static void spread(char out[SHOW_CELL], const struct case_result *result)
{
    double half = fmax(result->hi_ns - result->time_ns, result->time_ns - result->lo_ns);
    if (!isnan(half))
        snprintf(out, SHOW_CELL, "±%.*f %%", half < 0.1 * result->time_ns ? 2 : 0,
                 100 * half / result->time_ns);
}

/* Three significant digits, and one more if the interval would round to a point. */
static int decimals(const struct interval *x)
{
    if (!(x->mid > 0)) return 0;
    int digits = 2 - (int)floor(log10(x->mid));
    if (digits < 0) return 0;
    if (x->hi - x->lo < 2 * pow(10, -digits)) digits++;
    return digits < 4 ? digits : 4;
}

static void ratio(char out[SHOW_CELL], const struct view_row *row)
{
    const struct interval *x = &row->speedup;
    int digits = decimals(x);
    if (row->result.is_baseline && row->baseline[0])
        strcpy(out, "base");
    else if (isnan(x->mid))
        strcpy(out, "-");
    else if (isnan(x->lo) || isnan(x->hi))
        snprintf(out, SHOW_CELL, "%.*fx", digits, x->mid);
    else
        snprintf(out, SHOW_CELL, "%.*fx [%.*f, %.*f]", digits, x->mid, digits, x->lo, digits,
                 x->hi);
}

static void marks(char out[SHOW_CELL], const struct view *view, const struct view_row *row)
{
    const struct stored_run *run = view->run;
    int clock = run->launch_count ? run->launches[0].device.clock : -1;
    int n = 0;
    if (row->ceiling_fraction > ABOVE_CEILING) out[n++] = '!';
    if (row->result.clock == CLOCK_EVENT && clock != CLOCK_EVENT) out[n++] = 'e';
    if (row->result.clock == CLOCK_HOST && clock != CLOCK_HOST) out[n++] = 'h';
    if (row->launches < run->launch_count) out[n++] = 'm';
    out[n] = '\0';
}

static void rate(char out[SHOW_CELL], const struct view_row *row)
{
    if (row->rate_is_ops)
        units_ops(out, row->rate, row->arithmetic == ASSAY_INT8_OPS);
    else
        units_rate(out, row->rate);
}

void show_words(struct show_words *words, const struct view *view, const struct view_row *row)
{
    const struct case_result *result = &row->result;
    memset(words, 0, sizeof *words);
    snprintf(words->cell[CELL_VARIANT], SHOW_CELL, "%s%s", result->id.variant,
             result->id.kind == ASSAY_BASELINE ? " *" : "");
    if (result->status != STATUS_OK) return;

    units_time(words->cell[CELL_TIME], result->time_ns);
    spread(words->cell[CELL_SPREAD], result);
    rate(words->cell[CELL_RATE], row);
    if (row->ceiling[0]) {
        units_percent(words->cell[CELL_SHARE], row->ceiling_fraction);
        strcpy(words->cell[CELL_CEILING], show_ceiling_name(row->ceiling));
    }
    if (row->baseline[0]) ratio(words->cell[CELL_RATIO], row);
    marks(words->cell[CELL_MARKS], view, row);
}

void show_counts(char *out, size_t size, const struct view *view,
                 const struct show_options *options)
{
    int seen[STATUSES] = {0};
    int missing = view->run->expected_count - view->run->case_count;
    size_t used = 0;
    for (int i = 0; i < view->count; i++)
        if (show_has(view, i, options)) seen[view->rows[i].result.status]++;
    out[0] = '\0';
    for (int s = 0; s < STATUSES && used < size; s++)
        if (seen[s])
            used += (size_t)snprintf(out + used, size - used, "%s%d %s", used ? ", " : "", seen[s],
                                     status_name((enum case_status)s));
    if (missing > 0 && used < size)
        snprintf(out + used, size - used, "%s%d missing", used ? ", " : "", missing);
}
