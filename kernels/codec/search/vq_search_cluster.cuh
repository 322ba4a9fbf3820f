/*
 * vq_search_cluster.cuh - the search on tensor cores for few vectors, where loading the codebook is
 * what takes time: the blocks of a cluster divide the codewords among them, and each searches its
 * share for all vectors of the cluster. A block then has 128 / SPLIT KiB of codebook to load in
 * place of 128, and its vectors are on their way at the same time.
 *
 * Within a block, SHARE warps divide its codewords for a tile of 16 vectors. Each warp gives what
 * it found to the block that finishes the tile, through distributed shared memory; one barrier of
 * the cluster per round of MMA_WARPS / SHARE tiles.
 */
#pragma once

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/hopper.cuh"
#include "vq_search_mma.cuh"

/* Tile i goes to cluster i mod clusters first. tiles = vectors / 16. */
template <typename Policy, int SPLIT, int SHARE>
static __global__ void __launch_bounds__(MMA_THREADS, 1)
    mma_search_cluster(const float *__restrict__ z, const float *__restrict__ codebook,
                       uint8_t *__restrict__ index, int64_t tiles)
{
#if __CUDA_ARCH__ >= 900
    typedef typename Policy::piece piece;
    enum {
        OWN = CODEWORDS / SPLIT,      /* codewords of a block */
        WALK = OWN / 8 / SHARE,       /* tiles of 8 codewords of a warp */
        ROUND = MMA_WARPS / SHARE,    /* tiles of vectors at a time */
        FINISHED = ROUND / SPLIT * 16 /* vectors of them that a block finishes */
    };
    static_assert(WALK % Policy::GROUP == 0 && ROUND % SPLIT == 0 && FINISHED <= MMA_THREADS,
                  "whole groups, and a thread per vector");
    extern __shared__ uint4 mma_shared[];
    __shared__ struct search_best found[2][SPLIT * SHARE][FINISHED]; /* of rounds by turns */
    piece *pieces = (piece *)mma_shared;
    float *bias = (float *)(pieces + OWN * CODEWORD_LENGTH / 4);
    const int warp = hopper_warp(), lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    const int rank = (int)hopper_cluster_rank(), clusters = (int)gridDim.x / SPLIT;
    const int slot = warp / SHARE, begin = warp % SHARE * WALK; /* of a round */

    hopper_cluster_arrive(); /* whoever writes to a block waits until it runs */
    float4 row[MMA_STEPS][2] = {};
    const auto load = [&](int64_t first) {
        const int64_t tile = first + (int64_t)slot * clusters;
        if (tile >= tiles) return;
        const float4 *from = (const float4 *)z + (tile * 16 + g) * (CODEWORD_LENGTH / 4) + q;
#pragma unroll
        for (int p = 0; p < MMA_STEPS; p++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                row[p][half] = from[8 * half * (CODEWORD_LENGTH / 4) + 4 * p];
    };
    int64_t first = blockIdx.x / SPLIT; /* tile of a round */
    load(first);
    mma_load_codebook<Policy, SPLIT>(codebook + rank * (OWN * CODEWORD_LENGTH), pieces, bias);
    __syncthreads();
    hopper_cluster_wait();

    const int64_t round = (int64_t)ROUND * clusters;
    for (int odd = 0; first < tiles; first += round, odd ^= 1) {
        typename Policy::rows a[MMA_STEPS];
#pragma unroll
        for (int p = 0; p < MMA_STEPS; p++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                Policy::put(&a[p], row[p][half], half);
        load(first + round);
        struct search_best best[1][2];
        for (int half = 0; half < 2; half++)
            best[0][half].start();
        mma_walk<Policy, 1>(a, pieces, bias, begin, begin + WALK, rank * OWN, best);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            best[0][half].merge(1);
            best[0][half].merge(2);
            const uint32_t to = hopper_shared(
                &found[odd][rank * SHARE + warp % SHARE][slot / SPLIT * 16 + 8 * half + g]);
            /* Lane q of the first two gives one of the two words. */
            const uint32_t word =
                q == 0 ? __float_as_uint(best[0][half].score) : (uint32_t)best[0][half].at;
            if (q < 2) hopper_put_to(to + 4 * q, slot % SPLIT, word);
        }
        hopper_cluster_sync();
        if (threadIdx.x < FINISHED) {
            const int vector = (int)threadIdx.x;
            const int64_t tile = first + (int64_t)(vector / 16 * SPLIT + rank) * clusters;
            struct search_best most = found[odd][0][vector];
#pragma unroll
            for (int i = 1; i < SPLIT * SHARE; i++)
                most.offer(found[odd][i][vector].score, found[odd][i][vector].at);
            if (tile < tiles) index[tile * 16 + vector % 16] = (uint8_t)most.at;
        }
    }
#endif
}

/* ------------------------------------------------------------------ launch -- */

/* To be called in setup: how many blocks run at the same time, in whole clusters. 0, or -1, also
 * if no cluster fits the card. */
template <typename Policy, int SPLIT, int SHARE>
static inline int mma_cluster_allow(unsigned *blocks)
{
    return cluster_fit((const void *)mma_search_cluster<Policy, SPLIT, SHARE>, SPLIT, MMA_THREADS,
                       mma_shared_bytes<Policy, SPLIT>(), blocks);
}

template <typename Policy, int SPLIT, int SHARE>
static inline int mma_cluster_launch(struct assay_call *call, unsigned blocks)
{
    const int64_t tiles = search_vectors(call->shape) / 16;
    const int64_t most = blocks / SPLIT;
    const dim3 grid((unsigned)(SPLIT * (tiles < most ? tiles : most)));
    struct cluster_launch all(SPLIT, grid, MMA_THREADS, mma_shared_bytes<Policy, SPLIT>(),
                              (cudaStream_t)call->stream);
    return assay_cuda(cudaLaunchKernelEx(&all.config, mma_search_cluster<Policy, SPLIT, SHARE>,
                                         (const float *)call->buffer[SEARCH_Z],
                                         (const float *)call->buffer[SEARCH_CODEBOOK],
                                         (uint8_t *)call->buffer[SEARCH_INDEX], tiles),
                      "launch");
}
