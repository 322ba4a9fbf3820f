/*
 * lut_layers_cuda.c - lut_matmul_onesided and quantized_linear by cublasGemmEx: the operations with
 * one operand in full precision.
 *
 * lut_matmul_onesided: setup decodes A, and the product in pedantic fp32 gives the operation's C.
 * quantized_linear: setup decodes W, and X is multiplied without quantising it, in pedantic fp32,
 * TF32 and BF16. The result differs from the operation's, so it has its own check. In BF16 setup
 * rounds X, because a network in BF16 has its activations in BF16 already.
 *
 * Operations: 2 * rows * K * columns. Bytes: 4 (BF16: 2) per entry of A and B, 4 per element of C.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "cublas_session.h"
#include "kernels/gpt/cublas_types.h"
#include "kernels/lut/row_sums.h"
#include "lut_layer.h"
#include "kernels/cuda/device_memory.h"

struct layer {
    struct cublas_session session;
    int64_t precision; /* GPT_FP32 ... */
    void *decoded;     /* [rows or columns][stride], in the precision's type */
    int64_t stride;
    void *x; /* X in BF16, or NULL */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_LATTICE] == CODEBOOK_A2) return "A2's coordinates are not whole numbers";
    return cublas_missing();
}

static const char *supports_bf16(const struct assay_shape *shape)
{
    if (shape->value[LUT_K] % 2) return "rows of X in BF16 need an even K";
    return lut_coordinate_max(shape) > 256 ? "decoded coordinates do not fit bf16"
                                           : supports(shape);
}

static int prepare(struct assay_call *call, int64_t precision, int buffer, int64_t rows)
{
    struct layer *layer = calloc(1, sizeof *layer);
    if (!layer) return assay_error("out of memory");
    call->state = layer;
    layer->precision = precision;
    if (cublas_session_open(&layer->session, cublas_types(precision).math, call)) return -1;
    struct lut_geometry geometry = lut_geometry(call->shape);
    layer->stride = lut_decoded_stride(&geometry);
    return lut_cublas_decode(call, call->shape, call->buffer[buffer], rows, false,
                             precision == GPT_BF16 ? LUT_AS_BF16 : LUT_AS_FP32, &layer->decoded);
}

/* Row-major C = A B^T. The decoded operand is whole numbers, so alpha is the lattice's step: 1/2
 * for E8. */
static int multiply(struct assay_call *call, const void *a, int64_t a_stride, const void *b,
                    int64_t b_stride)
{
    const struct layer *layer = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    const struct cublas_types types = cublas_types(layer->precision);
    const float alpha = geometry.divisor == 4 ? 0.5f : 1.0f, beta = 0;
    int m = (int)geometry.columns, n = (int)geometry.rows;
    return cublas_error(layer->session.api->gemm_ex(layer->session.handle, CUBLAS_OP_T, CUBLAS_OP_N,
                                                    m, n, (int)geometry.k, &alpha, b, types.data,
                                                    (int)b_stride, a, types.data, (int)a_stride,
                                                    &beta, call->buffer[LUT_C], CUDA_R_32F, m,
                                                    types.compute, CUBLAS_GEMM_DEFAULT),
                        "cublasGemmEx");
}

static void teardown(struct assay_call *call)
{
    struct layer *layer = call->state;
    if (!layer) return;
    cudaFree(layer->x);
    cudaFree(layer->decoded);
    cublas_session_release(&layer->session);
    free(layer);
}

/* -------------------------------------------------------------- onesided -- */

static int setup_onesided(struct assay_call *call)
{
    return prepare(call, GPT_FP32, LUT_A, call->shape->value[LUT_ROWS]);
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
    .check = onesided_check,
};
ASSAY_REGISTER_VARIANT(onesided);

/* ----------------------------------------------------------------- layer -- */

/* layer->x = X in BF16, rounded on the host. */
static int round_x(struct layer *layer, struct assay_call *call)
{
    int64_t count = call->shape->value[LUT_ROWS] * call->shape->value[LUT_K];
    float *x = malloc((size_t)count * sizeof *x);
    uint16_t *rounded = malloc((size_t)count * sizeof *rounded);
    int status = x && rounded ? 0 : assay_error("out of host memory for X in BF16");
    if (status == 0)
        status = cuda_error(
            cudaMemcpy(x, call->buffer[LUT_A], (size_t)count * sizeof *x, cudaMemcpyDeviceToHost),
            "X");
    for (int64_t i = 0; i < count && status == 0; i++)
        assay_store(ASSAY_BF16, rounded, i, (double)x[i]);
    size_t bytes = (size_t)count * sizeof *rounded;
    if (status == 0) status = cuda_error(cudaMalloc(&layer->x, bytes), "X in BF16");
    if (status == 0) status = device_upload(layer->x, rounded, bytes, "X in BF16");
    call->workspace_bytes += (int64_t)bytes;
    free(rounded);
    free(x);
    return status;
}

static int setup_fp32(struct assay_call *call)
{
    return prepare(call, GPT_FP32, LUT_B, call->shape->value[LUT_COLUMNS]);
}

static int setup_tf32(struct assay_call *call)
{
    return prepare(call, GPT_TF32, LUT_B, call->shape->value[LUT_COLUMNS]);
}

static int setup_bf16(struct assay_call *call)
{
    if (prepare(call, GPT_BF16, LUT_B, call->shape->value[LUT_COLUMNS])) return -1;
    return round_x(call->state, call);
}

static int launch_linear(struct assay_call *call)
{
    const struct layer *layer = call->state;
    return multiply(call, layer->x ? layer->x : call->buffer[LUT_A], call->shape->value[LUT_K],
                    layer->decoded, layer->stride);
}

/* One element of C, and host copies of its operands: its row of X, and its row of W as codes and
 * decoded. */
struct element {
    float *x, *weights, got;
    void *codes;
};

static int fetch(const struct assay_call *call, int64_t row, int64_t column,
                 struct element *element)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    const struct {
        void *to;
        int buffer;
        int64_t at, bytes;
    } copies[] = {
        {element->x, LUT_A, 4 * row * geometry.k, 4 * geometry.k},
        {element->codes, LUT_B, column * geometry.stride_bytes, geometry.stride_bytes},
        {&element->got, LUT_C, 4 * (row * geometry.columns + column), 4},
    };
    for (int i = 0; i < 3; i++)
        if (cuda_error(cudaMemcpy(copies[i].to,
                                  (const char *)call->buffer[copies[i].buffer] + copies[i].at,
                                  (size_t)copies[i].bytes, cudaMemcpyDeviceToHost),
                       "an element's operands"))
            return -1;
    return 0;
}

static int check_linear(struct assay_call *call)
{
    /* X has 10 bits of fraction in TF32 and 7 in BF16. Tensor cores truncate sums, fp32 rounds
     * them. W is small whole numbers, exact in every type. */
    static const struct layer_error errors[] = {
        [GPT_FP32] = {0, 0x1p-24}, [GPT_TF32] = {0x1p-10, 0x1p-23}, [GPT_BF16] = {0x1p-8, 0x1p-23}};
    const struct layer *layer = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct element element = {.x = malloc((size_t)geometry.k * sizeof(float)),
                              .weights = malloc((size_t)geometry.k * sizeof(float)),
                              .codes = malloc((size_t)geometry.stride_bytes)};
    bool allocated = element.x && element.weights && element.codes;
    int status = allocated ? 0 : assay_error("out of host memory for a check");
    for (int i = 0; i < LAYER_CHECKED && status == 0; i++) {
        int64_t row, column;
        layer_place(call->shape, i, &row, &column);
        status = fetch(call, row, column, &element);
        if (status == 0) status = layer_weights(call->shape, element.codes, element.weights);
        if (status == 0)
            status = layer_check_element(call->shape, element.x, element.weights,
                                         &errors[layer->precision], element.got);
    }
    free(element.codes);
    free(element.weights);
    free(element.x);
    return status;
}

static const struct assay_variant fp32 = {
    .operation = "quantized_linear",
    .name = "cublas_fp32",
    .summary = "cuBLAS, fp32 pedantic, on activations that are not quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = supports,
    .setup = setup_fp32,
    .launch = launch_linear,
    .teardown = teardown,
    .check = check_linear,
};
ASSAY_REGISTER_VARIANT(fp32);

static const struct assay_variant tf32 = {
    .operation = "quantized_linear",
    .name = "cublas_tf32",
    .summary = "cuBLAS, TF32, on activations that are not quantised",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .apart = true,
    .supports = supports,
    .setup = setup_tf32,
    .launch = launch_linear,
    .teardown = teardown,
    .check = check_linear,
};
ASSAY_REGISTER_VARIANT(tf32);

static const struct assay_variant bf16 = {
    .operation = "quantized_linear",
    .name = "cublas_bf16",
    .summary = "cuBLAS, BF16 with fp32 sums, on activations that setup rounded",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .apart = true,
    .supports = supports_bf16,
    .setup = setup_bf16,
    .launch = launch_linear,
    .teardown = teardown,
    .check = check_linear,
};
ASSAY_REGISTER_VARIANT(bf16);

#endif
