/*
 * fill.h - the value of one element of a generated input, for host and device code:
 * a pure function of (fill, seed, index) that uses only integer and exact double
 * arithmetic, so that both produce the same bits.
 *
 * The hash is splitmix64's finaliser over an odd-constant sequence (rng.h). The
 * normal distribution is the sum of sixteen 16-bit uniforms (Irwin-Hall): excess
 * kurtosis -0.075, tails to 6.9 standard deviations, and no transcendental
 * function that two libraries could round differently.
 */
#pragma once

#include "assay.h"

#ifdef __CUDACC__
#define FILL_FUNCTION static inline __host__ __device__
#else
#define FILL_FUNCTION static inline
#endif

FILL_FUNCTION uint64_t fill_hash(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

FILL_FUNCTION double fill_uniform(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

FILL_FUNCTION double fill_normal(uint64_t seed, uint64_t index)
{
    /* Sixteen uniforms in [0, 65535]: mean 16 * 32767.5, variance 16 (2^32 - 1) / 12. */
    uint64_t sum = 0;
    for (uint64_t part = 0; part < 4; part++) {
        uint64_t bits = fill_hash(seed, 4 * index + part);
        sum += (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    }
    return ((double)sum - 524280.0) * 1.3214498960651507e-05;
}

/* a + b u with each step rounded: a device compiler would fuse the two into one FMA,
 * which gives other bits than the host. */
FILL_FUNCTION double fill_line(double a, double b, double u)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(a, __dmul_rn(b, u));
#else
    double step = b * u;
    return a + step;
#endif
}

/* `fill->hard` is not read where `hard` is NULL (a GPU passes its own copy). */
FILL_FUNCTION double fill_value(const struct assay_fill *fill, const float *hard, uint64_t seed,
                                int64_t index)
{
    uint64_t at = (uint64_t)index;
    bool may_be_hard = fill->hard_until == 0 || index < fill->hard_until;
    if (may_be_hard && fill->hard_every > 0 && fill->hard_count > 0) {
        uint64_t pick = fill_hash(seed ^ 0x6a09e667f3bcc909u, at);
        if (pick % (uint64_t)fill->hard_every == 0)
            return (double)hard[(pick >> 32) % (uint64_t)fill->hard_count];
    }
    if (fill->kind == ASSAY_FILL_NORMAL) return fill_line(fill->a, fill->b, fill_normal(seed, at));
    if (fill->kind == ASSAY_FILL_UNIFORM)
        return fill_line(fill->a, fill->b - fill->a, fill_uniform(fill_hash(seed, at)));
    /* ASSAY_FILL_INTEGER */
    uint64_t span = (uint64_t)(int64_t)(fill->b - fill->a) + 1;
    return fill->a + (double)(fill_hash(seed, at) % span);
}
