/*
 * codec_net_team.cuh - the blocks that share the work on the same few leaves at 4^3: a single
 * block, or a cluster that uses distributed shared memory (compute capability 9.0).
 */
#pragma once

#include "codec_net_tile.cuh"

/* A single block. */
struct team_alone {
    enum { SIZE = 1 };

    __device__ __forceinline__ int rank() const
    {
        return 0;
    }

    __device__ __forceinline__ void begin() const
    {
    }
    __device__ __forceinline__ void wait_begun() const
    {
    }

    __device__ __forceinline__ void wait() const
    {
        __syncthreads();
    }

    /* The address in another block of what is `memory` in this one. */
    __device__ __forceinline__ float *of(float *memory, int) const
    {
        return memory;
    }

    /* Copy what this block computed of `tile` to all other blocks; ends with a barrier. */
    template <int CHANNELS> __device__ __forceinline__ void spread(float4 *) const
    {
        __syncthreads();
    }
};

/* The blocks of a cluster, each with the same leaves and a share of the channels. */
template <int BLOCKS> struct team_cluster {
    enum { SIZE = BLOCKS };

    __device__ __forceinline__ int rank() const
    {
        return (int)__clusterRelativeBlockRank();
    }

    /* Another block's memory may be accessed once that block runs, which it signals by `begin`.
     * Work that needs no such memory is between the two. */
    __device__ __forceinline__ void begin() const
    {
        __cluster_barrier_arrive();
    }

    __device__ __forceinline__ void wait_begun() const
    {
        __cluster_barrier_wait();
    }

    __device__ __forceinline__ void wait() const
    {
        begin();
        wait_begun();
    }

    __device__ __forceinline__ float *of(float *memory, int block) const
    {
        return (float *)__cluster_map_shared_rank(memory, (unsigned)block);
    }

    template <int CHANNELS> __device__ __forceinline__ void spread(float4 *tile) const
    {
        enum { PIECES = CHANNELS / 4 / BLOCKS };
        const int first = rank() * PIECES;
        __syncthreads();
        for (int other = 1; other < BLOCKS; other++) {
            float4 *to = (float4 *)__cluster_map_shared_rank(
                tile, (unsigned)(first / PIECES + other) % BLOCKS);
            for (int i = threadIdx.x; i < SMALL_VOXELS * PIECES; i += NET_THREADS) {
                const int at = place<CHANNELS>(i / PIECES, first + i % PIECES);
                to[at] = tile[at];
            }
        }
        wait();
    }
};
