/*
 * onesided.cu - lut_matmul_onesided by one table per block and column (onesided), and by decoding
 * A (decode_fma).
 *
 * onesided: a thread block has one column and up to 2048 rows. For each block of K it writes the
 * q^d inner products of the codewords with B's entries to shared memory; then every row looks up
 * its M indices. Operations per column and block: q^d d multiply-adds, and M lookups per row.
 * decode_fma: 2 * rows * K * columns.
 * Bytes: the codes once per column (onesided) or once per 64 columns (decode_fma), B once.
 */
#include <stdlib.h>

#include "decode.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "lut_cuda.h"
#include "onesided.h"
#include "row_sums.h"

struct onesided_args {
    struct lut_geometry geometry;
    struct lut_codes a;
    const float *b;
    float *c;
    const int8_t *points;
    int lattice;
};

static struct onesided_args args_of(const struct assay_call *call)
{
    struct onesided_args args = {};
    args.geometry = lut_geometry(call->shape);
    args.a = lut_codes(&args.geometry, call->buffer[LUT_A], args.geometry.rows);
    args.b = (const float *)call->buffer[LUT_B];
    args.c = (float *)call->buffer[LUT_C];
    args.points = ((const struct lut_points *)call->state)->left;
    args.lattice = (int)call->shape->value[LUT_LATTICE];
    return args;
}

/* ---------------------------------------------------------------- table -- */

enum { THREADS = 256, EACH = 8, COUNT_MAX = 8192 };

static __device__ __forceinline__ void fill_table(const struct onesided_args &args, int64_t column,
                                                  int64_t block, float *table)
{
    int d = args.geometry.d;
    float b[CODEBOOK_MAX_D];
#pragma unroll
    for (int i = 0; i < CODEBOOK_MAX_D; i++) {
        int64_t at = block * d + i;
        b[i] = i < d && at < args.geometry.k
                   ? args.b[column * args.geometry.k + at] * onesided_step(args.lattice, i)
                   : 0.0f;
    }
    for (int64_t code = threadIdx.x; code < args.geometry.count; code += THREADS) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < CODEBOOK_MAX_D; i++)
            if (i < d) sum = fmaf((float)args.points[code * d + i], b[i], sum);
        table[code] = sum;
    }
}

static __global__ void __launch_bounds__(THREADS) onesided(struct onesided_args args)
{
    extern __shared__ float tables[]; /* two, used in turns: one barrier per block of K */
    const struct lut_geometry &geometry = args.geometry;
    int64_t column = blockIdx.x, first_row = (int64_t)blockIdx.y * THREADS * EACH + threadIdx.x;
    float sum[EACH] = {};
    for (int64_t block = 0; block < geometry.blocks; block++) {
        float *table = tables + (block & 1) * geometry.count;
        fill_table(args, column, block, table);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            int64_t row = first_row + r * THREADS;
            if (row >= geometry.rows) continue;
            float weight = 1;
            for (int m = 0; m < geometry.levels; m++, weight *= (float)geometry.q)
                sum[r] = fmaf(weight, table[lut_read(&args.a, row, block * geometry.levels + m)],
                              sum[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        int64_t row = first_row + r * THREADS;
        if (row < geometry.rows) args.c[row * geometry.columns + column] = sum[r];
    }
}

static int64_t table_bytes(const struct assay_shape *shape)
{
    return 2 * lut_geometry(shape).count * (int64_t)sizeof(float);
}

static const char *supports_table(const struct assay_shape *shape)
{
    if (lut_geometry(shape).count > COUNT_MAX)
        return "two tables of q^d entries do not fit shared memory";
    return NULL;
}

static int launch_table(struct assay_call *call)
{
    struct onesided_args args = args_of(call);
    dim3 grid((unsigned)args.geometry.columns,
              (unsigned)((args.geometry.rows + THREADS * EACH - 1) / (THREADS * EACH)));
    onesided<<<grid, THREADS, (size_t)table_bytes(call->shape), (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

/* --------------------------------------------------------------- decode -- */

enum { SIDE = 64, TILE = 4, ACROSS = SIDE / TILE, DEPTH = 32, PITCH = DEPTH + 1 };

template <int D>
static __global__ void __launch_bounds__(THREADS, 2) decode_fma(struct onesided_args args)
{
    __shared__ float left[SIDE * PITCH], right[SIDE * PITCH];
    const struct lut_geometry &geometry = args.geometry;
    int64_t first_row = (int64_t)blockIdx.y * SIDE, first_column = (int64_t)blockIdx.x * SIDE;
    int down = threadIdx.x / ACROSS, across = threadIdx.x % ACROSS;
    float sum[TILE][TILE] = {};
    for (int64_t first = 0; first < geometry.k; first += DEPTH) {
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * DEPTH / 4; i += THREADS) {
            int row = i / (DEPTH / 4), word = i % (DEPTH / 4);
            uint32_t four =
                decode_four<D>(args.a, geometry, args.points,
                               min(first_row + row, geometry.rows - 1), first / 4 + word);
#pragma unroll
            for (int e = 0; e < 4; e++)
                left[row * PITCH + 4 * word + e] = (float)(int8_t)(four >> 8 * e) *
                                                   onesided_step(args.lattice, (4 * word + e) % D);
        }
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
            int row = i / DEPTH, at = i % DEPTH;
            int64_t from = min(first_column + row, geometry.columns - 1);
            right[row * PITCH + at] =
                first + at < geometry.k ? args.b[from * geometry.k + first + at] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int at = 0; at < DEPTH; at++)
#pragma unroll
            for (int r = 0; r < TILE; r++)
#pragma unroll
                for (int c = 0; c < TILE; c++)
                    sum[r][c] = fmaf(left[(down + r * ACROSS) * PITCH + at],
                                     right[(across + c * ACROSS) * PITCH + at], sum[r][c]);
    }
#pragma unroll
    for (int r = 0; r < TILE; r++)
#pragma unroll
        for (int c = 0; c < TILE; c++) {
            int64_t row = first_row + down + r * ACROSS;
            int64_t column = first_column + across + c * ACROSS;
            if (row < geometry.rows && column < geometry.columns)
                args.c[row * geometry.columns + column] = sum[r][c];
        }
}

static int launch_decode(struct assay_call *call)
{
    struct onesided_args args = args_of(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    dim3 grid((unsigned)((args.geometry.columns + SIDE - 1) / SIDE),
              (unsigned)((args.geometry.rows + SIDE - 1) / SIDE));
    if (args.geometry.d == 2)
        decode_fma<2><<<grid, THREADS, 0, stream>>>(args);
    else if (args.geometry.d == 4)
        decode_fma<4><<<grid, THREADS, 0, stream>>>(args);
    else
        decode_fma<8><<<grid, THREADS, 0, stream>>>(args);
    return assay_launched();
}

/* -------------------------------------------------------------- variants -- */

static int setup_table(struct assay_call *call)
{
    if (lut_points_setup(call)) return -1;
    return cuda_allow_shared((const void *)onesided, table_bytes(call->shape));
}

static const struct assay_variant by_table = {
    .operation = "lut_matmul_onesided",
    .name = "onesided",
    .summary = "a table of q^d products per block and column, a lookup per row",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports_table,
    .shared_bytes = table_bytes,
    .setup = setup_table,
    .launch = launch_table,
    .teardown = lut_points_teardown,
    .check = onesided_check,
};
ASSAY_REGISTER_VARIANT(by_table);

static const struct assay_variant by_decoding = {
    .operation = "lut_matmul_onesided",
    .name = "decode_fma",
    .summary = "A decoded to fp32 in shared memory, tiles of 64 x 64",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = lut_decode_unsupported,
    .setup = lut_points_setup,
    .launch = launch_decode,
    .teardown = lut_points_teardown,
    .check = onesided_check,
};
ASSAY_REGISTER_VARIANT(by_decoding);
