#include <cuda_runtime.h>

#include "device/cuda/check_kernels.h"
#include "device/poison.h"

enum { THREADS = 256, BLOCKS = 132 * 16, WORD = sizeof(uint64_t) };

__device__ static int64_t first_index(void)
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static int64_t grid_step(void)
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* ------------------------------------------------------------------ poison -- */

__global__ void assay_poison(unsigned char *memory, size_t bytes, uint64_t seed)
{
    int64_t words = (int64_t)(bytes / WORD);
    for (int64_t i = first_index(); i < words; i += grid_step())
        ((uint64_t *)memory)[i] = poison_word(seed, i);
    if (first_index() != 0) return;
    for (size_t at = (size_t)words * WORD; at < bytes; at++)
        memory[at] = (unsigned char)(poison_word(seed, words) >> 8 * (at % WORD));
}

/* Bytes beyond the end of the memory are 0. */
__device__ static uint64_t load_word(const unsigned char *memory, size_t bytes, int64_t word)
{
    size_t at = (size_t)word * WORD;
    if (at + WORD <= bytes) return ((const uint64_t *)memory)[word];
    uint64_t value = 0;
    for (size_t i = at; i < bytes; i++)
        value |= (uint64_t)memory[i] << 8 * (i - at);
    return value;
}

__global__ void assay_unwritten(const unsigned char *memory, size_t bytes, int size, uint64_t seed,
                                long long *left)
{
    int64_t words = (int64_t)((bytes + WORD - 1) / WORD);
    long long whole = 0, elements = 0, first = INT64_MAX;
    for (int64_t i = first_index(); i < words; i += grid_step()) {
        size_t at = (size_t)i * WORD, here = bytes - at < WORD ? bytes - at : WORD;
        uint64_t word = load_word(memory, bytes, i), poison = poison_word(seed, i);
        elements += poison_left(word, poison, size, (int)here / size);
        if (word != poison) continue;
        whole++;
        if (i < first) first = i;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        long long other = __shfl_down_sync(0xffffffffu, first, lanes);
        whole += __shfl_down_sync(0xffffffffu, whole, lanes);
        elements += __shfl_down_sync(0xffffffffu, elements, lanes);
        if (other < first) first = other;
    }
    if (threadIdx.x % 32 != 0) return;
    atomicAdd((unsigned long long *)&left[0], (unsigned long long)whole);
    atomicAdd((unsigned long long *)&left[1], (unsigned long long)elements);
    atomicMin(&left[2], first);
}

extern "C" int kernel_poison(void *stream, void *memory, size_t bytes, uint64_t seed)
{
    assay_poison<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>((unsigned char *)memory, bytes,
                                                               seed);
    return assay_launched();
}

extern "C" int kernel_unwritten(void *stream, const void *memory, size_t bytes, int size,
                                uint64_t seed, int64_t *left)
{
    assay_unwritten<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(
        (const unsigned char *)memory, bytes, size, seed, (long long *)left);
    return assay_launched();
}
