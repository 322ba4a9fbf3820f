/* model_tile_fp32.cu - the tiles of model_tile.cuh for fp32. */
#include "model_tile.cuh"

template <int ROWS, int COLUMNS, int WARPS_M, int WARPS_N, int SLICES = 1, int STAGES = 6,
          bool ANY = false>
static constexpr struct tile tile(const char *name)
{
    return tile_of<float, TILE_PLAIN, tile_way<ROWS, COLUMNS, WARPS_M, WARPS_N, SLICES, STAGES>,
                   ANY>(name);
}

/* Smallest first; "/4": four slices of k. */
const struct tile tiles_fp32[] = {
    tile<16, 32, 2, 2, 1, 6, true>("16x32"),
    tile<16, 64, 1, 1, 4, 4>("16x64/4"),
    tile<32, 32, 2, 2>("32x32"),
    tile<32, 32, 1, 1, 4, 4>("32x32/4"),
    tile<32, 64, 2, 4>("32x64"),
    tile<32, 64, 1, 1, 4, 4>("32x64/4"),
    tile<64, 64, 2, 2>("64x64"),
    tile<64, 128, 2, 2, 1, 4>("64x128"),
};
const int tiles_fp32_count = sizeof tiles_fp32 / sizeof *tiles_fp32;
