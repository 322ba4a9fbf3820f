/*
 * cublaslt_product.h - one product by cublasLtMatmul: opening it asks for the library's
 * algorithms, times up to 32 of them on the operands themselves, at the temperature of the case,
 * and keeps the fastest; the call's note says which. A launch is that one algorithm.
 *
 * Row-major y [m, n] = x [m, k] w^T, w as [n, k] or, transposed, as [k, n]. cuBLAS is column-major
 * and computes y' = op(w') x' from the same memory, TN or NN.
 */
#pragma once

#include "cublas_load.h"

#ifdef CUBLAS_HEADERS

#include "assay.h"

enum {
    LT_WORKSPACE_BYTES = 64 << 20
}; /* with less than 32 MiB, some algorithms are excluded on Hopper */

/* alpha or beta, in the type that the sum is scaled in. */
union lt_factor {
    float f32;
    int32_t i32;
};

struct lt_request {
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
    bool half; /* 16-bit types: split sums must still be added in fp32 */
    union lt_factor one, zero;
    int64_t m, n, k;
    bool transposed;
    int64_t leading; /* elements from one row of w to the next */
    cublasLtEpilogue_t epilogue;
    const void *bias; /* NULL without one; of the type of y */
    const void *x, *w;
    const float *x_scale, *w_scale; /* on the device: factors of FP8 operands; NULL: 1 */
    const void *residual;           /* added to y; NULL: nothing. May be y */
    void *y;
    int64_t ldx, ldr, ldy; /* elements from row to row; 0: rows are packed */
    cudaStream_t stream;
    void *workspace; /* LT_WORKSPACE_BYTES that the caller provides; NULL: the product allocates
                        them */
};

struct lt_product {
    struct lt_request request;
    const struct cublaslt *api;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t w, x, residual, y; /* as cublasLt sees them */
    void *workspace, *owned;
    cublasLtMatmulAlgo_t algorithm;
};

/* y [m, n] in int32 = x [m, k] w^T in int8, rows packed, no bias; rows may be padded with zeros. */
struct lt_request lt_request_int8(int64_t m, int64_t n, int64_t k, const void *x, const void *w,
                                  void *y, cudaStream_t stream);

/* `lt` must be all zeros before; after a failure it may be released too. Choosing the algorithm
 * runs the product on the request's memory. */
int lt_product_open(struct lt_product *lt, const struct lt_request *request,
                    struct assay_call *call);
int lt_product_launch(const struct lt_product *lt);
void lt_product_release(struct lt_product *lt);

/* The functions of a variant whose state is one product and nothing else. */
int lt_variant_setup(struct assay_call *call, const struct lt_request *request);
int lt_variant_launch(struct assay_call *call);
void lt_variant_teardown(struct assay_call *call);

/* The same product by the same algorithm, with bias, x, w, residual and its ldr, y and stream taken
 * from `ask`. */
int lt_product_launch_at(const struct lt_product *lt, const struct lt_request *ask);

/* An attribute of the chosen algorithm; -1 where the library does not say. */
int lt_product_config(const struct lt_product *lt, cublasLtMatmulAlgoConfigAttributes_t attribute);

#endif
