/*
 * model_library.h - a model's products by cublasLt: one for each product of a layer, opened on
 * the first layer's step, which chooses the algorithm, and launched on any layer's. Without
 * cuBLAS nothing can be opened.
 */
#pragma once

#include "kernels/cuda/cublas_load.h"
#include "model_cuda.h"

#ifdef CUBLAS_HEADERS
#include "kernels/cuda/cublaslt_product.h"
#endif

/* Starts as zeros, and may then be released at any time. */
struct model_library {
#ifdef CUBLAS_HEADERS
    struct lt_product product[MODEL_PRODUCTS];
    bool opened[MODEL_PRODUCTS];
#endif
    void *workspace; /* shared by all */
};

/* Allocate the workspace. 0, -1 or ASSAY_SKIP. */
int model_library_prepare(struct model_library *library, struct assay_call *call);
void model_library_release(struct model_library *library);

/* Choose the algorithm for a product, which overwrites y. False where the library has none.
 * `normed`: memory for the step's m rows of k, where it has a norm. */
bool model_library_open(struct model_library *library, const struct model_step *step, void *normed,
                        struct assay_call *call, void *stream);
int model_library_enqueue(const struct model_library *library, const struct model_step *step,
                          void *normed, void *stream);
