#include "measure/models.h"

#include <stdlib.h>
#include <string.h>

static void release_model(struct model *model, int chunks)
{
    for (int i = 0; model->chunk && i < chunks; i++)
        free(model->chunk[i]);
    free(model->chunk);
    memset(model, 0, sizeof *model);
}

/* Compute one chunk, its pieces in parallel. */
static int compute_chunk(const struct model *model, const struct verifier *verifier, int index)
{
    const struct buffers *buffers = verifier->buffers;
    const struct chunk *chunk = &verifier->chunks[index];
    size_t element = assay_type_bytes(buffers->spec[chunk->buffer].type);
    int64_t piece = verifier->piece;
    int64_t pieces = (chunk->end - chunk->begin + piece - 1) / piece;
    model->chunk[index] = malloc((size_t)(chunk->end - chunk->begin) * element + 1);
    if (model->chunk[index] == NULL) return assay_error("out of host memory for a model");
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed) if (pieces > 1)
    for (int64_t p = 0; p < pieces; p++) {
        int64_t begin = chunk->begin + p * piece;
        int64_t end = begin + piece < chunk->end ? begin + piece : chunk->end;
        unsigned char *out = model->chunk[index] + (size_t)(begin - chunk->begin) * element;
        failed |=
            model->function(buffers->shape, verifier->input, chunk->buffer, begin, end, out) < 0;
    }
    return failed ? assay_error("%s: a model failed", buffers->shape->operation->name) : 0;
}

static int compute(struct model *model, const struct verifier *verifier)
{
    model->chunk = calloc((size_t)verifier->chunk_count + 1, sizeof *model->chunk);
    if (model->chunk == NULL) return assay_error("out of host memory for a model");
    /* Many small chunks are computed in parallel here, a single large one in compute_chunk. */
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed) if (verifier->chunk_count > 1)
    for (int i = 0; i < verifier->chunk_count; i++)
        failed |= compute_chunk(model, verifier, i) < 0;
    if (!failed) return 0;
    release_model(model, verifier->chunk_count);
    return assay_error("%s: a model failed", verifier->buffers->shape->operation->name);
}

unsigned char *const *models_get(struct models *models, const struct verifier *verifier,
                                 const struct assay_variant *variant)
{
    for (int i = 0; i < models->count; i++)
        if (models->model[i].function == variant->model) return models->model[i].chunk;
    struct model *model = &models->model[models->count];
    release_model(model, verifier->chunk_count);
    model->function = variant->model;
    if (compute(model, verifier) < 0) return NULL;
    if (models->count < MODELS_MAX) models->count++;
    return model->chunk;
}

void models_release(struct models *models, const struct verifier *verifier)
{
    if (models == NULL) return;
    for (int i = 0; i <= MODELS_MAX; i++)
        release_model(&models->model[i], verifier->chunk_count);
    free(models);
}
