/*
 * linear_parts_finish.cuh - the end of products whose k is divided by any number of blocks, without
 * a cluster: each writes its sums to memory, waits for the others', and adds and stores a slice of
 * the tile. In the order of k, so that the result does not depend on who is first. The blocks of a
 * tile are on the device together, whatever else is: they are neighbours in the grid, or the launch
 * is cooperative.
 */
#pragma once

#include "linear_parts.cuh"
#include "linear_skinny_finish.cuh"

/* A tile and what a block has of it. */
struct parts_tile {
    int tile, count, own; /* its number, its parts, and which of them this block is */
    int64_t row;          /* of y */
    int rows, column, columns;
};

/* All threads; CONFIG says how the sums lie in shared memory (skinny_config). */
template <typename CONFIG>
static __device__ __forceinline__ void parts_finish(const struct linear_operands &operands,
                                                    const struct tile_parts &parts,
                                                    const float *shared, const parts_tile &of)
{
    constexpr int most = 8 * CONFIG::ROWS * CONFIG::QUADS; /* of a part, four sums each */
    const int thread = (int)threadIdx.x, used = of.rows * CONFIG::QUADS;
    const bool leads = thread < 32;
    float4 *first = parts.sums + (int64_t)of.tile * of.count * most;
    auto is_there = [&](int i) { return i % CONFIG::QUADS * 4 < of.columns; };
    __syncthreads();
    for (int i = thread; i < used; i += CONFIG::THREADS)
        if (is_there(i))
            __stcg(first + (int64_t)of.own * most + i,
                   *(const float4 *)(shared + i / CONFIG::QUADS * CONFIG::PITCH +
                                     i % CONFIG::QUADS * 4));
    __syncthreads();
    if (leads) {
        tile_part_arrive(parts, of.tile, false, thread);
        tile_part_await(parts, of.tile, of.count, thread);
    }
    __syncthreads();
    for (int i = of.own * CONFIG::THREADS + thread; i < used; i += of.count * CONFIG::THREADS) {
        if (!is_there(i)) continue;
        float4 sum = __ldcg(first + i);
#pragma unroll 4
        for (int part = 1; part < of.count; part++)
            skinny_add(sum, __ldcg(first + (int64_t)part * most + i));
        skinny_put<typename CONFIG::output, CONFIG::FINISH>(operands, of.row + i / CONFIG::QUADS,
                                                            of.column + i % CONFIG::QUADS * 4, sum);
    }
    __syncthreads();
    if (leads) tile_part_leave(parts, of.tile, of.count, thread);
}
