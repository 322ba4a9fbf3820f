/*
 * mlp_cublaslt_cuda.c - mlp by two calls of cublasLtMatmul (cublaslt_product.h): the first has bias
 * and gelu (the tanh form) as its epilogue, the second the bias.
 *
 * Operations: those of mlp. Bytes: those of mlp, and the 4 m c values between the products, written
 * and read.
 */
#include "kernels/gpt/cublas_types.h"

#ifdef CUBLAS_HEADERS

#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/device_memory.h"

struct mlp {
    struct lt_product expand, contract;
    void *between;
};

static int open_products(struct mlp *mlp, struct assay_call *call)
{
    int64_t m = call->shape->value[MLP_M], c = call->shape->value[MLP_C];
    struct lt_request request = gpt_lt_request(call->shape->value[MLP_PRECISION]);
    request.m = m;
    request.n = 4 * c;
    request.k = c;
    request.leading = c;
    request.epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    request.bias = call->buffer[MLP_B1];
    request.x = call->buffer[MLP_X];
    request.w = call->buffer[MLP_W1];
    request.y = mlp->between;
    request.stream = call->stream;
    if (lt_product_open(&mlp->expand, &request, call)) return -1;
    request.n = c;
    request.k = request.leading = 4 * c;
    request.epilogue = CUBLASLT_EPILOGUE_BIAS;
    request.bias = call->buffer[MLP_B2];
    request.x = mlp->between;
    request.w = call->buffer[MLP_W2];
    request.y = call->buffer[MLP_Y];
    if (lt_product_open(&mlp->contract, &request, call)) return -1;
    snprintf(call->note, sizeof call->note, "algo %d tile %d, algo %d tile %d",
             lt_product_config(&mlp->expand, CUBLASLT_ALGO_CONFIG_ID),
             lt_product_config(&mlp->expand, CUBLASLT_ALGO_CONFIG_TILE_ID),
             lt_product_config(&mlp->contract, CUBLASLT_ALGO_CONFIG_ID),
             lt_product_config(&mlp->contract, CUBLASLT_ALGO_CONFIG_TILE_ID));
    return 0;
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t bytes = 4 * value[MLP_M] * value[MLP_C] * gpt_bytes(value[MLP_PRECISION]);
    struct mlp *mlp = call->state = calloc(1, sizeof *mlp);
    if (!mlp) return assay_error("out of memory");
    int status = device_memory(call, &mlp->between, bytes, "the hidden layer");
    return status ? status : open_products(mlp, call);
}

static int launch(struct assay_call *call)
{
    const struct mlp *mlp = call->state;
    return lt_product_launch(&mlp->expand) ? -1 : lt_product_launch(&mlp->contract);
}

static void teardown(struct assay_call *call)
{
    struct mlp *mlp = call->state;
    if (!mlp) return;
    lt_product_release(&mlp->contract);
    lt_product_release(&mlp->expand);
    cudaFree(mlp->between);
    free(mlp);
}

static const struct assay_variant cublaslt = {
    .operation = "mlp",
    .name = "cublaslt",
    .summary = "cuBLASLt twice, bias and gelu as epilogues, algorithms timed in setup",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = cublas_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublaslt);

#endif
