/* model_tile_fp32.cu - the tiles of model_tile.cuh for fp32. */
#include "model_tile.cuh"

/* Smallest first; "/4": four slices of k. */
const struct tile tiles_fp32[] = {
    tile_of<float, TILE_PLAIN, 16, 32, 2, 2, 1, 6, true>("16x32"),
    tile_of<float, TILE_PLAIN, 16, 64, 1, 1, 4, 4>("16x64/4"),
    tile_of<float, TILE_PLAIN, 32, 32, 2, 2>("32x32"),
    tile_of<float, TILE_PLAIN, 32, 32, 1, 1, 4, 4>("32x32/4"),
    tile_of<float, TILE_PLAIN, 32, 64, 2, 4>("32x64"),
    tile_of<float, TILE_PLAIN, 32, 64, 1, 1, 4, 4>("32x64/4"),
    tile_of<float, TILE_PLAIN, 64, 64, 2, 2>("64x64"),
    tile_of<float, TILE_PLAIN, 64, 128, 2, 2, 1, 4>("64x128"),
};
const int tiles_fp32_count = sizeof tiles_fp32 / sizeof *tiles_fp32;
