/*
 * linear.cuh - one quantised layer on the GPU: a kernel encodes the activations to codes in memory,
 * then a variant of lut_matmul multiplies. For quantized_linear and quantized_mlp.
 *
 * Bytes of encoding: 4 read and M / 8 written (E8, q = 2) per activation. Encoding has one thread
 * per block of 8, with about 300 operations per level.
 */
#pragma once

#include "linear.h"
#include "lut_cuda.h"

enum { LINEAR_THREADS = 128 };

/* Put `index` where lut_read finds it. Packed indices of 13 bits share words and
 * never span more than two. */
static __device__ __forceinline__ void put(const struct lut_geometry &geometry, char *row,
                                           int64_t at, uint32_t index)
{
    if (geometry.format == LUT_FP32)
        ((float *)row)[at] = (float)index;
    else if (geometry.format == LUT_INT32)
        ((int32_t *)row)[at] = (int32_t)index;
    else if (geometry.bits == 8)
        ((uint8_t *)row)[at] = (uint8_t)index;
    else if (geometry.bits == 16)
        ((uint16_t *)row)[at] = (uint16_t)index;
    else {
        int64_t bit = at * geometry.bits;
        int shift = (int)(bit & 31);
        atomicOr((unsigned *)row + (bit >> 5), index << shift);
        if (shift + geometry.bits > 32)
            atomicOr((unsigned *)row + (bit >> 5) + 1, index >> (32 - shift));
    }
}

static __global__ void __launch_bounds__(LINEAR_THREADS)
    linear_encode(struct lut_geometry geometry, struct lut_dither dither, float limit, float r,
                  const float *__restrict__ x, char *__restrict__ codes)
{
    int64_t at = (int64_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    if (at >= geometry.rows * geometry.blocks) return;
    int64_t row = at / geometry.blocks, block = at % geometry.blocks;
    float entries[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        entries[i] = block * 8 + i < geometry.k ? x[row * geometry.k + block * 8 + i] : 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++)
        entries[i] = fminf(fmaxf(entries[i], -limit), limit);
    linear_scale(entries, r);
    for (int m = 0; m < geometry.levels; m++)
        put(geometry, codes + row * geometry.stride_bytes, block * geometry.levels + m,
            lut_encode_e8(entries, geometry.q, &dither));
}

/* decode_gemv is for lattices whose unit is 1, so C is multiplied by beta after it. C has few rows.
 */
static __global__ void __launch_bounds__(LINEAR_THREADS)
    times_beta(float *c, int64_t count, float beta)
{
    int64_t at = (int64_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    if (at < count) c[at] *= beta;
}

static inline size_t linear_codes_bytes(const struct lut_geometry *geometry)
{
    return (size_t)(geometry->rows * geometry->stride_bytes);
}

/* Enqueue: X, clipped to -limit to limit, encoded with r into the inner call's LUT_A, and `product`
 * on that. With a limit of infinity NaN becomes one, and either loses its block. */
static inline int linear_layer(const struct lut_geometry *geometry,
                               const struct assay_variant *product, struct assay_call *inner,
                               const float *x, float limit, float r)
{
    cudaStream_t stream = (cudaStream_t)inner->stream;
    char *codes = (char *)inner->buffer[LUT_A];
    float *c = (float *)inner->buffer[LUT_C];
    int64_t count = geometry->rows * geometry->columns;
    unsigned blocks =
        (unsigned)((geometry->rows * geometry->blocks + LINEAR_THREADS - 1) / LINEAR_THREADS);
    struct lut_dither dither;
    codebook_dither(8, dither.e);
    /* Bits are set, not stored, where indices share words. */
    bool shared = geometry->format == LUT_PACKED && geometry->bits % 8 != 0;
    if (shared &&
        assay_cuda(cudaMemsetAsync(codes, 0, linear_codes_bytes(geometry), stream), "codes"))
        return -1;
    linear_encode<<<blocks, LINEAR_THREADS, 0, stream>>>(*geometry, dither, limit, r, x, codes);
    if (assay_launched() || product->launch(inner)) return -1;
    if (product != &lut_decode_gemv) return 0;
    times_beta<<<(unsigned)((count + LINEAR_THREADS - 1) / LINEAR_THREADS), LINEAR_THREADS, 0,
                 stream>>>(c, count, geometry->unit);
    return assay_launched();
}
