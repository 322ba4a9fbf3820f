#include "judge/clock_steps.h"

#include <math.h>

#include "base/stats.h"
#include "judge/timings.h"

/* Readings of one step differ by as much: a step is no whole number of nanoseconds. */
static const double SAME_STEP_NS = 2.5;
/* Below this share of the time two steps are fine enough for medians. */
static const double COARSE = 0.005;
/* What trimming a tenth at each end leaves of a step: a reading that is as rare is lost. On each
 * side, so twice. */
static const double DITHERED_STEPS = 0.2;

struct clock_steps clock_steps_of(double *time_ns, int count)
{
    struct clock_steps steps = {0};
    int slow = count > 2; /* one reading alone is a slow sample, however few there are */
    int cut = count < 20 ? slow : count / 10, rare = count < 40 ? slow : count / 20;
    int readings = count > 0;
    double sum = 0, step = INFINITY;
    stats_sort(time_ns, count);
    for (int i = cut; i < count - cut; i++)
        sum += time_ns[i];
    for (int i = 1; i < count; i++) {
        double gap = time_ns[i] - time_ns[i - 1];
        if (gap <= SAME_STEP_NS) continue;
        readings++;
        step = fmin(step, gap);
    }
    if (count == 0) return steps;
    steps.mean_ns = sum / (count - 2 * cut);
    /* A fine clock hardly ever reads the same twice. */
    if (readings > 1 && 2 * readings <= count) steps.step_ns = step;
    steps.dithers = time_ns[count - 1 - rare] - time_ns[rare] > SAME_STEP_NS;
    return steps;
}

/* The launches of one side. */
struct sight {
    int launches, dither;
    double step_ns, least_ns;
};

static struct sight look(const struct timings *side, const struct case_id *id, int launches)
{
    struct sight sight = {.least_ns = INFINITY};
    const struct timing *row = timings_first(side, id), *end = side->rows + side->count;
    for (; row && row < end && case_id_order(&row->id, id) == 0; row++) {
        if (!(row->time_ns > 0) || (launches > 0 && row->launch >= launches)) continue;
        sight.launches++;
        sight.dither += row->steps.dithers;
        sight.step_ns = fmax(sight.step_ns, row->steps.step_ns);
        sight.least_ns = fmin(sight.least_ns, row->time_ns);
    }
    return sight;
}

/* A time near a whole number of steps shows no dither in some launches, by chance. */
static bool dithers(struct sight side)
{
    return 2 * side.dither >= side.launches;
}

struct clock_sight clock_sight_of(const struct timings *base, const struct timings *candidate,
                                  const struct case_id *id, int launches, bool speedup)
{
    struct sight b = look(base, id, launches), c = look(candidate, id, launches);
    struct clock_sight found = {speedup ? METRIC_SPEEDUP : METRIC_MEDIAN, 0};
    double steps = WHOLE_STEPS, step_ns = fmax(b.step_ns, c.step_ns);
    bool coarse = WHOLE_STEPS * step_ns > COARSE * fmin(b.least_ns, c.least_ns);
    if (!speedup && coarse && b.launches + c.launches > 2) {
        found.metric = METRIC_MEAN;
        if (dithers(b) && dithers(c)) steps = DITHERED_STEPS;
    } else if (base->run.launch_count > 0) { /* what the device says, where samples say nothing */
        step_ns = fmax(step_ns, base->run.launches[0].device.clock_step_ns);
    }
    found.resolution_ns = steps * step_ns;
    return found;
}
