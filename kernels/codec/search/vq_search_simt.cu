/*
 * vq_search_simt.cu - the search on CUDA cores, as a product of matrices whose result is compared
 * instead of stored.
 *
 * A block takes the 64 vectors of one leaf, whole, and goes over the codewords in two halves of
 * 128, through shared memory, 16 numbers of each at a time. A thread has the sums of 8 vectors by
 * 8 codewords: 64 multiply-adds for 4 loads of 16 bytes. That is 6 cycles of shared memory (a load
 * that a half-warp shares costs one) against 16 of the CUDA cores. An H200 reaches 33.3 TFLOP/s at
 * 1024 leaves, 52 % of what its CUDA cores can do; why not more is not known.
 *
 * Formula: the highest z.e - |e|^2 / 2; both sums in fp32.
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128 of fp32.
 */
#include "vq_search.cuh"

enum { THREADS = 128, DEPTH = 16, HALF = CODEWORDS / 2 };
enum { COLUMNS = 16 }; /* threads side by side over the codewords of a half */

/* Load eight numbers from shared memory: four at `from`, four at `from + apart`. */
static __device__ __forceinline__ void load8(const float *from, int apart, float out[8])
{
    const float4 low = *(const float4 *)from, high = *(const float4 *)(from + apart);
    out[0] = low.x;
    out[1] = low.y;
    out[2] = low.z;
    out[3] = low.w;
    out[4] = high.x;
    out[5] = high.y;
    out[6] = high.z;
    out[7] = high.w;
}

/* Write four numbers of one vector or codeword to one column of a table of `width` columns. */
static __device__ __forceinline__ void scatter4(float *column, int width, float4 v)
{
    column[0] = v.x;
    column[width] = v.y;
    column[2 * width] = v.z;
    column[3 * width] = v.w;
}

static __global__ void __launch_bounds__(THREADS, 4)
    fused_simt(const float *__restrict__ z, const float *__restrict__ codebook,
               uint8_t *__restrict__ index)
{
    __shared__ __align__(16) float vectors[CODEWORD_LENGTH][LEAF_VECTORS];
    __shared__ __align__(16) float codewords[DEPTH][HALF];
    __shared__ float bias[HALF];
    const int thread = threadIdx.x, column = thread % COLUMNS, row = thread / COLUMNS;
    const float4 *leaf = (const float4 *)(z + (int64_t)blockIdx.x * LEAF_VECTORS * CODEWORD_LENGTH);

    /* Thread t copies half of the numbers of vector t mod 64. */
    const int vector = thread % LEAF_VECTORS, part = thread / LEAF_VECTORS;
#pragma unroll 4
    for (int i = part * 16; i < part * 16 + 16; i++)
        scatter4(&vectors[4 * i][vector], LEAF_VECTORS, leaf[vector * (CODEWORD_LENGTH / 4) + i]);

    struct search_best best[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        best[i].start();

#pragma unroll 1
    for (int first = 0; first < CODEWORDS; first += HALF) {
        float sum[8][8] = {};
        float square = 0.0f; /* of codeword first + thread */
        const float4 *mine = (const float4 *)(codebook + (first + thread) * CODEWORD_LENGTH);
#pragma unroll 1
        for (int depth = 0; depth < CODEWORD_LENGTH; depth += DEPTH) {
            float4 next[DEPTH / 4];
#pragma unroll
            for (int i = 0; i < DEPTH / 4; i++)
                next[i] = mine[depth / 4 + i];
            __syncthreads(); /* all threads have used the codewords of the last step */
#pragma unroll
            for (int i = 0; i < DEPTH / 4; i++) {
                square += next[i].x * next[i].x + next[i].y * next[i].y + next[i].z * next[i].z +
                          next[i].w * next[i].w;
                scatter4(&codewords[4 * i][thread], HALF, next[i]);
            }
            bias[thread] = -0.5f * square;
            __syncthreads();
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                float a[8], b[8];
                load8(&vectors[depth + k][8 * row], 4, a);
                load8(&codewords[k][4 * column], HALF / 2, b);
#pragma unroll
                for (int i = 0; i < 8; i++)
#pragma unroll
                    for (int j = 0; j < 8; j++)
                        sum[i][j] += a[i] * b[j];
            }
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int codeword = j / 4 * (HALF / 2) + 4 * column + j % 4;
#pragma unroll
            for (int i = 0; i < 8; i++)
                best[i].offer(sum[i][j] + bias[codeword], first + codeword);
        }
    }
    /* The threads that share a row of vectors are in one half-warp. */
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int mask = COLUMNS / 2; mask > 0; mask /= 2)
            best[i].merge(mask);
        if (column == 0)
            index[(int64_t)blockIdx.x * LEAF_VECTORS + 8 * row + i] = (uint8_t)best[i].at;
    }
}

static int launch(struct assay_call *call)
{
    fused_simt<<<(unsigned)call->shape->value[SEARCH_LEAVES], THREADS, 0,
                 (cudaStream_t)call->stream>>>((const float *)call->buffer[SEARCH_Z],
                                               (const float *)call->buffer[SEARCH_CODEBOOK],
                                               (uint8_t *)call->buffer[SEARCH_INDEX]);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "fused_simt",
    .summary = "CUDA cores, one leaf per block, codebook tiles through shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = search_only_fp32,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
