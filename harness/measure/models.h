/*
 * models.h - the bits that variants' own models say they must write, for the
 * chunks that a verifier checks. Many variants of a group share one model, and
 * each is checked twice: a model is computed once, and kept.
 */
#ifndef MODELS_H
#define MODELS_H

#include "measure/verify.h"

enum { MODELS_MAX = 16 }; /* different models in a group; more are computed each time */

struct models {
    int count;
    struct model {
        int (*function)(const struct assay_shape *shape, const void *const in[], int buffer,
                        int64_t begin, int64_t end, void *out);
        unsigned char **chunk; /* bytes of each of the verifier's chunks */
    } model[MODELS_MAX + 1];   /* the last one is for what is not kept */
};

/* What the variant's model says of every chunk, in their order; owned by `models`
 * and good until the next call. NULL with assay_error. */
unsigned char *const *models_get(struct models *models, const struct verifier *verifier,
                                 const struct assay_variant *variant);

void models_release(struct models *models, const struct verifier *verifier);

#endif
