/*
 * linear_parts.cuh - the exchange of the sums of tiles that are divided along k (linear_parts.h).
 */
#pragma once

#include "kernels/cuda/device_memory.h"
#include "linear_parts.h"

/* Memory on the device: room for the sums of every writer (a warp), and a word for each that is 0
 * before a launch and after it. */
struct linear_parts {
    float4 *sums;
    uint32_t *ready;
};

/* For each multiprocessor: the sums of a tile of 128 x 256, and the words of so many warps. */
enum { LINEAR_PARTS_SUMS = 128 * 256, LINEAR_PARTS_WORDS = 32 };

/* In setup: memory for all multiprocessors, for teardown to cudaFree(parts->sums). 0, -1 or
 * ASSAY_SKIP. */
static inline int linear_parts_init(struct linear_parts *parts, struct assay_call *call)
{
    const int64_t processors = assay_card()->multiprocessors;
    const int64_t sums_bytes = processors * LINEAR_PARTS_SUMS * (int64_t)sizeof(float);
    const int64_t ready_bytes = processors * LINEAR_PARTS_WORDS * (int64_t)sizeof(uint32_t);
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

enum { LINEAR_PARTS_BATCH = 8 }; /* loads of 16 bytes per lane that are under way at a time */

/* A writer's sums, each of 4 of a lane's: those of all lanes lie together. */
template <int HALVES, int COUNT>
static __device__ __forceinline__ float4 *linear_part_place(const struct linear_parts &parts,
                                                            int writer, int lane)
{
    return parts.sums + (int64_t)writer * (HALVES * COUNT / 4 * 32) + lane;
}

/* All lanes of a warp: its sums are written. */
static __device__ __forceinline__ void linear_part_ready(const struct linear_parts &parts,
                                                         int writer, int lane)
{
    __threadfence();
    __syncwarp();
    if (lane == 0)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(parts.ready + writer) : "memory");
}

/* Where each part of a tile adds a slice of its sums, a word for each warp of the tile counts the
 * parts whose sums are written, and, from LINEAR_PART_GONE on, those that want no others. */
enum { LINEAR_PART_GONE = 1 << 16 };

/* All lanes of a warp: wait until so many have written. All leave the loop together: otherwise the
 * compiler would trust none of them to stay together from then on, and put a loop around each copy
 * and moves before each product. */
static __device__ __forceinline__ void linear_part_await(const struct linear_parts &parts, int word,
                                                         int count, int lane)
{
    uint32_t written = 0;
    while ((int)(__shfl_sync(0xffffffffu, written, 0) % LINEAR_PART_GONE) != count)
        if (lane == 0)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(written)
                         : "l"(parts.ready + word)
                         : "memory");
    __syncwarp();
}

/* All lanes of a warp: they are read, and the next launch finds the word as this one did. */
static __device__ __forceinline__ void linear_part_done(const struct linear_parts &parts,
                                                        int writer, int lane)
{
    __syncwarp();
    if (lane == 0) parts.ready[writer] = 0;
}

/* All lanes of a warp: its sums are written; if `gone`, it wants none of the others. */
static __device__ __forceinline__ void linear_part_arrive(const struct linear_parts &parts,
                                                          int word, bool gone, int lane)
{
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicAdd(parts.ready + word, gone ? 1 + LINEAR_PART_GONE : 1);
}

/* All lanes of a warp that has waited: they are read. After the last the word is 0 again. */
static __device__ __forceinline__ void linear_part_leave(const struct linear_parts &parts, int word,
                                                         int count, int lane)
{
    __syncwarp();
    if (lane != 0) return;
    const uint32_t before = atomicAdd(parts.ready + word, LINEAR_PART_GONE);
    if ((int)(before / LINEAR_PART_GONE) == count - 1) parts.ready[word] = 0;
}

/* All lanes of a warp: hand its sums over. */
template <int HALVES, int COUNT>
static __device__ __forceinline__ void linear_part_put(const struct linear_parts &parts, int writer,
                                                       const float (&sum)[HALVES][COUNT], int lane)
{
    float4 *to = linear_part_place<HALVES, COUNT>(parts, writer, lane);
#pragma unroll
    for (int half = 0; half < HALVES; half++)
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            __stcg(to + (half * COUNT + i) * 8,
                   make_float4(sum[half][i], sum[half][i + 1], sum[half][i + 2], sum[half][i + 3]));
    linear_part_ready(parts, writer, lane);
}

/* All lanes of a warp: add the sums of a writer, once they are there. */
template <int HALVES, int COUNT>
static __device__ __forceinline__ void linear_part_add(const struct linear_parts &parts, int writer,
                                                       float (&sum)[HALVES][COUNT], int lane)
{
    const float4 *from = linear_part_place<HALVES, COUNT>(parts, writer, lane);
    linear_part_await(parts, writer, 1, lane);
#pragma unroll
    for (int half = 0; half < HALVES; half++)
#pragma unroll
        for (int first = 0; first < COUNT / 4; first += LINEAR_PARTS_BATCH) {
            float4 part[LINEAR_PARTS_BATCH];
#pragma unroll
            for (int i = 0; i < LINEAR_PARTS_BATCH; i++)
                part[i] = __ldcg(from + (half * COUNT / 4 + first + i) * 32);
#pragma unroll
            for (int i = 0; i < LINEAR_PARTS_BATCH; i++) {
                float *to = &sum[half][4 * (first + i)];
                to[0] += part[i].x;
                to[1] += part[i].y;
                to[2] += part[i].z;
                to[3] += part[i].w;
            }
        }
    linear_part_done(parts, writer, lane);
}
