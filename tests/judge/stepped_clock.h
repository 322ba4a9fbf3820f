/* stepped_clock.h - samples as a clock reads them that advances in steps. */
#pragma once

#include <math.h>

#include "base/rng.h"

static inline double simulated_uniform(struct rng *rng)
{
    return ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

static inline double simulated_normal(struct rng *rng)
{
    return sqrt(-2 * log(simulated_uniform(rng))) * cos(6.283185307179586 * simulated_uniform(rng));
}

/* Log-normal noise; each sample begins anywhere within a step, and a reading is up to a nanosecond
 * beside its step, as on an H200. */
static inline void stepped_samples(double *sample, int count, double time_ns, double noise,
                                   double step_ns, struct rng *rng)
{
    for (int i = 0; i < count; i++) {
        sample[i] = time_ns * exp(noise * simulated_normal(rng));
        if (!(step_ns > 0)) continue;
        sample[i] = step_ns * floor(sample[i] / step_ns + simulated_uniform(rng));
        sample[i] += (double)(rng_next(rng) % 8 == 0) - (double)(rng_next(rng) % 8 == 0);
    }
}
