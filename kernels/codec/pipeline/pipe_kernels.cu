/*
 * pipe_kernels.cu - the small kernels around the network.
 *
 *   widen    wide[i] = codes[i]         1 byte read, 8 written per index
 *   narrow   codes[i] = wide[i]         8 read, 1 written
 *   hold     waits on the GPU's clock   none
 */
#include "pipe.h"

enum { THREADS = 256 };

static __global__ void widen(const uint8_t *codes, int64_t *wide, int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) wide[i] = codes[i];
}

static __global__ void narrow(const int64_t *wide, uint8_t *codes, int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) codes[i] = (uint8_t)wide[i];
}

static __device__ uint64_t now_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void hold(uint64_t ns)
{
    uint64_t start = now_ns();
    while (now_ns() - start < ns)
        __nanosleep(200);
}

static unsigned blocks(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

int pipe_hold(cudaStream_t stream, double ns)
{
    hold<<<1, 1, 0, stream>>>((uint64_t)ns);
    return assay_launched();
}

int pipe_widen(const uint8_t *codes, int64_t *wide, int64_t count, cudaStream_t stream)
{
    widen<<<blocks(count), THREADS, 0, stream>>>(codes, wide, count);
    return assay_launched();
}

int pipe_narrow(const int64_t *wide, uint8_t *codes, int64_t count, cudaStream_t stream)
{
    narrow<<<blocks(count), THREADS, 0, stream>>>(wide, codes, count);
    return assay_launched();
}
