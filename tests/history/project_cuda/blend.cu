#include "stages.h"

extern "C" __global__ void blend_kernel(float *__restrict__ y, const float *__restrict__ x, int n)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        y[i] = 0.5f * y[i] + 0.5f * x[i];
}

extern "C" int blend(float *y, const float *x, int n, void *stream)
{
    int blocks = (n + THREADS - 1) / THREADS;
    blend_kernel<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(y, x, n);
    return cudaGetLastError();
}
