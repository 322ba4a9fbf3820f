/*
 * codebook.h - the codewords of a nested lattice code: the q^d points of a
 * lattice L that are nearest to 0 in their coset of qL (Kaplan and Ordentlich,
 * "High-Rate Nested-Lattice Quantized Matrix Multiplication with Small Lookup
 * Tables", ISIT 2025, algorithm 2).
 *
 *   digits b_0 .. b_(d-1) in 0 .. q-1, index = sum over i of b_i q^i
 *   point = G b - q Q(G b / q + e)
 *
 * Q is Conway and Sloane's closest point ("Fast quantizing and decoding
 * algorithms for lattice quantizers and codes", IEEE Trans. Inf. Theory 28,
 * 1982), rounding halves up. e is a dither of length 2^-10 in an irrational
 * direction: it decides every tie in the same way, wherever the point is, so
 * that decoding inverts encoding.
 *
 * Coordinates are small whole numbers, in a basis that depends on the lattice:
 *
 *   Z2, D4  the coordinates themselves       inner product  sum x y
 *   E8      twice the coordinates                           sum x y / 4
 *   A2      (a, b) of a/2, b sqrt(3)/2                      (a a' + 3 b b') / 4
 *
 * `right` carries the 3 of A2, so that every inner product is a plain dot
 * product of a left and a right point. Table entries are whole too: the inner
 * product itself, for A2 twice the inner product.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CODEBOOK_Z2, CODEBOOK_A2, CODEBOOK_D4, CODEBOOK_E8, CODEBOOK_LATTICES };
enum { CODEBOOK_MAX_D = 8, CODEBOOK_MAX_Q = 16 };

struct lattice {
    int d;
    int divisor; /* dot product of points / divisor = table entry */
    float unit;  /* table entry * unit = inner product */
};

extern const struct lattice codebook_lattices[CODEBOOK_LATTICES];
extern const char *const codebook_lattice_names[CODEBOOK_LATTICES + 1]; /* ended by NULL */

struct codebook {
    const struct lattice *lattice;
    int q, d;
    int64_t count;           /* q^d */
    int8_t *left;            /* [count][d] */
    int8_t *right;           /* [count][d], with the metric */
    int left_max, right_max; /* the largest |coordinate| */
    int norm_max;            /* the largest table entry, <x, x> */
};

/* The codebook, made at the first call and kept for the life of the process; safe
 * to call from several threads. NULL with assay_error when out of memory. */
const struct codebook *codebook_get(int lattice, int q);

/* The table entry of two indices. */
int codebook_entry(const struct codebook *codebook, int64_t a, int64_t b);

/* The whole table, [count][count], row a for the left index. `table` has space
 * for count^2 entries. */
void codebook_table_i16(const struct codebook *codebook, int16_t *table);

/* The dither of dimension d, as fp32: 2^-10 u, u_i = frac(sqrt(p_i)) - 1/2 over the
 * first d primes, u of length 1. */
void codebook_dither(int d, float *out);

/* The point of L closest to `x` (plain coordinates), as plain coordinates; for
 * A2 in Cartesian ones. Ties by the dither. Declared for the encoder's tests. */
void codebook_closest(int lattice, const double *x, double *point);

#ifdef __cplusplus
}
#endif
