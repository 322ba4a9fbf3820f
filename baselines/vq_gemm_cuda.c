/*
 * vq_gemm_cuda.c - `vq_search` as a matrix product, as a framework would do it but without its
 * temporary arrays: cuBLAS writes z.e for every vector and codeword to memory, and a kernel finds
 * the least |e|^2 / 2 - z.e.
 *
 * The types are pedantic fp32, tf32 and bf16, set by math mode and compute type; operands and
 * products are fp32 in memory.
 *
 * Operations: 2 * 256 * 128 per vector. Bytes per vector: 512 read, 1 written, and 1024 of products
 * written and read.
 */
#include "cublas_session.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/codec/search/vq_search.h"
#include "vq_argmin.h"

enum { MOST_VECTORS = INT32_MAX };

struct route {
    struct cublas_session session;
    float *half, *product;
};

static const struct {
    cublasMath_t math;
    cublasComputeType_t compute;
} types[SEARCH_TYPES] = {
    [SEARCH_FP32] = {CUBLAS_PEDANTIC_MATH, CUBLAS_COMPUTE_32F_PEDANTIC},
    [SEARCH_TF32] = {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F_FAST_TF32},
    [SEARCH_BF16] = {CUBLAS_DEFAULT_MATH, CUBLAS_COMPUTE_32F_FAST_16BF},
};

static const char *supports(const struct assay_shape *shape)
{
    if (search_vectors(shape) > MOST_VECTORS) return "cuBLAS counts vectors in 32 bits";
    return cublas_missing();
}

static int setup(struct assay_call *call)
{
    int64_t product_bytes = (int64_t)sizeof(float) * CODEWORDS * search_vectors(call->shape);
    struct route *route = calloc(1, sizeof *route);
    if (!route) return assay_error("out of memory");
    call->state = route;
    if (cuda_error(cudaMalloc((void **)&route->half, sizeof(float) * CODEWORDS), "norms"))
        return -1;
    int status = device_memory(call, (void **)&route->product, product_bytes, "products");
    if (status) return status;
    call->workspace_bytes += (int64_t)sizeof(float) * CODEWORDS;
    return cublas_session_open(&route->session, types[call->shape->value[SEARCH_TYPE]].math, call);
}

/* Row-major P = Z E^T is P' = E'^T Z' to cuBLAS, which is column-major; P' is [256, vectors]. */
static int launch(struct assay_call *call)
{
    const struct route *route = call->state;
    const float one = 1, zero = 0;
    int64_t vectors = search_vectors(call->shape);
    cublasStatus_t status = route->session.api->gemm_ex(
        route->session.handle, CUBLAS_OP_T, CUBLAS_OP_N, CODEWORDS, (int)vectors, CODEWORD_LENGTH,
        &one, call->buffer[SEARCH_CODEBOOK], CUDA_R_32F, CODEWORD_LENGTH, call->buffer[SEARCH_Z],
        CUDA_R_32F, CODEWORD_LENGTH, &zero, route->product, CUDA_R_32F, CODEWORDS,
        types[call->shape->value[SEARCH_TYPE]].compute, CUBLAS_GEMM_DEFAULT);
    if (cublas_error(status, "cublasGemmEx")) return -1;
    if (vq_norms_enqueue(call->buffer[SEARCH_CODEBOOK], route->half, call->stream)) return -1;
    return vq_argmin_enqueue(route->product, route->half, call->buffer[SEARCH_INDEX], vectors,
                             call->stream);
}

static void teardown(struct assay_call *call)
{
    struct route *route = call->state;
    if (!route) return;
    cublas_session_release(&route->session);
    cudaFree(route->product);
    cudaFree(route->half);
    free(route);
}

static const struct assay_variant gemm_argmin = {
    .operation = "vq_search",
    .name = "gemm_argmin",
    .summary = "cuBLAS writes every product, a second pass takes the least",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(gemm_argmin);

#endif
