#include "stages.h"

enum { PITCH = 1, TILE = (THREADS + 2) * PITCH };

extern "C" __global__ void smooth_kernel(float *__restrict__ y, const float *__restrict__ x, int n)
{
    __shared__ float tile[TILE];
    int i = blockIdx.x * THREADS + threadIdx.x, at = threadIdx.x + 1;
    if (i < n) tile[at * PITCH] = x[i];
    if (at == 1 && i > 0) tile[0] = x[i - 1];
    if (at == THREADS && i + 1 < n) tile[(at + 1) * PITCH] = x[i + 1];
    __syncthreads();
    if (i >= n) return;
    float mean = tile[at * PITCH];
    if (i > 0 && i < n - 1)
        mean = (tile[(at - 1) * PITCH] + mean + tile[(at + 1) * PITCH]) * (1.0f / 3);
    y[i] = mean;
}

extern "C" int smooth(float *y, const float *x, int n, void *stream)
{
    int blocks = (n + THREADS - 1) / THREADS;
    smooth_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(y, x, n);
    return cudaGetLastError();
}
