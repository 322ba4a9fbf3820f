#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "measure/expected.h"

/* What one model computed. */
struct model {
    struct model *next;
    int (*function)(const struct assay_shape *shape, const void *const in[], int buffer,
                    int64_t begin, int64_t end, void *out);
    unsigned char bytes[];
};

/* Computes elements [begin, end) of a chunk. */
typedef int piece_function(const struct verifier *verifier, const struct chunk *chunk,
                           int64_t begin, int64_t end, struct model *model);

/* Tasks of one team, so that a reference with few and long pieces can use the remaining
 * threads within each piece (omp taskloop). `why`: what one of those that failed says; errors are
 * kept per thread. */
static int each_piece(const struct verifier *verifier, piece_function *compute, struct model *model,
                      char why[ASSAY_MAX_REASON])
{
    bool failed = false;
    why[0] = '\0';
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < verifier->chunk_count; i++) {
        const struct chunk *chunk = &verifier->chunks[i];
        for (int64_t begin = chunk->begin; begin < chunk->end; begin += verifier->piece) {
            int64_t end =
                begin + verifier->piece < chunk->end ? begin + verifier->piece : chunk->end;
#pragma omp task shared(failed)
            {
                assay_clear_error();
                if (compute(verifier, chunk, begin, end, model) < 0) {
#pragma omp critical(expected_why)
                    {
                        failed = true;
                        snprintf(why, ASSAY_MAX_REASON, "%s", assay_last_error());
                    }
                }
            }
        }
    }
    return failed ? -1 : 0;
}

/* Always -1. */
static int tell(const struct verifier *verifier, const char *what, const char *why)
{
    return assay_error("%s: %s failed%s%s", verifier->buffers->shape->operation->name, what,
                       why[0] ? ": " : "", why);
}

static int by_reference(const struct verifier *verifier, const struct chunk *chunk, int64_t begin,
                        int64_t end, struct model *model)
{
    const struct assay_shape *shape = verifier->buffers->shape;
    int64_t at = chunk->at + (begin - chunk->begin);
    (void)model;
    return shape->operation->reference(shape, verifier->input, chunk->buffer, begin, end,
                                       verifier->expected + at, verifier->bound + at);
}

static int by_model(const struct verifier *verifier, const struct chunk *chunk, int64_t begin,
                    int64_t end, struct model *model)
{
    const struct buffers *buffers = verifier->buffers;
    size_t element = assay_type_bytes(buffers->spec[chunk->buffer].type);
    return model->function(buffers->shape, verifier->input, chunk->buffer, begin, end,
                           model->bytes + chunk->offset + (size_t)(begin - chunk->begin) * element);
}

int expected_compute(struct verifier *verifier)
{
    const struct assay_operation *operation = verifier->buffers->shape->operation;
    char why[ASSAY_MAX_REASON];
    if (verifier->checked == 0 || operation->reference == NULL) return 0;
    verifier->expected = malloc((size_t)verifier->checked * sizeof(double));
    verifier->bound = malloc((size_t)verifier->checked * sizeof(double));
    if (verifier->expected == NULL || verifier->bound == NULL)
        return assay_error("out of host memory for the expected values");
    for (int64_t i = 0; i < verifier->checked; i++)
        verifier->bound[i] = NAN;
    if (each_piece(verifier, by_reference, NULL, why) == 0) return 0;
    return tell(verifier, "the reference", why);
}

const unsigned char *expected_by_model(struct verifier *verifier,
                                       const struct assay_variant *variant)
{
    for (struct model *model = verifier->models; model; model = model->next)
        if (model->function == variant->model) return model->bytes;
    char why[ASSAY_MAX_REASON];
    struct model *model = malloc(sizeof *model + verifier->bytes);
    if (model == NULL) {
        assay_error("out of host memory for a model");
        return NULL;
    }
    model->next = verifier->models;
    model->function = variant->model;
    if (each_piece(verifier, by_model, model, why) < 0) {
        free(model);
        tell(verifier, "a model", why);
        return NULL;
    }
    verifier->models = model;
    return model->bytes;
}

void expected_release(struct verifier *verifier)
{
    while (verifier->models) {
        struct model *next = verifier->models->next;
        free(verifier->models);
        verifier->models = next;
    }
    free(verifier->expected);
    free(verifier->bound);
}
