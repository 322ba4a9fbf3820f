/* linear_swapped_gelu.cu - the kernels of linear_swapped.cuh that finish with gelu. */
#include "linear_swapped_tiles.cuh"

const struct swapped_tile *linear_swapped_gelu_tile(int tile, enum gpt_precision precision)
{
    return swapped_tile_of<LINEAR_GELU>(tile, precision);
}
