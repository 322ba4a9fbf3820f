#include "judge/twin_processes.h"

#include <math.h>

#include "judge/student_t.h"

/* Half of the rate at which PASS may err, and a quarter of that of changes: places need not be
 * normal draws. */
static const double PASS_ALPHA = 0.025;
static const double CAUTION = 0.25;
/* How often a change that it `finds` is missed. */
static const double MISSED = 0.05;
static const double CONFIDENCE = 0.95;
/* Variances, as multiples of a copy's. */
static const double OF_CHANGE = 1.5;
static const double OF_COPIES = 2;

/* The middle of what the blocks say, NAN without enough of them. */
static double middle_of(const float *base_ns, const float *other_ns, int turns)
{
    struct gate_rounds blocks;
    twin_blocks(base_ns, other_ns, turns, &blocks);
    if (blocks.count < TWIN_FIRST_TURNS) return NAN;
    return signed_rank_interval(blocks.value, blocks.count, CONFIDENCE).mid;
}

bool twin_process_read(const struct twin_case *turns, struct twin_process *found)
{
    if (!turns->base_ns || !turns->candidate_ns || !turns->null_ns) return false;
    double to_first = middle_of(turns->base_ns, turns->candidate_ns, turns->turns);
    double to_second = middle_of(turns->null_ns, turns->candidate_ns, turns->turns);
    found->change = (to_first + to_second) / 2;
    found->copies = middle_of(turns->base_ns, turns->null_ns, turns->turns);
    return isfinite(found->change) && isfinite(found->copies);
}

/* The mean change of all processes, its standard error, and the degrees of freedom of that. */
struct pooled_change {
    double mean, error, freedom;
};

static struct pooled_change pool(const struct twin_process *process, int count)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++)
        mean += process[i].change / count;
    for (int i = 0; i < count; i++) {
        double away = process[i].change - mean, copies = process[i].copies;
        squares += away * away / OF_CHANGE + copies * copies / OF_COPIES;
    }
    double freedom = 2 * count - 1;
    return (struct pooled_change){mean, sqrt(OF_CHANGE * squares / freedom / count), freedom};
}

/* One-sided p of "the change is above `limit`". Times of a clock with coarse steps may all be
 * alike: then the mean says all. */
static double p_above(const struct pooled_change *pooled, double change, double limit)
{
    if (pooled->error > 0)
        return student_t_above((change - limit) / pooled->error, pooled->freedom);
    return change > limit ? 0 : 1;
}

static void settle(struct twin_case *one, enum verdict verdict, const char *reason)
{
    one->verdict = verdict;
    one->reason = reason;
}

void twin_processes_judge(struct twin_case *one, const struct twin_process *process, int count,
                          double alpha)
{
    one->floor = fmax(one->threshold, one->quantum);
    one->layout = one->mde = NAN;
    one->p_slower = one->p_faster = 1;
    one->change = (struct interval){NAN, NAN, NAN};
    if (count < TWIN_LEAST_PROCESSES) {
        settle(one, VERDICT_INCONCLUSIVE, "too few processes measured it");
        return;
    }
    alpha *= CAUTION;
    struct pooled_change pooled = pool(process, count);
    double floor = log1p(one->floor), error = pooled.error;
    double margin = error * student_t_exceeded((1 - CONFIDENCE) / 2, pooled.freedom);
    double reach =
        student_t_exceeded(alpha, pooled.freedom) + student_t_exceeded(MISSED, pooled.freedom);
    one->change = (struct interval){pooled.mean, pooled.mean - margin, pooled.mean + margin};
    one->mde = expm1(floor + reach * error);
    one->p_slower = p_above(&pooled, pooled.mean, floor);
    one->p_faster = p_above(&pooled, -pooled.mean, floor);
    if (one->p_slower <= alpha)
        settle(one, VERDICT_REGRESSED, "");
    else if (one->p_faster <= alpha)
        settle(one, VERDICT_IMPROVED, "");
    else if (p_above(&pooled, floor, pooled.mean) > PASS_ALPHA)
        settle(one, VERDICT_INCONCLUSIVE, "the processes do not tell it from the floor");
    else if (one->quantum > one->threshold)
        settle(one, VERDICT_INCONCLUSIVE, "the clock's steps are coarser than the threshold");
    else
        settle(one, VERDICT_PASS, "");
}
