/*
 * linear_fp8_naive.cu - `linear_fp8` with a thread per output, which reads its rows of x and w from
 * memory and adds in fp32 on the CUDA cores: right by its simplicity.
 *
 * Operations: 2 m n k in fp32. Bytes: 2 per multiply-add, mostly from L1 and L2.
 */
#include "kernels/cuda/half.cuh"
#include "linear_fp8.h"

enum { SIDE = 16 };

static const int64_t MOST = (int64_t)1 << 36; /* multiply-adds */

struct arguments {
    const uint8_t *x, *w;
    const float *x_scales, *w_scales;
    uint16_t *y;
    int m, n, k;
    bool by_block;
};

static __global__ void __launch_bounds__(SIDE *SIDE) linear_fp8_naive(const struct arguments of)
{
    int64_t row = (int64_t)blockIdx.x * SIDE + threadIdx.y;
    int column = blockIdx.y * SIDE + threadIdx.x, groups = (of.k + LFP8_GROUP - 1) / LFP8_GROUP;
    if (row >= of.m || column >= of.n) return;
    const uint8_t *x = of.x + row * of.k, *w = of.w + (int64_t)column * of.k;
    float sum = 0.0f;
    for (int group = 0; group < groups; group++) {
        float part = 0.0f;
        int end = min((group + 1) * LFP8_GROUP, of.k);
        for (int l = group * LFP8_GROUP; l < end; l++)
            part += e4m3_float(x[l]) * e4m3_float(w[l]);
        float sx = of.x_scales[of.by_block ? row * groups + group : 0];
        float sw = of.w_scales[of.by_block ? (int64_t)(column / LFP8_GROUP) * groups + group : 0];
        sum += sx * sw * part;
    }
    of.y[row * of.n + column] = bf16_of(sum);
}

/* Shapes that measure the ceiling of FP8 would take it a large part of a second, for nothing. */
static const char *supports(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return value[LFP8_M] * value[LFP8_N] > MOST / value[LFP8_K] ? "more than 2^36 multiply-adds"
                                                                : NULL;
}

static int launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const struct arguments arguments = {(const uint8_t *)call->buffer[LFP8_X],
                                        (const uint8_t *)call->buffer[LFP8_W],
                                        (const float *)call->buffer[LFP8_X_SCALES],
                                        (const float *)call->buffer[LFP8_W_SCALES],
                                        (uint16_t *)call->buffer[LFP8_Y],
                                        (int)value[LFP8_M],
                                        (int)value[LFP8_N],
                                        (int)value[LFP8_K],
                                        value[LFP8_SCALE] == LFP8_BLOCK};
    dim3 grid((unsigned)((value[LFP8_M] + SIDE - 1) / SIDE),
              (unsigned)((value[LFP8_N] + SIDE - 1) / SIDE));
    linear_fp8_naive<<<grid, dim3(SIDE, SIDE), 0, (cudaStream_t)call->stream>>>(arguments);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "linear_fp8",
    .name = "naive",
    .summary = "one output per thread, operands from memory, fp32 arithmetic",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
