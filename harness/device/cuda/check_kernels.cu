#include <cuda_runtime.h>

#include "case/element.h"
#include "device/cuda/device_kernels.h"
#include "device/elements.h"

enum {
    THREADS = 256,
    PART_THREADS = 1024,
    WIDE = 8192,
    BLOCKS = 132 * 16,
    WORD = sizeof(uint64_t)
};

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

/* ------------------------------------------------------------- differences -- */

__device__ static struct difference larger(struct difference a, struct difference b)
{
    bool second = b.by > a.by || (b.by == a.by && b.index < a.index);
    return second ? b : a;
}

/* A block per part. */
__global__ void assay_differ(const void *a, const void *b, enum assay_type type, int64_t count,
                             struct difference *out)
{
    __shared__ struct difference most[PART_THREADS];
    int64_t begin = blockIdx.x * count / gridDim.x, end = (blockIdx.x + 1) * count / gridDim.x;
    struct difference mine = {begin, 0};
    for (int64_t i = begin + threadIdx.x; i < end; i += PART_THREADS) {
        double by = difference_of(element_load(type, a, i), element_load(type, b, i));
        if (by > mine.by) mine = {i, by};
    }
    most[threadIdx.x] = mine;
    for (int half = PART_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x >= half) continue;
        most[threadIdx.x] = larger(most[threadIdx.x], most[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = most[0];
}

extern "C" int kernel_differ(void *stream, const void *a, const void *b, enum assay_type type,
                             int64_t count, struct difference *out)
{
    assay_differ<<<ASSAY_CHECK_PLACES, PART_THREADS, 0, (cudaStream_t)stream>>>(a, b, type, count,
                                                                                out);
    return assay_launched();
}

/* ------------------------------------------------------------- signed sums -- */

/* A group of `lanes` threads per row, 32 or the whole block, sums it in strides and then in a
 * tree: the order depends on the shape alone. */
__global__ void assay_signed_sums(const void *matrix, enum assay_type type, int64_t rows,
                                  int64_t columns, uint64_t seed, int lanes, double *sums)
{
    __shared__ double part[THREADS];
    int lane = (int)threadIdx.x % lanes, groups = THREADS / lanes;
    int64_t step = (int64_t)gridDim.x * groups;
    for (int64_t first = (int64_t)blockIdx.x * groups; first < rows; first += step) {
        int64_t row = first + threadIdx.x / lanes;
        double sum = 0;
        for (int64_t j = lane; row < rows && j < columns; j += lanes)
            sum += sign_of(seed, j) * element_load(type, matrix, row * columns + j);
        part[threadIdx.x] = sum;
        for (int half = lanes / 2; half > 0; half /= 2) {
            __syncthreads();
            if (lane < half) part[threadIdx.x] += part[threadIdx.x + half];
        }
        if (lane == 0 && row < rows) sums[row] = part[threadIdx.x];
        __syncthreads();
    }
}

extern "C" int kernel_signed_sums(void *stream, const void *matrix, enum assay_type type,
                                  int64_t rows, int64_t columns, uint64_t seed, double *sums)
{
    int lanes = columns < WIDE ? 32 : THREADS;
    assay_signed_sums<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(matrix, type, rows, columns,
                                                                    seed, lanes, sums);
    return assay_launched();
}
