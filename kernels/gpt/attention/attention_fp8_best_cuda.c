/* attention_fp8_best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). */
#include "kernels/cuda/cuda_best.h"

static const struct cuda_choice choice = {
    .operation = "attention_fp8",
    .kernels = {"wgmma", "mma"},
    .fallback = "naive",
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
    .operation = "attention_fp8",
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
