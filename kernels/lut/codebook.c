#include "codebook.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"

const struct lattice codebook_lattices[CODEBOOK_LATTICES] = {
    [CODEBOOK_Z2] = {.d = 2, .divisor = 1, .unit = 1.0f},
    [CODEBOOK_A2] = {.d = 2, .divisor = 2, .unit = 0.5f},
    [CODEBOOK_D4] = {.d = 4, .divisor = 1, .unit = 1.0f},
    [CODEBOOK_E8] = {.d = 8, .divisor = 4, .unit = 1.0f},
};

const char *const codebook_lattice_names[CODEBOOK_LATTICES + 1] = {"Z2", "A2", "D4", "E8", NULL};

/* ---------------------------------------------------------- closest point -- */

#define ROOT3 1.7320508075688772935

void codebook_dither(int d, float *out)
{
    double u[CODEBOOK_MAX_D];
    static const double primes[CODEBOOK_MAX_D] = {2, 3, 5, 7, 11, 13, 17, 19};
    double norm = 0;
    for (int i = 0; i < d; i++) {
        double root = sqrt(primes[i]);
        u[i] = root - floor(root) - 0.5;
        norm += u[i] * u[i];
    }
    for (int i = 0; i < d; i++)
        out[i] = (float)(u[i] * 0x1p-10 / sqrt(norm));
}

static double distance(int d, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

static void closest_z(int d, const double *x, double *y)
{
    for (int i = 0; i < d; i++)
        y[i] = floor(x[i] + 0.5);
}

/* Round; where the sum is odd, move the coordinate that was rounded furthest. */
static void closest_d(int d, const double *x, double *y)
{
    double sum = 0, furthest = -1;
    int k = 0;
    closest_z(d, x, y);
    for (int i = 0; i < d; i++) {
        sum += y[i];
        if (fabs(x[i] - y[i]) > furthest) {
            furthest = fabs(x[i] - y[i]);
            k = i;
        }
    }
    if (fmod(sum, 2) != 0) y[k] += x[k] > y[k] ? 1 : -1;
}

/* The closer of the closest points of D8 and of D8 + (1/2)^8. */
static void closest_e8(const double *x, double *y)
{
    double shifted[8], other[8];
    for (int i = 0; i < 8; i++)
        shifted[i] = x[i] - 0.5;
    closest_d(8, x, y);
    closest_d(8, shifted, other);
    for (int i = 0; i < 8; i++)
        other[i] += 0.5;
    if (distance(8, x, other) < distance(8, x, y)) memcpy(y, other, sizeof other);
}

/* The closer of the closest points of two rectangular lattices. */
static void closest_a2(const double *x, double *y)
{
    double other[2];
    y[0] = floor(x[0] + 0.5);
    y[1] = ROOT3 * floor(x[1] / ROOT3 + 0.5);
    other[0] = floor(x[0] - 0.5 + 0.5) + 0.5;
    other[1] = ROOT3 * (floor(x[1] / ROOT3 - 0.5 + 0.5) + 0.5);
    if (distance(2, x, other) < distance(2, x, y)) memcpy(y, other, sizeof other);
}

void codebook_closest(int lattice, const double *x, double *point)
{
    double moved[CODEBOOK_MAX_D];
    float e[CODEBOOK_MAX_D];
    int d = codebook_lattices[lattice].d;
    codebook_dither(d, e);
    for (int i = 0; i < d; i++)
        moved[i] = x[i] + (double)e[i];
    switch (lattice) {
    case CODEBOOK_Z2:
        closest_z(d, moved, point);
        return;
    case CODEBOOK_A2:
        closest_a2(moved, point);
        return;
    case CODEBOOK_D4:
        closest_d(d, moved, point);
        return;
    default:
        closest_e8(moved, point);
    }
}

/* -------------------------------------------------------------- codewords -- */

/* Basis vectors in the whole-number coordinates. */
static const int8_t bases[CODEBOOK_LATTICES][CODEBOOK_MAX_D][CODEBOOK_MAX_D] = {
    [CODEBOOK_Z2] = {{1, 0}, {0, 1}},
    [CODEBOOK_A2] = {{2, 0}, {1, 1}},
    [CODEBOOK_D4] = {{-1, -1, 0, 0}, {1, -1, 0, 0}, {0, 1, -1, 0}, {0, 0, 1, -1}},
    [CODEBOOK_E8] = {{4},
                     {-2, 2},
                     {0, -2, 2},
                     {0, 0, -2, 2},
                     {0, 0, 0, -2, 2},
                     {0, 0, 0, 0, -2, 2},
                     {0, 0, 0, 0, 0, -2, 2},
                     {1, 1, 1, 1, 1, 1, 1, 1}},
};

/* The length that a step of 1 in the whole-number coordinate i has. */
static double step(int lattice, int i)
{
    if (lattice == CODEBOOK_E8) return 0.5;
    if (lattice == CODEBOOK_A2) return i == 0 ? 0.5 : ROOT3 / 2;
    return 1;
}

static void codeword(int lattice, int q, int64_t index, int *out)
{
    int d = codebook_lattices[lattice].d;
    double x[CODEBOOK_MAX_D], nearest[CODEBOOK_MAX_D];
    memset(out, 0, (size_t)d * sizeof *out);
    for (int b = 0; b < d; b++, index /= q)
        for (int i = 0; i < d; i++)
            out[i] += (int)(index % q) * bases[lattice][b][i];
    for (int i = 0; i < d; i++)
        x[i] = out[i] * step(lattice, i) / q;
    codebook_closest(lattice, x, nearest);
    for (int i = 0; i < d; i++)
        out[i] -= q * (int)rint(nearest[i] / step(lattice, i));
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int codebook_make(struct codebook *codebook, int lattice, int q)
{
    int d = codebook_lattices[lattice].d;
    int64_t count = 1;
    for (int i = 0; i < d; i++)
        count *= q;
    *codebook =
        (struct codebook){.lattice = &codebook_lattices[lattice], .q = q, .d = d, .count = count};
    int8_t *points = malloc(2 * (size_t)(count * d));
    if (points == NULL) return assay_error("out of host memory for a codebook");
    codebook->left = points;
    codebook->right = points + count * d;
    for (int64_t index = 0; index < count; index++) {
        int point[CODEBOOK_MAX_D];
        codeword(lattice, q, index, point);
        for (int i = 0; i < d; i++) {
            int metric = lattice == CODEBOOK_A2 && i == 1 ? 3 : 1;
            codebook->left[index * d + i] = (int8_t)point[i];
            codebook->right[index * d + i] = (int8_t)(metric * point[i]);
            codebook->left_max = max_int(codebook->left_max, abs(point[i]));
            codebook->right_max = max_int(codebook->right_max, metric * abs(point[i]));
        }
        codebook->norm_max = max_int(codebook->norm_max, codebook_entry(codebook, index, index));
    }
    return 0;
}

const struct codebook *codebook_get(int lattice, int q)
{
    /* Kept, because references ask for it once per chunk, in several threads, and building 65,536
     * points takes long. */
    static struct codebook kept[CODEBOOK_LATTICES][CODEBOOK_MAX_Q + 1];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct codebook *codebook = &kept[lattice][q];
    pthread_mutex_lock(&lock);
    int failed = codebook->left == NULL ? codebook_make(codebook, lattice, q) : 0;
    pthread_mutex_unlock(&lock);
    return failed ? NULL : codebook;
}

/* ------------------------------------------------------------------ table -- */

int codebook_entry(const struct codebook *codebook, int64_t a, int64_t b)
{
    const int8_t *x = codebook->left + a * codebook->d, *y = codebook->right + b * codebook->d;
    int sum = 0;
    for (int i = 0; i < codebook->d; i++)
        sum += x[i] * y[i];
    return sum / codebook->lattice->divisor; /* exact: see codebook.h */
}

void codebook_table_i16(const struct codebook *codebook, int16_t *table)
{
#pragma omp parallel for schedule(static) if (codebook->count > 256)
    for (int64_t a = 0; a < codebook->count; a++)
        for (int64_t b = 0; b < codebook->count; b++)
            table[a * codebook->count + b] = (int16_t)codebook_entry(codebook, a, b);
}
