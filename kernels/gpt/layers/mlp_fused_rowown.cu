/*
 * mlp_fused_rowown.cu - one kernel that computes nothing twice. A block computes 16 rows of y with
 * all their columns (c <= 256), which it holds in registers, and goes over the 4 c values of h in
 * steps of 32.
 *
 * Operations: those of mlp, in fp32. Bytes: x and y once, the weights once per block, from L2; h
 * stays in shared memory. It is slow because 1024 rows make only 64 blocks, so half of a large
 * device is idle.
 *
 * Shared memory, in floats: x [16][c + 1], h [16][33], and one array for a step of either weight,
 * w1 [32][c + 1] or w2 [c][33].
 */
#include "kernels/cuda/cuda_limits.h"
#include "mlp.cuh"

enum { ROWS = 16, STEP = 32, THREADS = 256, LINES = THREADS / STEP, EACH = ROWS / LINES };
enum { COLUMNS_MAX = 256, PARTS = COLUMNS_MAX / STEP };

static __global__ void __launch_bounds__(THREADS) fused_rowown(struct mlp args)
{
    extern __shared__ float mlp_memory[];
    int c = args.c, inner = 4 * c, pitch = c + 1;
    float *x = mlp_memory, *h = x + ROWS * pitch, *w = h + ROWS * (STEP + 1);
    int64_t row0 = (int64_t)blockIdx.x * ROWS;
    int lane = threadIdx.x % STEP, line = threadIdx.x / STEP;

    for (int at = threadIdx.x; at < ROWS * c; at += THREADS) {
        int row = at / c, column = at % c;
        x[row * pitch + column] = row0 + row < args.m ? __ldg(args.x + row0 * c + at) : 0.0f;
    }
    float sum[EACH][PARTS] = {};
    for (int j0 = 0; j0 < inner; j0 += STEP) {
        int steps = min(STEP, inner - j0);
        __syncthreads(); /* all threads have read w, and x is loaded */
        for (int at = threadIdx.x; at < steps * c; at += THREADS)
            w[at / c * pitch + at % c] = __ldg(args.w1 + (int64_t)j0 * c + at);
        __syncthreads();
        float between[EACH] = {0.0f};
        if (lane < steps) {
            for (int l = 0; l < c; l++)
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    between[e] += x[(line + e * LINES) * pitch + l] * w[lane * pitch + l];
        }
        float bias = lane < steps ? __ldg(args.b1 + j0 + lane) : 0.0f;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            h[(line + e * LINES) * (STEP + 1) + lane] = gpt_gelu_fast(between[e] + bias);
        __syncthreads();
        for (int at = line; at < c; at += LINES)
            if (lane < steps)
                w[at * (STEP + 1) + lane] = __ldg(args.w2 + (int64_t)at * inner + j0 + lane);
        __syncthreads();
        for (int l = 0; l < steps; l++)
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                int column = part * STEP + lane;
                if (column >= c) continue;
                float weight = w[column * (STEP + 1) + l];
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    sum[e][part] += h[(line + e * LINES) * (STEP + 1) + l] * weight;
            }
    }
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        int column = part * STEP + lane;
        if (column >= c) continue;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int64_t row = row0 + line + e * LINES;
            if (row < args.m) args.y[row * c + column] = sum[e][part] + __ldg(args.b2 + column);
        }
    }
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    int64_t c = shape->value[MLP_C];
    int64_t first = STEP * (c + 1), second = c * (STEP + 1);
    return (int64_t)sizeof(float) *
           (ROWS * (c + 1) + ROWS * (STEP + 1) + (first > second ? first : second));
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[MLP_PRECISION] != GPT_FP32) return "fp32 only";
    return shape->value[MLP_C] > COLUMNS_MAX ? "more than 256 columns per block" : NULL;
}

static int setup(struct assay_call *call)
{
    return cuda_allow_shared((const void *)fused_rowown, shared_bytes(call->shape));
}

static int launch(struct assay_call *call)
{
    struct mlp args = mlp_args(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    fused_rowown<<<gpt_blocks(args.m, ROWS), THREADS, (size_t)shared_bytes(call->shape), stream>>>(
        args);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "mlp",
    .name = "fused_rowown",
    .summary = "one kernel; a block owns its rows and computes nothing twice",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
