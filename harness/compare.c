/* compare.c - see compare.h. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gate_stats.h"
#include "nvml.h"

static const double CONFIDENCE = 0.95;
/* SM clocks within this of each other are one clock. */
static const double STEADY_CLOCK = 0.01;
/* Above this many operations a byte a case follows the clock. */
static const double OPS_PER_BYTE = 16;

/* What the rows of one case say on one side. */
struct side_figures {
    const struct timing *rows; /* one a launch */
    int count;
    double *logs; /* of the metric, where there is one; `valid` of them */
    int valid;
    double time_ns, sm_mhz; /* medians; NAN none */
};

struct comparing {
    struct comparison *comparison;
    const struct timings *base, *candidate;
    const struct compare_options *options;
    double *logs[2]; /* room for the logarithms of one case, a side each */
    double *scratch;
    double threshold;
    char difference[ASSAY_MAX_REASON]; /* of the comparability keys */
    unsigned key_tags;
};

double clock_quantum(const struct device_info *device, double time_ns)
{
    return device->clock_step_ns > 0 && time_ns > 0 ? 2 * device->clock_step_ns / time_ns : 0;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The widest gap parts them, when each side of it has two or more, it is at least
 * a percent, and neither side is a third as wide. */
bool is_bimodal(double *logs, int count)
{
    int at = 0;
    if (count < 6) return false;
    qsort(logs, (size_t)count, sizeof *logs, ascending);
    for (int i = 2; i <= count - 2; i++)
        if (at == 0 || logs[i] - logs[i - 1] > logs[at] - logs[at - 1]) at = i;
    double gap = logs[at] - logs[at - 1];
    double below = logs[at - 1] - logs[0], above = logs[count - 1] - logs[at];
    return gap > 0.01 && gap > 3 * below && gap > 3 * above;
}

/* -------------------------------------------------------- comparability -- */

/* Adds "driver 580.1 and 590.2" to the sentence. */
static void differ(char *out, size_t size, const char *what, const char *a, const char *b)
{
    size_t used = strlen(out);
    if (strcmp(a, b) == 0 || used >= size) return;
    snprintf(out + used, size - used, "%s%s %s and %s", used ? ", " : "", what,
             a[0] ? a : "unknown", b[0] ? b : "unknown");
}

void comparability_difference(const struct launch_info *a, const struct launch_info *b, char *out,
                              size_t size)
{
    const struct device_info *x = &a->device, *y = &b->device;
    out[0] = '\0';
    differ(out, size, "device", x->simulated ? "simulated" : "real",
           y->simulated ? "simulated" : "real");
    differ(out, size, "device", x->name, y->name);
    if (strcmp(x->name, y->name) == 0) differ(out, size, "device uuid", x->uuid, y->uuid);
    differ(out, size, "driver", x->driver, y->driver);
    differ(out, size, "runtime", x->runtime, y->runtime);
    differ(out, size, "clock", clock_name((enum clock_source)x->clock),
           clock_name((enum clock_source)y->clock));
    differ(out, size, "flush", a->flush_by_write ? "write" : "read",
           b->flush_by_write ? "write" : "read");
}

/* Of all launches against the base's first. */
static void find_difference(struct comparing *comparing)
{
    const struct stored_run *base = &comparing->base->run, *candidate = &comparing->candidate->run;
    char *out = comparing->difference;
    if (base->launch_count == 0) return;
    for (int i = 0; i < candidate->launch_count && !out[0]; i++)
        comparability_difference(&base->launches[0], &candidate->launches[i], out,
                                 sizeof comparing->difference);
    for (int i = 1; i < base->launch_count && !out[0]; i++)
        comparability_difference(&base->launches[0], &base->launches[i], out,
                                 sizeof comparing->difference);
    if (strstr(out, "driver")) comparing->key_tags |= TAG_DRIVER;
}

/* ---------------------------------------------------------------- sides -- */

static void side_read(struct side_figures *side, const struct comparing *comparing,
                      const struct timings *timings, double *logs)
{
    int times = 0, clocks = 0;
    double *scratch = comparing->scratch;
    side->logs = logs;
    side->valid = 0;
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].time_ns > 0) scratch[times++] = side->rows[i].time_ns;
    side->time_ns = stats_median(scratch, times);
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].sm_mhz > 0) scratch[clocks++] = side->rows[i].sm_mhz;
    side->sm_mhz = stats_median(scratch, clocks);
    for (int i = 0; i < side->count; i++) {
        double value = timing_metric(timings, &side->rows[i], comparing->options->speedup);
        if (value > 0) logs[side->valid++] = log(value);
    }
}

static const struct timing *first_with(const struct side_figures *side, int status)
{
    for (int i = 0; i < side->count; i++)
        if (side->rows[i].status == status) return &side->rows[i];
    return NULL;
}

/* The first launch whose outcome is no time, worst kinds first; NULL: none. */
static const struct timing *failure(const struct side_figures *side)
{
    static const int worst[] = {STATUS_WRONG, STATUS_CRASHED, STATUS_TIMEOUT};
    for (size_t i = 0; i < sizeof worst / sizeof worst[0]; i++) {
        const struct timing *row = first_with(side, worst[i]);
        if (row) return row;
    }
    return NULL;
}

static bool is_skipped(const struct side_figures *side)
{
    return side->count == 0 || first_with(side, STATUS_SKIPPED) != NULL;
}

/* Half of the launches or more: what is left would be the lucky ones. */
static bool mostly_unstable(const struct side_figures *side)
{
    int count = 0;
    for (int i = 0; i < side->count; i++)
        count += side->rows[i].status == STATUS_UNSTABLE;
    return count > 0 && 2 * count >= side->count;
}

/* -------------------------------------------------------------- verdict -- */

static enum verdict set(struct comparison_row *row, enum verdict verdict, const char *before,
                        const char *reason)
{
    snprintf(row->reason, sizeof row->reason, "%s%s", before, reason);
    return verdict;
}

static enum verdict of_failure(struct comparison_row *row, const struct timing *failed)
{
    char before[32];
    snprintf(before, sizeof before, "%s%s", status_name((enum case_status)failed->status),
             failed->reason[0] ? ": " : "");
    return set(row, VERDICT_ERROR, before, failed->reason);
}

/* What is decided without a ratio; VERDICTS: nothing yet. */
static enum verdict without_ratio(struct comparison_row *row, const struct comparing *comparing,
                                  const struct side_figures *base,
                                  const struct side_figures *candidate)
{
    const struct timing *failed = failure(candidate);
    if (failed) return of_failure(row, failed);
    if (is_skipped(candidate))
        return set(row, VERDICT_MISSING, candidate->count ? "skipped: " : "",
                   candidate->count ? first_with(candidate, STATUS_SKIPPED)->reason
                                    : "the candidate does not have it");
    if (is_skipped(base))
        return set(row, VERDICT_NEW, "",
                   base->count ? "the base skipped it" : "the base does not have it");
    if ((failed = failure(base)))
        return set(row, VERDICT_INCOMPARABLE,
                   "the base has no time: ", status_name((enum case_status)failed->status));
    if (mostly_unstable(base) || mostly_unstable(candidate)) {
        bool is_base = mostly_unstable(base);
        return set(row, VERDICT_UNSTABLE, is_base ? "the base: " : "the candidate: ",
                   first_with(is_base ? base : candidate, STATUS_UNSTABLE)->reason);
    }
    if (base->rows[0].bytes != candidate->rows[0].bytes ||
        base->rows[0].ops != candidate->rows[0].ops)
        return set(row, VERDICT_INCOMPARABLE, "", "the definition of its work differs");
    if (comparing->difference[0] && !comparing->options->across)
        return set(row, VERDICT_INCOMPARABLE, "", comparing->difference);
    if (base->valid == 0 || candidate->valid == 0)
        return set(row, VERDICT_INCOMPARABLE, "",
                   comparing->options->speedup ? "no baseline of its group" : "no time");
    return VERDICTS;
}

/* One launch a side: the medians' own intervals, at their far ends. */
static struct interval sample_interval(const struct comparing *comparing,
                                       const struct side_figures *base,
                                       const struct side_figures *candidate)
{
    struct interval change = {candidate->logs[0] - base->logs[0], NAN, NAN};
    const struct timing *b = base->rows, *c = candidate->rows;
    if (comparing->options->speedup) return change; /* two further medians, without theirs */
    if (b->lo_ns > 0 && c->lo_ns > 0) {
        change.lo = log(c->lo_ns / b->hi_ns);
        change.hi = log(c->hi_ns / b->lo_ns);
    }
    return change;
}

static int find_change(struct comparison_row *row, const struct comparing *comparing,
                       const struct side_figures *base, const struct side_figures *candidate,
                       struct interval *change)
{
    if (base->valid == 1 && candidate->valid == 1) {
        *change = sample_interval(comparing, base, candidate);
        row->evidence = EVIDENCE_SAMPLES;
        return 0;
    }
    if (rank_sum_interval(base->logs, base->valid, candidate->logs, candidate->valid, CONFIDENCE,
                          change) != 0)
        return -1;
    row->evidence = isnan(change->lo) ? EVIDENCE_RANGE : EVIDENCE_LAUNCHES;
    if (row->evidence == EVIDENCE_RANGE) {
        qsort(base->logs, (size_t)base->valid, sizeof(double), ascending);
        qsort(candidate->logs, (size_t)candidate->valid, sizeof(double), ascending);
        change->lo = candidate->logs[0] - base->logs[base->valid - 1];
        change->hi = candidate->logs[candidate->valid - 1] - base->logs[0];
    }
    return 0;
}

/* The same, turned about, when the sides are swapped: only a PASS has a direction. */
static enum verdict judge(struct comparison_row *row, const struct comparing *comparing,
                          struct interval change)
{
    double floor = log1p(row->floor);
    bool slower = change.lo > floor, faster = change.hi < -floor;
    bool weak = row->evidence != EVIDENCE_LAUNCHES;
    const struct compare_options *options = comparing->options;
    if (row->noise > 2.5 * comparing->threshold)
        return set(row, VERDICT_UNSTABLE, "",
                   "unchanged code varies by more than 2.5 times the threshold here");
    if (row->launches < options->least_launches) {
        snprintf(row->reason, sizeof row->reason, "%d launches, and this needs %d a side",
                 row->launches, options->least_launches);
        return VERDICT_INCONCLUSIVE;
    }
    if ((slower || faster) && (weak || options->at_most_suspect)) {
        if (faster) row->tags |= TAG_FASTER;
        return set(row, VERDICT_SUSPECT, "",
                   weak ? "too few launches to prove it" : "confirm it with launches side by side");
    }
    if (slower) return VERDICT_REGRESSED;
    if (faster) return VERDICT_IMPROVED;
    if (change.hi < floor && !weak) return VERDICT_PASS;
    return set(row, VERDICT_INCONCLUSIVE, "",
               weak ? "too few launches to prove anything" : "the interval straddles the floor");
}

/* A change of the time that is the clock's: the cycles are the same. */
static bool is_clocks(const struct comparison_row *row, const struct side_figures *base,
                      const struct side_figures *candidate)
{
    double change = log(row->ratio.mid), floor = log1p(row->floor);
    if (!(base->rows[0].ops > OPS_PER_BYTE * base->rows[0].bytes)) return false;
    double cycles = change + log(candidate->sm_mhz / base->sm_mhz);
    return fabs(change) > floor && fabs(cycles) <= floor; /* false for NAN */
}

static void find_tags(struct comparison_row *row, const struct comparing *comparing,
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

static int compare_case(struct comparing *comparing, struct side_figures *base,
                        struct side_figures *candidate)
{
    struct comparison *comparison = comparing->comparison;
    struct comparison_row *row = &comparison->rows[comparison->count];
    struct interval change;
    if (is_skipped(base) && is_skipped(candidate)) return 0; /* nobody measured it */
    comparison->count++;
    row->id = base->count ? base->rows[0].id : candidate->rows[0].id;
    row->ratio = (struct interval){NAN, NAN, NAN};
    row->noise = row->mde = NAN;
    row->floor = comparing->threshold;
    side_read(base, comparing, comparing->base, comparing->logs[0]);
    side_read(candidate, comparing, comparing->candidate, comparing->logs[1]);
    row->base_ns = base->time_ns;
    row->candidate_ns = candidate->time_ns;
    row->launches = base->valid < candidate->valid ? base->valid : candidate->valid;
    row->verdict = without_ratio(row, comparing, base, candidate);
    if (row->verdict != VERDICTS) return 0;

    if (find_change(row, comparing, base, candidate, &change) != 0) return -1;
    row->ratio = (struct interval){exp(change.mid), exp(change.lo), exp(change.hi)};
    row->noise =
        expm1(noise_floor(comparing->options->noise, &row->id, row->base_ns, row->launches));
    row->floor = fmax(fmax(row->floor, row->noise),
                      clock_quantum(&comparing->base->run.launches[0].device, row->base_ns));
    row->verdict = judge(row, comparing, change);
    find_tags(row, comparing, base, candidate);
    bool changed = row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
    if (changed && (row->tags & TAG_CLOCK))
        row->verdict = set(row, VERDICT_UNSTABLE, "", "the clock differed, the cycles did not");
    return 0;
}

/* ----------------------------------------------------------------- runs -- */

/* How many rows from `at` on are of its case. */
static int case_rows(const struct timings *timings, int at)
{
    int end = at;
    while (end < timings->count &&
           case_id_order(&timings->rows[at].id, &timings->rows[end].id) == 0)
        end++;
    return end - at;
}

static int compare_cases(struct comparing *comparing)
{
    const struct timings *base = comparing->base, *candidate = comparing->candidate;
    int b = 0, c = 0;
    while (b < base->count || c < candidate->count) {
        int order = b == base->count ? 1
                    : c == candidate->count
                        ? -1
                        : case_id_order(&base->rows[b].id, &candidate->rows[c].id);
        struct side_figures left = {.rows = base->rows + b}, right = {.rows = candidate->rows + c};
        if (order <= 0) left.count = case_rows(base, b);
        if (order >= 0) right.count = case_rows(candidate, c);
        if (compare_case(comparing, &left, &right) != 0) return -1;
        b += left.count;
        c += right.count;
    }
    return 0;
}

/* Whether every launch of every case ran at one SM clock. A simulated device has
 * none that moves. */
static bool clocks_are_steady(const struct timings *base, const struct timings *candidate)
{
    const struct timings *both[] = {base, candidate};
    double least = INFINITY, most = 0;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < both[side]->count; i++) {
            const struct timing *row = &both[side]->rows[i];
            if (row->status != STATUS_OK) continue;
            if (!(row->sm_mhz > 0)) return both[side]->run.run.simulated;
            least = fmin(least, row->sm_mhz);
            most = fmax(most, row->sm_mhz);
        }
    }
    return most > 0 && most <= least * (1 + STEADY_CLOCK);
}

static bool has_common_case(const struct comparison *comparison)
{
    for (int i = 0; i < comparison->count; i++)
        if (comparison->rows[i].verdict != VERDICT_NEW &&
            comparison->rows[i].verdict != VERDICT_MISSING)
            return true;
    return false;
}

static void make_notes(const struct comparing *comparing)
{
    struct comparison *comparison = comparing->comparison;
    if (!has_common_case(comparison))
        comparison_note(comparison, "the sides have no case in common");
    int b = comparison->base.launches, c = comparison->candidate.launches;
    if (b == 1 && c == 1)
        comparison_note(comparison, "one launch a side: the intervals come from samples of one "
                                    "process and cannot see how launches differ; measure with "
                                    "--launches 5 or more");
    else if (b < 4 || c < 4)
        comparison_note(comparison,
                        "%d and %d launches: too few for 95 %% intervals (4 a side), so "
                        "they show smallest to largest",
                        b, c);
    if (comparison->base.simulated || comparison->candidate.simulated)
        comparison_note(comparison, "SIMULATED: no hardware was measured");
    if (strcmp(comparison->base.suite, comparison->candidate.suite) != 0)
        comparison_note(comparison, "different suites: %.60s and %.60s", comparison->base.suite,
                        comparison->candidate.suite);
    if (comparing->difference[0])
        comparison_note(comparison, "the runs are not of one comparability: %s%s",
                        comparing->difference,
                        comparing->options->across ? "; compared because that was asked for" : "");
    if (strcmp(comparison->base.id, comparison->candidate.id) == 0)
        comparison_note(comparison, "both sides are the same run");
}

int compare_runs(struct comparison *comparison, const struct timings *base,
                 const struct timings *candidate, const struct compare_options *options)
{
    struct comparing comparing = {comparison, base, candidate, options, {NULL}, NULL, 0, "", 0};
    size_t room = (size_t)(base->count > candidate->count ? base->count : candidate->count) + 1;
    int status = -1;
    *comparison = (struct comparison){.mode = options->at_most_suspect ? "stored" : "compare",
                                      .metric = options->speedup ? "speedup" : "time"};
    comparing.threshold = !isnan(options->threshold)           ? options->threshold
                          : clocks_are_steady(base, candidate) ? COMPARE_STEADY_THRESHOLD
                                                               : COMPARE_LOOSE_THRESHOLD;
    comparison->threshold = comparing.threshold;
    comparison->rows =
        calloc((size_t)base->count + (size_t)candidate->count + 1, sizeof *comparison->rows);
    comparing.logs[0] = calloc(room, sizeof(double));
    comparing.logs[1] = calloc(room, sizeof(double));
    comparing.scratch = calloc(room, sizeof(double));
    if (!comparison->rows || !comparing.logs[0] || !comparing.logs[1] || !comparing.scratch) {
        assay_error("out of memory for the comparison");
        goto out;
    }
    comparison_side_of(&comparison->base, &base->run);
    comparison_side_of(&comparison->candidate, &candidate->run);
    find_difference(&comparing);
    if (compare_cases(&comparing) != 0) goto out;
    make_notes(&comparing);
    status = comparison_finish(comparison, options->fail_on);
out:
    free(comparing.logs[0]);
    free(comparing.logs[1]);
    free(comparing.scratch);
    if (status != 0) comparison_release(comparison);
    return status;
}
