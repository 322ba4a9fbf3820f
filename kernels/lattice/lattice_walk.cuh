/*
 * lattice_walk.cuh - for kernels with persistent blocks that hold a table in shared memory and
 * walk the tensor with a stride: the walk, and how many blocks fit.
 */
#pragma once

#include "kernels/cuda/cuda_limits.h"
#include "lattice_vec.cuh"
#include "kernels/cuda/device_memory.h"

enum { WALK_THREADS = 1024 };

/* Entries from which the table's way to shared memory is worth it. */
static const int64_t WALK_FROM = (int64_t)1 << 22;

/*
 * Chunks in turn: a block takes the next free chunk, so that all blocks write near each other in
 * memory, as short-lived blocks do. With a fixed stride blocks drift apart, and an H200 wrote a
 * tenth less (decoding E8 q4m2, 2^27 entries: 173 us in the run of 2026-11-21, 155 us in turn).
 * Taking turns needs a barrier of the block at every chunk, which costs more the more work a chunk
 * is: then the stride is better.
 */

/* In device memory: zeros before a launch; the last block sets them back to zeros. */
struct walk_turns {
    unsigned taken, done;
};

/* A block's place in the sequence of chunks: `now` is the current one; the loads of `next` can be
 * issued already. All threads of the block call these functions. */
template <bool IN_TURN> struct walk {
    struct walk_turns *turns;
    unsigned *slot; /* two words of shared memory */
    unsigned now, next, ticket, phase;

    __device__ __forceinline__ walk(struct walk_turns *from, unsigned shared[2])
        : turns(from), slot(shared), now(blockIdx.x), next(blockIdx.x + gridDim.x), phase(1)
    {
        ask();
    }

    /* Called before the work on `now`, which hides the latency of the answer. */
    __device__ __forceinline__ void ask()
    {
        if (IN_TURN && threadIdx.x == 0) ticket = gridDim.x + atomicAdd(&turns->taken, 1);
    }

    /* Called before the first chunk. A barrier, also for what was written to shared memory. */
    __device__ __forceinline__ void enter()
    {
        if (IN_TURN && threadIdx.x == 0) slot[0] = ticket;
        __syncthreads();
        if (IN_TURN) next = slot[0];
    }

    /* Behind the work on `now`. */
    __device__ __forceinline__ void go_on()
    {
        now = next;
        next += gridDim.x;
        if (!IN_TURN) return;
        if (threadIdx.x == 0) slot[phase] = ticket;
        __syncthreads();
        next = slot[phase];
        phase ^= 1;
    }

    __device__ __forceinline__ void leave() const
    {
        if (!IN_TURN || threadIdx.x != 0) return;
        __threadfence(); /* this block's turns are taken before it is counted */
        if (atomicAdd(&turns->done, 1) == gridDim.x - 1) *turns = {0, 0};
    }
};

/* Copy a table to shared memory, by all threads of the block; `bytes` is a multiple of 16. */
static __device__ __forceinline__ void walk_fill(uint4 *table, const void *from, int bytes)
{
#pragma unroll 6
    for (int i = threadIdx.x; i < bytes / 16; i += WALK_THREADS)
        table[i] = ((const uint4 *)from)[i];
}

/* How many blocks of `kernel` the device holds with a table of `bytes`; 0 where that is
 * more than a block may have, as on cards below the data centre's. */
static inline int walk_blocks(const void *kernel, int bytes, int *blocks)
{
    int each;
    *blocks = 0;
    if (assay_card()->shared_bytes < bytes) return 0;
    if (cuda_allow_shared(kernel, bytes) < 0) return -1;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, WALK_THREADS, (size_t)bytes);
    if (assay_cuda(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") < 0) return -1;
    *blocks = assay_card()->multiprocessors * each;
    return 0;
}

/* Turns in device memory that the caller frees. */
static inline int walk_make_turns(struct walk_turns **turns)
{
    if (assay_cuda(cudaMalloc(turns, sizeof **turns), "cudaMalloc") < 0) return -1;
    return assay_cuda(cudaMemset(*turns, 0, sizeof **turns), "cudaMemset");
}

/* Copy `bytes` at `table` to device memory that the caller frees; counted as workspace. */
static inline int walk_upload(struct assay_call *call, const void *table, size_t bytes,
                              void **device)
{
    if (assay_cuda(cudaMalloc(device, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return device_upload(*device, table, bytes, "cudaMemcpy");
}
