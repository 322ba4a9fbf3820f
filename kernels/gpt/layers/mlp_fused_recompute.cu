/*
 * mlp_fused_recompute.cu - one kernel, as it was published. A block computes 32 x 32 outputs. It
 * goes over the 4 c values of h in steps of 32, and computes these for its rows from x and w1.
 *
 * Deliberately slow: every tile of columns computes h again, which makes 8 m c^2 (c / 32 + 1)
 * operations instead of 16 m c^2: 1.5 times as many at c = 64, 4.5 at 256, 12.5 at 768. That is why
 * it was slower than separate kernels, not the fusion itself; and it multiplies in fp32 on CUDA
 * cores. Bytes: h stays on the multiprocessor.
 */
#include "mlp.cuh"

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

static const char *supports(const struct assay_shape *shape)
{
    return gpt_only(GPT_FP32, shape->value[MLP_PRECISION]);
}

static int launch(struct assay_call *call)
{
    struct mlp args = mlp_args(call);
    dim3 grid(gpt_blocks(args.m, TILE), gpt_blocks(args.c, TILE)), block(TILE, ROWS);
    fused_recompute<<<grid, block, 0, (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "mlp",
    .name = "fused_recompute",
    .summary = "one kernel; each tile of columns computes what is between anew",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
