/*
 * linear_steps.cu - see linear_steps.h. Tiles of 32 x 32 are transposed in shared memory, whose
 * rows are padded by a word, so that reads and writes are coalesced; every element is read and
 * written once. The bias kernel reads and writes y once.
 */
#include "kernels/gpt/gpt.cuh"
#include "kernels/cuda/device_memory.h"
#include "linear_steps.h"

enum { TILE = 32, ROWS = 8, THREADS = 256 };

/* out[k, leading] = w[n, k]^T. */
template <typename T>
static __global__ void __launch_bounds__(TILE *ROWS)
    transpose(const T *__restrict__ w, T *__restrict__ out, int n, int k, int leading)
{
    __shared__ T tile[TILE][TILE + 1];
    int k0 = blockIdx.x * TILE;
    for (int n0 = blockIdx.y * TILE; n0 < leading; n0 += gridDim.y * TILE) {
        for (int i = threadIdx.y; i < TILE; i += ROWS)
            if (k0 + (int)threadIdx.x < k)
                tile[i][threadIdx.x] =
                    n0 + i < n ? w[(int64_t)(n0 + i) * k + k0 + threadIdx.x] : T(0);
        __syncthreads();
        for (int i = threadIdx.y; i < TILE; i += ROWS)
            if (k0 + i < k && n0 + (int)threadIdx.x < leading)
                out[(int64_t)(k0 + i) * leading + n0 + threadIdx.x] = tile[threadIdx.x][i];
        __syncthreads();
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS)
    add_bias(T *__restrict__ y, const T *__restrict__ bias, int64_t m, int n)
{
    int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= n) return;
    float b = gpt_float(bias[column]);
    for (int64_t row = blockIdx.y; row < m; row += gridDim.y)
        gpt_put(y + row * n + column, gpt_float(y[row * n + column]) + b);
}

static int64_t leading_of(const struct assay_shape *shape)
{
    return (shape->value[LINEAR_N] + 7) / 8 * 8;
}

static unsigned at_most(int64_t count, int64_t limit)
{
    return (unsigned)(count < limit ? count : limit);
}

static int enqueue_transpose(const struct assay_call *call, void *copy)
{
    const int64_t *value = call->shape->value;
    int n = (int)value[LINEAR_N], k = (int)value[LINEAR_K], leading = (int)leading_of(call->shape);
    dim3 grid(gpt_blocks(k, TILE), at_most(gpt_blocks(leading, TILE), 65535)), block(TILE, ROWS);
    cudaStream_t stream = (cudaStream_t)call->stream;
    const void *w = call->buffer[LINEAR_W];
    if (gpt_bytes(value[LINEAR_PRECISION]) == 2)
        transpose<<<grid, block, 0, stream>>>((const uint16_t *)w, (uint16_t *)copy, n, k, leading);
    else
        transpose<<<grid, block, 0, stream>>>((const float *)w, (float *)copy, n, k, leading);
    return assay_launched();
}

int linear_prepare(struct assay_call *call, void **copy)
{
    const int64_t *value = call->shape->value;
    *copy = NULL;
    if (value[LINEAR_WEIGHT] == LINEAR_DIRECT) return 0;
    int64_t bytes = value[LINEAR_K] * leading_of(call->shape) * gpt_bytes(value[LINEAR_PRECISION]);
    int status = device_memory(call, copy, bytes, "the transposed weight");
    if (status) return status;
    return value[LINEAR_WEIGHT] == LINEAR_CACHED ? enqueue_transpose(call, *copy) : 0;
}

int linear_begin(const struct assay_call *call, void *copy, struct linear_operands *operands)
{
    const int64_t *value = call->shape->value;
    bool fused = value[LINEAR_BIAS] == LINEAR_FUSED;
    bool transposed = value[LINEAR_WEIGHT] != LINEAR_DIRECT;
    *operands = (struct linear_operands){call->buffer[LINEAR_X],
                                         transposed ? copy : call->buffer[LINEAR_W],
                                         fused ? call->buffer[LINEAR_B] : NULL,
                                         call->buffer[LINEAR_Y],
                                         value[LINEAR_M],
                                         value[LINEAR_N],
                                         value[LINEAR_K],
                                         transposed ? leading_of(call->shape) : value[LINEAR_K],
                                         transposed};
    return value[LINEAR_WEIGHT] == LINEAR_PER_CALL ? enqueue_transpose(call, copy) : 0;
}

int linear_end(const struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    if (value[LINEAR_BIAS] != LINEAR_SEPARATE) return 0;
    int64_t m = value[LINEAR_M];
    int n = (int)value[LINEAR_N];
    dim3 grid(gpt_blocks(n, THREADS), at_most(m, 65535));
    cudaStream_t stream = (cudaStream_t)call->stream;
    void *y = call->buffer[LINEAR_Y];
    const void *bias = call->buffer[LINEAR_B];
    if (value[LINEAR_PRECISION] == GPT_BF16)
        add_bias<<<grid, THREADS, 0, stream>>>((uint16_t *)y, (const uint16_t *)bias, m, n);
    else if (value[LINEAR_PRECISION] == GPT_FP16)
        add_bias<<<grid, THREADS, 0, stream>>>((fp16_t *)y, (const fp16_t *)bias, m, n);
    else
        add_bias<<<grid, THREADS, 0, stream>>>((float *)y, (const float *)bias, m, n);
    return assay_launched();
}
