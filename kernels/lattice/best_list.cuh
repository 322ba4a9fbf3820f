/*
 * best_list.cuh - what best.cu launches for shapes that are more than packed codes of
 * q 2 or 4 without protection (best_list.cu).
 */
#ifndef BEST_LIST_CUH
#define BEST_LIST_CUH

#include "lattice_vec.cuh"

/* T of a block that a first kernel leaves for a second one: no T that lasts is this. */
enum { BEST_AGAIN = 254 };

struct best_list_args {
    struct lattice_args a;
    int64_t groups;        /* of eight entries */
    const uint16_t *carry; /* device memory: c(b) at q4m2; NULL: by the definition (E8) */
    int *most;             /* device memory: the tensor's T; NULL if it has none */
    uint32_t mask;         /* FAST_KEY_MASK */
};

/* Encode: columns a multiple of 8, else any shape. Asynchronous on `stream`. */
int best_list(const struct lattice_job *job, const struct best_list_args *args,
              cudaStream_t stream);

/* The blocks of E8 or D4 at q4m2, packed, whose T is BEST_AGAIN: code and T. */
int best_again(const struct lattice_job *job, const struct lattice_args *args, cudaStream_t stream);

#endif
