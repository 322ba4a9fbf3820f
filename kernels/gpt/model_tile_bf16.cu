/* model_tile_bf16.cu - the tiles of model_tile.cuh for bf16. */
#include "model_tile.cuh"

const struct tile tiles_bf16[] = {
    TILE_ANY(uint16_t, TILE_TENSOR, 16, 32, 1, 2), TILE(uint16_t, TILE_TENSOR, 16, 64, 1, 4),
    TILE(uint16_t, TILE_TENSOR, 32, 32, 2, 2),     TILE(uint16_t, TILE_TENSOR, 32, 64, 2, 4),
    TILE(uint16_t, TILE_TENSOR, 64, 64, 2, 4),     TILE(uint16_t, TILE_TENSOR, 64, 128, 2, 4),
};
const int tiles_bf16_count = sizeof tiles_bf16 / sizeof *tiles_bf16;
