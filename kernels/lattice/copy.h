/*
 * copy.h - the copies that bound the family (baselines/copy_lattice*): they move groups of eight
 * entries and their packed codes, with next to no arithmetic.
 *
 *   encode     the codes are the low bytes of a word, the exclusive or of the bits of all eight
 *              entries; the word above is the exclusive or of the first four. T of block b of the
 *              group is byte b of the word
 *   decode     entry i is the low 32 bits of the codes' word, exclusive or i and the T of its
 *              block
 *   roundtrip  y = x
 */
#pragma once

#include "lattice.h"

/* Bytes of the packed codes of eight entries. */
static inline int copy_group_bytes(const struct lattice_job *job)
{
    return 8 / job->d * job->block_elements;
}

/* Blocks of eight entries that have a T each; 0: none have. */
static inline int copy_group_ts(const struct lattice_job *job)
{
    return job->overload == OVERLOAD_BLOCK && job->task != TASK_ROUNDTRIP ? 8 / job->d : 0;
}

LATTICE_FN uint64_t copy_word(const uint32_t x[8])
{
    uint32_t low = x[0] ^ x[1] ^ x[2] ^ x[3];
    return (uint64_t)low << 32 | (low ^ x[4] ^ x[5] ^ x[6] ^ x[7]);
}

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why a shape has no copy: it needs columns in multiples of eight and packed codes,
 * with one T per block or none. */
const char *lattice_copy_supports(const struct assay_shape *shape);

/* Signature of assay_variant.model; for all three operations. */
int lattice_model_copy(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, void *out);

#ifdef __cplusplus
}
#endif
