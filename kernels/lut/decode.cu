/* decode.cu - see lut_cuda.h. */
#include <stdlib.h>

#include "decode.cuh"
#include "lut_cuda.h"

enum { THREADS = 256 };

int lut_points_upload(const struct assay_shape *shape, struct lut_points *points)
{
    const struct codebook *codebook = lut_codebook(shape);
    if (codebook == NULL) return -1;
    size_t half = (size_t)(codebook->count * codebook->d);
    if (assay_cuda(cudaMalloc((void **)&points->left, 2 * half), "codebook")) return -1;
    points->right = points->left + half;
    points->bytes = 2 * (int64_t)half;
    if (assay_cuda(cudaMemcpy(points->left, codebook->left, half, cudaMemcpyHostToDevice),
                   "codebook"))
        return -1;
    return assay_cuda(cudaMemcpy(points->right, codebook->right, half, cudaMemcpyHostToDevice),
                      "codebook");
}

void lut_points_release(struct lut_points *points)
{
    cudaFree(points->left);
    points->left = points->right = NULL;
}

int64_t lut_decoded_stride(const struct lut_geometry *geometry)
{
    return (geometry->blocks * geometry->d + 127) / 128 * 128;
}

/* --------------------------------------------------------------- decoding -- */

template <int D>
static __global__ void __launch_bounds__(THREADS)
    lut_decode(struct lut_codes codes, struct lut_geometry geometry,
               const int8_t *__restrict__ points, uint32_t *__restrict__ out, int64_t words)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < codes.rows * words; i += step)
        out[i] = decode_four<D>(codes, geometry, points, i / words, i % words);
}

int lut_decode_i8(const struct lut_geometry *geometry, const void *data, int64_t rows,
                  const int8_t *points, int8_t *out, void *stream)
{
    struct lut_codes codes = lut_codes(geometry, data, rows);
    int64_t words = lut_decoded_stride(geometry) / 4;
    int64_t blocks = (rows * words + THREADS - 1) / THREADS;
    unsigned grid = (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20);
    cudaStream_t on = (cudaStream_t)stream;
    if (geometry->d == 2)
        lut_decode<2><<<grid, THREADS, 0, on>>>(codes, *geometry, points, (uint32_t *)out, words);
    else if (geometry->d == 4)
        lut_decode<4><<<grid, THREADS, 0, on>>>(codes, *geometry, points, (uint32_t *)out, words);
    else
        lut_decode<8><<<grid, THREADS, 0, on>>>(codes, *geometry, points, (uint32_t *)out, words);
    return assay_launched();
}

/* ----------------------------------------------------------- other types -- */

static __global__ void __launch_bounds__(THREADS)
    widen_fp32(const int8_t *__restrict__ in, float *__restrict__ out, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        out[i] = (float)in[i];
}

/* A whole number below 256 has its bits in the upper half of its fp32. */
static __global__ void __launch_bounds__(THREADS)
    widen_bf16(const int8_t *__restrict__ in, uint16_t *__restrict__ out, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        out[i] = (uint16_t)(__float_as_uint((float)in[i]) >> 16);
}

/* A stand-in for what was quantised: the point and a hashed error within 1/2. */
static __global__ void __launch_bounds__(THREADS)
    originals(const int8_t *__restrict__ in, float *__restrict__ out, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        uint32_t hash = ((uint32_t)i ^ (uint32_t)i >> 16) * 0x45d9f3bu;
        hash = (hash ^ hash >> 16) * 0x45d9f3bu;
        out[i] = (float)in[i] + (float)(int32_t)hash * 0x1p-32f;
    }
}

static __global__ void __launch_bounds__(THREADS)
    sums_to_c(int32_t *c, int64_t count, int shift, float unit)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        ((float *)c)[i] = (float)(c[i] >> shift) * unit;
}

static unsigned grid_of(int64_t count)
{
    int64_t blocks = (count + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 16 ? blocks : 1 << 16);
}

int lut_widen_fp32(const int8_t *in, float *out, int64_t count, void *stream)
{
    widen_fp32<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(in, out, count);
    return assay_launched();
}

int lut_originals(const int8_t *in, float *out, int64_t count, void *stream)
{
    originals<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(in, out, count);
    return assay_launched();
}

int lut_widen_bf16(const int8_t *in, uint16_t *out, int64_t count, void *stream)
{
    widen_bf16<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(in, out, count);
    return assay_launched();
}

int lut_sums_to_c(const struct lut_geometry *geometry, void *c, void *stream)
{
    int64_t count = geometry->rows * geometry->columns;
    sums_to_c<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(
        (int32_t *)c, count, lut_shift(geometry->divisor), geometry->unit);
    return assay_launched();
}

/* --------------------------------------------------------------- checksum -- */

enum { CHECKED_ROWS = 16 };

/* Above this many multiply-adds the harness compares a sample of the elements. */
static const double WHOLE = 1 << 25;

static void *fetch(const void *device, int64_t bytes)
{
    void *host = malloc((size_t)bytes);
    if (host == NULL) {
        assay_error("out of host memory for the checksum");
        return NULL;
    }
    if (assay_cuda(cudaMemcpy(host, device, (size_t)bytes, cudaMemcpyDeviceToHost), "checksum")) {
        free(host);
        return NULL;
    }
    return host;
}

static int check_rows(const struct assay_call *call, const struct lut_geometry *geometry,
                      const void *a, const void *b)
{
    int64_t rows[CHECKED_ROWS];
    const float *values[CHECKED_ROWS];
    int count = geometry->rows < CHECKED_ROWS ? (int)geometry->rows : CHECKED_ROWS;
    int64_t bytes = geometry->columns * (int64_t)sizeof(float);
    float *c = (float *)malloc((size_t)(count * bytes));
    if (c == NULL) return assay_error("out of host memory for the checksum");
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        rows[i] = count > 1 ? (geometry->rows - 1) * i / (count - 1) : 0;
        values[i] = c + i * geometry->columns;
        status =
            assay_cuda(cudaMemcpy(c + i * geometry->columns,
                                  (const float *)call->buffer[LUT_C] + rows[i] * geometry->columns,
                                  (size_t)bytes, cudaMemcpyDeviceToHost),
                       "checksum");
    }
    if (status == 0) {
        double error = lut_row_sum_error(call->shape, a, b, rows, count, values);
        if (!(error == 0)) status = assay_error("row sums of c are off by %g", error);
    }
    free(c);
    return status;
}

int lut_check(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    double cost = (double)geometry.rows * (double)geometry.columns * (double)geometry.k;
    if (cost <= WHOLE || geometry.scaled) return 0;
    void *a = fetch(call->buffer[LUT_A], geometry.rows * geometry.stride_bytes);
    void *b = fetch(call->buffer[LUT_B], geometry.columns * geometry.stride_bytes);
    int status = a && b ? check_rows(call, &geometry, a, b) : -1;
    free(b);
    free(a);
    return status;
}
