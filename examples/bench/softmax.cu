/*
 * softmax.cu - two kernels of the softmax of each row, one block per row; columns are at most 16
 * times the threads of a block for the second.
 *
 *   assay bench softmax.bench.ini
 */

/* Below every number of a row: NVRTC brings no <cmath>. */
constexpr float lowest = -3.402823466e38f;

template <class Combine> __device__ float of_block(float value, Combine combine)
{
    __shared__ float part[32];
    for (int step = 16; step > 0; step /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffff, value, step));
    __syncthreads(); /* `part` may still be read */
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int warp = 1; warp < (int)blockDim.x / 32; warp++)
        value = combine(value, part[warp]);
    return value;
}

struct larger {
    __device__ float operator()(float a, float b) const
    {
        return fmaxf(a, b);
    }
};

struct sum {
    __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

/* Reads the row three times. */
extern "C" __global__ void softmax_three(const float *x, float *y, int columns)
{
    const float *row = x + (long)blockIdx.x * columns;
    float *out = y + (long)blockIdx.x * columns;
    float most = lowest, total = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    most = of_block(most, larger());
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        total += expf(row[i] - most);
    total = of_block(total, sum());
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[i] = expf(row[i] - most) / total;
}

/* Reads it once, and keeps it in registers. */
extern "C" __global__ void softmax_once(const float *x, float *y, int columns)
{
    const float *row = x + (long)blockIdx.x * columns;
    float *out = y + (long)blockIdx.x * columns;
    float mine[16], most = lowest, total = 0;
    for (int k = 0; k < 16; k++) {
        int i = threadIdx.x + k * blockDim.x;
        mine[k] = i < columns ? row[i] : lowest;
        most = fmaxf(most, mine[k]);
    }
    most = of_block(most, larger());
    for (int k = 0; k < 16; k++)
        total += mine[k] = expf(mine[k] - most);
    total = of_block(total, sum());
    for (int k = 0; k < 16; k++) {
        int i = threadIdx.x + k * blockDim.x;
        if (i < columns) out[i] = mine[k] / total;
    }
}
