/*
 * linear_swapped_tile.cuh - a tile of linear_swapped.cuh with its kernels, and what its choice must
 * know of it.
 */
#pragma once

#include "linear_swapped_turns.cuh"

typedef void swapped_kernel(const struct linear_swapped_plan plan);

struct swapped_tile {
    swapped_kernel *kernel; /* with a block for each tile, or NULL */
    swapped_kernel *turns;  /* by blocks that stay, or NULL */
    int rows, columns, depth, threads;
    int output_bytes;        /* of an element of y */
    int stage_bytes, stages; /* of the ring, at most */
    int sums_bytes;          /* that take the place of the ring */
    int kept;                /* stages that outputs take the place of, by blocks that stay */
    int together;            /* blocks on a multiprocessor, as their registers allow */
    int pause;               /* cycles of a warpgroup from a stage's products to the next's */
    bool by_tma;
};

template <typename CONFIG> static constexpr swapped_kernel *swapped_turns_of(void)
{
    if constexpr (swapped_turns_config<CONFIG>::EXISTS)
        return linear_swapped_turns_kernel<CONFIG>;
    else
        return nullptr;
}

template <typename CONFIG, bool EXISTS> static constexpr swapped_kernel *swapped_plain_of(void)
{
    if constexpr (EXISTS)
        return linear_swapped_kernel<CONFIG>;
    else
        return nullptr;
}

template <typename CONFIG, bool ONLY_TURNS = false>
static constexpr struct swapped_tile swapped_tile_of(void)
{
    return {swapped_plain_of<CONFIG, !ONLY_TURNS>(),
            swapped_turns_of<CONFIG>(),
            CONFIG::X_ROWS,
            CONFIG::W_ROWS,
            CONFIG::DEPTH,
            CONFIG::THREADS,
            (int)sizeof(typename CONFIG::output),
            CONFIG::STAGE_BYTES,
            CONFIG::BY_TMA ? CONFIG::MOST : CONFIG::COPIED_STAGES,
            CONFIG::SUMS * (int)sizeof(float),
            swapped_turns_config<CONFIG>::KEPT,
            CONFIG::TOGETHER,
            CONFIG::PAUSE,
            CONFIG::BY_TMA};
}
