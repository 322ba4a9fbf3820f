#include "judge/gate_rounds.h"

#include <math.h>
#include <string.h>

double rounds_p_changed(const struct gate_rounds *rounds, double floor, enum side side)
{
    return signed_rank_p(rounds->value, rounds->count, (double)side * log1p(floor), side);
}

double rounds_p_within(const struct gate_rounds *rounds, double floor, enum side side)
{
    return signed_rank_p(rounds->value, rounds->count, (double)side * log1p(floor),
                         (enum side)(-(int)side));
}

bool rounds_trip(const struct gate_rounds *rounds, double floor, double alpha)
{
    return rounds_p_changed(rounds, floor, SIDE_GREATER) <= alpha ||
           rounds_p_changed(rounds, floor, SIDE_LESS) <= alpha;
}

double rounds_variance(const struct gate_rounds *rounds)
{
    double copy[SIGNED_RANK_MAX];
    memcpy(copy, rounds->value, (size_t)rounds->count * sizeof *copy);
    double spread = spread_of_few(copy, rounds->count);
    return spread * spread;
}
