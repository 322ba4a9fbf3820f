/* mlp_best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). fused_recompute
 * computes the middle anew for each tile, which wins nowhere. */
#include "kernels/cuda/cuda_best.h"

static const struct cuda_choice choice = {
    .operation = "mlp",
    .kernels = {"linear_finish_gelu_wgmma", "linear_finish_gelu", "linear_gelu_linear",
                "fused_rowown"},
};

static const char *supports(const struct assay_shape *shape)
{
    return cuda_best_refuses(&choice, shape);
}

static int setup(struct assay_call *call)
{
    return cuda_best_setup(&choice, call);
}

static const struct assay_variant variant = {
    .operation = "mlp",
    .name = "best",
    .summary = "the fastest of our kernels, measured in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = cuda_best_launch,
    .teardown = cuda_best_teardown,
};
ASSAY_REGISTER_VARIANT(variant);
