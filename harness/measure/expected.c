#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "device/elements.h"
#include "measure/expected.h"

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
    if (model == NULL) return assay_error_as(NULL, "out of host memory for a model");
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

/* --------------------------------------------------------------- products -- */

/* The signs of output b are drawn from this stream of the inputs' seed, plus b. */
enum { SIGN_STREAM = 0x7369676e };

static int allocate(struct product *product)
{
    size_t bytes = (size_t)product->rows * sizeof(double);
    product->expected = malloc(bytes + 1);
    product->bound = malloc(bytes + 1);
    product->got = malloc(bytes + 1);
    if (product->expected && product->bound && product->got) return 0;
    return assay_error("out of host memory for the check of a product");
}

static int compute(struct verifier *verifier, int buffer, int64_t columns)
{
    const struct buffers *buffers = verifier->buffers;
    const struct assay_shape *shape = buffers->shape;
    struct product *product = &verifier->products[buffer];
    if (buffers->spec[buffer].count % columns != 0)
        return assay_error("%s: '%s' has no whole rows", shape->operation->name,
                           buffers->spec[buffer].name);
    product->rows = buffers->spec[buffer].count / columns;
    product->columns = columns;
    product->seed = rng_mix(buffers->input_seed, SIGN_STREAM + (uint64_t)buffer);
    double *sign = malloc((size_t)columns * sizeof *sign);
    if (sign == NULL) return assay_error("out of host memory for the check of a product");
    for (int64_t j = 0; j < columns; j++)
        sign[j] = sign_of(product->seed, j);
    int status = allocate(product);
    if (status == 0)
        status = shape->operation->product_check(shape, verifier->input, buffer, sign,
                                                 product->expected, product->bound);
    free(sign);
    return status;
}

int product_compute(struct verifier *verifier)
{
    const struct buffers *buffers = verifier->buffers;
    const struct assay_operation *operation = buffers->shape->operation;
    if (operation->product_columns == NULL || operation->product_check == NULL) return 0;
    verifier->products = calloc(ASSAY_MAX_BUFFERS, sizeof *verifier->products);
    if (verifier->products == NULL) return assay_error("out of host memory for a check");
    for (int b = 0; b < buffers->count; b++) {
        if (buffers->spec[b].role != ASSAY_OUT) continue;
        int64_t columns = operation->product_columns(buffers->shape, b);
        if (columns > 0 && compute(verifier, b, columns) < 0) return -1;
    }
    return 0;
}

static void judge(const struct product *product, const char *name, struct check_result *found)
{
    for (int64_t i = 0; i < product->rows; i++) {
        double expected = product->expected[i], bound = product->bound[i], got = product->got[i];
        if (!isfinite(expected) || !isfinite(bound)) continue; /* such a sum tells nothing */
        if (fabs(got - expected) <= bound) continue;
        if (found->wrong++ == 0)
            snprintf(
                found->reason, sizeof found->reason,
                "row %lld of '%s' with random signs adds up to %.9g, expected %.9g within %.3g",
                (long long)i, name, got, expected, bound);
    }
}

int product_check(const struct verifier *verifier, struct check_result *found)
{
    const struct buffers *buffers = verifier->buffers;
    if (verifier->products == NULL) return 0;
    for (int b = 0; b < buffers->count; b++) {
        const struct product *product = &verifier->products[b];
        if (product->rows == 0) continue;
        if (buffers->ops->signed_sums(buffers->device, buffers->data[b], buffers->spec[b].type,
                                      product->rows, product->columns, product->seed,
                                      product->got) < 0)
            return -1;
        judge(product, buffers->spec[b].name, found);
    }
    return 0;
}

void product_release(struct verifier *verifier)
{
    for (int b = 0; verifier->products && b < ASSAY_MAX_BUFFERS; b++) {
        free(verifier->products[b].expected);
        free(verifier->products[b].bound);
        free(verifier->products[b].got);
    }
    free(verifier->products);
}
