/*
 * codec_unfused.cu - the steps of the unfused network that have no operation of their own; see
 * codec_unfused.h. Bytes: each number is read and written once.
 */
#include "codec_unfused.h"

constexpr int THREADS = 256;
constexpr int LEAF_NUMBERS = (int)LEAF_VECTORS * (int)CODEWORD_LENGTH;

static __global__ void __launch_bounds__(THREADS)
    add(float *__restrict__ x, const float *__restrict__ t, float scale, int64_t count)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < count) x[at] = fmaf(scale, t[at], x[at]);
}

static __global__ void __launch_bounds__(THREADS)
    vectors(const float *__restrict__ x, float *__restrict__ y, int64_t count)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    const int number = (int)(at % CODEWORD_LENGTH);
    const int vector = (int)(at / CODEWORD_LENGTH % LEAF_VECTORS);
    y[at] = x[at / LEAF_NUMBERS * LEAF_NUMBERS + number * LEAF_VECTORS + vector];
}

static __global__ void __launch_bounds__(THREADS)
    codewords(const uint8_t *__restrict__ codes, const float *__restrict__ codebook,
              float *__restrict__ y, int64_t count)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    const int vector = (int)(at % LEAF_VECTORS);
    const int number = (int)(at / LEAF_VECTORS % CODEWORD_LENGTH);
    y[at] = codebook[codes[at / LEAF_NUMBERS * LEAF_VECTORS + vector] * CODEWORD_LENGTH + number];
}

static unsigned blocks_for(int64_t threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

int unfused_add(float *x, const float *t, float scale, int64_t count, void *stream)
{
    add<<<blocks_for(count), THREADS, 0, (cudaStream_t)stream>>>(x, t, scale, count);
    return assay_launched();
}

int unfused_vectors(const float *x, float *y, int64_t leaves, void *stream)
{
    const int64_t count = leaves * LEAF_NUMBERS;
    vectors<<<blocks_for(count), THREADS, 0, (cudaStream_t)stream>>>(x, y, count);
    return assay_launched();
}

int unfused_codewords(const uint8_t *codes, const float *codebook, float *y, int64_t leaves,
                      void *stream)
{
    const int64_t count = leaves * LEAF_NUMBERS;
    codewords<<<blocks_for(count), THREADS, 0, (cudaStream_t)stream>>>(codes, codebook, y, count);
    return assay_launched();
}
