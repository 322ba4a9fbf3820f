/*
 * vq_search_mma.cuh - the search on tensor cores, products and comparison in one kernel. A warp
 * holds MT * 16 vectors in registers, walks over all 256 codewords in shared memory, and keeps of
 * each product only whether it is the best so far. No distance leaves the registers.
 *
 *   score = z.e_k - |e_k|^2 / 2, highest wins; sums begin at -|e_k|^2 / 2
 *
 * Fragments (PTX ISA, "Matrix fragments for mma.m16n8k8" and ".m16n8k16"). Lane 4 g + q of a warp
 * holds rows g and g + 8 of A, column g of B, and columns 2 q and 2 q + 1 of the sums. Which four
 * numbers of a row a lane holds for a step is free as long as A and B agree, since a sum may run in
 * any order: here lane q takes numbers 16 p + 4 q to 16 p + 4 q + 3, one load of 16 bytes. They
 * serve two steps of m16n8k8 (x and y, then z and w, at the places k = q and k = q + 4), or one of
 * m16n8k16 (x, y in the lower and z, w in the upper half of the 16).
 *
 * The codebook in shared memory is in the order of use: piece ((8 t + p) 32 + lane) is what `lane`
 * needs of codewords 8 t to 8 t + 7 for step p. So a warp reads 512 (bf16: 256) bytes in a row,
 * without bank conflicts.
 *
 * What bounds it. A warp loads 512 bytes of codebook for 2 MT products of 2048 operations. With
 * MT = 2 that is 4 cycles of shared memory against about 6.4 of the tensor cores, which would be
 * 334 TFLOP/s in tf32 on an H200 at 1980 MHz. It reaches 167 with 16384 leaves; what takes the
 * other half is not known.
 *
 * Grid: at most one block per multiprocessor, since the codebook fills its shared memory. Tile i
 * goes to block i mod blocks first, so that few vectors still spread over all multiprocessors.
 * Where there are too few even so, a tile goes to SHARE warps, each of which walks over its share
 * of the codewords; the first of them joins what they found.
 *
 * Where a block has not so much shared memory (99 KiB on cards below the data centre's), the
 * codebook passes through it in PARTS, from L2 for every tile of the warps.
 */
#pragma once

#include "kernels/cuda/cuda_limits.h"
#include "vq_search_products.cuh"

enum { MMA_WARPS = MMA_THREADS / 32, MMA_STEPS = CODEWORD_LENGTH / 16 };
enum { MMA_TILES = CODEWORDS / 8 }; /* of 8 codewords */

/* ------------------------------------------------------------------ kernel -- */

template <typename Policy, int PARTS> static constexpr int mma_shared_bytes()
{
    return CODEWORDS / PARTS *
           (CODEWORD_LENGTH / 4 * (int)sizeof(typename Policy::piece) + (int)sizeof(float));
}

/* A part of the codebook in the order of use, and -|e|^2 / 2 of each codeword. A warp takes
 * codewords warp, warp + 8, ..., up to sixteen of them in flight. */
template <typename Policy, int PARTS>
static __device__ __forceinline__ void mma_load_codebook(const float *__restrict__ codebook,
                                                         typename Policy::piece *pieces,
                                                         float *bias)
{
    enum { AT_ONCE = MMA_TILES / PARTS < 16 ? MMA_TILES / PARTS : 16 };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int first = 0; first < MMA_TILES / PARTS; first += AT_ONCE) {
        float4 v[AT_ONCE];
        float square[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            v[i] = ((const float4 *)codebook)[((first + i) * 8 + warp) * 32 + lane];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            square[i] = v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
            pieces[((first + i) * MMA_STEPS + lane / 4) * 32 + warp * 4 + lane % 4] =
                Policy::keep(v[i]);
        }
#pragma unroll
        for (int mask = 16; mask > 0; mask /= 2)
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                square[i] += __shfl_xor_sync(0xffffffffu, square[i], mask);
        if (lane == 0)
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                bias[(first + i) * 8 + warp] = -0.5f * square[i];
    }
}

/* Prefetch a tile's vectors: MT * 8 KiB, contiguous. */
template <int MT>
static __device__ __forceinline__ void mma_prefetch(const float *__restrict__ z, int64_t tile,
                                                    int64_t tiles, int lane)
{
    if (tile >= tiles) return;
    const char *from = (const char *)(z + tile * (16 * MT * CODEWORD_LENGTH)) + lane * 128;
#pragma unroll
    for (int i = 0; i < 2 * MT; i++)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(from + i * 4096));
}

/* Offers each vector the codewords of tiles `begin` to `end` in shared memory, of which the first
 * is codeword `base`. */
template <typename Policy, int MT>
static __device__ __forceinline__ void mma_walk(const typename Policy::rows (&a)[MT * MMA_STEPS],
                                                const typename Policy::piece *pieces,
                                                const float *bias, int begin, int end, int base,
                                                struct search_best (&best)[MT][2])
{
    enum { GROUP = Policy::GROUP };
    const int lane = threadIdx.x % 32, q = lane % 4;
#pragma unroll 1
    for (int first = begin; first < end; first += GROUP) {
        float sum[MT][GROUP][4];
#pragma unroll
        for (int t = 0; t < GROUP; t++) {
            float2 start = *(const float2 *)(bias + (first + t) * 8 + 2 * q);
#pragma unroll
            for (int m = 0; m < MT; m++) {
                sum[m][t][0] = sum[m][t][2] = start.x;
                sum[m][t][1] = sum[m][t][3] = start.y;
            }
        }
#pragma unroll
        for (int p = 0; p < MMA_STEPS; p++) {
            typename Policy::piece b[GROUP];
#pragma unroll
            for (int t = 0; t < GROUP; t++)
                b[t] = pieces[((first + t) * MMA_STEPS + p) * 32 + lane];
            Policy::template step<MT>(sum, a + p, MMA_STEPS, b);
        }
#pragma unroll
        for (int t = 0; t < GROUP; t++)
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    best[m][i / 2].offer(sum[m][t][i], base + (first + t) * 8 + 2 * q + i % 2);
    }
}

/* What SHARE neighbouring warps found for the 16 vectors of their tile, in the first of them. Each
 * warp has codewords behind those of the warp before it. */
template <int SHARE> static __device__ __forceinline__ void mma_join(struct search_best best[2])
{
    __shared__ struct search_best found[MMA_WARPS][2][8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const auto wait = [&] {
        asm volatile("bar.sync %0, %1;" ::"r"(1 + warp / SHARE), "n"(32 * SHARE) : "memory");
    };
    wait(); /* what they found for the tile before has been read */
    if (lane % 4 == 0)
        for (int half = 0; half < 2; half++)
            found[warp][half][lane / 4] = best[half];
    wait();
    if (warp % SHARE > 0) return;
    for (int i = 1; i < SHARE; i++)
        for (int half = 0; half < 2; half++) {
            const struct search_best other = found[warp + i][half][lane / 4];
            best[half].offer(other.score, other.at);
        }
}

/* tiles = vectors / (16 MT). */
template <typename Policy, int MT, int PARTS, int SHARE>
static __global__ void __launch_bounds__(MMA_THREADS, 1)
    mma_search(const float *__restrict__ z, const float *__restrict__ codebook,
               uint8_t *__restrict__ index, int64_t tiles)
{
    typedef typename Policy::piece piece;
    enum { PART = MMA_TILES / PARTS };
    extern __shared__ uint4 mma_shared[];
    piece *pieces = (piece *)mma_shared;
    float *bias = (float *)(pieces + CODEWORDS / PARTS * CODEWORD_LENGTH / 4);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int g = lane / 4, q = lane % 4;
    const int64_t step = (int64_t)gridDim.x * (MMA_WARPS / SHARE);
    const int begin = warp % SHARE * (PART / SHARE), end = begin + PART / SHARE;
    int64_t tile = (int64_t)(warp / SHARE) * gridDim.x + blockIdx.x;
    static_assert(SHARE == 1 || (MT == 1 && PARTS == 1), "shares are of one tile and one part");

    mma_prefetch<MT>(z, tile, tiles, lane);
    if (PARTS == 1) {
        mma_load_codebook<Policy, PARTS>(codebook, pieces, bias);
        __syncthreads();
    }

    /* With parts, warps without a tile of their own go along to load them: the block's first warp
     * has the first tile. */
    for (; (PARTS == 1 ? tile : tile - (int64_t)warp * gridDim.x) < tiles; tile += step) {
        const bool busy = PARTS == 1 || tile < tiles;
        /* [16 rows of vectors, step p], each in the order of the products */
        typename Policy::rows a[MT * MMA_STEPS];
        const float4 *rows =
            (const float4 *)z + ((busy ? tile : 0) * (16 * MT) + g) * (CODEWORD_LENGTH / 4) + q;
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int p = 0; p < MMA_STEPS; p++)
#pragma unroll
                for (int half = 0; half < 2; half++)
                    Policy::put(&a[m * MMA_STEPS + p],
                                rows[(16 * m + 8 * half) * (CODEWORD_LENGTH / 4) + 4 * p], half);
        mma_prefetch<MT>(z, tile + step, tiles, lane);

        struct search_best best[MT][2];
#pragma unroll
        for (int m = 0; m < MT; m++) {
            best[m][0].start();
            best[m][1].start();
        }
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            if (PARTS > 1) {
                __syncthreads(); /* the part before has been read */
                mma_load_codebook<Policy, PARTS>(
                    codebook + part * (CODEWORDS / PARTS) * CODEWORD_LENGTH, pieces, bias);
                __syncthreads();
            }
            mma_walk<Policy, MT>(a, pieces, bias, begin, end, part * PART * 8, best);
        }
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                best[m][half].merge(1);
                best[m][half].merge(2);
            }
        if (SHARE > 1) mma_join<SHARE>(best[0]);
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                if (q == 0 && busy && warp % SHARE == 0)
                    index[tile * (16 * MT) + 16 * m + 8 * half + g] = (uint8_t)best[m][half].at;
    }
}

/* ------------------------------------------------------------------ launch -- */

typedef void mma_kernel(const float *z, const float *codebook, uint8_t *index, int64_t tiles);

struct mma_choice {
    mma_kernel *kernel;
    int shared_bytes;
};

/* In two parts on cards where a block has not the memory for the whole codebook. */
template <typename Policy, int MT, int SHARE> static inline struct mma_choice mma_choice_here()
{
    constexpr int WHOLE = mma_shared_bytes<Policy, 1>();
    if (assay_card()->shared_bytes >= WHOLE) return {mma_search<Policy, MT, 1, SHARE>, WHOLE};
    return {mma_search<Policy, MT, 2, 1>, mma_shared_bytes<Policy, 2>()};
}

template <typename Policy, int MT, int SHARE = 1> static inline int mma_allow()
{
    const struct mma_choice choice = mma_choice_here<Policy, MT, SHARE>();
    return cuda_allow_shared((const void *)choice.kernel, choice.shared_bytes);
}

template <typename Policy> static int64_t mma_least_bytes(const struct assay_shape *)
{
    return mma_shared_bytes<Policy, 2>();
}

template <typename Policy, int MT> static inline int mma_setup(struct assay_call *)
{
    return mma_allow<Policy, MT>();
}

template <typename Policy, int MT, int SHARE = 1>
static inline int mma_launch(struct assay_call *call)
{
    const struct mma_choice choice = mma_choice_here<Policy, MT, SHARE>();
    int64_t tiles = search_vectors(call->shape) / (16 * MT);
    int64_t processors = assay_card()->multiprocessors;
    int64_t blocks = tiles < processors ? tiles : processors;
    choice
        .kernel<<<(unsigned)blocks, MMA_THREADS, choice.shared_bytes, (cudaStream_t)call->stream>>>(
            (const float *)call->buffer[SEARCH_Z], (const float *)call->buffer[SEARCH_CODEBOOK],
            (uint8_t *)call->buffer[SEARCH_INDEX], tiles);
    return assay_launched();
}
