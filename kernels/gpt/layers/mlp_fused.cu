/*
 * mlp_fused.cu - both layers in one kernel, in fp32 on CUDA cores, in two ways.
 *
 *   fused_recompute  as it was published. A block computes 32 x 32 outputs. It goes over the 4 c
 *                    values of h in steps of 32, and computes these for its rows from x and w1.
 *                    Deliberately slow: every tile of columns computes h again, which makes
 *                    8 m c^2 (c / 32 + 1) operations instead of 16 m c^2: 1.5 times as many at
 *                    c = 64, 4.5 at 256, 12.5 at 768. That is why it was slower than separate
 *                    kernels, not the fusion itself. Bytes: h stays on the multiprocessor
 *   fused_rowown     computes nothing twice. A block computes 16 rows of y with all their columns
 *                    (c <= 256), which it holds in registers, and goes over the 4 c values of h in
 *                    steps of 32. Operations: those of mlp. Bytes: x and y once, the weights once
 *                    per block, from L2; h stays in shared memory. It is slow because 1024 rows
 *                    make only 64 blocks, so half of a large device is idle
 */
#include "kernels/cuda/cuda_limits.h"
#include "mlp.cuh"

/* ------------------------------------------------------------ fused_recompute -- */

enum { TILE = 32, ROWS = 8, EACH = TILE / ROWS };

typedef float tile[TILE][TILE + 1];

/* out[i][l] = from[row0 + i][column0 + l], zeros outside rows x columns. */
static __device__ __forceinline__ void fetch(tile out, const float *from, int64_t row0,
                                             int64_t rows, int column0, int columns)
{
    int lane = threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        bool inside = row0 + i < rows && column0 + lane < columns;
        out[i][lane] = inside ? __ldg(from + (row0 + i) * columns + column0 + lane) : 0.0f;
    }
}

/* sum[e] += a[row] . b[lane] for the thread's rows. */
static __device__ __forceinline__ void multiply(float sum[EACH], const tile a, const tile b)
{
#pragma unroll
    for (int l = 0; l < TILE; l++)
#pragma unroll
        for (int e = 0; e < EACH; e++)
            sum[e] += a[threadIdx.y + e * ROWS][l] * b[threadIdx.x][l];
}

static __global__ void __launch_bounds__(TILE *ROWS) fused_recompute(struct mlp args)
{
    __shared__ tile a, b, h;
    int64_t row0 = (int64_t)blockIdx.x * TILE;
    int column0 = blockIdx.y * TILE, c = args.c, inner = 4 * c;
    float sum[EACH] = {0.0f};
    for (int j0 = 0; j0 < inner; j0 += TILE) {
        float between[EACH] = {0.0f};
        for (int l0 = 0; l0 < c; l0 += TILE) {
            fetch(a, args.x, row0, args.m, l0, c);
            fetch(b, args.w1, j0, inner, l0, c);
            __syncthreads();
            multiply(between, a, b);
            __syncthreads();
        }
        int j = j0 + threadIdx.x;
        float bias = j < inner ? __ldg(args.b1 + j) : 0.0f;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            h[threadIdx.y + e * ROWS][threadIdx.x] = gpt_gelu_fast(between[e] + bias);
        fetch(b, args.w2, column0, c, j0, inner);
        __syncthreads();
        multiply(sum, h, b);
        __syncthreads();
    }
    int column = column0 + threadIdx.x;
    for (int e = 0; e < EACH; e++) {
        int64_t row = row0 + threadIdx.y + e * ROWS;
        if (row < args.m && column < c) args.y[row * c + column] = sum[e] + __ldg(args.b2 + column);
    }
}

static const char *recompute_supports(const struct assay_shape *shape)
{
    return gpt_only(GPT_FP32, shape->value[MLP_PRECISION]);
}

static int recompute_launch(struct assay_call *call)
{
    struct mlp args = mlp_args(call);
    dim3 grid(gpt_blocks(args.m, TILE), gpt_blocks(args.c, TILE)), block(TILE, ROWS);
    fused_recompute<<<grid, block, 0, (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static const struct assay_variant recompute = {
    .operation = "mlp",
    .name = "fused_recompute",
    .summary = "one kernel; each tile of columns computes what is between anew",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = recompute_supports,
    .launch = recompute_launch,
};
ASSAY_REGISTER_VARIANT(recompute);

/* --------------------------------------------------------------- fused_rowown -- */

/* Shared memory, in floats: x [16][c + 1], h [16][33], and one array for a step of either weight,
 * w1 [32][c + 1] or w2 [c][33]. */
enum {
    OWN_ROWS = 16,
    OWN_STEP = 32,
    OWN_THREADS = 256,
    OWN_LINES = OWN_THREADS / OWN_STEP,
    OWN_EACH = OWN_ROWS / OWN_LINES
};
enum { OWN_COLUMNS = 256, OWN_PARTS = OWN_COLUMNS / OWN_STEP };

static __global__ void __launch_bounds__(OWN_THREADS) fused_rowown(struct mlp args)
{
    extern __shared__ float mlp_memory[];
    int c = args.c, inner = 4 * c, pitch = c + 1;
    float *x = mlp_memory, *h = x + OWN_ROWS * pitch, *w = h + OWN_ROWS * (OWN_STEP + 1);
    int64_t row0 = (int64_t)blockIdx.x * OWN_ROWS;
    int lane = threadIdx.x % OWN_STEP, line = threadIdx.x / OWN_STEP;

    for (int at = threadIdx.x; at < OWN_ROWS * c; at += OWN_THREADS) {
        int row = at / c, column = at % c;
        x[row * pitch + column] = row0 + row < args.m ? __ldg(args.x + row0 * c + at) : 0.0f;
    }
    float sum[OWN_EACH][OWN_PARTS] = {};
    for (int j0 = 0; j0 < inner; j0 += OWN_STEP) {
        int steps = min(OWN_STEP, inner - j0);
        __syncthreads(); /* all threads have read w, and x is loaded */
        for (int at = threadIdx.x; at < steps * c; at += OWN_THREADS)
            w[at / c * pitch + at % c] = __ldg(args.w1 + (int64_t)j0 * c + at);
        __syncthreads();
        float between[OWN_EACH] = {0.0f};
        if (lane < steps) {
            for (int l = 0; l < c; l++)
#pragma unroll
                for (int e = 0; e < OWN_EACH; e++)
                    between[e] += x[(line + e * OWN_LINES) * pitch + l] * w[lane * pitch + l];
        }
        float bias = lane < steps ? __ldg(args.b1 + j0 + lane) : 0.0f;
#pragma unroll
        for (int e = 0; e < OWN_EACH; e++)
            h[(line + e * OWN_LINES) * (OWN_STEP + 1) + lane] = gpt_gelu_fast(between[e] + bias);
        __syncthreads();
        for (int at = line; at < c; at += OWN_LINES)
            if (lane < steps)
                w[at * (OWN_STEP + 1) + lane] = __ldg(args.w2 + (int64_t)at * inner + j0 + lane);
        __syncthreads();
        for (int l = 0; l < steps; l++)
#pragma unroll
            for (int part = 0; part < OWN_PARTS; part++) {
                int column = part * OWN_STEP + lane;
                if (column >= c) continue;
                float weight = w[column * (OWN_STEP + 1) + l];
#pragma unroll
                for (int e = 0; e < OWN_EACH; e++)
                    sum[e][part] += h[(line + e * OWN_LINES) * (OWN_STEP + 1) + l] * weight;
            }
    }
#pragma unroll
    for (int part = 0; part < OWN_PARTS; part++) {
        int column = part * OWN_STEP + lane;
        if (column >= c) continue;
#pragma unroll
        for (int e = 0; e < OWN_EACH; e++) {
            int64_t row = row0 + line + e * OWN_LINES;
            if (row < args.m) args.y[row * c + column] = sum[e][part] + __ldg(args.b2 + column);
        }
    }
}

static int64_t rowown_bytes(const struct assay_shape *shape)
{
    int64_t c = shape->value[MLP_C];
    int64_t first = OWN_STEP * (c + 1), second = c * (OWN_STEP + 1);
    return (int64_t)sizeof(float) *
           (OWN_ROWS * (c + 1) + OWN_ROWS * (OWN_STEP + 1) + (first > second ? first : second));
}

static const char *rowown_supports(const struct assay_shape *shape)
{
    if (shape->value[MLP_PRECISION] != GPT_FP32) return "fp32 only";
    return shape->value[MLP_C] > OWN_COLUMNS ? "more than 256 columns per block" : NULL;
}

static int rowown_setup(struct assay_call *call)
{
    return cuda_allow_shared((const void *)fused_rowown, rowown_bytes(call->shape));
}

static int rowown_launch(struct assay_call *call)
{
    struct mlp args = mlp_args(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    fused_rowown<<<gpt_blocks(args.m, OWN_ROWS), OWN_THREADS, (size_t)rowown_bytes(call->shape),
                   stream>>>(args);
    return assay_launched();
}

static const struct assay_variant rowown = {
    .operation = "mlp",
    .name = "fused_rowown",
    .summary = "one kernel; a block owns its rows and computes nothing twice",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = rowown_supports,
    .shared_bytes = rowown_bytes,
    .setup = rowown_setup,
    .launch = rowown_launch,
};
ASSAY_REGISTER_VARIANT(rowown);
