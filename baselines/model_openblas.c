/*
 * model_openblas.c - gpt models on the host, with the products by OpenBLAS's cblas_sgemm and the
 * rest by the family's host code on all cores (model_host.h).
 */
#include <string.h>

#include "kernels/gpt/model/model_host.h"
#include "load_openblas.h"

static void product(const float *x, const float *w, const float *b, float *y, int64_t rows,
                    int64_t n, int64_t k)
{
    for (int64_t row = 0; b && row < rows; row++)
        memcpy(y + row * n, b, sizeof *y * (size_t)n);
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)k, 1.0f,
                          x, (int)k, w, (int)k, b ? 1.0f : 0.0f, y, (int)n);
}

static const char *supports(const struct assay_shape *shape)
{
    struct model model = model_of(shape);
    return gpt_bytes(model.precision) == 2 ? "fp32 and tf32 only" : NULL;
}

static int setup(struct assay_call *call)
{
    int status = openblas_load();
    return status ? status : model_host_setup(call);
}

static int launch(struct assay_call *call)
{
    return model_host_run(call, product, true);
}

#define OPENBLAS_VARIANT(name_of_operation)                                                        \
    static const struct assay_variant openblas_##name_of_operation = {                             \
        .operation = #name_of_operation,                                                           \
        .name = "openblas",                                                                        \
        .summary = "products by OpenBLAS, the rest on all cores",                                  \
        .kind = ASSAY_BASELINE,                                                                    \
        .place = ASSAY_HOST,                                                                       \
        .supports = supports,                                                                      \
        .setup = setup,                                                                            \
        .launch = launch,                                                                          \
        .teardown = model_host_teardown,                                                           \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(openblas_##name_of_operation)

OPENBLAS_VARIANT(gpt_forward);
OPENBLAS_VARIANT(gpt_block);
OPENBLAS_VARIANT(gpt_decode);
