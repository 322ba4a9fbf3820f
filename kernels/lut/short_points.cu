/*
 * short_points.cu - decodes E8 with q = 4 from the table of short_points.h in shared memory; see
 * lut_cuda.h.
 *
 * Bytes per entry: M / 4 of codes read, 1 written. Operations: 2 M look-ups per block, of 2 bytes
 * and of 1 byte. Their addresses are as good as random: 3 to 4 cycles per warp. With the table in
 * L2, each would fetch a sector of 32 bytes.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_limits.h"
#include "lut_cuda.h"
#include "short_points.h"
#include "kernels/cuda/device_memory.h"

enum { THREADS = 1024 };

/* From this number of entries on it pays to copy the table to shared memory. */
static const int64_t FROM = (int64_t)1 << 22;

int lut_short_points_upload(const struct codebook *codebook, struct lut_points *points)
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

bool lut_short_points_take(const struct lut_geometry *geometry, int64_t rows,
                           const struct lut_points *points)
{
    int64_t entries = rows * geometry->blocks * 8;
    return points->table && geometry->levels <= SHORT_POINTS_LEVELS &&
           geometry->format == LUT_PACKED && entries >= FROM && entries < (int64_t)1 << 32;
}

/* A thread decodes 16 bytes, two blocks, at a time: M words of codes. */
template <int M>
static __global__ void __launch_bounds__(THREADS, 1)
    decode_short(const char *__restrict__ codes, struct lut_geometry geometry, unsigned rows,
                 unsigned pieces, const uint4 *__restrict__ table, uint4 *__restrict__ out)
{
    extern __shared__ uint4 shared[];
    for (int i = threadIdx.x; i < SHORT_POINTS_BYTES / 16; i += THREADS)
        shared[i] = table[i];
    __syncthreads();
    const unsigned char *points = (const unsigned char *)shared;
#pragma unroll 2
    for (unsigned at = blockIdx.x * THREADS + threadIdx.x; at < rows * pieces;
         at += gridDim.x * THREADS) {
        unsigned row = at / pieces, piece = at % pieces;
        uint32_t decoded[4] = {};
        if (2 * piece < geometry.blocks) {
            const uint32_t *word =
                (const uint32_t *)(codes + (int64_t)row * geometry.stride_bytes) + piece * M;
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
static int enqueue(const struct lut_geometry *geometry, const void *data, int64_t rows,
                   const struct lut_points *points, int8_t *out, cudaStream_t stream)
{
    int processors = assay_card()->multiprocessors;
    unsigned pieces = (unsigned)(lut_decoded_stride(geometry) / 16);
    if (cuda_allow_shared((const void *)decode_short<M>, SHORT_POINTS_BYTES)) return -1;
    decode_short<M><<<(unsigned)processors, THREADS, SHORT_POINTS_BYTES, stream>>>(
        (const char *)data, *geometry, (unsigned)rows, pieces, (const uint4 *)points->table,
        (uint4 *)out);
    return assay_launched();
}

int lut_short_points_decode(const struct lut_geometry *geometry, const void *data, int64_t rows,
                            const struct lut_points *points, int8_t *out, void *stream)
{
    if (geometry->levels == 1)
        return enqueue<1>(geometry, data, rows, points, out, (cudaStream_t)stream);
    return enqueue<2>(geometry, data, rows, points, out, (cudaStream_t)stream);
}
