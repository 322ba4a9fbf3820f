#include <cuda_runtime.h>

#include "base/fill.h"
#include "case/element.h"
#include "device/cuda/device_kernels.h"

enum { THREADS = 256, BLOCKS = 132 * 16 };

extern "C" __global__ void assay_hold(unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < ns);
}

extern "C" __global__ void assay_empty(void)
{
}

/* Which of the builds in this program the driver loaded: only its own compile knows. */
extern "C" __global__ void assay_code(struct loaded_code *code)
{
#ifdef __CUDA_ARCH__
    code->sm = __CUDA_ARCH__ / 10;
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    code->arch_specific = 1;
#else
    code->arch_specific = 0;
#endif
}

/* `sink` is never written, because the bytes of the buffer (all 1) never sum to that value.
 * The compiler cannot know this, so it keeps the reads. */
extern "C" __global__ void assay_flush_read(const uint4 *__restrict__ buffer, size_t count,
                                            unsigned *sink)
{
    unsigned sum = 0;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint4 v = buffer[i];
        sum |= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x5eed5eedu) *sink = sum;
}

extern "C" __global__ void assay_flush_write(uint4 *buffer, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        buffer[i] = make_uint4(0x01010101u, 0x01010101u, 0x01010101u, 0x01010101u);
}

__global__ void assay_fill_elements(void *memory, enum assay_type type, int64_t count,
                                    struct assay_fill fill, const float *hard, uint64_t seed)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        element_store(type, memory, i, fill_value(&fill, hard, seed, i));
}

extern "C" int kernel_fill(void *stream, void *memory, enum assay_type type, int64_t count,
                           const struct assay_fill *fill, const float *hard, uint64_t seed)
{
    assay_fill_elements<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(memory, type, count, *fill,
                                                                      hard, seed);
    return assay_launched();
}

__global__ void assay_checksum(const unsigned char *memory, size_t bytes, unsigned long long *sum)
{
    size_t words = bytes / sizeof(uint64_t), step = (size_t)gridDim.x * blockDim.x;
    size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t total = 0;
    for (size_t i = first; i < words; i += step)
        total += fill_hash(((const uint64_t *)memory)[i], i);
    for (size_t i = words * sizeof(uint64_t) + first; i < bytes; i += step)
        total += fill_hash(memory[i], i);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        total += __shfl_down_sync(0xffffffffu, (unsigned long long)total, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, (unsigned long long)total);
}

extern "C" int kernel_checksum(void *stream, const void *memory, size_t bytes, uint64_t *sum)
{
    assay_checksum<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>((const unsigned char *)memory,
                                                                 bytes, (unsigned long long *)sum);
    return assay_launched();
}

extern "C" int kernel_hold(void *stream, double ns)
{
    assay_hold<<<1, 1, 0, (cudaStream_t)stream>>>((unsigned long long)ns);
    return assay_launched();
}

extern "C" int kernel_code(void *stream, struct loaded_code *code)
{
    assay_code<<<1, 1, 0, (cudaStream_t)stream>>>(code);
    cudaError_t error = cudaGetLastError();
    if (error == cudaErrorNoKernelImageForDevice)
        return assay_error("this program has no code for this GPU: build it with make ARCH=");
    return assay_cuda(error, "launch");
}

extern "C" int kernel_empty(void *stream)
{
    assay_empty<<<1, 32, 0, (cudaStream_t)stream>>>();
    return assay_launched();
}

extern "C" int kernel_flush_read(void *stream, const void *buffer, size_t bytes, void *sink)
{
    assay_flush_read<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(
        (const uint4 *)buffer, bytes / sizeof(uint4), (unsigned *)sink);
    return assay_launched();
}

extern "C" int kernel_flush_write(void *stream, void *buffer, size_t bytes)
{
    assay_flush_write<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>((uint4 *)buffer,
                                                                    bytes / sizeof(uint4));
    return assay_launched();
}
