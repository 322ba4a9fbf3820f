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

/* Which pieces of a row a thread holds: thread, thread + threads, ..., PIECES of them at most. */
template <bool ADD, int WIDTH, int PIECES, bool AHEAD> struct layernorm_hold {
    typedef layernorm_piece<WIDTH> piece;
    int thread, threads, pieces; /* of the row */
    piece s[PIECES], weight[AHEAD ? PIECES : 1], bias[AHEAD ? PIECES : 1];

    /* f(k, at) for each piece that is there. */
    template <typename Each> __device__ __forceinline__ void each(Each f)
    {
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            if (thread + k * threads < pieces) f(k, thread + k * threads);
    }

    /* Load all pieces before the first is used. The weights too, if they are read AHEAD: behind the
     * sums a cold launch would wait for memory once more. */
    __device__ __forceinline__ void load(const struct layernorm &args, int64_t begin)
    {
        piece r[ADD ? PIECES : 1];
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            s[k] = {};
        each([&](int k, int at) { s[k] = layernorm_fetch((const piece *)args.x + begin + at); });
        if (ADD)
            each([&](int k, int at) {
                r[ADD ? k : 0] = layernorm_fetch((const piece *)args.r + begin + at);
            });
        if (AHEAD)
            each([&](int k, int at) {
                weight[AHEAD ? k : 0] = layernorm_fetch((const piece *)args.weight + at);
                bias[AHEAD ? k : 0] = layernorm_fetch((const piece *)args.bias + at);
            });
        if (ADD)
            each([&](int k, int at) {
#pragma unroll
                for (int i = 0; i < WIDTH; i++)
                    s[k].v[i] += r[ADD ? k : 0].v[i];
                ((piece *)args.sum)[begin + at] = s[k];
            });
    }

    __device__ __forceinline__ float sum()
    {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < PIECES; k++)
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                sum += s[k].v[i];
        return sum;
    }

    /* Of the deviations from `mean`. */
    __device__ __forceinline__ float squares(float mean)
    {
        float squares = 0.0f;
        each([&](int k, int) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                squares += (s[k].v[i] - mean) * (s[k].v[i] - mean);
        });
        return squares;
    }

    __device__ __forceinline__ void store(const struct layernorm &args, int64_t begin, float mean,
                                          float scale)
    {
        each([&](int k, int at) {
            if (!AHEAD) {
                weight[0] = layernorm_fetch((const piece *)args.weight + at);
                bias[0] = layernorm_fetch((const piece *)args.bias + at);
            }
            const int own = AHEAD ? k : 0;
            piece y;
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                y.v[i] = (s[k].v[i] - mean) * scale * weight[own].v[i] + bias[own].v[i];
            ((piece *)args.y)[begin + at] = y;
        });
    }
};

/* One warp per row, WARPS of them per block. */
template <bool ADD, int PIECES, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS) layernorm_warp_row(struct layernorm args)
{
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= args.rows) return;
    layernorm_hold<ADD, 4, PIECES, true> hold;
    hold.thread = threadIdx.x % 32, hold.threads = 32, hold.pieces = args.columns / 4;
    const int64_t begin = row * hold.pieces;
    hold.load(args, begin);
    const float mean = gpt_warp_sum(hold.sum()) / (float)args.columns;
    const float squares = gpt_warp_sum(hold.squares(mean));
    hold.store(args, begin, mean, layernorm_scale(squares / (float)args.columns));
}

/* What a warp knows of its elements. */
struct layernorm_share {
    float count, mean, squares; /* squares of the deviations from its own mean */
};

/* One block of at most THREADS threads per row, whose warps each find the mean and the deviations
 * of their elements. These are joined by the formula of Chan, Golub and LeVeque (see
 * layernorm_passes.cu), so that there is one barrier. */
template <bool ADD, int WIDTH, int PIECES, int THREADS, bool AHEAD>
static __global__ void __launch_bounds__(THREADS) layernorm_block_row(struct layernorm args)
{
    __shared__ struct layernorm_share shares[THREADS / 32];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    layernorm_hold<ADD, WIDTH, PIECES, AHEAD> hold;
    hold.thread = threadIdx.x, hold.threads = blockDim.x, hold.pieces = args.columns / WIDTH;
    const int64_t begin = (int64_t)blockIdx.x * hold.pieces;
    hold.load(args, begin);
    int count = 0;
#pragma unroll
    for (int k = 0; k < PIECES; k++)
        count += WIDTH * max(0, min(32, hold.pieces - 32 * warp - k * hold.threads));
    const float own = gpt_warp_sum(hold.sum()) / (float)max(count, 1);
    const float around = gpt_warp_sum(hold.squares(own));
    if (threadIdx.x % 32 == 0) shares[warp] = {(float)count, own, around};
    __syncthreads();
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < warps; i++)
        sum += shares[i].count * shares[i].mean;
    const float mean = sum / (float)args.columns;
    for (int i = 0; i < warps; i++)
        squares +=
            shares[i].squares + shares[i].count * (shares[i].mean - mean) * (shares[i].mean - mean);
    hold.store(args, begin, mean, layernorm_scale(squares / (float)args.columns));
}
