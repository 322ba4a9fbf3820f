/*
 * linear_staged.cu - quantized_linear by two kernels: one writes both operands as int8, activations
 * that it encodes and decodes at once and weights that it decodes, and the product of
 * decode_imma_staged. The activations' codes are never in memory.
 *
 * Operations: 2 * rows * K * columns in int8, and encoding, one thread per block of 8 with about
 * 200 operations per level. Bytes: 4 per activation, the codes of W once, (rows + columns) K
 * written and read again, C. It is fast because a launch alone takes 2 us: codes in memory would
 * take two or three more. What bounds it at some hundred rows is encoding.
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode.cuh"
#include "kernels/cuda/dependent_launch.cuh"
#include "lut_staged.h"
#include "mlp.h"

enum { THREADS = 128 };

/* W has no rows here where it is decoded by itself. */
struct args {
    struct lut_geometry geometry;
    float r;    /* 1 / beta */
    int unused; /* no bytes without a value: a gate compares arguments whole */
    const float *x;
    struct lut_codes w;
    const int8_t *points;
    int8_t *out;            /* X, then W: [rows + columns][stride] */
    int64_t stride, encode; /* blocks of threads that encode */
};

/* A block of X to the coordinates of its closest point, as they are once encoded: levels weighted
 * and added. */
template <int Q>
static __device__ __forceinline__ uint2 encode(const struct args &args, const float *x, int count)
{
    float entries[8];
    int closest[8];
    uint2 sum = {};
    uint32_t weight = 1;
#pragma unroll
    for (int i = 0; i < 8; i++)
        entries[i] = i < count ? x[i] : 0.0f;
    /* NaN stays: it loses the block. */
    linear_scale(entries, args.r);
    lut_closest_e8(entries, closest);
    for (int m = 0; m < args.geometry.levels; m++, weight *= Q) {
        if (m > 0) lut_next_e8(closest, Q);
        const uint2 point = __ldg((const uint2 *)args.points + lut_index_e8(closest, Q));
        sum.x += weight * decode_digits_of(point.x);
        sum.y += weight * decode_digits_of(point.y);
    }
    return make_uint2(decode_bytes_of(sum.x), decode_bytes_of(sum.y));
}

template <int Q>
static __global__ void __launch_bounds__(THREADS) staged_operands(const struct args args)
{
    const int k = (int)args.geometry.k, stride = (int)args.stride;
    dependent_release();
    if (blockIdx.x < args.encode) {
        const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
        const int64_t row = decode_row_of(at, stride / 8);
        const int first = (int)(at - row * (stride / 8)) * 8;
        if (row >= args.geometry.rows) return;
        uint2 point = {};
        if (first < k) point = encode<Q>(args, args.x + row * k + first, min(k - first, 8));
        ((uint2 *)args.out)[at] = point;
        return;
    }
    const int64_t at = (blockIdx.x - args.encode) * THREADS + threadIdx.x;
    const int64_t row = decode_row_of(at, stride / 16);
    if (row >= args.w.rows) return;
    ((uint4 *)(args.out + args.geometry.rows * args.stride))[at] =
        decode_piece<8>(args.w, args.geometry, args.points, row, (int)(at - row * (stride / 16)));
}

/* ---------------------------------------------------------------- variant -- */

struct state {
    struct mlp mlp;          /* the inner call's shape is here */
    struct assay_call inner; /* of lut_matmul/decode_imma_staged */
};

static const char *supports(const struct assay_shape *shape)
{
    const struct mlp mlp = mlp_of(shape);
    return lut_decode_imma_staged.supports(&mlp.layer);
}

static int setup(struct assay_call *call)
{
    struct state *state = (struct state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    state->mlp = mlp_of(call->shape);
    state->inner.shape = &state->mlp.layer;
    state->inner.stream = call->stream;
    state->inner.buffer[LUT_C] = call->buffer[LINEAR_C];
    int status = lut_decode_imma_staged.setup(&state->inner);
    call->workspace_bytes += state->inner.workspace_bytes;
    (void)snprintf(call->note, sizeof call->note, "%s", state->inner.note);
    return status;
}

static int launch(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    const struct lut_geometry *geometry = &state->mlp.geometry;
    const void *w = call->buffer[LINEAR_W];
    state->inner.stream = call->stream;
    const struct lut_points *points;
    int8_t *out = lut_staged_operands(&state->inner, &points);
    struct args args = {.geometry = *geometry,
                        .r = mlp_r(&state->mlp, 0),
                        .x = (const float *)call->buffer[LINEAR_X],
                        .w = lut_codes(geometry, w, geometry->columns),
                        .points = points->left,
                        .out = out,
                        .stride = lut_decoded_stride(geometry)};
    args.encode = (geometry->rows * (args.stride / 8) + THREADS - 1) / THREADS;
    int64_t decode = (geometry->columns * (args.stride / 16) + THREADS - 1) / THREADS;
    if (lut_decodes_short(geometry, geometry->columns, points)) {
        if (lut_decode_i8(geometry, w, geometry->columns, points, true,
                          out + geometry->rows * args.stride, call->stream))
            return -1;
        args.w.rows = decode = 0;
    }
    auto kernel = geometry->q == 2   ? staged_operands<2>
                  : geometry->q == 3 ? staged_operands<3>
                                     : staged_operands<4>;
    kernel<<<(unsigned)(args.encode + decode), THREADS, 0, (cudaStream_t)call->stream>>>(args);
    return assay_launched() ? -1 : lut_staged_multiply(&state->inner);
}

static void teardown(struct assay_call *call)
{
    struct state *state = (struct state *)call->state;
    if (state == NULL) return;
    lut_decode_imma_staged.teardown(&state->inner);
    free(state);
}

static const struct assay_variant staged = {
    .operation = "quantized_linear",
    .name = "encode_imma_staged",
    .summary = "both operands to int8 in device memory, then wgmma",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(staged);
