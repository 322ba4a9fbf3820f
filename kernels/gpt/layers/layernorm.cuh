/*
 * layernorm.cuh - what the layernorm kernels share: their argument, and the kernel that keeps a row
 * in registers.
 */
#pragma once

#include "kernels/gpt/gpt.cuh"

/* r and sum are used only with a residual. */
struct layernorm {
    const float *x, *r, *weight, *bias;
    float *y, *sum;
    int64_t rows;
    int columns;
    int unused; /* no bytes without a value: a gate compares arguments whole */
};

typedef void layernorm_kernel(struct layernorm args);

static inline struct layernorm layernorm_args(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return (struct layernorm){(const float *)call->buffer[LAYERNORM_X],
                              (const float *)call->buffer[LAYERNORM_R],
                              (const float *)call->buffer[LAYERNORM_WEIGHT],
                              (const float *)call->buffer[LAYERNORM_BIAS],
                              (float *)call->buffer[LAYERNORM_Y],
                              (float *)call->buffer[LAYERNORM_SUM],
                              value[LAYERNORM_ROWS],
                              (int)value[LAYERNORM_COLUMNS]};
}

static inline bool layernorm_adds(const struct assay_shape *shape)
{
    return shape->value[LAYERNORM_RESIDUAL] == LAYERNORM_ADD;
}

/* Enqueue kernel `adding` if the shape has a residual, else `alone`. */
static inline int layernorm_launch(const struct assay_call *call, int64_t blocks, int threads,
                                   layernorm_kernel *alone, layernorm_kernel *adding)
{
    layernorm_kernel *kernel = layernorm_adds(call->shape) ? adding : alone;
    kernel<<<(unsigned)blocks, threads, 0, (cudaStream_t)call->stream>>>(layernorm_args(call));
    return assay_launched();
}

/* Element `at` of s, computed again from x and r: faster than waiting until `sum` is stored. */
template <bool ADD>
static __device__ __forceinline__ float layernorm_element(const struct layernorm &args, int64_t at)
{
    float x = __ldg(args.x + at);
    return ADD ? x + __ldg(args.r + at) : x;
}

static __device__ __forceinline__ float layernorm_scale(float variance)
{
    return rsqrtf(variance + GPT_LAYERNORM_EPSILON);
}

/* Write y, and s if there is a residual, for elements at, at + step, ... of the row. */
template <bool ADD>
static __device__ __forceinline__ void layernorm_write(const struct layernorm &args, int64_t begin,
                                                       int at, int step, float mean, float scale)
{
    for (; at < args.columns; at += step) {
        float s = layernorm_element<ADD>(args, begin + at);
        args.y[begin + at] = (s - mean) * scale * __ldg(args.weight + at) + __ldg(args.bias + at);
        if (ADD) args.sum[begin + at] = s;
    }
}

/* ------------------------------------------------------- row in registers -- */

/* WIDTH floats that are loaded and stored in one instruction. */
template <int WIDTH> struct alignas(4 * WIDTH) layernorm_piece {
    float v[WIDTH];
};

static __device__ __forceinline__ layernorm_piece<1> layernorm_fetch(const layernorm_piece<1> *from)
{
    return {__ldg((const float *)from)};
}

static __device__ __forceinline__ layernorm_piece<4> layernorm_fetch(const layernorm_piece<4> *from)
{
    float4 raw = __ldg((const float4 *)from);
    return {raw.x, raw.y, raw.z, raw.w};
}

/*
 * Normalise one row with `threads` threads; this one is number `thread`. Each thread holds pieces
 * thread, thread + threads, ... (PIECES of them at most, each WIDTH floats) and loads all of them
 * before it uses the first. The mean, and then the sum of squares about it, are computed from the
 * registers; total(v, i) returns the sum of v over all threads, where i numbers the sums. The row
 * is aligned to WIDTH floats, and WIDTH divides its length.
 */
template <bool ADD, int WIDTH, int PIECES, typename Total>
static __device__ __forceinline__ void layernorm_row(const struct layernorm &args, int64_t row,
                                                     int thread, int threads, Total total)
{
    typedef layernorm_piece<WIDTH> piece;
    int pieces = args.columns / WIDTH;
    int64_t begin = row * pieces;
    piece s[PIECES];
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        int at = thread + k * threads;
        s[k] = {};
        if (at < pieces) s[k] = layernorm_fetch((const piece *)args.x + begin + at);
    }
    if (ADD) {
        piece r[PIECES];
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            int at = thread + k * threads;
            r[k] = {};
            if (at < pieces) r[k] = layernorm_fetch((const piece *)args.r + begin + at);
        }
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            int at = thread + k * threads;
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                s[k].v[i] += r[k].v[i];
            if (at < pieces) ((piece *)args.sum)[begin + at] = s[k];
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < PIECES; k++)
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            sum += s[k].v[i];
    float mean = total(sum, 0) / (float)args.columns;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        if (thread + k * threads >= pieces) continue; /* zeros are not elements */
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            squares += (s[k].v[i] - mean) * (s[k].v[i] - mean);
    }
    float scale = layernorm_scale(total(squares, 1) / (float)args.columns);
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        int at = thread + k * threads;
        if (at >= pieces) continue;
        piece weight = layernorm_fetch((const piece *)args.weight + at);
        piece bias = layernorm_fetch((const piece *)args.bias + at);
        piece y;
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            y.v[i] = (s[k].v[i] - mean) * scale * weight.v[i] + bias.v[i];
        ((piece *)args.y)[begin + at] = y;
    }
}

/* One block of at most THREADS threads per row. */
template <bool ADD, int WIDTH, int PIECES, int THREADS>
static __global__ void __launch_bounds__(THREADS) layernorm_block_row(struct layernorm args)
{
    __shared__ float warps[2][32];
    layernorm_row<ADD, WIDTH, PIECES>(
        args, blockIdx.x, threadIdx.x, blockDim.x,
        [&](float value, int which) { return gpt_block_sum(value, warps[which]); });
}
