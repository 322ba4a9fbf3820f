/*
 * vq_search_bf16.cu - the search on bf16 tensor cores: operands are rounded once, to 8 bits. The
 * codebook has half the bytes, and a product half the steps, of tf32 (vq_search_mma.cuh).
 *
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128 of bf16.
 */
#include "vq_search_mma.cuh"

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "fused_bf16",
    .summary = "bf16 tensor cores, codebook in shared memory, 32 vectors per warp in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = search_only_bf16,
    .shared_bytes = mma_least_bytes<mma_policy_bf16>,
    .setup = mma_setup<mma_policy_bf16, 2>,
    .launch = mma_launch<mma_policy_bf16, 2>,
};
ASSAY_REGISTER_VARIANT(variant);

const struct assay_variant *mma_variant_bf16(void)
{
    return &variant;
}
