/* model_tile_bf16.cu - the tiles of model_tile.cuh for bf16. */
#include "model_tile.cuh"

template <int ROWS, int COLUMNS, int WARPS_M, int WARPS_N, int SLICES = 1, int STAGES = 6,
          bool ANY = false>
static constexpr struct tile tile(const char *name)
{
    return tile_of<uint16_t, TILE_TENSOR, tile_way<ROWS, COLUMNS, WARPS_M, WARPS_N, SLICES, STAGES>,
                   ANY>(name);
}

/* Smallest first. */
const struct tile tiles_bf16[] = {
    tile<16, 32, 1, 2, 1, 6, true>("16x32"),
    tile<16, 64, 1, 4>("16x64"),
    tile<32, 32, 2, 2>("32x32"),
    tile<32, 64, 2, 4>("32x64"),
    tile<64, 64, 2, 4>("64x64"),
    tile<64, 128, 2, 4>("64x128"),
};
const int tiles_bf16_count = sizeof tiles_bf16 / sizeof *tiles_bf16;
