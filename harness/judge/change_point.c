#include "judge/change_point.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum { STEP = CHANGE_WINDOW / 2, MAX_PASSES = 16 };

static const uint64_t seed = 0x6368616e6765; /* arbitrary, but fixed */

/* A part of the series with the distances between its points. */
struct span {
    int count, least_after;    /* points; on the last level */
    double total;              /* over all pairs */
    double row[CHANGE_WINDOW]; /* sum from one point to all others */
    double distance[CHANGE_WINDOW][CHANGE_WINDOW];
};

/* Points [at, to) differ from the others; a split lasts to the end. */
struct change {
    int at, to;
    double statistic;
};

static void span_init(struct span *span, const double *values, int count)
{
    span->count = count;
    span->total = 0;
    for (int i = 0; i < count; i++) {
        span->row[i] = 0;
        for (int j = 0; j < count; j++) {
            span->distance[i][j] = fabs(values[i] - values[j]);
            span->row[i] += span->distance[i][j];
        }
        span->total += span->row[i] / 2;
    }
}

/* The energy statistic of `left` points before and `right` after, from the sums
 * of distances between the two sides and within each. */
static double energy(int left, int right, double between, double within_left, double within_right)
{
    double m = left, n = right;
    double distance =
        2 * between / (m * n) - 2 * within_left / (m * (m - 1)) - 2 * within_right / (n * (n - 1));
    return m * n / (m + n) * distance;
}

/* The best split of the points in the given order. Points move to the left side one by
 * one, and the sums of distances are updated. */
static struct change best_split(const struct span *span, const int *order)
{
    struct change best = {.statistic = -INFINITY};
    double left = 0, right = span->total;
    for (int k = 1; k <= span->count - span->least_after; k++) {
        const double *distance = span->distance[order[k - 1]];
        double to_left = 0;
        for (int i = 0; i < k - 1; i++)
            to_left += distance[order[i]];
        left += to_left;
        right -= span->row[order[k - 1]] - to_left;
        if (k < CHANGE_LEAST) continue;
        double statistic = energy(k, span->count - k, span->total - left - right, left, right);
        if (statistic > best.statistic) best = (struct change){k, span->count, statistic};
    }
    return best;
}

/* The best visit: points that differ from those before and after them taken together, which no
 * single split tells from noise (an epidemic change: Levin and Kline, Statistics in Medicine 4,
 * 1985). inside[i]: the sum of distances within [i, k). */
static struct change best_visit(const struct span *span, const int *order)
{
    struct change best = {.statistic = -INFINITY};
    double inside[CHANGE_WINDOW] = {0}, rows[CHANGE_WINDOW + 1] = {0};
    int count = span->count;
    for (int k = 1; k <= count - span->least_after; k++) {
        const double *distance = span->distance[order[k - 1]];
        double to_last = 0;
        rows[k] = rows[k - 1] + span->row[order[k - 1]];
        for (int i = k - 2; i >= CHANGE_LEAST; i--) {
            to_last += distance[order[i]];
            inside[i] += to_last;
            if (k - i < CHANGE_LEAST) continue;
            double between = rows[k] - rows[i] - 2 * inside[i];
            double outside = span->total - inside[i] - between;
            double statistic = energy(k - i, count - k + i, between, inside[i], outside);
            if (statistic > best.statistic) best = (struct change){i, k, statistic};
        }
    }
    return best;
}

typedef struct change (*search)(const struct span *span, const int *order);

/* The best change that the search finds, if no permutation has one as good. The sums depend on
 * their order by rounding, so one that is worse only by rounding counts as equally good. */
static bool search_change(const struct span *span, search best, uint64_t stream,
                          struct change *found)
{
    const double rounding = 1e-9;
    int order[CHANGE_WINDOW];
    struct rng rng;
    for (int i = 0; i < span->count; i++)
        order[i] = i;
    *found = best(span, order);
    double enough = found->statistic - rounding * span->total;
    rng_seed(&rng, rng_mix(seed, stream));
    for (int i = 0; i < CHANGE_PERMUTATIONS; i++) {
        rng_shuffle(&rng, order, span->count);
        if (best(span, order).statistic >= enough) return false;
    }
    return true;
}

/* The points of a segment. */
struct part {
    const double *values;
    int begin, end;
};

/* The change in [begin, end) of a segment, if there is one: a split, or else, where it is asked
 * for, a visit. Only the last level of a segment may be shorter than others: it is still growing.
 */
static bool find_change(const struct part *part, int begin, int end, bool visits,
                        struct change *found)
{
    struct span span = {.least_after = end == part->end ? CHANGE_LEAST_LAST : CHANGE_LEAST};
    uint64_t stream = (uint64_t)begin << 32 | (uint64_t)end;
    if (end - begin < CHANGE_LEAST + span.least_after) return false;
    span_init(&span, part->values + begin, end - begin);
    if (!search_change(&span, best_split, stream, found) &&
        !(visits && end - begin >= 2 * CHANGE_LEAST + span.least_after &&
          search_change(&span, best_visit, stream, found)))
        return false;
    found->at += begin;
    found->to += begin;
    return true;
}

/* ---------------------------------------------------------- candidates -- */

/* At most one candidate in CHANGE_LEAST points, ascending. */
struct candidates {
    struct change *list;
    int count;
};

static void candidate_remove(struct candidates *candidates, int index)
{
    candidates->count--;
    for (int i = index; i < candidates->count; i++)
        candidates->list[i] = candidates->list[i + 1];
}

/* Add a candidate. Of candidates too near to be two changes, the strongest is kept. */
static void candidate_add(struct candidates *candidates, struct change change)
{
    for (int i = candidates->count - 1; i >= 0; i--) {
        const struct change *other = &candidates->list[i];
        if (other->at - change.at >= CHANGE_LEAST || change.at - other->at >= CHANGE_LEAST)
            continue;
        if (other->statistic >= change.statistic) return;
        candidate_remove(candidates, i);
    }
    int i = candidates->count++;
    for (; i > 0 && candidates->list[i - 1].at > change.at; i--)
        candidates->list[i] = candidates->list[i - 1];
    candidates->list[i] = change;
}

static void divide(struct candidates *candidates, const struct part *part, int begin, int end)
{
    struct change change;
    if (!find_change(part, begin, end, true, &change)) return;
    candidate_add(candidates, change);
    divide(candidates, part, begin, change.at);
    divide(candidates, part, change.at, change.to);
    if (change.to == end) return;
    candidate_add(candidates, (struct change){change.to, end, change.statistic});
    divide(candidates, part, change.to, end);
}

static void search_windows(struct candidates *candidates, const struct part *part)
{
    for (int from = part->begin;; from += STEP) {
        int to = from + CHANGE_WINDOW;
        if (to >= part->end) {
            int last = part->end - CHANGE_WINDOW;
            divide(candidates, part, last > part->begin ? last : part->begin, part->end);
            return;
        }
        divide(candidates, part, from, to);
    }
}

/* The points about a candidate, up to its neighbours: a window, and half of it to each side where
 * there are so many. */
static void about(const struct candidates *candidates, int i, const struct part *part, int *from,
                  int *to)
{
    const struct change *here = &candidates->list[i];
    *from = i > 0 ? here[-1].at : part->begin;
    *to = i + 1 < candidates->count ? here[1].at : part->end;
    int before = here->at - *from, after = *to - here->at;
    int most_before = after < STEP ? CHANGE_WINDOW - after : STEP;
    int most_after = before < STEP ? CHANGE_WINDOW - before : STEP;
    if (before > most_before) *from = here->at - most_before;
    if (after > most_after) *to = here->at + most_after;
}

/* The edge of a window may cut a level short, so test each candidate again between its
 * neighbours until none moves or disappears. */
static void settle(struct candidates *candidates, const struct part *part)
{
    bool moved = true;
    for (int pass = 0; moved && pass < MAX_PASSES; pass++) {
        moved = false;
        for (int i = 0; i < candidates->count;) {
            struct change *here = &candidates->list[i], change;
            int from, to;
            about(candidates, i, part, &from, &to);
            if (!find_change(part, from, to, false, &change)) {
                candidate_remove(candidates, i);
                moved = true;
                continue;
            }
            moved = moved || change.at != here->at;
            *here = change;
            i++;
        }
    }
}

int change_points(const double *values, const int *segment, int count, int *at)
{
    int found = 0;
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && (!segment || segment[end] == segment[begin]); end++)
            continue;
        struct change list[(end - begin) / CHANGE_LEAST + 1];
        struct candidates candidates = {list, 0};
        const struct part part = {values, begin, end};
        search_windows(&candidates, &part);
        settle(&candidates, &part);
        for (int i = 0; i < candidates.count; i++)
            at[found++] = list[i].at;
    }
    return found;
}
