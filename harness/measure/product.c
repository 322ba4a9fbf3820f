#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "device/elements.h"
#include "measure/product.h"

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
