/* linear_wgmma_tf32.cu - the kernels of linear_wgmma.cuh in tf32. Rates: see linear_wgmma.cu. */
#include "linear_wgmma_launch.cuh"

static const struct lwg_kernel kernels[] = {
    lwg_kernel_of<float, 256, 2, false>(1.0),  lwg_kernel_of<float, 128, 2, true>(0.96),
    lwg_kernel_of<float, 192, 1, false>(0.90), lwg_kernel_of<float, 64, 1, false>(0.48),
    lwg_plain_of<float, 256, 4, false>(),      lwg_plain_of<float, 256, 1, false>(),
    lwg_plain_of<float, 128, 1, false>(),      lwg_plain_of<float, 128, 2, false>(),
    lwg_plain_of<float, 256, 3, false>(),
};

struct lwg_kernels lwg_kernels_tf32(void)
{
    return {kernels, sizeof kernels / sizeof *kernels};
}
