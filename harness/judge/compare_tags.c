/* compare_tags.c - the likely causes that are shown with a verdict. */
#include <math.h>
#include <string.h>

#include "device/nvml.h"
#include "judge/compare_parts.h"

/* Above this many operations per byte the time of a case follows the SM clock. */
static const double OPS_PER_BYTE = 16;

/* The widest gap separates two groups if each has two launches or more, the gap is at least
 * one per cent, and it is more than three times as wide as either group. */
bool is_bimodal(double *logs, int count)
{
    int at = 0;
    if (count < 6) return false;
    stats_sort(logs, count);
    for (int i = 2; i <= count - 2; i++)
        if (at == 0 || logs[i] - logs[i - 1] > logs[at] - logs[at - 1]) at = i;
    double gap = logs[at] - logs[at - 1];
    double below = logs[at - 1] - logs[0], above = logs[count - 1] - logs[at];
    return gap > 0.01 && gap > 3 * below && gap > 3 * above;
}

/* Whether the change of time is explained by the clock: the cycles are the same. */
static bool is_clocks(const struct comparison_row *row, const struct side_figures *base,
                      const struct side_figures *candidate)
{
    double change = log(row->ratio.mid), floor = log1p(row->floor);
    if (!(base->rows[0].ops > OPS_PER_BYTE * base->rows[0].bytes)) return false;
    double cycles = change + log(candidate->sm_mhz / base->sm_mhz);
    return fabs(change) > floor && fabs(cycles) <= floor; /* false for NAN */
}

void compare_tags(struct comparison_row *row, const struct comparing *comparing,
                  const struct side_figures *base, const struct side_figures *candidate)
{
    const char *code = base->rows[0].code_hash;
    uint64_t reasons = 0;
    for (int i = 0; i < base->count; i++)
        reasons |= base->rows[i].clock_reasons;
    for (int i = 0; i < candidate->count; i++)
        reasons |= candidate->rows[i].clock_reasons;
    row->tags |= comparing->key_tags;
    if (nvml_is_slowdown(reasons)) row->tags |= TAG_THROTTLE;
    if (code[0] && strcmp(code, candidate->rows[0].code_hash) == 0) row->tags |= TAG_SAME_CODE;
    if (is_bimodal(base->logs, base->valid) || is_bimodal(candidate->logs, candidate->valid))
        row->tags |= TAG_BIMODAL;
    if (!comparing->options->speedup && is_clocks(row, base, candidate)) row->tags |= TAG_CLOCK;
}
