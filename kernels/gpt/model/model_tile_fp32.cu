/* model_tile_fp32.cu - the tiles of model_tile.cuh for fp32. */
#include "model_tile.cuh"

/* Smallest first. None divides k among its warps: best takes model_ring.cuh for fp32 where a card
 * has TMA, and never took such a tile. */
const struct tile tiles_fp32[] = {
    tile_of<float, TILE_PLAIN, 16, 32, 2, 2, 1, 6, true>("16x32"),
    tile_of<float, TILE_PLAIN, 32, 32, 2, 2>("32x32"),
    tile_of<float, TILE_PLAIN, 32, 64, 2, 4>("32x64"),
    tile_of<float, TILE_PLAIN, 64, 64, 2, 2>("64x64"),
    tile_of<float, TILE_PLAIN, 64, 128, 2, 2, 1, 4>("64x128"),
};
const int tiles_fp32_count = sizeof tiles_fp32 / sizeof *tiles_fp32;
