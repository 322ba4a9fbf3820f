/* linear_swapped_gelu.cu - the kernels of linear_swapped.cuh that finish with gelu. */
#include "linear_swapped_tiles.cuh"

struct swapped_table linear_swapped_gelu_tiles(enum gpt_precision precision)
{
    return swapped_table_of<LINEAR_GELU>(precision);
}
