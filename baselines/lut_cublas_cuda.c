/*
 * lut_cublas_cuda.c - lut_matmul by cublasGemmEx on operands that setup decoded, in fp32 (pedantic,
 * so that TF32 is not used), TF32 and BF16; and in fp32 on operands that were never quantised. Math
 * mode, compute type and workspace are set explicitly.
 *
 * Operations: 2 * rows * K * columns. Bytes: 4 (BF16: 2) per entry of A and B, 4 per element of C.
 * Decoded coordinates are small whole numbers: TF32 and BF16 represent them exactly, and sums below
 * 2^24 are exact in any order.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdlib.h>

#include "cublas_session.h"

struct gemm {
    struct cublas_session session;
    struct lut_operands operands;
    cudaDataType_t in;
    cublasComputeType_t compute;
};

static int prepare(struct assay_call *call, enum lut_cublas_type type, cudaDataType_t in,
                   cublasComputeType_t compute, cublasMath_t math)
{
    struct gemm *gemm = calloc(1, sizeof *gemm);
    if (!gemm) return assay_error("out of memory");
    call->state = gemm;
    gemm->in = in;
    gemm->compute = compute;
    if (cublas_session_open(&gemm->session, math, call)) return -1;
    return lut_operands_init(&gemm->operands, call, type);
}

static int setup_fp32(struct assay_call *call)
{
    return prepare(call, LUT_AS_FP32, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                   CUBLAS_PEDANTIC_MATH);
}

static int setup_tf32(struct assay_call *call)
{
    return prepare(call, LUT_AS_FP32, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
                   CUBLAS_TF32_TENSOR_OP_MATH);
}

static int setup_bf16(struct assay_call *call)
{
    return prepare(
        call, LUT_AS_BF16, CUDA_R_16BF, CUBLAS_COMPUTE_32F,
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
}

static int setup_original(struct assay_call *call)
{
    return prepare(call, LUT_AS_ORIGINAL, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
                   CUBLAS_PEDANTIC_MATH);
}

static int launch(struct assay_call *call)
{
    const struct gemm *gemm = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    const float alpha = geometry.unit / (float)geometry.divisor, beta = 0;
    int m = (int)geometry.columns, n = (int)geometry.rows;
    int k = (int)(geometry.blocks * geometry.d), stride = (int)gemm->operands.stride;
    return cublas_error(gemm->session.api->gemm_ex(gemm->session.handle, CUBLAS_OP_T, CUBLAS_OP_N,
                                                   m, n, k, &alpha, gemm->operands.b, gemm->in,
                                                   stride, gemm->operands.a, gemm->in, stride,
                                                   &beta, call->buffer[LUT_C], CUDA_R_32F, m,
                                                   gemm->compute, CUBLAS_GEMM_DEFAULT),
                        "cublasGemmEx");
}

static void teardown(struct assay_call *call)
{
    struct gemm *gemm = call->state;
    if (!gemm) return;
    lut_operands_release(&gemm->operands);
    cublas_session_release(&gemm->session);
    free(gemm);
}

/* ------------------------------------------------- the original's own check -- */

enum { CHECKED = 64 };

/* Compares one element with the product of its two rows in double, within the bound of an fp32
 * sum. */
static int check_element(const struct assay_call *call, int64_t row, int64_t column, float *left,
                         float *right)
{
    const struct gemm *gemm = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t width = geometry.blocks * geometry.d, stride = gemm->operands.stride;
    size_t bytes = (size_t)width * sizeof(float);
    float got;
    if (cuda_error(cudaMemcpy(left, (float *)gemm->operands.a + row * stride, bytes,
                              cudaMemcpyDeviceToHost),
                   "a row of A") ||
        cuda_error(cudaMemcpy(right, (float *)gemm->operands.b + column * stride, bytes,
                              cudaMemcpyDeviceToHost),
                   "a row of B") ||
        cuda_error(cudaMemcpy(&got, (float *)call->buffer[LUT_C] + row * geometry.columns + column,
                              sizeof got, cudaMemcpyDeviceToHost),
                   "an element of C"))
        return -1;
    double scale = geometry.unit / geometry.divisor, sum = 0, magnitude = 0;
    for (int64_t i = 0; i < width; i++) {
        sum += scale * (double)left[i] * (double)right[i];
        magnitude += scale * fabs((double)left[i] * (double)right[i]);
    }
    double bound = ((double)width + 2) * 0x1p-24 * magnitude;
    if (!(fabs(got - sum) <= bound))
        return assay_error("c[%lld, %lld] is %.9g, expected %.9g", (long long)row,
                           (long long)column, got, sum);
    return 0;
}

static int check_original(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    size_t bytes = (size_t)(geometry.blocks * geometry.d) * sizeof(float);
    float *left = malloc(bytes), *right = malloc(bytes);
    int status = left && right ? 0 : assay_error("out of host memory for a check");
    for (int i = 0; i < CHECKED && status == 0; i++) /* a diagonal, corner to corner */
        status = check_element(call, (geometry.rows - 1) * i / (CHECKED - 1),
                               (geometry.columns - 1) * i / (CHECKED - 1), left, right);
    free(right);
    free(left);
    return status;
}

/* -------------------------------------------------------------- variants -- */

static const struct assay_variant fp32 = {
    .operation = "lut_matmul",
    .name = "cublas_fp32",
    .summary = "cuBLAS, fp32 pedantic, on decoded operands",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = lut_cublas_supports,
    .setup = setup_fp32,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(fp32);

static const struct assay_variant tf32 = {
    .operation = "lut_matmul",
    .name = "cublas_tf32",
    .summary = "cuBLAS, TF32, on decoded operands",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = lut_cublas_supports,
    .setup = setup_tf32,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(tf32);

static const struct assay_variant bf16 = {
    .operation = "lut_matmul",
    .name = "cublas_bf16",
    .summary = "cuBLAS, BF16 with fp32 sums, on decoded operands",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = lut_cublas_supports_bf16,
    .setup = setup_bf16,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(bf16);

static const struct assay_variant original = {
    .operation = "lut_matmul",
    .name = "original_fp32",
    .summary = "cuBLAS, fp32 pedantic, on operands that were never quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = lut_cublas_supports,
    .setup = setup_original,
    .launch = launch,
    .teardown = teardown,
    .check = check_original,
};
ASSAY_REGISTER_VARIANT(original);

#endif
