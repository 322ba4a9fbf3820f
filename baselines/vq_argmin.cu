/*
 * vq_argmin.cu - see vq_argmin.h. One warp per vector: lane l compares codewords 4 l to 4 l + 3 and
 * 128 + 4 l to 128 + 4 l + 3, two loads of 16 bytes.
 *
 * Bytes per vector: 1024 read, 1 written.
 */
#include "baselines/vq_argmin.h"
#include "kernels/codec/search/vq_search.cuh"

enum { THREADS = 256, WARPS = THREADS / 32 };
static const unsigned NORM_BLOCKS = (unsigned)CODEWORDS / WARPS;

static __global__ void __launch_bounds__(THREADS)
    norms(const float *__restrict__ codebook, float *__restrict__ half)
{
    const int codeword = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 v = ((const float4 *)codebook)[codeword * (CODEWORD_LENGTH / 4) + lane];
    float square = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, mask);
    if (lane == 0) half[codeword] = 0.5f * square;
}

static __device__ __forceinline__ void offer4(struct search_best *best, float4 product, float4 half,
                                              int codeword)
{
    best->offer(product.x - half.x, codeword);
    best->offer(product.y - half.y, codeword + 1);
    best->offer(product.z - half.z, codeword + 2);
    best->offer(product.w - half.w, codeword + 3);
}

static __global__ void __launch_bounds__(THREADS)
    argmin(const float *__restrict__ product, const float *__restrict__ half,
           uint8_t *__restrict__ index, int64_t vectors)
{
    const int64_t vector = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (vector >= vectors) return;
    const float4 *row = (const float4 *)(product + vector * CODEWORDS);
    const float4 low = row[lane], high = row[32 + lane];
    struct search_best best;
    best.start();
    offer4(&best, low, ((const float4 *)half)[lane], 4 * lane);
    offer4(&best, high, ((const float4 *)half)[32 + lane], 128 + 4 * lane);
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        best.merge(mask);
    if (lane == 0) index[vector] = (uint8_t)best.at;
}

int vq_norms_enqueue(const float *codebook, float *half, void *stream)
{
    norms<<<NORM_BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(codebook, half);
    return assay_launched();
}

int vq_argmin_enqueue(const float *product, const float *half, uint8_t *index, int64_t vectors,
                      void *stream)
{
    unsigned blocks = (unsigned)((vectors + WARPS - 1) / WARPS);
    argmin<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(product, half, index, vectors);
    return assay_launched();
}
