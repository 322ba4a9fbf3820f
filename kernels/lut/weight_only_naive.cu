/*
 * weight_only_naive.cu - weight_only_linear in its simplest form: a thread per element of C, which
 * reads its row of X and decodes its row of W, codeword by codeword from a table in device memory.
 *
 * Operations: 2 * rows * K * columns in fp32, not on tensor cores. Bytes: every thread reads its
 * row of X and its row of codes again; caches keep what they can.
 */
#include "kernels/cuda/half.cuh"
#include "lut_cuda.h"
#include "weight_only.h"

enum { THREADS = 128 };

static __global__ void __launch_bounds__(THREADS)
    naive(struct lut_geometry geometry, struct lut_codes w, const int8_t *__restrict__ points,
          const uint16_t *__restrict__ x, uint16_t *__restrict__ c)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= geometry.rows * geometry.columns) return;
    int64_t row = at / geometry.columns, column = at % geometry.columns;
    float sum = 0;
    for (int64_t k = 0; k < geometry.k; k++) {
        int z = 0, weight = 1;
        for (int m = 0; m < geometry.levels; m++, weight *= geometry.q)
            z += weight *
                 points[8 * (int64_t)lut_read(&w, column, k / 8 * geometry.levels + m) + k % 8];
        sum += bf16_float(x[row * geometry.k + k]) * (float)z;
    }
    c[at] = bf16_of(weight_only_scale(&geometry) * sum);
}

static int launch(struct assay_call *call)
{
    const struct lut_points *points = (const struct lut_points *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t blocks = (geometry.rows * geometry.columns + THREADS - 1) / THREADS;
    if (blocks > 0x7fffffff) return assay_error("more elements than one launch has threads for");
    naive<<<(unsigned)blocks, THREADS, 0, (cudaStream_t)call->stream>>>(
        geometry, lut_codes(&geometry, call->buffer[WEIGHT_ONLY_W], geometry.columns), points->left,
        (const uint16_t *)call->buffer[WEIGHT_ONLY_X], (uint16_t *)call->buffer[WEIGHT_ONLY_C]);
    return assay_launched();
}

static const struct assay_variant naive_variant = {
    .operation = "weight_only_linear",
    .name = "naive",
    .summary = "a thread per element, codewords from a table in device memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = lut_points_setup,
    .launch = launch,
    .teardown = lut_points_teardown,
};
ASSAY_REGISTER_VARIANT(naive_variant);
