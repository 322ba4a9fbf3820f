#include "judge/history_fence.h"

#include <math.h>

#include "base/stats.h"

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
    return expm1(q3 + 3 * (q3 - q1));
}
