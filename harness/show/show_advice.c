/* show_advice.c - what is said of a row in words: why its two ratios differ, what bounds it and
 * what to try next, and how to open it in Nsight Compute. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "device/profile_rules.h"
#include "show/show.h"

/* From this share of a measured ceiling on, what is left is within the spread of good kernels. */
static const double AT_LIMIT = 0.9;

/* Below this many times an empty kernel, start and end are a large part of the time. */
static const double SHORT = 4;

/* By how much two ratios differ that contradict each other: where one says faster and the other
 * slower, and where both say the same. */
static const double APART = 0.02, FAR_APART = 0.1;

bool show_contradiction(char *out, size_t size, const struct view_row *row)
{
    const struct interval *paired = &row->speedup;
    double plain = row->median_ratio;
    char by_medians[UNITS_MAX];
    bool outside = plain < paired->lo || plain > paired->hi;
    bool opposite = (plain - 1) * (paired->mid - 1) < 0;
    if (!outside || fabs(plain / paired->mid - 1) <= (opposite ? APART : FAR_APART)) return false;
    snprintf(out, size,
             "its median time alone says %s; the speed-up compares within each round, where both "
             "ran side by side, and times moved between rounds",
             units_ratio(by_medians, plain));
    return true;
}

/* What to try, by the first word of a verdict of a profile (device/profile_rules.h). */
static const struct {
    const char *word, *next;
} tries[] = {
    {"launch", "fuse it with its neighbours, or replay it in a CUDA graph"},
    {"memory", "move fewer bytes: fuse passes, use a narrower type"},
    {"parallelism", "more and smaller blocks, or an even split of the work"},
    {"compute", "fewer or cheaper operations, tensor cores where the type allows"},
    {"instructions", "wider loads, fewer address computations, more work per thread"},
    {"cache", "reuse what was loaded, in registers or shared memory"},
    {"latency", "more loads in flight: occupancy, unrolling, asynchronous copies"},
    {"mixed", "no single unit is to blame: look at its lines in Nsight Compute"},
};

static const char *try_for(const char *verdict)
{
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (!strncmp(verdict, tries[i].word, strlen(tries[i].word))) return tries[i].next;
    return NULL;
}

static const struct profile_kernel *longest_kernel(const struct profile *profile)
{
    const struct profile_kernel *longest = NULL;
    for (int i = 0; i < profile->kernel_count; i++)
        if (!longest || profile->kernels[i].busy_ns > longest->busy_ns)
            longest = &profile->kernels[i];
    return longest;
}

/* By the counters of its longest kernel; false: there are none. */
static bool by_profile(char *out, size_t size, const struct profile *profile)
{
    char verdict[PROFILE_MAX_WORDS] = "";
    const struct profile_kernel *kernel = longest_kernel(profile);
    if (profile_is_whole(profile))
        profile_verdict(profile, profile->whole, profile->span_ns, verdict);
    else if (kernel)
        profile_kernel_verdict(profile, kernel, verdict);
    const char *next = try_for(verdict);
    if (!next) return false;
    text_add(out, size, "; ", "%s", verdict);
    if (profile->kernel_count > 1 && !profile_is_whole(profile))
        text_add(out, size, "", " (the longest of %d kernels)", profile->kernel_count);
    text_add(out, size, "; ", "try: %s", next);
    return true;
}

static bool is_short(const struct view *view, const struct view_row *row)
{
    const struct launch_info *launch = stored_run_launch(view->run, row->stored->launch_id);
    return launch && row->result.time_ns < SHORT * launch->device.kernel_floor_ns;
}

static void by_ceiling(char *out, size_t size, const struct view *view, const struct view_row *row)
{
    const char *name = show_ceiling_name(row->ceiling);
    bool by_ops = view_arithmetic(row->ceiling) >= 0;
    char away[UNITS_MAX];
    if (!row->ceiling[0]) {
        text_add(out, size, "; ", "its ceiling was not measured in this run");
    } else if (row->ceiling_fraction >= AT_LIMIT) {
        text_add(out, size, "; ", "at its limit (%s); try: %s", name,
                 by_ops ? "fewer operations, or a cheaper arithmetic"
                        : "move fewer bytes: fuse passes, use a narrower type");
    } else if (is_short(view, row)) {
        text_add(out, size, "; ", "mostly its start and end; try: %s", tries[0].next);
    } else {
        units_ratio(away, 1 / row->ceiling_fraction);
        text_add(out, size, "; ", "bound by %s (%s), %s from it",
                 by_ops ? "arithmetic" : "bandwidth", name, away);
        if (row->result.id.place == ASSAY_CUDA)
            text_add(out, size, "; ", "assay profile says what holds it (the filter is below)");
    }
}

/* The fastest baseline of the group that is shown to be faster than the row, and is not the one
 * that its speed-up is against; NULL: none. */
static const struct view_row *faster_baseline(const struct view *view, const struct view_row *row)
{
    const struct view_row *found = NULL;
    for (int i = 0; i < view->count; i++) {
        const struct view_row *other = &view->rows[i];
        const struct case_result *result = &other->result;
        if (other->group != row->group || result->status != STATUS_OK ||
            result->id.kind != ASSAY_BASELINE || !strcmp(result->id.variant, row->baseline) ||
            !(result->hi_ns < row->result.lo_ns))
            continue;
        if (!found || result->time_ns < found->result.time_ns) found = other;
    }
    return found;
}

bool show_advice(char *out, size_t size, const struct view *view, const struct view_row *row,
                 struct profile *const *profiles)
{
    const struct profile *profile = profiles ? profiles[row->stored - view->run->cases] : NULL;
    char by_time[UNITS_MAX];
    out[0] = '\0';
    if (!status_has_time(row->result.status)) return false;
    if (row->baseline[0] && !row->result.is_baseline)
        text_add(out, size, "", "%s the %s %s",
                 row->speedup.lo > 1   ? "faster than"
                 : row->speedup.hi < 1 ? "slower than"
                                       : "as fast as",
                 kind_name(row->base_kind), row->baseline);
    const struct view_row *faster = faster_baseline(view, row);
    if (faster)
        text_add(out, size, "; ", "the baseline %s is faster, %s", faster->result.id.variant,
                 units_ratio(by_time, row->result.time_ns / faster->result.time_ns));
    if (!profile || !by_profile(out, size, profile)) by_ceiling(out, size, view, row);
    return true;
}

/* Every launch of a check is profiled once; nothing is timed beside it. The ranges of NVTX, which
 * are named after variants, leave out what fills and checks buffers. A pattern may be broken at its
 * blanks. */
bool show_ncu(char *out, size_t size, const struct stored_run *run, const struct view_row *row)
{
    char name[CASE_TEXT];
    const struct launch_info *launch = stored_run_launch(run, row->stored->launch_id);
    case_text(&row->result.id, name);
    if (!status_has_time(row->result.status) || row->result.id.place != ASSAY_CUDA || !launch ||
        launch->device.simulated || strpbrk(name, "'\n"))
        return false;
    snprintf(out, size,
             "ncu --set full --target-processes all --nvtx \\\n"
             "--nvtx-include 'assay@%s/' \\\n"
             "assay run %s --check \\\n"
             "--filter '%s'",
             row->result.id.variant, run->run.suite, name);
    return true;
}
