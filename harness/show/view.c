#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "judge/timings.h"
#include "show/view.h"

/* A row has the most severe status of its launches. */
static const int severity[STATUSES] = {
    [STATUS_OK] = 0,      [STATUS_UNCHECKED] = 1, [STATUS_SKIPPED] = 2, [STATUS_UNSTABLE] = 3,
    [STATUS_TIMEOUT] = 4, [STATUS_CRASHED] = 5,   [STATUS_WRONG] = 6,
};

/* Figures of a case that are combined over launches by their median. */
static const size_t combined_figures[] = {
    offsetof(struct case_result, time_ns),       offsetof(struct case_result, busy_ns),
    offsetof(struct case_result, event_ns),      offsetof(struct case_result, wall_ns),
    offsetof(struct case_result, first_call_ns), offsetof(struct case_result, energy_mj),
    offsetof(struct case_result, power_w),       offsetof(struct case_result, sm_mhz),
    offsetof(struct case_result, temperature_c),
};

enum { COMBINED_FIGURES = sizeof combined_figures / sizeof combined_figures[0] };

static double *figure(struct case_result *result, size_t offset)
{
    return (double *)((char *)result + offset);
}

/* ----------------------------------------------------------------- groups -- */

static int group_order(const struct stored_case *a, const struct stored_case *b)
{
    const struct case_id *x = &a->result.id, *y = &b->result.id;
    int order = strcmp(x->shape, y->shape);
    if (order == 0) order = strcmp(x->operation, y->operation);
    if (order == 0) order = strcmp(a->group_label, b->group_label);
    if (order == 0) order = (x->temperature > y->temperature) - (x->temperature < y->temperature);
    return order ? order : (a->purpose > b->purpose) - (a->purpose < b->purpose);
}

/* Cases of a run are in one array, so their addresses give their order. For qsort. */
static int case_order(const void *a, const void *b)
{
    const struct stored_case *x = *(const struct stored_case *const *)a;
    const struct stored_case *y = *(const struct stored_case *const *)b;
    int order = group_order(x, y);
    return order ? order : (x > y) - (x < y);
}

static int first_case_order(const void *a, const void *b)
{
    const struct view_group *x = a, *y = b;
    return (x->item[0] > y->item[0]) - (x->item[0] < y->item[0]);
}

int view_groups_make(struct view_groups *groups, const struct stored_run *run)
{
    size_t count = (size_t)run->case_count;
    *groups = (struct view_groups){.item = calloc(count + 1, sizeof *groups->item),
                                   .group = calloc(count + 1, sizeof *groups->group)};
    if (!groups->item || !groups->group) {
        view_groups_release(groups);
        return assay_error("out of memory for %d cases", run->case_count);
    }
    for (size_t i = 0; i < count; i++)
        groups->item[i] = &run->cases[i];
    qsort(groups->item, count, sizeof *groups->item, case_order);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || group_order(groups->item[i - 1], groups->item[i]) != 0)
            groups->group[groups->count++].item = &groups->item[i];
        groups->group[groups->count - 1].count++;
    }
    qsort(groups->group, (size_t)groups->count, sizeof *groups->group, first_case_order);
    return 0;
}

void view_groups_release(struct view_groups *groups)
{
    free(groups->item);
    free(groups->group);
    *groups = (struct view_groups){0};
}

/* Both are in the same group. */
static bool same_case(const struct stored_case *a, const struct stored_case *b)
{
    const struct case_id *x = &a->result.id, *y = &b->result.id;
    return x->place == y->place && !strcmp(x->variant, y->variant);
}

/* -------------------------------------------------------------- combining -- */

/* The cases of one row, and scratch space for one figure of each. */
struct members {
    const struct stored_case **item;
    double *value;
    int count;
};

/* Find the cases of the row that begins with `first`; false if `first` is not its first case. */
static bool members_find(struct members *members, const struct view_group *group,
                         const struct stored_case *first)
{
    members->count = 0;
    for (int i = 0; i < group->count; i++)
        if (same_case(first, group->item[i])) members->item[members->count++] = group->item[i];
    return members->item[0] == first;
}

static struct interval combine(struct members *members, size_t offset)
{
    for (int i = 0; i < members->count; i++)
        members->value[i] = *(const double *)((const char *)&members->item[i]->result + offset);
    return stats_over_launches(members->value, members->count);
}

static const struct stored_case *worst(const struct members *members)
{
    const struct stored_case *found = members->item[0];
    for (int i = 1; i < members->count; i++)
        if (severity[members->item[i]->result.status] > severity[found->result.status])
            found = members->item[i];
    return found;
}

static void row_combine(struct view_row *row, struct members *members)
{
    row->stored = worst(members);
    row->result = row->stored->result;
    row->result.samples = (struct samples){0};
    row->launches = members->count;
    row->is_ceiling = row->stored->purpose == PURPOSE_CEILING;
    for (int i = 0; i < members->count; i++)
        row->samples += members->item[i]->result.samples.count;
    if (members->count == 1) return;

    for (int i = 0; i < COMBINED_FIGURES; i++)
        *figure(&row->result, combined_figures[i]) = combine(members, combined_figures[i]).mid;
    struct interval time = combine(members, offsetof(struct case_result, time_ns));
    row->result.lo_ns = time.lo;
    row->result.hi_ns = time.hi;
    for (int i = 0; i < members->count; i++) {
        const struct case_result *one = &members->item[i]->result;
        row->result.clock_reasons |= one->clock_reasons;
        row->result.max_abs_error = fmax(row->result.max_abs_error, one->max_abs_error);
        row->result.max_rel_error = fmax(row->result.max_rel_error, one->max_rel_error);
        row->result.near_share = fmax(row->result.near_share, one->near_share);
    }
}

/* --------------------------------------------------------------- speed-up -- */

static const struct stored_case *base_of(const struct view_group *group,
                                         const struct stored_case *stored)
{
    for (int i = 0; i < group->count; i++) {
        const struct stored_case *c = group->item[i];
        if (c->result.is_baseline && status_has_time(c->result.status) &&
            !strcmp(c->launch_id, stored->launch_id))
            return c;
    }
    return NULL;
}

struct paired view_paired(const struct samples *samples)
{
    bool whole = samples->time_ns && samples->round && samples->mark;
    return (struct paired){samples->time_ns, samples->round, samples->mark,
                           whole ? samples->count : 0};
}

static int launch_speedup(const struct stored_case *base, const struct stored_case *candidate,
                          struct interval *ratio)
{
    struct paired b = view_paired(&base->result.samples);
    struct paired c = view_paired(&candidate->result.samples);
    double *scratch = malloc(((size_t)b.count + (size_t)c.count + 1) * sizeof *scratch);
    if (!scratch) return assay_error("out of memory for the samples of a case");
    *ratio = stats_paired_ratio(b, c, scratch);
    free(scratch);
    return 0;
}

/* Speed-ups over different baselines cannot be combined: a launch with another baseline than
 * the first one is left out. */
static int row_speedup(struct view_row *row, const struct view_group *group,
                       struct members *members)
{
    struct interval ratio = {NAN, NAN, NAN};
    int count = 0;
    row->speedup = ratio;
    if (!status_has_time(row->result.status)) return 0;
    for (int i = 0; i < members->count; i++) {
        const struct stored_case *base = base_of(group, members->item[i]);
        if (!base) continue;
        const char *name = base->result.id.variant;
        if (!row->baseline[0]) {
            memcpy(row->baseline, name, sizeof row->baseline);
            row->base_kind = base->result.id.kind;
        }
        if (strcmp(row->baseline, name)) continue;
        if (launch_speedup(base, members->item[i], &ratio)) return -1;
        members->value[count++] = ratio.mid;
    }
    row->result.is_baseline = !strcmp(row->baseline, row->result.id.variant);
    row->speedup = count == 1 ? ratio : stats_over_launches(members->value, count);
    return 0;
}

/* ------------------------------------------------------------------- rows -- */

int view_row_order(const void *a, const void *b)
{
    const struct view_row *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    int worse = severity[x->result.status] - severity[y->result.status];
    if (worse) {
        if (status_has_time(x->result.status) || status_has_time(y->result.status)) return worse;
        return -worse;
    }
    double t = x->result.time_ns, u = y->result.time_ns;
    if (status_has_time(x->result.status) && t < u) return -1;
    if (status_has_time(x->result.status) && t > u) return 1;
    return strcmp(x->result.id.variant, y->result.id.variant);
}

const struct view_row *view_row_of(const struct view *view, const struct case_id *id)
{
    for (int i = 0; i < view->count; i++)
        if (case_id_order(&view->rows[i].result.id, id) == 0) return &view->rows[i];
    return NULL;
}

static int add_row(struct view *view, const struct view_group *group, struct members *members)
{
    struct view_row *row = &view->rows[view->count++];
    row_combine(row, members);
    row->group = view->group_count;
    row->speedup = (struct interval){NAN, NAN, NAN};
    row->ceiling_fraction = row->rate = row->median_ratio = NAN;
    row->arithmetic = -1;
    if (!status_has_time(row->result.status)) {
        for (int i = 0; i < COMBINED_FIGURES; i++)
            *figure(&row->result, combined_figures[i]) = NAN;
        row->result.lo_ns = row->result.hi_ns = NAN;
        return 0;
    }
    row->is_noisy = result_is_noisy(&row->result, view->most_spread);
    view_row_ceiling(row, view);
    view_row_rate(row);
    return row_speedup(row, group, members);
}

/* Rows are in the order of view_row_order, so a group is in one piece. */
static void set_median_ratios(struct view *view)
{
    for (int i = 0, begin = 0; i < view->count; i++) {
        struct view_row *row = &view->rows[i];
        if (view->rows[begin].group != row->group) begin = i;
        for (int j = begin; row->baseline[0] && j < view->count; j++) {
            const struct view_row *base = &view->rows[j];
            if (base->group != row->group) break;
            if (base->result.is_baseline && !strcmp(base->result.id.variant, row->baseline))
                row->median_ratio = base->result.time_ns / row->result.time_ns;
        }
    }
}

static void hide_ceilings(struct view *view)
{
    bool has_others = false;
    for (int i = 0; i < view->count; i++)
        has_others |= !view->rows[i].is_ceiling;
    for (int i = 0; i < view->count; i++)
        view->rows[i].is_hidden = view->rows[i].is_ceiling && has_others;
}

int view_make_noisy_above(struct view *view, const struct stored_run *run, double most_spread)
{
    int failed = 0;
    size_t space = (size_t)run->case_count + 1;
    struct members members = {calloc(space, sizeof *members.item),
                              calloc(space, sizeof *members.value), 0};
    struct view_groups groups = {0};
    *view = (struct view){
        .run = run, .rows = calloc(space, sizeof *view->rows), .most_spread = most_spread};
    if (!members.item || !members.value || !view->rows) {
        failed = assay_error("out of memory for %d cases", run->case_count);
        goto out;
    }
    failed = view_groups_make(&groups, run);
    if (failed) goto out;
    view_collect_ceilings(view);
    for (; view->group_count < groups.count && !failed; view->group_count++) {
        const struct view_group *group = &groups.group[view->group_count];
        for (int i = 0; i < group->count && !failed; i++)
            if (members_find(&members, group, group->item[i]))
                failed = add_row(view, group, &members);
    }
    if (!failed) qsort(view->rows, (size_t)view->count, sizeof *view->rows, view_row_order);
    set_median_ratios(view);
    hide_ceilings(view);
out:
    view_groups_release(&groups);
    free(members.item);
    free(members.value);
    if (failed) view_release(view);
    return failed;
}

int view_make(struct view *view, const struct stored_run *run)
{
    return view_make_noisy_above(view, run, NOISY_SPREAD);
}

void view_release(struct view *view)
{
    free(view->rows);
    view->rows = NULL;
    view->count = view->group_count = 0;
}

/* Whether a result is not what the suite expects: wrong, or right although expected wrong. */
static bool is_surprise(const struct stored_case *stored)
{
    bool wrong = stored->result.status == STATUS_WRONG;
    if (!wrong && stored->result.status != STATUS_OK) return false;
    return wrong != (stored->expect_wrong == 1);
}

int view_exit_code(const struct stored_run *run)
{
    int seen[STATUSES] = {0}, surprises = 0;
    for (int i = 0; i < run->case_count; i++) {
        seen[run->cases[i].result.status]++;
        surprises += is_surprise(&run->cases[i]);
    }
    if (run->case_count == 0) return EXIT_NOTHING;
    if (seen[STATUS_CRASHED] || seen[STATUS_TIMEOUT]) return EXIT_LOST;
    if (run->expected_count > run->case_count) return EXIT_LOST;
    if (run->shares > 0 && run->shares < run->run.shard.count) return EXIT_LOST;
    if (surprises) return EXIT_REGRESSED;
    return seen[STATUS_OK] || seen[STATUS_UNCHECKED] || seen[STATUS_WRONG] ? EXIT_FINE
                                                                           : EXIT_NOTHING;
}
