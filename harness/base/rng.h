/*
 * rng.h - seeded random numbers. Pure.
 *
 * The sequence: xoshiro256** (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", ACM TOMS 47, 2021). The hash: the finaliser
 * of splitmix64 (Steele, Lea and Flood, OOPSLA 2014, section 4).
 */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);

/* A whole number in [0, bound), without bias. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Fisher-Yates. */
void rng_shuffle(struct rng *rng, int *values, int count);

/* A seed for stream number `stream`: one to one in either argument while the other is fixed. */
uint64_t rng_mix(uint64_t seed, uint64_t stream);
