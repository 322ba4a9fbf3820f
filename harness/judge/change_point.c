#include "judge/change_point.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

enum { STEP = CHANGE_WINDOW / 2, MAX_PASSES = 16 };

static const uint64_t seed = 0x6368616e6765; /* arbitrary, but fixed */

/* A part of the series with the distances between its points. */
struct span {
    int count;
    double total;              /* over all pairs */
    double row[CHANGE_WINDOW]; /* sum from one point to all others */
    double distance[CHANGE_WINDOW][CHANGE_WINDOW];
};

struct split {
    int at; /* points before it */
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
static struct split best_split(const struct span *span, const int *order)
{
    struct split best = {0, -INFINITY};
    double left = 0, right = span->total;
    for (int k = 1; k <= span->count - CHANGE_LEAST; k++) {
        const double *distance = span->distance[order[k - 1]];
        double to_left = 0;
        for (int i = 0; i < k - 1; i++)
            to_left += distance[order[i]];
        left += to_left;
        right -= span->row[order[k - 1]] - to_left;
        if (k < CHANGE_LEAST) continue;
        double statistic = energy(k, span->count - k, span->total - left - right, left, right);
        if (statistic > best.statistic) best = (struct split){k, statistic};
    }
    return best;
}

/* Whether no permutation splits as well. The sums depend on their order by rounding, so a
 * permutation that is worse only by rounding counts as equally good. */
static bool is_change(const struct span *span, const struct split *split, int *order,
                      uint64_t stream)
{
    const double rounding = 1e-9;
    double enough = split->statistic - rounding * span->total;
    struct rng rng;
    rng_seed(&rng, rng_mix(seed, stream));
    for (int i = 0; i < CHANGE_PERMUTATIONS; i++) {
        rng_shuffle(&rng, order, span->count);
        if (best_split(span, order).statistic >= enough) return false;
    }
    return true;
}

/* The change in values[begin, end), if there is one. */
static bool find_change(const double *values, int begin, int end, struct split *found)
{
    struct span span;
    int order[CHANGE_WINDOW];
    if (end - begin < 2 * CHANGE_LEAST) return false;
    span_init(&span, values + begin, end - begin);
    for (int i = 0; i < span.count; i++)
        order[i] = i;
    *found = best_split(&span, order);
    if (!is_change(&span, found, order, (uint64_t)begin << 32 | (uint64_t)end)) return false;
    found->at += begin;
    return true;
}

/* ---------------------------------------------------------- candidates -- */

/* At most one candidate in CHANGE_LEAST points, ascending. */
struct candidates {
    struct split *list;
    int count;
};

static void candidate_remove(struct candidates *candidates, int index)
{
    candidates->count--;
    for (int i = index; i < candidates->count; i++)
        candidates->list[i] = candidates->list[i + 1];
}

/* Add a candidate. Of candidates too near to be two changes, the strongest is kept. */
static void candidate_add(struct candidates *candidates, struct split split)
{
    for (int i = candidates->count - 1; i >= 0; i--) {
        const struct split *other = &candidates->list[i];
        if (other->at - split.at >= CHANGE_LEAST || split.at - other->at >= CHANGE_LEAST) continue;
        if (other->statistic >= split.statistic) return;
        candidate_remove(candidates, i);
    }
    int i = candidates->count++;
    for (; i > 0 && candidates->list[i - 1].at > split.at; i--)
        candidates->list[i] = candidates->list[i - 1];
    candidates->list[i] = split;
}

static void divide(struct candidates *candidates, const double *values, int begin, int end)
{
    struct split split;
    if (!find_change(values, begin, end, &split)) return;
    candidate_add(candidates, split);
    divide(candidates, values, begin, split.at);
    divide(candidates, values, split.at, end);
}

static void search_windows(struct candidates *candidates, const double *values, int begin, int end)
{
    for (int from = begin;; from += STEP) {
        int to = from + CHANGE_WINDOW;
        if (to >= end) {
            int last = end - CHANGE_WINDOW;
            divide(candidates, values, last > begin ? last : begin, end);
            return;
        }
        divide(candidates, values, from, to);
    }
}

/* The edge of a window may cut a level short, so test each candidate again between its
 * neighbours until none moves or disappears. */
static void settle(struct candidates *candidates, const double *values, int begin, int end)
{
    bool moved = true;
    for (int pass = 0; moved && pass < MAX_PASSES; pass++) {
        moved = false;
        for (int i = 0; i < candidates->count;) {
            struct split *here = &candidates->list[i], split;
            int from = i > 0 ? here[-1].at : begin;
            int to = i + 1 < candidates->count ? here[1].at : end;
            if (from < here->at - STEP) from = here->at - STEP;
            if (to > here->at + STEP) to = here->at + STEP;
            if (!find_change(values, from, to, &split)) {
                candidate_remove(candidates, i);
                moved = true;
                continue;
            }
            moved = moved || split.at != here->at;
            *here = split;
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
        struct split list[(end - begin) / CHANGE_LEAST + 1];
        struct candidates candidates = {list, 0};
        search_windows(&candidates, values, begin, end);
        settle(&candidates, values, begin, end);
        for (int i = 0; i < candidates.count; i++)
            at[found++] = list[i].at;
    }
    return found;
}
