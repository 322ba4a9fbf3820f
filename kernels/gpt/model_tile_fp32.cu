/* model_tile_fp32.cu - the tiles of model_tile.cuh for fp32. */
#include "model_tile.cuh"

const struct tile tiles_fp32[] = {
    TILE_ANY(float, TILE_PLAIN, 16, 32, 2, 2), TILE(float, TILE_PLAIN, 32, 32, 2, 2),
    TILE(float, TILE_PLAIN, 32, 64, 2, 4),     TILE(float, TILE_PLAIN, 64, 64, 4, 2),
    TILE(float, TILE_PLAIN, 64, 64, 2, 2),     TILE(float, TILE_PLAIN, 64, 128, 2, 2),
};
const int tiles_fp32_count = sizeof tiles_fp32 / sizeof *tiles_fp32;
