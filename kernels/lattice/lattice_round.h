/*
 * lattice_round.h - decode(encode(x)) without digits. It is compiled for the host too, so that
 * tests run it.
 *
 * With g_0 = Q(v) and g_m+1 = Q(g_m / q), the sum that decoding computes telescopes to
 * g_0 - q^M g_M, which is the closest point itself unless the block is overloaded. A cheap test on
 * v shows that a block is not overloaded, for nearly all blocks: rounding changes a point's
 * product with a shortest vector l by at most |l|^2 / 2, and Q(u) = 0 where no product with u is
 * larger than that, so
 *     v l < (|l|^2 / 2) (q^M - q^(M-1) - .. - 1)   for all l
 * is sufficient (less a hundredth of q^M for the dithers). Where the test fails, g_M is computed
 * by its definition.
 */
#pragma once

#include "lattice_fast.h"

/* The sum of the two largest |v|. */
LATTICE_FN float round_largest_two(int d, const float v[])
{
    float most[LATTICE_MAX_D / 2], next[LATTICE_MAX_D / 2];
    LATTICE_UNROLL
    for (int i = 0; i < d / 2; i++) {
        most[i] = fmaxf(fabsf(v[i]), fabsf(v[i + d / 2]));
        next[i] = fminf(fabsf(v[i]), fabsf(v[i + d / 2]));
    }
    LATTICE_UNROLL
    for (int n = d / 4; n > 0; n /= 2)
        LATTICE_UNROLL
    for (int i = 0; i < n; i++) {
        next[i] = fmaxf(fminf(most[i], most[i + n]), fmaxf(next[i], next[i + n]));
        most[i] = fmaxf(most[i], most[i + n]);
    }
    return most[0] + next[0];
}

/* The largest product of v with a shortest vector (A2: v_1 divided by sqrt(3)). */
LATTICE_FN float round_reach(int lattice, const float v[])
{
    if (lattice == LATTICE_Z2) return fmaxf(fabsf(v[0]), fabsf(v[1]));
    if (lattice == LATTICE_A2) return fmaxf(fabsf(v[0]), 0.5f * fabsf(v[0]) + 1.5f * fabsf(v[1]));
    if (lattice == LATTICE_D4) return round_largest_two(4, v);
    return fmaxf(round_largest_two(8, v), 0.5f * lattice_sum8(v));
}

LATTICE_CONST int round_power(int q, int levels)
{
    return levels == 1 ? q : levels == 2 ? q * q : q * q * q;
}

/* A reach below this is not overloaded. */
LATTICE_CONST float round_bound(int lattice, int q, int levels)
{
    const int power = round_power(q, levels);
    const int below = levels == 1 ? 1 : levels == 2 ? 1 + q : 1 + q + q * q;
    const float half_norm = lattice_d(lattice) == 2 ? 0.5f : 1.0f;
    return (float)(power - below) * half_norm - 0.01f * (float)power;
}

/* Z2's coordinates are codes of their own: those that are not overloaded are q^M
 * whole numbers in a row, from this on. A tie goes where the dither points, so for an even
 * q the row has one more below 0 where that is up. */
LATTICE_CONST int round_least(int q, int levels, int i)
{
    const int below = levels == 1 ? 1 : levels == 2 ? 1 + q : 1 + q + q * q;
    const bool up = i == 1; /* the sign of lattice_dither(LATTICE_Z2, i) */
    return -(q / 2 - (q % 2 == 0 && !up)) * below;
}

/* Whether a block is surely not overloaded. Exact for Z2; for the others, false means that it may
 * be. */
LATTICE_FN bool round_fits(int lattice, int q, int levels, const float v[])
{
    if (lattice != LATTICE_Z2) return round_reach(lattice, v) < round_bound(lattice, q, levels);
    bool fits = true;
    LATTICE_UNROLL
    for (int i = 0; i < 2; i++) {
        const float least = (float)round_least(q, levels, i) - 0.5f;
        fits &= v[i] >= least && v[i] < least + (float)round_power(q, levels);
    }
    return fits;
}

/* floor(a / 9), of q = 3 with its two levels. */
LATTICE_FN int round_ninths(int a)
{
    return (a - (a < 0 ? 8 : 0)) / 9;
}

/* Set z to what an overloaded block of Z2 decodes to; leave any other block as it is. */
LATTICE_FN void round_wrap_z2(int q, int levels, int z[])
{
    const int power = round_power(q, levels);
    LATTICE_UNROLL
    for (int i = 0; i < 2; i++) {
        const int least = round_least(q, levels, i), up = (z[i] >> 1) - least;
        const int rest = q == 3 ? up - power * round_ninths(up) : up & (power - 1);
        z[i] = 2 * (least + rest);
    }
}

/* z becomes what an overloaded block decodes to. */
LATTICE_FN void round_wrap(int lattice, int q, int levels, int z[])
{
    int g[LATTICE_MAX_D], next[LATTICE_MAX_D], weight = 1;
    LATTICE_UNROLL
    for (int i = 0; i < lattice_d(lattice); i++)
        g[i] = z[i];
    LATTICE_UNROLL
    for (int m = 0; m < levels; m++) {
        lattice_closest_quotient(lattice, q, g, next);
        LATTICE_UNROLL
        for (int i = 0; i < lattice_d(lattice); i++)
            g[i] = next[i];
        weight *= q;
    }
    LATTICE_UNROLL
    for (int i = 0; i < lattice_d(lattice); i++)
        z[i] -= weight * g[i];
}

/* The closest point of a block that fits. */
LATTICE_FN void round_point(int lattice, int q, int levels, const float v[], uint32_t mask, int z[])
{
    if (lattice != LATTICE_E8 || round_bound(lattice, q, levels) >= 31.0f) {
        lattice_closest(lattice, v, z);
        return;
    }
    uint32_t low, high; /* |z| < 64: 7 bits, and a sign */
    fast_closest_e8(v, mask, &low, &high);
    LATTICE_UNROLL
    for (int i = 0; i < 4; i++) {
        z[3 - i] = (int)((low >> (8 * i) & 127) ^ 64) - 64;
        z[7 - i] = (int)((high >> (8 * i) & 127) ^ 64) - 64;
    }
}

/* Doubled coordinates that a block decodes to. */
LATTICE_FN void round_block(int lattice, int q, int levels, const float x[], float r, uint32_t mask,
                            int z[])
{
    float v[LATTICE_MAX_D];
    bool sound = lattice_scale(lattice, x, r, v);
    if (lattice != LATTICE_Z2 && sound && round_fits(lattice, q, levels, v)) {
        round_point(lattice, q, levels, v, mask, z);
        return;
    }
    LATTICE_UNROLL
    for (int i = 0; i < lattice_d(lattice); i++)
        z[i] = 0;
    if (!sound) return;
    lattice_closest(lattice, v, z);
    lattice == LATTICE_Z2 ? round_wrap_z2(q, levels, z) : round_wrap(lattice, q, levels, z);
}
