/*
 * reference.c - closest points, digits and points in double, straight from the formulas: round,
 * repair the parity at the largest error, compare sums of squares.
 *
 * From the fp32 number v = fma(x, r, dither) on, it shares nothing with the kernels but the basis.
 */
#include "lattice.h"

/* Squared distances closer than this are a tie that a kernel may decide otherwise. */
static const double NEAR = 1e-5;

static const double SQRT3 = 1.7320508075688772;

/* The point of D_n closest to x, added to `shift`; returns the squared distance. */
static double closest_even(int n, const double x[], double shift, double out[])
{
    double sum = 0.0, worst = -1.0, distance = 0.0;
    int place = 0;
    for (int i = 0; i < n; i++) {
        double f = floor(x[i] - shift + 0.5);
        double error = fabs(x[i] - shift - f);
        if (error > worst) {
            worst = error;
            place = i;
        }
        sum += f;
        out[i] = f + shift;
    }
    if (fmod(sum, 2.0) != 0.0) out[place] += x[place] > out[place] ? 1.0 : -1.0;
    for (int i = 0; i < n; i++)
        distance += (x[i] - out[i]) * (x[i] - out[i]);
    return distance;
}

/* The rectangular lattice of A2 moved by (shift, shift sqrt 3). */
static double closest_rectangle(const double x[], double shift, double out[])
{
    out[0] = floor(x[0] - shift + 0.5) + shift;
    out[1] = floor(x[1] / SQRT3 - shift + 0.5) + shift;
    double dx = x[0] - out[0], dy = x[1] - SQRT3 * out[1];
    return dx * dx + dy * dy;
}

void lattice_exact_closest(int lattice, const double v[8], int z[8])
{
    const int d = lattice_d(lattice);
    double a[8], b[8];
    const double *best = a;
    if (lattice == LATTICE_Z2)
        for (int i = 0; i < 2; i++)
            a[i] = floor(v[i] + 0.5);
    if (lattice == LATTICE_D4) closest_even(4, v, 0.0, a);
    if (lattice == LATTICE_E8)
        best = closest_even(8, v, 0.0, a) <= closest_even(8, v, 0.5, b) ? a : b;
    if (lattice == LATTICE_A2)
        best = closest_rectangle(v, 0.0, a) <= closest_rectangle(v, 0.5, b) ? a : b;
    for (int i = 0; i < d; i++)
        z[i] = (int)(2.0 * best[i]);
}

/* Coordinates of point z in space. */
static void place_point(int lattice, const int z[8], double x[8])
{
    for (int i = 0; i < lattice_d(lattice); i++)
        x[i] = 0.5 * z[i];
    if (lattice == LATTICE_A2) x[1] *= SQRT3;
}

/* How much farther the second closest point is, in squared distance. The cells'
 * faces belong to the shortest vectors l: the least of |l|^2 - 2 l . (v - g). */
static double margin(int lattice, const double v[8], const int z[8])
{
    double g[8], sum = 0.0, first = 0.0, second = 0.0, least = 9.0;
    int negative = 0;
    place_point(lattice, z, g);
    for (int i = 0; i < lattice_d(lattice); i++) {
        double error = fabs(v[i] - g[i]);
        negative += v[i] < g[i];
        sum += error;
        least = fmin(least, error);
        second = fmax(second, fmin(first, error));
        first = fmax(first, error);
    }
    if (lattice == LATTICE_Z2) return 1.0 - 2.0 * first;
    if (lattice == LATTICE_D4) return 2.0 - 2.0 * (first + second);
    if (lattice == LATTICE_E8) {
        double halves = 0.5 * sum - (negative % 2 ? least : 0.0);
        return 2.0 - 2.0 * fmax(first + second, halves);
    }
    double dx = fabs(v[0] - g[0]), dy = fabs(v[1] - g[1]);
    return 1.0 - 2.0 * fmax(dx, 0.5 * dx + 0.5 * SQRT3 * dy);
}

static void quotient(int lattice, int q, const int z[8], int out[8])
{
    double v[8];
    place_point(lattice, z, v);
    for (int i = 0; i < lattice_d(lattice); i++)
        v[i] = v[i] / q + (double)lattice_dither(lattice, i);
    lattice_exact_closest(lattice, v, out);
}

uint64_t lattice_exact_encode_at(const struct lattice_job *job, const float x[8], int t,
                                 bool *overload, bool *near)
{
    float scale = job->r * lattice_power(-t);
    double v[8], norm = 0.0;
    int z[8], next[8], k[8];
    uint64_t digits = 0;
    *overload = *near = false;
    for (int i = 0; i < job->d; i++) {
        v[i] = (double)fmaf(x[i], scale, lattice_dither(job->lattice, i));
        norm += v[i] * v[i];
    }
    if (!(norm < (double)LATTICE_LIMIT)) return 0;
    lattice_exact_closest(job->lattice, v, z);
    *near = margin(job->lattice, v, z) < NEAR;
    for (int m = 0; m < job->levels; m++) {
        lattice_coordinates(job->lattice, z, k);
        for (int i = 0; i < job->d; i++) {
            int digit = ((k[i] % job->q) + job->q) % job->q;
            digits |= (uint64_t)digit << (2 * (m * job->d + i));
        }
        quotient(job->lattice, job->q, z, next);
        memcpy(z, next, sizeof z);
    }
    for (int i = 0; i < job->d; i++)
        *overload |= z[i] != 0;
    return digits;
}

/* Whether the block has numbers, and small enough ones. */
static bool is_lost(const struct lattice_job *job, const float x[8])
{
    double norm = 0.0;
    for (int i = 0; i < job->d; i++) {
        double v = (double)fmaf(x[i], job->r, lattice_dither(job->lattice, i));
        norm += v * v;
    }
    return !(norm < (double)LATTICE_LIMIT);
}

uint64_t lattice_exact_encode(const struct lattice_job *job, const float x[8], int *t, bool *near)
{
    bool overload, tie;
    *t = 0;
    if (job->overload == OVERLOAD_OFF) return lattice_exact_encode_at(job, x, 0, &overload, near);
    *near = false;
    for (int doublings = 0; !is_lost(job, x) && doublings <= LATTICE_T_MAX; doublings++) {
        uint64_t digits = lattice_exact_encode_at(job, x, doublings, &overload, &tie);
        *near |= tie;
        if (overload) continue;
        *t = doublings;
        return digits;
    }
    *t = LATTICE_LOST;
    return 0;
}

void lattice_exact_decode(const struct lattice_job *job, uint64_t digits, int t, double y[8])
{
    int sum[8] = {0}, weight = 1;
    double beta = t > LATTICE_T_MAX ? 0.0 : ldexp(2.0 * (double)job->half, t);
    for (int m = 0; m < job->levels; m++) {
        int k[8], z[8], near[8];
        for (int i = 0; i < job->d; i++)
            k[i] = (int)(digits >> (2 * (m * job->d + i)) & 3);
        lattice_point(job->lattice, k, z);
        quotient(job->lattice, job->q, z, near);
        for (int i = 0; i < job->d; i++)
            sum[i] += weight * (z[i] - job->q * near[i]);
        weight *= job->q;
    }
    place_point(job->lattice, sum, y);
    for (int i = 0; i < job->d; i++)
        y[i] *= beta;
}
