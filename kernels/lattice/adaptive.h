/*
 * adaptive.h - lattice_encode_adaptive: the scale is found in the data of the batch.
 *
 *   s2 = sum over all entries of q^2, q = x rounded to 2^-16 and clipped to +-8, NaN as 0
 *   r = share q^M / (2^-16 sqrt(s2 / entries)), codes = lattice_encode with that r
 *
 * so that a batch of any standard deviation is coded at the recommended scale, which `scaling=on`
 * of lattice_encode has to know beforehand. Squares are whole numbers and are added modulo 2^64, so
 * s2 does not depend on the order and r is defined to the bit: sqrt and division of double are
 * rounded to nearest everywhere. A batch of zeros has the scale of standard deviation 1. Clipping
 * keeps a few entries beyond any code from deciding for all.
 */
#pragma once

#include "lattice.h"

enum { ADAPTIVE_ROWS, ADAPTIVE_COLUMNS, ADAPTIVE_LATTICE, ADAPTIVE_CODE, ADAPTIVE_DATA };
enum { ADAPTIVE_R = BUF_T }; /* buffers: x, codes (packed), r */

#ifdef __CUDACC__
#define ADAPTIVE_FUNCTION static inline __host__ __device__
#else
#define ADAPTIVE_FUNCTION static inline
#endif

/* q^2 of one entry. */
ADAPTIVE_FUNCTION uint64_t adaptive_square(float x)
{
    float clipped = x != x ? 0.0f : fminf(fmaxf(x, -8.0f), 8.0f);
    int64_t q = (int64_t)rintf(clipped * 0x1p16f);
    return (uint64_t)(q * q);
}

/* r from s2 of so many entries; `ratio` is share q^M. */
ADAPTIVE_FUNCTION float adaptive_r(uint64_t s2, int64_t entries, float ratio)
{
    if (s2 == 0) return ratio;
    return (float)((double)ratio * 0x1p16 / sqrt((double)s2 / (double)entries));
}

#ifdef __cplusplus
extern "C" {
#endif

/* The job of an encoder, packed and without protection. r is that of standard deviation 1: the
 * ratio. */
struct lattice_job adaptive_job(const struct assay_shape *shape);

/* The same with r from the entries x. */
struct lattice_job adaptive_job_of(const struct assay_shape *shape, const float *x);

/* Signature of assay_variant.model, for every variant. */
int adaptive_model(const struct assay_shape *shape, const void *const in[], int buffer,
                   int64_t begin, int64_t end, void *out);

#ifdef __cplusplus
}
#endif
