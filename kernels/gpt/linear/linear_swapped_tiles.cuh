/*
 * linear_swapped_tiles.cuh - the kernels of linear_swapped.cuh that are compiled, those of each
 * finish in a file of its own, as each takes minutes: linear_swapped.cu, linear_swapped_gelu.cu.
 */
#pragma once

#include "linear_swapped_turns.cuh"

typedef void swapped_kernel(const struct linear_swapped_plan plan);

struct swapped_tile {
    swapped_kernel *kernel; /* with a block for each tile, or NULL */
    swapped_kernel *turns;  /* by blocks that stay, or NULL */
    int rows, columns, depth, threads;
    int stage_bytes, stages; /* of the ring, at most */
    int sums_bytes;          /* that take the place of the ring */
    int kept;                /* stages that outputs take the place of, by blocks that stay */
    bool by_tma;
};

template <typename CONFIG> static constexpr swapped_kernel *swapped_turns_of(void)
{
    if constexpr (swapped_turns_config<CONFIG>::EXISTS)
        return linear_swapped_turns_kernel<CONFIG>;
    else
        return nullptr;
}

template <typename CONFIG, bool EXISTS> static constexpr swapped_kernel *swapped_blocks_of(void)
{
    if constexpr (EXISTS)
        return linear_swapped_kernel<CONFIG>;
    else
        return nullptr;
}

template <enum linear_finish FINISH, typename T, int ROWS, int GROUPS, bool BY_TMA,
          bool ONLY_TURNS = false>
static constexpr struct swapped_tile swapped_of(void)
{
    using config = swapped_config<T, ROWS, GROUPS, BY_TMA, FINISH>;
    return {swapped_blocks_of<config, !ONLY_TURNS>(),
            swapped_turns_of<config>(),
            ROWS,
            config::W_ROWS,
            config::DEPTH,
            config::THREADS,
            config::STAGE_BYTES,
            BY_TMA ? config::MOST : config::COPIED_STAGES,
            config::SUMS * (int)sizeof(float),
            swapped_turns_config<config>::KEPT,
            BY_TMA};
}

template <enum linear_finish FINISH, typename T>
static constexpr struct swapped_tile swapped_tiles[LINEAR_SWAPPED_TILES] = {
    swapped_of<FINISH, T, 16, 1, true>(),
    swapped_of<FINISH, T, 32, 1, true>(),
    swapped_of<FINISH, T, 48, 1, true>(),
    swapped_of<FINISH, T, 96, 1, true>(),
    swapped_of<FINISH, T, 128, 1, true>(),
    swapped_of<FINISH, T, 16, 2, true>(),
    swapped_of<FINISH, T, 64, 2, true>(),
    swapped_of<FINISH, T, 112, 2, true>(),
    swapped_of<FINISH, T, 192, 2, true>(),
    swapped_of<FINISH, T, 224, 2, true>(),
    swapped_of<FINISH, T, 256, 2, true>(),
    swapped_of<FINISH, T, 176, 3, true>(),
    swapped_of<FINISH, T, 192, 3, true>(),
    swapped_of<FINISH, T, 8, 1, false>(),
    swapped_of<FINISH, T, 16, 1, false>(),
    swapped_of<FINISH, T, 32, 1, false>(),
    swapped_of<FINISH, T, 48, 1, false>(),
    swapped_of<FINISH, T, 128, 2, true>(),
    swapped_of<FINISH, T, 144, 3, true>(),
    swapped_of<FINISH, T, 160, 3, true>(),
    swapped_of<FINISH, T, 160, 1, true>(),
    swapped_of<FINISH, T, 192, 1, true>(),
    swapped_of<FINISH, T, 224, 1, true>(),
    swapped_of<FINISH, T, 160, 2, true>(),
    swapped_of<FINISH, T, 176, 2, true>(),
    swapped_of<FINISH, T, 272, 2, true>(),

    /* by blocks that stay alone */
    swapped_of<FINISH, T, 96, 3, true, true>(),
    swapped_of<FINISH, T, 112, 3, true, true>(),
    swapped_of<FINISH, T, 120, 3, true, true>(),
    swapped_of<FINISH, T, 136, 3, true, true>(),
    swapped_of<FINISH, T, 152, 2, true, true>(),
};

template <enum linear_finish FINISH>
static const struct swapped_tile *swapped_tile_of(int tile, enum gpt_precision precision)
{
    return precision == GPT_BF16   ? &swapped_tiles<FINISH, uint16_t>[tile]
           : precision == GPT_FP16 ? &swapped_tiles<FINISH, fp16_t>[tile]
                                   : &swapped_tiles<FINISH, float>[tile];
}

/* One that finishes with gelu (linear_swapped_gelu.cu). */
const struct swapped_tile *linear_swapped_gelu_tile(int tile, enum gpt_precision precision);
