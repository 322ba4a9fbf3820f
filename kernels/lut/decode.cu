/*
 * decode.cu - operands decoded in device memory; see lut_cuda.h.
 *
 * Bytes per entry: M log2 q / 8 of codes read, 1 written (4 as fp32). Operations: M look-ups per
 * block.
 *
 * E8 with q = 4 is decoded from the table of short_points.h in shared memory: 2 M look-ups per
 * block, of 2 bytes and of 1 byte. Their addresses are as good as random: 3 to 4 cycles per warp.
 * With the table in L2, each would fetch a sector of 32 bytes.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/dependent_launch.cuh"
#include "decode.cuh"
#include "lut_cuda.h"
#include "short_points.h"

enum { THREADS = 256, SHORT_THREADS = 1024, SUM_THREADS = 128, SUM_SPLITS = 512 };

static const int64_t GRID_ROWS = 65535; /* the most that a grid can have */

/* From this number of entries on, of both operands, it pays to copy the table to shared memory. */
static const int64_t SHORT_FROM = (int64_t)1 << 22;

/* ---------------------------------------------------------------- points -- */

static int short_upload(const struct codebook *codebook, struct lut_points *points)
{
    if (assay_card()->shared_bytes < SHORT_POINTS_BYTES) return 0;
    unsigned char *table = (unsigned char *)malloc(SHORT_POINTS_BYTES);
    if (table == NULL) return assay_error("out of host memory for a codebook");
    for (uint32_t index = 0; index < SHORT_POINTS; index++) {
        uint32_t entry = short_point(index, codebook->left + 8 * (int64_t)index);
        ((uint16_t *)table)[index] = (uint16_t)entry;
        table[2 * SHORT_POINTS + index] = (unsigned char)(entry >> 16);
    }
    int status = assay_cuda(cudaMalloc((void **)&points->table, SHORT_POINTS_BYTES), "codebook");
    if (status == 0) status = device_upload(points->table, table, SHORT_POINTS_BYTES, "codebook");
    if (status == 0) points->bytes += SHORT_POINTS_BYTES;
    free(table);
    return status;
}

int lut_points_upload(const struct assay_shape *shape, struct lut_points *points)
{
    const struct codebook *codebook = lut_codebook(shape);
    if (codebook == NULL) return -1;
    size_t half = (size_t)(codebook->count * codebook->d);
    if (assay_cuda(cudaMalloc((void **)&points->left, 2 * half), "codebook")) return -1;
    points->right = points->left + half;
    points->bytes = 2 * (int64_t)half;
    if (device_upload(points->left, codebook->left, half, "codebook")) return -1;
    if (device_upload(points->right, codebook->right, half, "codebook")) return -1;
    bool is_short = codebook->d == 8 && codebook->q == 4;
    return is_short ? short_upload(codebook, points) : 0;
}

void lut_points_release(struct lut_points *points)
{
    cudaFree(points->table);
    cudaFree(points->left);
    *points = {};
}

int lut_points_setup(struct assay_call *call)
{
    struct lut_points *points = (struct lut_points *)calloc(1, sizeof *points);
    if (points == NULL) return assay_error("out of host memory");
    call->state = points;
    if (lut_points_upload(call->shape, points)) return -1;
    call->workspace_bytes += points->bytes;
    return 0;
}

void lut_points_teardown(struct assay_call *call)
{
    if (call->state == NULL) return;
    lut_points_release((struct lut_points *)call->state);
    free(call->state);
}

int64_t lut_decoded_stride(const struct lut_geometry *geometry)
{
    return (geometry->blocks * geometry->d + 127) / 128 * 128;
}

/* ----------------------------------------------------------- short points -- */

bool lut_decodes_short(const struct lut_geometry *geometry, int64_t rows,
                       const struct lut_points *points)
{
    int64_t entries = rows * geometry->blocks * 8;
    return points->table && geometry->levels <= SHORT_POINTS_LEVELS &&
           geometry->format == LUT_PACKED && entries >= SHORT_FROM && entries < (int64_t)1 << 32;
}

/* A thread decodes 16 bytes, two blocks, at a time: M words of codes. */
template <int M>
static __global__ void __launch_bounds__(SHORT_THREADS, 1)
    decode_short(struct lut_codes a, struct lut_codes b, struct lut_geometry geometry,
                 unsigned pieces, const uint4 *__restrict__ table, uint4 *__restrict__ out)
{
    const unsigned a_rows = (unsigned)a.rows, rows = a_rows + (unsigned)b.rows;
    extern __shared__ uint4 shared[];
    dependent_release();
    for (int i = threadIdx.x; i < SHORT_POINTS_BYTES / 16; i += SHORT_THREADS)
        shared[i] = table[i];
    __syncthreads();
    const unsigned char *points = (const unsigned char *)shared;
#pragma unroll 2
    for (unsigned at = blockIdx.x * SHORT_THREADS + threadIdx.x; at < rows * pieces;
         at += gridDim.x * SHORT_THREADS) {
        unsigned row = at / pieces, piece = at % pieces;
        uint32_t decoded[4] = {};
        if (2 * piece < geometry.blocks) {
            const char *codes = (const char *)(row < a_rows ? a.data : b.data);
            const int64_t own = row < a_rows ? row : row - a_rows;
            const uint32_t *word =
                (const uint32_t *)(codes + own * geometry.stride_bytes) + piece * M;
            uint32_t index[2 * M];
#pragma unroll
            for (int m = 0; m < M; m++) {
                index[2 * m] = word[m] & 0xffff;
                index[2 * m + 1] = word[m] >> 16;
            }
            short_points_block(points, index, M, decoded);
            short_points_block(points, index + M, M, decoded + 2);
        }
        out[at] = make_uint4(decoded[0], decoded[1], decoded[2], decoded[3]);
    }
}

template <int M>
static int enqueue_short(const struct lut_geometry *geometry, const struct lut_codes &a,
                         const struct lut_codes &b, const struct lut_points *points, int8_t *out,
                         cudaStream_t stream)
{
    int processors = assay_card()->multiprocessors;
    unsigned pieces = (unsigned)(lut_decoded_stride(geometry) / 16);
    if (cuda_allow_shared((const void *)decode_short<M>, SHORT_POINTS_BYTES)) return -1;
    decode_short<M><<<(unsigned)processors, SHORT_THREADS, SHORT_POINTS_BYTES, stream>>>(
        a, b, *geometry, pieces, (const uint4 *)points->table, (uint4 *)out);
    return assay_launched();
}

static int short_decode(const struct lut_geometry *geometry, const struct lut_codes &a,
                        const struct lut_codes &b, const struct lut_points *points, int8_t *out,
                        void *stream)
{
    if (geometry->levels == 1)
        return enqueue_short<1>(geometry, a, b, points, out, (cudaStream_t)stream);
    return enqueue_short<2>(geometry, a, b, points, out, (cudaStream_t)stream);
}

/* --------------------------------------------------------------- decoding -- */

/* A thread decodes 16 bytes of a row, of A or of B behind it. */
template <int D>
static __global__ void __launch_bounds__(THREADS)
    lut_decode(struct lut_codes a, struct lut_codes b, struct lut_geometry geometry,
               const int8_t *__restrict__ left, const int8_t *__restrict__ right,
               uint4 *__restrict__ out, int pieces)
{
    dependent_release();
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, row = decode_row_of(at, pieces);
    int piece = (int)(at - row * pieces);
    if (row < a.rows)
        out[at] = decode_piece<D>(a, geometry, left, row, piece);
    else if (row < a.rows + b.rows)
        out[at] = decode_piece<D>(b, geometry, right, row - a.rows, piece);
}

/* Both operands, or one where the other has no rows. */
static int decode_i8(const struct lut_geometry *geometry, const struct lut_codes &a,
                     const struct lut_codes &b, const struct lut_points *points, int8_t *out,
                     void *stream)
{
    if (lut_decodes_short(geometry, a.rows + b.rows, points))
        return short_decode(geometry, a, b, points, out, stream);
    int pieces = (int)(lut_decoded_stride(geometry) / 16);
    unsigned grid = (unsigned)(((a.rows + b.rows) * pieces + THREADS - 1) / THREADS);
    cudaStream_t on = (cudaStream_t)stream;
    auto kernel = geometry->d == 2   ? lut_decode<2>
                  : geometry->d == 4 ? lut_decode<4>
                                     : lut_decode<8>;
    kernel<<<grid, THREADS, 0, on>>>(a, b, *geometry, points->left, points->right, (uint4 *)out,
                                     pieces);
    return assay_launched();
}

int lut_decode_i8(const struct lut_geometry *geometry, const void *data, int64_t rows,
                  const struct lut_points *points, bool right, int8_t *out, void *stream)
{
    const struct lut_codes codes = lut_codes(geometry, data, rows);
    struct lut_codes none = codes;
    none.rows = 0;
    return decode_i8(geometry, right ? none : codes, right ? codes : none, points, out, stream);
}

int lut_decode_operands(const struct lut_geometry *geometry, const void *a, const void *b,
                        const struct lut_points *points, int8_t *out, void *stream)
{
    return decode_i8(geometry, lut_codes(geometry, a, geometry->rows),
                     lut_codes(geometry, b, geometry->columns), points, out, stream);
}

/* ----------------------------------------------------------- other types -- */

/* A thread decodes a block of entries. The padding of a row is not written: `out` was cleared. */
template <int D>
static __global__ void __launch_bounds__(THREADS)
    decode_fp32(struct lut_codes codes, struct lut_geometry geometry,
                const int8_t *__restrict__ points, float *__restrict__ out, int64_t stride)
{
    int64_t block = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (block >= geometry.blocks) return;
    for (int64_t row = blockIdx.y; row < codes.rows; row += gridDim.y) {
        int sum[D] = {}, weight = 1;
        for (int m = 0; m < geometry.levels; m++, weight *= geometry.q) {
            int64_t index = lut_read(&codes, row, block * geometry.levels + m);
#pragma unroll
            for (int i = 0; i < D; i++)
                sum[i] += weight * points[index * D + i];
        }
#pragma unroll
        for (int i = 0; i < D; i++)
            out[row * stride + block * D + i] = (float)sum[i];
    }
}

/* A whole number of at most 256 is exact in bf16, the upper half of its fp32. */
static __device__ __forceinline__ uint32_t narrow_two(int first, int second)
{
    return __float_as_uint((float)first) >> 16 | (__float_as_uint((float)second) & 0xffff0000u);
}

/* A thread decodes a block of E8 of any row. */
static __global__ void __launch_bounds__(THREADS)
    decode_bf16(struct lut_codes codes, struct lut_geometry geometry,
                const uint2 *__restrict__ points, uint4 *__restrict__ out, int64_t pieces)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, count = codes.rows * geometry.blocks;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step) {
        const int64_t row = at / geometry.blocks, block = at % geometry.blocks;
        int sum[8] = {}, weight = 1;
        for (int m = 0; m < geometry.levels; m++, weight *= geometry.q) {
            const uint2 point = __ldg(points + lut_read(&codes, row, block * geometry.levels + m));
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum[i] += weight * (int8_t)((i < 4 ? point.x : point.y) >> i % 4 * 8);
        }
        out[row * pieces + block] =
            make_uint4(narrow_two(sum[0], sum[1]), narrow_two(sum[2], sum[3]),
                       narrow_two(sum[4], sum[5]), narrow_two(sum[6], sum[7]));
    }
}

static __global__ void __launch_bounds__(THREADS)
    narrow_bf16(const float *__restrict__ in, uint16_t *__restrict__ out, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        out[i] = (uint16_t)(__float_as_uint(in[i]) >> 16);
}

/* Make entries like those before quantisation: to each point add a hashed error of at most 1/2. */
static __global__ void __launch_bounds__(THREADS) add_errors(float *entries, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        uint32_t hash = ((uint32_t)i ^ (uint32_t)i >> 16) * 0x45d9f3bu;
        hash = (hash ^ hash >> 16) * 0x45d9f3bu;
        entries[i] += (float)(int32_t)hash * 0x1p-32f;
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

int lut_decode_fp32(const struct lut_geometry *geometry, const void *data, int64_t rows,
                    const struct lut_points *points, bool right, float *out, void *stream)
{
    const int8_t *from = right ? points->right : points->left;
    struct lut_codes codes = lut_codes(geometry, data, rows);
    int64_t stride = lut_decoded_stride(geometry);
    dim3 grid((unsigned)((geometry->blocks + THREADS - 1) / THREADS),
              (unsigned)(rows < GRID_ROWS ? rows : GRID_ROWS));
    cudaStream_t on = (cudaStream_t)stream;
    if (assay_cuda(cudaMemsetAsync(out, 0, (size_t)(rows * stride) * sizeof *out, on), "operand"))
        return -1;
    if (geometry->d == 2)
        decode_fp32<2><<<grid, THREADS, 0, on>>>(codes, *geometry, from, out, stride);
    else if (geometry->d == 4)
        decode_fp32<4><<<grid, THREADS, 0, on>>>(codes, *geometry, from, out, stride);
    else
        decode_fp32<8><<<grid, THREADS, 0, on>>>(codes, *geometry, from, out, stride);
    return assay_launched();
}

int lut_decode_bf16(const struct lut_geometry *geometry, const void *data, int64_t rows,
                    const struct lut_points *points, uint16_t *out, void *stream)
{
    const struct lut_codes codes = lut_codes(geometry, data, rows);
    decode_bf16<<<grid_of(rows * geometry->blocks), THREADS, 0, (cudaStream_t)stream>>>(
        codes, *geometry, (const uint2 *)points->left, (uint4 *)out,
        lut_decoded_stride(geometry) / 8);
    return assay_launched();
}

int lut_narrow_bf16(const float *in, uint16_t *out, int64_t count, void *stream)
{
    narrow_bf16<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(in, out, count);
    return assay_launched();
}

int lut_add_errors(float *entries, int64_t count, void *stream)
{
    add_errors<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(entries, count);
    return assay_launched();
}

int lut_sums_to_c(const struct lut_geometry *geometry, void *c, void *stream)
{
    int64_t count = geometry->rows * geometry->columns;
    sums_to_c<<<grid_of(count), THREADS, 0, (cudaStream_t)stream>>>(
        (int32_t *)c, count, lut_shift(geometry->divisor), geometry->unit);
    return assay_launched();
}

/* ------------------------------------------------------------------ sums -- */

/* A thread has one block of K, and of B's rows every gridDim.y-th. */
template <int D>
static __global__ void __launch_bounds__(SUM_THREADS)
    column_sums(struct lut_codes codes, struct lut_geometry geometry,
                const int8_t *__restrict__ points, unsigned long long *__restrict__ sums)
{
    int64_t block = (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x;
    if (block >= geometry.blocks) return;
    int sum[D] = {};
    for (int64_t row = blockIdx.y; row < codes.rows; row += gridDim.y) {
        int weight = 1;
        for (int m = 0; m < geometry.levels; m++, weight *= geometry.q) {
            const int8_t *point =
                points + (int64_t)lut_read(&codes, row, block * geometry.levels + m) * D;
#pragma unroll
            for (int i = 0; i < D; i++)
                sum[i] += weight * point[i];
        }
    }
#pragma unroll
    for (int i = 0; i < D; i++)
        atomicAdd(&sums[block * D + i], (unsigned long long)(long long)sum[i]);
}

int lut_column_sums(const struct lut_geometry *geometry, const void *data,
                    const struct lut_points *points, int64_t *sums, void *stream)
{
    struct lut_codes b = lut_codes(geometry, data, geometry->columns);
    dim3 grid((unsigned)((geometry->blocks + SUM_THREADS - 1) / SUM_THREADS),
              (unsigned)(geometry->columns < SUM_SPLITS ? geometry->columns : (int64_t)SUM_SPLITS));
    unsigned long long *to = (unsigned long long *)sums;
    cudaStream_t on = (cudaStream_t)stream;
    if (geometry->d == 2)
        column_sums<2><<<grid, SUM_THREADS, 0, on>>>(b, *geometry, points->right, to);
    else if (geometry->d == 4)
        column_sums<4><<<grid, SUM_THREADS, 0, on>>>(b, *geometry, points->right, to);
    else
        column_sums<8><<<grid, SUM_THREADS, 0, on>>>(b, *geometry, points->right, to);
    return assay_launched();
}
