/* linear_wgmma_fp16.cu - the kernels of linear_wgmma.cuh in fp16, with the rates of bf16: the
 * tensor cores take as many cycles. Those alone that `choose` takes: `best` has no fp16. */
#include "linear_wgmma_launch.cuh"

static const struct lwg_kernel kernels[] = {
    lwg_kernel_of<fp16_t, 256, 2, false>(1.0),
    lwg_kernel_of<fp16_t, 192, 2, true>(0.94),
    lwg_kernel_of<fp16_t, 192, 1, false>(0.93),
    lwg_kernel_of<fp16_t, 64, 1, false>(0.54),
};

struct lwg_kernels lwg_kernels_fp16(void)
{
    return {kernels, sizeof kernels / sizeof *kernels};
}
