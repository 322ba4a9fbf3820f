/* model_tile_tf32.cu - the tiles of model_tile.cuh for tf32. */
#include "model_tile.cuh"

/* Smallest first; "/4": four slices of k. */
const struct tile tiles_tf32[] = {
    tile_of<float, TILE_TENSOR, 16, 32, 1, 2, 1, 6, true>("16x32"),
    tile_of<float, TILE_TENSOR, 16, 64, 1, 4>("16x64"),
    tile_of<float, TILE_TENSOR, 32, 32, 2, 2>("32x32"),
    tile_of<float, TILE_TENSOR, 32, 32, 1, 1, 4>("32x32/4"),
    tile_of<float, TILE_TENSOR, 32, 64, 2, 4>("32x64"),
    tile_of<float, TILE_TENSOR, 64, 64, 2, 4>("64x64"),
    tile_of<float, TILE_TENSOR, 64, 128, 2, 4>("64x128"),
};
const int tiles_tf32_count = sizeof tiles_tf32 / sizeof *tiles_tf32;
