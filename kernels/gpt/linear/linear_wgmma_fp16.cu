/* linear_wgmma_fp16.cu - the kernels of linear_wgmma.cuh in fp16, with the rates of bf16: the
 * tensor cores take as many cycles. */
#include "linear_wgmma_launch.cuh"

static const struct lwg_kernel kernels[] = {
    lwg_kernel_of<fp16_t, 256, 2, false>(1.0),  lwg_kernel_of<fp16_t, 192, 2, true>(0.94),
    lwg_kernel_of<fp16_t, 192, 1, false>(0.93), lwg_kernel_of<fp16_t, 64, 1, false>(0.54),
    lwg_plain_of<fp16_t, 128, 1, false>(),      lwg_plain_of<fp16_t, 192, 2, false>(),
    lwg_plain_of<fp16_t, 192, 3, false>(),      lwg_plain_of<fp16_t, 256, 3, false>(),
};

struct lwg_kernels lwg_kernels_fp16(void)
{
    return {kernels, sizeof kernels / sizeof *kernels};
}
