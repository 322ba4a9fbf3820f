/*
 * linear_parts.cuh - the exchange of the sums of tiles that are divided along k (linear_parts.h).
 */
#pragma once

#include "kernels/cuda/tile_parts.cuh"
#include "linear_parts.h"

enum { LINEAR_PARTS_BATCH = 8 }; /* loads of 16 bytes per lane that are under way at a time */

/* A writer's sums, each of 4 of a lane's: those of all lanes lie together. */
template <int HALVES, int COUNT>
static __device__ __forceinline__ float4 *linear_part_place(const struct tile_parts &parts,
                                                            int writer, int lane)
{
    return parts.sums + (int64_t)writer * (HALVES * COUNT / 4 * 32) + lane;
}

/* All lanes of a warp: hand its sums over. */
template <int HALVES, int COUNT>
static __device__ __forceinline__ void linear_part_put(const struct tile_parts &parts, int writer,
                                                       const float (&sum)[HALVES][COUNT], int lane)
{
    float4 *to = linear_part_place<HALVES, COUNT>(parts, writer, lane);
#pragma unroll
    for (int half = 0; half < HALVES; half++)
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            __stcg(to + (half * COUNT + i) * 8,
                   make_float4(sum[half][i], sum[half][i + 1], sum[half][i + 2], sum[half][i + 3]));
    tile_part_ready(parts, writer, lane);
}

/* All lanes of a warp: add the sums of a writer, once they are there. */
template <int HALVES, int COUNT>
static __device__ __forceinline__ void linear_part_add(const struct tile_parts &parts, int writer,
                                                       float (&sum)[HALVES][COUNT], int lane)
{
    const float4 *from = linear_part_place<HALVES, COUNT>(parts, writer, lane);
    tile_part_await(parts, writer, 1, lane);
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
    tile_part_done(parts, writer, lane);
}
