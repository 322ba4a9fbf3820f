/*
 * vq_search_3xtf32.cu - the search in fp32 on tf32 tensor cores: each number is split in two parts
 * of 11 bits, and each product becomes three (vq_search_mma.cuh).
 *
 * Bytes per vector: 512 read, 1 written. Operations: 2 * 256 * 128 of fp32, for which the tensor
 * cores execute three times as many of tf32.
 */
#include "vq_search_mma.cuh"

static const struct assay_variant variant = {
    .operation = "vq_search",
    .name = "fused_3xtf32",
    .summary = "fp32 by three products of tf32 parts on tensor cores, all else as fused_tf32",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = search_only_fp32,
    .shared_bytes = mma_least_bytes<mma_policy_3xtf32>,
    .setup = mma_setup<mma_policy_3xtf32, 2>,
    .launch = mma_launch<mma_policy_3xtf32, 2>,
};
ASSAY_REGISTER_VARIANT(variant);

const struct assay_variant *mma_variant_3xtf32(void)
{
    return &variant;
}
