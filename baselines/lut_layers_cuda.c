/*
 * lut_layers_cuda.c - cublasGemmEx in fp32 (pedantic) as the baseline of the two
 * operations that have one operand in full precision.
 *
 * lut_matmul_onesided: A decoded in setup, the same C. quantized_linear: W decoded in
 * setup and X as it is, what the layer computes without quantising its activations;
 * another result, so it is judged by its own check.
 *
 * Operations: 2 rows K columns. Bytes: 4 an entry of A and B, 4 an element of C.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct layer {
    const struct cublas *api;
    cublasHandle_t handle;
    void *workspace;
    float *decoded; /* [rows or columns][stride] */
    int64_t stride;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_LATTICE] == CODEBOOK_A2) return "A2's coordinates are not whole numbers";
    return cublas_missing();
}

static int prepare_library(struct layer *layer, struct assay_call *call)
{
    int version = 0;
    layer->api = cublas_load();
    if (!layer->api) return -1;
    if (cublas_error(layer->api->create(&layer->handle), "cublasCreate")) return -1;
    if (cuda_error(cudaMalloc(&layer->workspace, LUT_CUBLAS_WORKSPACE_BYTES), "workspace"))
        return -1;
    call->workspace_bytes += LUT_CUBLAS_WORKSPACE_BYTES;
    /* The stream first: setting it takes the workspace back. */
    if (cublas_error(layer->api->set_stream(layer->handle, call->stream), "cublasSetStream") ||
        cublas_error(
            layer->api->set_workspace(layer->handle, layer->workspace, LUT_CUBLAS_WORKSPACE_BYTES),
            "cublasSetWorkspace") ||
        cublas_error(layer->api->set_math_mode(layer->handle, CUBLAS_PEDANTIC_MATH),
                     "cublasSetMathMode") ||
        cublas_error(layer->api->get_version(layer->handle, &version), "cublasGetVersion"))
        return -1;
    snprintf(call->note, sizeof call->note, "cuBLAS %d", version);
    return 0;
}

/* Decode the operand at `buffer` to fp32 and wait for it. */
static int decode(struct layer *layer, struct assay_call *call, int buffer, int64_t rows)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct lut_points points = {0};
    layer->stride = lut_decoded_stride(&geometry);
    int64_t count = rows * layer->stride;
    size_t bytes = (size_t)count * sizeof(float);
    int status = lut_points_upload(call->shape, &points);
    if (status == 0) status = cuda_error(cudaMalloc((void **)&layer->decoded, bytes), "operand");
    if (status == 0)
        status = lut_decode_fp32(&geometry, call->buffer[buffer], rows, &points, false,
                                 layer->decoded, call->stream);
    if (status == 0)
        status = cuda_error(cudaStreamSynchronize(call->stream), "decoding an operand");
    lut_points_release(&points);
    call->workspace_bytes += (int64_t)bytes;
    return status;
}

static int prepare(struct assay_call *call, int buffer, int64_t rows)
{
    struct layer *layer = calloc(1, sizeof *layer);
    if (!layer) return assay_error("out of memory");
    call->state = layer;
    if (prepare_library(layer, call)) return -1;
    return decode(layer, call, buffer, rows);
}

/* Row-major C = A B^T; the decoded operand is in whole numbers, so alpha has the
 * step: 1/2 for E8. */
static int multiply(struct assay_call *call, const float *a, int64_t a_stride, const float *b,
                    int64_t b_stride)
{
    const struct layer *layer = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    const float alpha = geometry.divisor == 4 ? 0.5f : 1.0f, beta = 0;
    int m = (int)geometry.columns, n = (int)geometry.rows;
    return cublas_error(layer->api->gemm_ex(layer->handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n,
                                            (int)geometry.k, &alpha, b, CUDA_R_32F, (int)b_stride,
                                            a, CUDA_R_32F, (int)a_stride, &beta,
                                            call->buffer[LUT_C], CUDA_R_32F, m,
                                            CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT),
                        "cublasGemmEx");
}

static void teardown(struct assay_call *call)
{
    struct layer *layer = call->state;
    if (!layer) return;
    cudaFree(layer->decoded);
    if (layer->handle) layer->api->destroy(layer->handle);
    cudaFree(layer->workspace);
    free(layer);
}

/* -------------------------------------------------------------- onesided -- */

static int setup_onesided(struct assay_call *call)
{
    return prepare(call, LUT_A, call->shape->value[LUT_ROWS]);
}

static int launch_onesided(struct assay_call *call)
{
    const struct layer *layer = call->state;
    return multiply(call, layer->decoded, layer->stride, call->buffer[LUT_B],
                    call->shape->value[LUT_K]);
}

static const struct assay_variant onesided = {
    .operation = "lut_matmul_onesided",
    .name = "cublas_fp32",
    .summary = "cuBLAS, fp32 pedantic, on the decoded A",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup_onesided,
    .launch = launch_onesided,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(onesided);

/* ----------------------------------------------------------------- layer -- */

static int setup_linear(struct assay_call *call)
{
    return prepare(call, LUT_B, call->shape->value[LUT_COLUMNS]);
}

static int launch_linear(struct assay_call *call)
{
    const struct layer *layer = call->state;
    return multiply(call, call->buffer[LUT_A], call->shape->value[LUT_K], layer->decoded,
                    layer->stride);
}

enum { CHECKED = 64 };

/* One element from copies of its two rows, in double, with the bound of an fp32 sum. */
static int check_element(const struct assay_call *call, int64_t row, int64_t column, float *left,
                         float *right)
{
    const struct layer *layer = call->state;
    int64_t k = call->shape->value[LUT_K], columns = call->shape->value[LUT_COLUMNS];
    size_t bytes = (size_t)k * sizeof(float);
    float got;
    if (cuda_error(
            cudaMemcpy(left, (float *)call->buffer[LUT_A] + row * k, bytes, cudaMemcpyDeviceToHost),
            "a row of X") ||
        cuda_error(cudaMemcpy(right, layer->decoded + column * layer->stride, bytes,
                              cudaMemcpyDeviceToHost),
                   "a row of W") ||
        cuda_error(cudaMemcpy(&got, (float *)call->buffer[LUT_C] + row * columns + column,
                              sizeof got, cudaMemcpyDeviceToHost),
                   "an element of C"))
        return -1;
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < k; i++) {
        sum += 0.5 * (double)left[i] * (double)right[i];
        magnitude += 0.5 * fabs((double)left[i] * (double)right[i]);
    }
    /* The first row has entries that are no numbers: nor is its product. */
    bool fine =
        isfinite(sum) ? fabs(got - sum) <= ((double)k + 2) * 0x1p-24 * magnitude : !isfinite(got);
    if (!fine)
        return assay_error("c[%lld, %lld] is %.9g, expected %.9g", (long long)row,
                           (long long)column, got, sum);
    return 0;
}

static int check_linear(struct assay_call *call)
{
    size_t bytes = (size_t)call->shape->value[LUT_K] * sizeof(float);
    int64_t rows = call->shape->value[LUT_ROWS], columns = call->shape->value[LUT_COLUMNS];
    float *left = malloc(bytes), *right = malloc(bytes);
    int status = left && right ? 0 : assay_error("out of host memory for a check");
    for (int i = 0; i < CHECKED && status == 0; i++) /* a diagonal, corner to corner */
        status = check_element(call, (rows - 1) * i / (CHECKED - 1),
                               (columns - 1) * i / (CHECKED - 1), left, right);
    free(right);
    free(left);
    return status;
}

static const struct assay_variant linear = {
    .operation = "quantized_linear",
    .name = "cublas_fp32",
    .summary = "cuBLAS, fp32 pedantic, on activations that are not quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = supports,
    .setup = setup_linear,
    .launch = launch_linear,
    .teardown = teardown,
    .check = check_linear,
};
ASSAY_REGISTER_VARIANT(linear);

#endif
