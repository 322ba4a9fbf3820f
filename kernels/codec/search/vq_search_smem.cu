/*
 * vq_search_smem.cu - the search on CUDA cores with the whole codebook in shared memory, loaded
 * once per block, and the vectors in registers.
 *
 * Four lanes share four vectors: lane q holds numbers 16 i + 4 q to 16 i + 4 q + 3 of each, in 128
 * registers. So a load of 16 bytes of a codeword serves 16 multiply-adds: 4 cycles to read shared
 * memory, 4 on the CUDA cores. The four partial sums are exchanged in three shuffles, after which
 * lane q has the whole product of vector q.
 *
 * Formula: the highest z.e - |e|^2 / 2; both sums in fp32.
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128 of fp32.
 */
#include "kernels/cuda/cuda_limits.h"
#include "vq_search.cuh"

enum { THREADS = 256, WARPS = THREADS / 32, PIECES = CODEWORD_LENGTH / 4, STEPS = PIECES / 4 };
enum { SHARED_BYTES = CODEWORDS * (CODEWORD_LENGTH + 1) * 4 };

static __device__ __forceinline__ float product4(float4 a, float4 b, float sum)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

/* Returns in lane q the sum of part[q] over the four lanes. */
static __device__ __forceinline__ float gather4(const float part[4], int q)
{
    const bool upper = q & 2, odd = q & 1;
    float even =
        (upper ? part[2] : part[0]) + __shfl_xor_sync(0xffffffffu, upper ? part[0] : part[2], 2);
    float next =
        (upper ? part[3] : part[1]) + __shfl_xor_sync(0xffffffffu, upper ? part[1] : part[3], 2);
    return (odd ? next : even) + __shfl_xor_sync(0xffffffffu, odd ? even : next, 1);
}

static __device__ __forceinline__ void load_codebook(const float *__restrict__ codebook,
                                                     float4 *codewords, float *bias)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 8
    for (int k = warp; k < CODEWORDS; k += WARPS) {
        float4 v = ((const float4 *)codebook)[k * PIECES + lane];
        codewords[k * PIECES + lane] = v;
        float square = product4(v, v, 0.0f);
#pragma unroll
        for (int mask = 16; mask > 0; mask /= 2)
            square += __shfl_xor_sync(0xffffffffu, square, mask);
        if (lane == 0) bias[k] = -0.5f * square;
    }
}

/* Each warp takes one tile of 32 vectors at a time. */
static __global__ void __launch_bounds__(THREADS, 1)
    smem_codebook(const float *__restrict__ z, const float *__restrict__ codebook,
                  uint8_t *__restrict__ index, int64_t tiles)
{
    extern __shared__ float4 codewords[];
    float *bias = (float *)(codewords + CODEWORDS * PIECES);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane % 4;
    load_codebook(codebook, codewords, bias);
    __syncthreads();

    for (int64_t tile = (int64_t)warp * gridDim.x + blockIdx.x; tile < tiles;
         tile += (int64_t)gridDim.x * WARPS) {
        const float4 *mine = (const float4 *)z + (tile * 32 + (lane - q)) * PIECES + q;
        float4 a[4][STEPS];
#pragma unroll
        for (int v = 0; v < 4; v++)
#pragma unroll
            for (int i = 0; i < STEPS; i++)
                a[v][i] = mine[v * PIECES + 4 * i];
        struct search_best best;
        best.start();
#pragma unroll 2
        for (int k = 0; k < CODEWORDS; k++) {
            float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
            for (int i = 0; i < STEPS; i++) {
                float4 b = codewords[k * PIECES + 4 * i + q];
#pragma unroll
                for (int v = 0; v < 4; v++)
                    part[v] = product4(a[v][i], b, part[v]);
            }
            best.offer(gather4(part, q) + bias[k], k);
        }
        index[tile * 32 + lane] = (uint8_t)best.at;
    }
}

static int64_t shared_bytes(const struct assay_shape *)
{
    return SHARED_BYTES;
}

static int setup(struct assay_call *)
{
    return cuda_allow_shared((const void *)smem_codebook, SHARED_BYTES);
}

static int launch(struct assay_call *call)
{
    int64_t tiles = search_vectors(call->shape) / 32;
    int64_t processors = assay_card()->multiprocessors;
    int64_t blocks = tiles < processors ? tiles : processors;
    smem_codebook<<<(unsigned)blocks, THREADS, SHARED_BYTES, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[SEARCH_Z], (const float *)call->buffer[SEARCH_CODEBOOK],
        (uint8_t *)call->buffer[SEARCH_INDEX], tiles);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "smem_codebook",
    .summary = "CUDA cores, the whole codebook in shared memory, four vectors to four lanes",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = search_only_fp32,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
