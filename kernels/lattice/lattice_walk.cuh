/*
 * lattice_walk.cuh - what the kernels have in common whose blocks stay on their
 * multiprocessor, a table in its shared memory, and walk the tensor.
 */
#ifndef LATTICE_WALK_CUH
#define LATTICE_WALK_CUH

#include "kernels/cuda/cuda_limits.h"
#include "lattice_vec.cuh"

enum { WALK_THREADS = 1024 };

/* Entries from which the table's way to shared memory is worth it. */
static const int64_t WALK_FROM = (int64_t)1 << 22;

/*
 * Chunks in turn: a block takes the next one there is, so that what all blocks write at a
 * time lies together in memory, as it does where blocks are short-lived. With a stride of
 * its own a block drifts away from the others, and an H200 wrote a tenth less (decoding E8 q4m2,
 * 2^27 entries: 173 us in the run of 2026-11-21, in turn 155 us). In turn a block's warps
 * meet at every chunk, which is dear where a chunk is much work: then the stride is better.
 */

/* In device memory, zeros before a launch, and left so by the last block. */
struct walk_turns {
    unsigned taken, done;
};

/* A block's way through the chunks: `now` is to be worked on, `next` will be, so that its
 * loads can leave. All threads of the block call all of this. */
template <bool IN_TURN> struct walk {
    struct walk_turns *turns;
    unsigned *slot; /* two words of shared memory */
    unsigned now, next, ticket, phase;

    __device__ __forceinline__ walk(struct walk_turns *from, unsigned shared[2])
        : turns(from), slot(shared), now(blockIdx.x), next(blockIdx.x + gridDim.x), phase(1)
    {
        ask();
    }

    /* Before the work on `now`: the answer has the time of that work to come. */
    __device__ __forceinline__ void ask()
    {
        if (IN_TURN && threadIdx.x == 0) ticket = gridDim.x + atomicAdd(&turns->taken, 1);
    }

    /* Before the first chunk; a barrier, also for what was written to shared memory. */
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

/* A table to shared memory, all threads of the block; `bytes` a multiple of 16. */
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
    int most, processors, each;
    *blocks = 0;
    if (cuda_block_shared(&most) < 0 || cuda_processors(&processors) < 0) return -1;
    if (most < bytes) return 0;
    if (cuda_allow_shared(kernel, bytes) < 0) return -1;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, WALK_THREADS, (size_t)bytes);
    if (assay_cuda(error, "cudaOccupancyMaxActiveBlocksPerMultiprocessor") < 0) return -1;
    *blocks = processors * each;
    return 0;
}

/* Turns in device memory that the caller frees. */
static inline int walk_make_turns(struct walk_turns **turns)
{
    if (assay_cuda(cudaMalloc(turns, sizeof **turns), "cudaMalloc") < 0) return -1;
    return assay_cuda(cudaMemset(*turns, 0, sizeof **turns), "cudaMemset");
}

/* `bytes` at `table` to device memory that the caller frees, counted as workspace. */
static inline int walk_upload(struct assay_call *call, const void *table, size_t bytes,
                              void **device)
{
    if (assay_cuda(cudaMalloc(device, bytes), "cudaMalloc") < 0) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return assay_cuda(cudaMemcpy(*device, table, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

#endif
