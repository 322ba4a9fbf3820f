#include "stages.h"

extern "C" __global__ void scale_kernel(float *__restrict__ y, const float *__restrict__ x, int n)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        y[i] = x[i] * 1.5f + 0.25f;
}

extern "C" int scale(float *y, const float *x, int n, void *stream)
{
    int blocks = (n + THREADS - 1) / THREADS;
    scale_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(y, x, n);
    return cudaGetLastError();
}
