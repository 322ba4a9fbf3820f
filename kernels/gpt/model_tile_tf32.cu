/* model_tile_tf32.cu - the tiles of model_tile.cuh for tf32. */
#include "model_tile.cuh"

const struct tile tiles_tf32[] = {
    TILE_ANY(float, TILE_TENSOR, 16, 32, 1, 2), TILE(float, TILE_TENSOR, 16, 64, 1, 4),
    TILE(float, TILE_TENSOR, 32, 32, 2, 2),     TILE(float, TILE_TENSOR, 32, 64, 2, 4),
    TILE(float, TILE_TENSOR, 64, 64, 2, 4),     TILE(float, TILE_TENSOR, 64, 128, 2, 4),
};
const int tiles_tf32_count = sizeof tiles_tf32 / sizeof *tiles_tf32;
