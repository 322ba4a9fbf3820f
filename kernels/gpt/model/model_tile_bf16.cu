/* model_tile_bf16.cu - the tiles of model_tile.cuh for bf16. */
#include "model_tile.cuh"

/* Smallest first. */
const struct tile tiles_bf16[] = {
    tile_of<uint16_t, TILE_TENSOR, 16, 32, 1, 2, 1, 6, true>("16x32"),
    tile_of<uint16_t, TILE_TENSOR, 16, 64, 1, 4>("16x64"),
    tile_of<uint16_t, TILE_TENSOR, 32, 32, 2, 2>("32x32"),
    tile_of<uint16_t, TILE_TENSOR, 32, 64, 2, 4>("32x64"),
    tile_of<uint16_t, TILE_TENSOR, 64, 64, 2, 4>("64x64"),
    tile_of<uint16_t, TILE_TENSOR, 64, 128, 2, 4>("64x128"),
};
const int tiles_bf16_count = sizeof tiles_bf16 / sizeof *tiles_bf16;
