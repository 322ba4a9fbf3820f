/*
 * vq_search_tf32.cu - the search on tf32 tensor cores: operands are rounded once, to 11 bits;
 * vectors when they are loaded, codewords when they are copied to shared memory
 * (vq_search_mma.cuh).
 *
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128 of tf32.
 */
#include "vq_search_mma.cuh"

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "fused_tf32",
    .summary = "tf32 tensor cores, codebook in shared memory, 32 vectors per warp in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = search_only_tf32,
    .shared_bytes = mma_least_bytes<mma_policy_tf32>,
    .setup = mma_setup<mma_policy_tf32, 2>,
    .launch = mma_launch<mma_policy_tf32, 2>,
};
ASSAY_REGISTER_VARIANT(variant);

const struct assay_variant *mma_variant_tf32(void)
{
    return &variant;
}
