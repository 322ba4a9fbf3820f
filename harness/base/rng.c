#include "base/rng.h"

#include "base/fill.h"

static uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* Seeded by splitmix64, as the authors of xoshiro advise: four of its words are never
 * all zero, the one state that xoshiro cannot leave. */
void rng_seed(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->s[i] = fill_hash(seed, (uint64_t)i);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* The first 2^64 mod bound numbers are rejected, so that the rest divide evenly. */
uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    if (bound == 0) return 0;
    uint64_t refused = -bound % bound;
    uint64_t bits = rng_next(rng);
    while (bits < refused)
        bits = rng_next(rng);
    return bits % bound;
}

void rng_shuffle(struct rng *rng, int *values, int count)
{
    for (int last = count - 1; last > 0; last--) {
        int other = (int)rng_below(rng, (uint64_t)last + 1);
        int held = values[last];
        values[last] = values[other];
        values[other] = held;
    }
}

uint64_t rng_mix(uint64_t seed, uint64_t stream)
{
    return fill_hash(fill_hash(seed, 0), stream);
}
