/* attention_best_cuda.c - the fastest of our kernels for a shape (cuda_best.h). naive3 reads the
 * keys from memory for each query, and is taken only where there is no other. */
#include "kernels/cuda/cuda_best.h"

static const struct cuda_choice choice = {
    .operation = "attention",
    .kernels = {"online_wgmma", "online_bf16", "online_fp16", "online_tf32_wgmma", "online_tf32",
                "online_fp32"},
    .fallback = "naive3",
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
    .operation = "attention",
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
