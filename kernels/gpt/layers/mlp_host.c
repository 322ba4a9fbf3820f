/*
 * mlp_host.c - mlp on the host, one row at a time, so that h stays in cache.
 *
 * Operations: 16 c^2 per row. Bytes: the weights once per row, from cache if they fit.
 */
#include <stdlib.h>

#include "kernels/gpt/gpt.h"

/* Compute one row of y; `h` is scratch memory for 4 c values. */
static void row_of(const struct assay_call *call, int64_t row, float *h)
{
    int64_t c = call->shape->value[MLP_C], precision = call->shape->value[MLP_PRECISION];
    for (int64_t j = 0; j < 4 * c; j++) {
        float sum = gpt_load(call->buffer[MLP_B1], precision, j);
        for (int64_t i = 0; i < c; i++)
            sum += gpt_load(call->buffer[MLP_X], precision, row * c + i) *
                   gpt_load(call->buffer[MLP_W1], precision, j * c + i);
        float z = GPT_GELU_SCALE * (sum + GPT_GELU_CUBE * sum * sum * sum);
        h[j] = 0.5f * sum * (1.0f + tanhf(z));
    }
    for (int64_t i = 0; i < c; i++) {
        float sum = gpt_load(call->buffer[MLP_B2], precision, i);
        for (int64_t j = 0; j < 4 * c; j++)
            sum += h[j] * gpt_load(call->buffer[MLP_W2], precision, i * 4 * c + j);
        gpt_store(call->buffer[MLP_Y], precision, row * c + i, sum);
    }
}

static int rows_of(struct assay_call *call, bool parallel)
{
    int64_t rows = call->shape->value[MLP_M];
    size_t bytes = 4 * (size_t)call->shape->value[MLP_C] * sizeof(float);
    int failed = 0;
#pragma omp parallel reduction(| : failed) if (parallel)
    {
        float *h = malloc(bytes);
        failed |= h == NULL;
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++)
            if (h) row_of(call, row, h);
        free(h);
    }
    return failed ? assay_error("no memory for a row between the products") : 0;
}

static int scalar_launch(struct assay_call *call)
{
    return rows_of(call, false);
}

static int omp_launch(struct assay_call *call)
{
    return rows_of(call, true);
}

static const struct assay_variant scalar = {
    .operation = "mlp",
    .name = "host_scalar",
    .summary = "one row at a time on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = scalar_launch,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant omp = {
    .operation = "mlp",
    .name = "host_omp",
    .summary = "rows over all cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = omp_launch,
};
ASSAY_REGISTER_VARIANT(omp);
