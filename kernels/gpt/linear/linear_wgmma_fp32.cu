/* linear_wgmma_fp32.cu - the kernels of linear_wgmma.cuh in fp32, by parts (linear_split.h). */
#include "linear_wgmma_launch.cuh"

static const struct lwg_kernel kernels[] = {
    lwg_split_of<128, 1>(),
    lwg_split_of<128, 2>(),
    lwg_split_of<96, 1>(),
    lwg_split_of<64, 1>(),
};

struct lwg_kernels lwg_kernels_fp32(void)
{
    return {kernels, sizeof kernels / sizeof *kernels};
}
