/*
 * tile_parts.cuh - the meeting, in device memory, of blocks that have computed parts of one tile:
 * room for their sums, and a word for each that waits. All that meet must be on the device at the
 * same time.
 */
#pragma once

#include "device_memory.h"

/* Memory on the device: room for the sums of every writer (a warp), and a word for each that is 0
 * before a launch and after it. */
struct tile_parts {
    float4 *sums;
    uint32_t *ready;
};

/* For each multiprocessor: the sums of a tile of 128 x 256, and the words of so many warps. */
enum { TILE_PARTS_SUMS = 128 * 256, TILE_PARTS_WORDS = 32 };

/* In setup: memory for all multiprocessors, for teardown to cudaFree(parts->sums). 0, -1 or
 * ASSAY_SKIP. */
static inline int tile_parts_init(struct tile_parts *parts, struct assay_call *call)
{
    const int64_t processors = assay_card()->multiprocessors;
    const int64_t sums_bytes = processors * TILE_PARTS_SUMS * (int64_t)sizeof(float);
    const int64_t ready_bytes = processors * TILE_PARTS_WORDS * (int64_t)sizeof(uint32_t);
    void *memory;
    *parts = {NULL, NULL};
    int status =
        device_memory(call, &memory, sums_bytes + ready_bytes, "the sums of divided tiles");
    if (status) return status;
    parts->sums = (float4 *)memory;
    parts->ready = (uint32_t *)((char *)memory + sums_bytes);
    return assay_cuda(cudaMemsetAsync(parts->ready, 0, ready_bytes, (cudaStream_t)call->stream),
                      "the flags of divided tiles");
}

/* All lanes of a warp: its sums are written. */
static __device__ __forceinline__ void tile_part_ready(const struct tile_parts &parts, int writer,
                                                       int lane)
{
    __threadfence();
    __syncwarp();
    if (lane == 0)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(parts.ready + writer) : "memory");
}

/* Where each part of a tile adds a slice of its sums, a word for each warp of the tile counts the
 * parts whose sums are written, and, from TILE_PART_GONE on, those that want no others. */
enum { TILE_PART_GONE = 1 << 16 };

/* All lanes of a warp: wait until so many have written. All leave the loop together: otherwise the
 * compiler would trust none of them to stay together from then on, and put a loop around each copy
 * and moves before each product. */
static __device__ __forceinline__ void tile_part_await(const struct tile_parts &parts, int word,
                                                       int count, int lane)
{
    uint32_t written = 0;
    while ((int)(__shfl_sync(0xffffffffu, written, 0) % TILE_PART_GONE) != count)
        if (lane == 0)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(written)
                         : "l"(parts.ready + word)
                         : "memory");
    __syncwarp();
}

/* All lanes of a warp: they are read, and the next launch finds the word as this one did. */
static __device__ __forceinline__ void tile_part_done(const struct tile_parts &parts, int writer,
                                                      int lane)
{
    __syncwarp();
    if (lane == 0) parts.ready[writer] = 0;
}

/* All lanes of a warp: its sums are written; if `gone`, it wants none of the others. */
static __device__ __forceinline__ void tile_part_arrive(const struct tile_parts &parts, int word,
                                                        bool gone, int lane)
{
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicAdd(parts.ready + word, gone ? 1 + TILE_PART_GONE : 1);
}

/* All lanes of a warp that has waited: they are read. After the last the word is 0 again. */
static __device__ __forceinline__ void tile_part_leave(const struct tile_parts &parts, int word,
                                                       int count, int lane)
{
    __syncwarp();
    if (lane != 0) return;
    const uint32_t before = atomicAdd(parts.ready + word, TILE_PART_GONE);
    if ((int)(before / TILE_PART_GONE) == count - 1) parts.ready[word] = 0;
}
