/*
 * lut_layer_int8_cuda.c - quantized_linear by cublasLtMatmul in int8 (cublaslt_product.h). In setup
 * W is decoded to int8, and X is rounded to int8 with one scale for the whole tensor.
 *
 * Only the product is timed, as in a network whose previous layer writes int8: neither the encoding
 * of X nor the scaling of the int32 sums is included. The check judges those sums.
 *
 * Operations: 2 * rows * K * columns in int8. Bytes: 1 per entry of X and W, 4 per element of C.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdlib.h>

#include "kernels/cuda/cublaslt_product.h"
#include "kernels/cuda/device_memory.h"

/* One standard deviation in int8 steps, so that 4 deviations are 127. */
static const float STEPS = 127.0f / 4.0f;

struct layer {
    void *x, *w; /* int8, rows of lut_decoded_stride entries, padded with zeros */
    struct lt_product product;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_COLUMNS] % 4 != 0) return "int8 needs columns to be a multiple of 4";
    return lut_cublas_supports_int8(shape);
}

/* An activation in int8; a NaN becomes 0. */
static int8_t step_of(float x)
{
    float steps = rintf(x * STEPS);
    return isnan(steps) ? 0 : (int8_t)fminf(fmaxf(steps, -127), 127);
}

static int round_x(struct layer *layer, struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t stride = lut_decoded_stride(&geometry), entries = geometry.rows * geometry.k;
    size_t bytes = (size_t)(geometry.rows * stride);
    float *x = malloc((size_t)entries * sizeof *x);
    int8_t *rounded = calloc(bytes, 1);
    int status = x && rounded ? 0 : assay_error("out of host memory for X in int8");
    if (status == 0)
        status = cuda_error(
            cudaMemcpy(x, call->buffer[LUT_A], (size_t)entries * sizeof *x, cudaMemcpyDeviceToHost),
            "X");
    for (int64_t i = 0; i < entries && status == 0; i++)
        rounded[i / geometry.k * stride + i % geometry.k] = step_of(x[i]);
    if (status == 0) status = cuda_error(cudaMalloc(&layer->x, bytes), "X in int8");
    if (status == 0) status = device_upload(layer->x, rounded, bytes, "X in int8");
    call->workspace_bytes += (int64_t)bytes;
    free(rounded);
    free(x);
    return status;
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct layer *layer = calloc(1, sizeof *layer);
    if (!layer) return assay_error("out of memory");
    call->state = layer;
    if (round_x(layer, call) || lut_cublas_decode(call, call->shape, call->buffer[LUT_B],
                                                  geometry.columns, true, LUT_AS_INT8, &layer->w))
        return -1;
    const struct lt_request request =
        lt_request_int8(geometry.rows, geometry.columns, lut_decoded_stride(&geometry), layer->x,
                        layer->w, call->buffer[LUT_C], call->stream);
    return lt_product_open(&layer->product, &request, call);
}

static int launch(struct assay_call *call)
{
    const struct layer *layer = call->state;
    return lt_product_launch(&layer->product);
}

static void teardown(struct assay_call *call)
{
    struct layer *layer = call->state;
    if (!layer) return;
    lt_product_release(&layer->product);
    cudaFree(layer->w);
    cudaFree(layer->x);
    free(layer);
}

/* The int32 sums. */
static int model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
                 int64_t end, void *out)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    struct lut_codes w = lut_codes(&geometry, in[LUT_B], geometry.columns);
    if (codebook == NULL) return -1;
    for (int64_t at = begin; at < end; at++) {
        const float *x = (const float *)in[LUT_A] + at / geometry.columns * geometry.k;
        int32_t sum = 0;
        for (int64_t block = 0; block < geometry.blocks; block++) {
            int y[CODEBOOK_MAX_D];
            lut_decode_block(codebook, &geometry, &w, true, at % geometry.columns, block, y);
            for (int i = 0; i < geometry.d && block * geometry.d + i < geometry.k; i++)
                sum += step_of(x[block * geometry.d + i]) * y[i];
        }
        ((int32_t *)out)[at - begin] = sum;
    }
    return 0;
}

static const struct assay_variant int8_product = {
    .operation = "quantized_linear",
    .name = "cublaslt_int8_product",
    .summary = "cuBLASLt alone, on activations that setup rounded to int8: int32 sums",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = model,
};
ASSAY_REGISTER_VARIANT(int8_product);

#endif
