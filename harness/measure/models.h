/*
 * models.h - caches what the variants' `model` functions compute, for the chunks that a
 * verifier checks. Many variants of a group share one model and each is checked twice, but
 * a model is computed once.
 */
#ifndef MODELS_H
#define MODELS_H

#include "measure/verify.h"

enum { MODELS_MAX = 16 }; /* models cached per group; any more are computed each time */

struct models {
    int count;
    struct model {
        int (*function)(const struct assay_shape *shape, const void *const in[], int buffer,
                        int64_t begin, int64_t end, void *out);
        unsigned char **chunk; /* the expected bytes of each chunk */
    } model[MODELS_MAX + 1];   /* the last one is for a model that is not cached */
};

/* The expected bytes of every chunk by the variant's model; owned by `models` and valid
 * until the next call. NULL with assay_error. */
unsigned char *const *models_get(struct models *models, const struct verifier *verifier,
                                 const struct assay_variant *variant);

void models_release(struct models *models, const struct verifier *verifier);

#endif
