/*
 * model_ranking.h - the fastest few of the candidates for a step of a model, fastest first.
 */
#pragma once

#include <math.h>
#include <stdbool.h>

/* Enough that tiles of one kind, of which several are often close to each other, leave places to
 * others. */
enum { MODEL_RIVALS = 8 };

/* Starts as zeros: nothing was measured. */
struct model_ranking {
    int count, choice[MODEL_RIVALS];
    double us[MODEL_RIVALS];
};

/* Among equals the first stays ahead; candidates behind the last place are dropped. */
static inline void model_ranking_add(struct model_ranking *ranking, int choice, double us)
{
    int at = ranking->count;
    while (at > 0 && us < ranking->us[at - 1])
        at--;
    if (at == MODEL_RIVALS) return;
    if (ranking->count < MODEL_RIVALS) ranking->count++;
    for (int i = ranking->count - 1; i > at; i--) {
        ranking->us[i] = ranking->us[i - 1];
        ranking->choice[i] = ranking->choice[i - 1];
    }
    ranking->us[at] = us;
    ranking->choice[at] = choice;
}

/* INFINITY where nothing was measured. */
static inline double model_ranking_least_us(const struct model_ranking *ranking)
{
    return ranking->count > 0 ? ranking->us[0] : (double)INFINITY;
}
