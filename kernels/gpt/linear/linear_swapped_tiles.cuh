/*
 * linear_swapped_tiles.cuh - the kernels of linear_swapped.cuh that are compiled, those of each
 * finish in a file of its own, as each takes minutes: linear_swapped.cu, linear_swapped_gelu.cu.
 */
#pragma once

#include "linear_swapped_tile.cuh"

template <enum linear_finish FINISH, typename T, int ROWS, int GROUPS, bool BY_TMA,
          bool ONLY_TURNS = false>
static constexpr struct swapped_tile swapped_of(void)
{
    return swapped_tile_of<swapped_config<T, ROWS, GROUPS, BY_TMA, FINISH>, ONLY_TURNS>();
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
static struct swapped_table swapped_table_of(enum gpt_precision precision)
{
    return {precision == GPT_BF16   ? swapped_tiles<FINISH, uint16_t>
            : precision == GPT_FP16 ? swapped_tiles<FINISH, fp16_t>
                                    : swapped_tiles<FINISH, float>,
            LINEAR_SWAPPED_TILES};
}

/* Those that finish with gelu (linear_swapped_gelu.cu). */
struct swapped_table linear_swapped_gelu_tiles(enum gpt_precision precision);
