/*
 * leaves.c - leaves of procedural volumes; see leaves.h.
 *
 * The noise is value noise: hashed values at the corners of a cubic lattice, interpolated by 3 t^2
 * - 2 t^3 along each axis; each octave has half the feature size and half the weight of the
 * previous one (Ebert et al., "Texturing and Modeling", chapter 2). It uses only +, -, *, / and
 * sqrt, which round in the same way on every machine.
 */
#include <math.h>

#include "leaves.h"

enum { OCTAVES = 4, VOLUME_VOXELS = LEAF_VOLUME * LEAF_EDGE };

/* splitmix64's finaliser. */
static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The hashed value of a lattice corner, in [0, 1). */
static double hashed(uint64_t seed, int64_t x, int64_t y, int64_t z)
{
    uint64_t key = mixed(seed + (uint64_t)x * 0x9e3779b97f4a7c15u);
    key = mixed(key + (uint64_t)y * 0x9e3779b97f4a7c15u);
    key = mixed(key + (uint64_t)z * 0x9e3779b97f4a7c15u);
    return (double)(key >> 11) * 0x1p-53;
}

static double blend(double a, double b, double t)
{
    return a + (b - a) * (t * t * (3.0 - 2.0 * t));
}

static double value_noise(uint64_t seed, const double at[3])
{
    int64_t corner[3];
    double t[3], value[2][2];
    for (int axis = 0; axis < 3; axis++) {
        double whole = floor(at[axis]);
        corner[axis] = (int64_t)whole;
        t[axis] = at[axis] - whole;
    }
    for (int dz = 0; dz < 2; dz++)
        for (int dy = 0; dy < 2; dy++)
            value[dz][dy] =
                blend(hashed(seed, corner[0], corner[1] + dy, corner[2] + dz),
                      hashed(seed, corner[0] + 1, corner[1] + dy, corner[2] + dz), t[0]);
    return blend(blend(value[0][0], value[0][1], t[1]), blend(value[1][0], value[1][1], t[1]),
                 t[2]);
}

/* The sum of octaves whose largest features have `size` voxels; in [0, 1). */
static double turbulence(uint64_t seed, const double voxel[3], double size)
{
    double sum = 0.0, weight = 0.5, total = 0.0;
    for (int octave = 0; octave < OCTAVES; octave++) {
        const double at[3] = {voxel[0] / size, voxel[1] / size, voxel[2] / size};
        sum += weight * value_noise(seed + (uint64_t)octave, at);
        total += weight;
        weight *= 0.5;
        size *= 0.5;
    }
    return sum / total;
}

/* Distance from the volume's middle, with its z component multiplied by `stretch`. */
static double from_middle(const double voxel[3], double stretch)
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double off = voxel[axis] - 0.5 * VOLUME_VOXELS;
        if (axis == 2) off *= stretch;
        sum += off * off;
    }
    return sqrt(sum);
}

/* A plume that thins out towards its edge and has holes. */
static double smoke(uint64_t seed, const double voxel[3])
{
    double inside = 1.0 - from_middle(voxel, 0.6) / (0.45 * VOLUME_VOXELS);
    double density = 2.0 * (turbulence(seed, voxel, 32.0) - 0.6 + 0.5 * inside);
    return density < 0.0 ? 0.0 : density > 1.0 ? 1.0 : density;
}

static double shell(uint64_t seed, const double voxel[3])
{
    double bump = 24.0 * (turbulence(seed, voxel, 48.0) - 0.5);
    double distance = from_middle(voxel, 1.0) - 0.35 * VOLUME_VOXELS - bump;
    double band = (double)LEAF_BAND;
    return distance < -band ? -band : distance > band ? band : distance;
}

static double value_at(enum leaf_kind kind, uint64_t seed, const int64_t voxel[3])
{
    const double at[3] = {(double)voxel[0] + 0.5, (double)voxel[1] + 0.5, (double)voxel[2] + 0.5};
    if (kind == LEAF_NOISE) return hashed(seed, voxel[0], voxel[1], voxel[2]);
    return kind == LEAF_SMOKE ? smoke(seed, at) : shell(seed, at);
}

static void make_one(enum leaf_kind kind, uint64_t seed, int64_t leaf, float *out)
{
    const int64_t per_volume = (int64_t)LEAF_VOLUME * LEAF_VOLUME * LEAF_VOLUME;
    const int64_t at = leaf % per_volume;
    const int64_t origin[3] = {at % LEAF_VOLUME * LEAF_EDGE,
                               at / LEAF_VOLUME % LEAF_VOLUME * LEAF_EDGE,
                               at / LEAF_VOLUME / LEAF_VOLUME * LEAF_EDGE};
    uint64_t volume_seed = mixed(seed + (uint64_t)(leaf / per_volume));
    for (int i = 0; i < LEAF_VOXELS; i++) {
        const int64_t voxel[3] = {origin[0] + i % LEAF_EDGE, origin[1] + i / LEAF_EDGE % LEAF_EDGE,
                                  origin[2] + i / LEAF_EDGE / LEAF_EDGE};
        out[i] = (float)value_at(kind, volume_seed, voxel);
    }
}

void leaves_make(enum leaf_kind kind, uint64_t seed, int64_t first, int64_t count, float *out)
{
#pragma omp parallel for schedule(static) if (count > 16)
    for (int64_t i = 0; i < count; i++)
        make_one(kind, seed, first + i, out + i * LEAF_VOXELS);
}
