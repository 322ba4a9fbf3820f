/*
 * linear_pad.cu - see linear_pad.h. A thread writes 16 bytes of a copy from as many numbers, which
 * its warp reads side by side from L1. Bytes: x and w once, and their copies once.
 */
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/gpt.cuh"
#include "linear_pad.h"

enum { PAD_THREADS = 256 };

/* 16 bytes of numbers. */
template <typename T> struct alignas(16) pad_chunk {
    T number[16 / sizeof(T)];
};

template <typename T>
static __global__ void __launch_bounds__(PAD_THREADS)
    linear_pad_kernel(const T *__restrict__ from, pad_chunk<T> *__restrict__ to, int64_t rows,
                      int k, int chunks)
{
    const int width = 16 / sizeof(T);
    int64_t index = (int64_t)blockIdx.x * PAD_THREADS + threadIdx.x;
    if (index >= rows * chunks) return;
    int64_t row = index / chunks;
    int first = (int)(index - row * chunks) * width;
    const T *at = from + row * k + first;
    pad_chunk<T> chunk;
#pragma unroll
    for (int i = 0; i < width; i++)
        chunk.number[i] = first + i < k ? __ldg(at + i) : T(0);
    to[index] = chunk;
}

template <typename T>
static int enqueue(const void *from, const void *to, int64_t rows, const struct linear_pad *pad,
                   cudaStream_t stream)
{
    int chunks = (int)(pad->padded.k * (int64_t)sizeof(T) / 16);
    linear_pad_kernel<T><<<gpt_blocks(rows * chunks, PAD_THREADS), PAD_THREADS, 0, stream>>>(
        (const T *)from, (pad_chunk<T> *)to, rows, (int)pad->operands.k, chunks);
    return assay_launched();
}

int linear_pad_enqueue(const struct linear_pad *pad, cudaStream_t stream)
{
    const struct linear_operands *from = &pad->operands, *to = &pad->padded;
    auto copy = gpt_bytes(pad->precision) == 2 ? enqueue<uint16_t> : enqueue<float>;
    if (copy(from->x, to->x, from->m, pad, stream) < 0) return -1;
    return copy(from->w, to->w, from->n, pad, stream);
}

int linear_pad_init(struct linear_pad *pad, const struct linear_operands *operands,
                    enum gpt_precision precision, struct assay_call *call)
{
    const int64_t bytes = gpt_bytes(precision), width = 16 / bytes;
    const int64_t k = (operands->k + width - 1) / width * width;
    const int64_t x_bytes = (operands->m * k * bytes + 255) / 256 * 256;
    *pad = {*operands, *operands, precision, NULL};
    int status = device_memory(call, &pad->memory, x_bytes + operands->n * k * bytes,
                               "operands with padded rows");
    pad->padded.x = pad->memory;
    pad->padded.w = (char *)pad->memory + x_bytes;
    pad->padded.k = k;
    pad->padded.leading = k;
    return status;
}

void linear_pad_release(struct linear_pad *pad)
{
    cudaFree(pad->memory);
}
