/*
 * linear_fp8_cublaslt_cuda.c - `linear_fp8` by cublasLtMatmul (cublaslt_product.h), with one scale
 * for x and one for w, and sums that leave the tensor cores to be added in fp32 (no
 * CUBLASLT_MATMUL_DESC_FAST_ACCUM).
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "kernels/cuda/cublaslt_product.h"

#ifdef CUBLAS_HEADERS

#include "kernels/gpt/linear/linear_fp8.h"

/* cuBLAS, "cublasLtMatmul()": FP8 wants TN and all of m, n and k in whole 16 bytes; m of the
 * library is n here, and its n is free. */
static const char *supports(const struct assay_shape *shape)
{
    const char *missing = cublas_missing();
    if (missing) return missing;
    if (shape->value[LFP8_SCALE] != LFP8_TENSOR) return "one scale for each operand only";
    if (shape->value[LFP8_N] % 16 || shape->value[LFP8_K] % 16)
        return "n or k is no multiple of 16";
    return NULL;
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const struct lt_request request = {
        .in = CUDA_R_8F_E4M3,
        .out = CUDA_R_16BF,
        .scale = CUDA_R_32F,
        .compute = CUBLAS_COMPUTE_32F,
        .half = true,
        .one = {.f32 = 1},
        .zero = {.f32 = 0},
        .m = value[LFP8_M],
        .n = value[LFP8_N],
        .k = value[LFP8_K],
        .leading = value[LFP8_K],
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .x = call->buffer[LFP8_X],
        .w = call->buffer[LFP8_W],
        .x_scale = call->buffer[LFP8_X_SCALES],
        .w_scale = call->buffer[LFP8_W_SCALES],
        .y = call->buffer[LFP8_Y],
        .stream = call->stream,
    };
    return lt_variant_setup(call, &request);
}

static const struct assay_variant cublaslt = {
    .operation = "linear_fp8",
    .name = "cublaslt",
    .summary = "cuBLASLt, its fastest algorithm as timed in setup, sums added in fp32",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 89,
    .supports = supports,
    .setup = setup,
    .launch = lt_variant_launch,
    .teardown = lt_variant_teardown,
};
ASSAY_REGISTER_VARIANT(cublaslt);

#endif
