/*
 * linear_128.cu - bf16_128 and tf32_128, the tensor-core products in tiles of 128 x 128 outputs:
 * by wgmma where device and build have it, else by mma.sync. The note of a result says which.
 */
#include <stdio.h>

#include "linear.cuh"
#include "linear_128.h"

static bool has_wgmma(void)
{
    return assay_card()->arch_specific;
}

int linear_128_allow(void)
{
    if (linear_128_mma_allow() < 0) return -1;
    return has_wgmma() ? linear_128_wgmma_allow() : 0;
}

int linear_bf16_128(const struct linear_operands *operands, enum linear_finish finish,
                    cudaStream_t stream)
{
    return has_wgmma() ? linear_128_wgmma_bf16(operands, finish, stream)
                       : linear_128_mma_bf16(operands, finish, stream);
}

int linear_tf32_128(const struct linear_operands *operands, enum linear_finish finish,
                    cudaStream_t stream)
{
    return has_wgmma() && !operands->transposed ? linear_128_wgmma_tf32(operands, finish, stream)
                                                : linear_128_mma_tf32(operands, finish, stream);
}

/* --------------------------------------------------------------- variants -- */

static const char *bf16_supports(const struct assay_shape *shape)
{
    const char *other = linear_only<GPT_BF16>(shape);
    return other ? other : linear_unaligned(shape);
}

static const char *tf32_supports(const struct assay_shape *shape)
{
    const char *other = linear_only<GPT_TF32>(shape);
    return other ? other : linear_unaligned(shape);
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    bool bf16 = value[LINEAR_PRECISION] == GPT_BF16;
    if (linear_128_allow() < 0) return -1;
    if (has_wgmma() && (bf16 || value[LINEAR_WEIGHT] == LINEAR_DIRECT))
        (void)snprintf(call->note, sizeof call->note, "wgmma m64n128k%d", bf16 ? 16 : 8);
    else
        (void)snprintf(call->note, sizeof call->note, "mma.sync m16n8k%d", bf16 ? 16 : 8);
    return linear_setup(call);
}

static int bf16_product(const struct linear_operands *operands, cudaStream_t stream)
{
    return linear_bf16_128(operands, LINEAR_PLAIN, stream);
}

static int tf32_product(const struct linear_operands *operands, cudaStream_t stream)
{
    return linear_tf32_128(operands, LINEAR_PLAIN, stream);
}

static const struct assay_variant bf16 = {
    .operation = "linear",
    .name = "bf16_128",
    .summary = "tensor cores, tiles of 128 x 128: wgmma on Hopper, else mma.sync",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = bf16_supports,
    .shared_bytes = linear_128_shared_bytes,
    .setup = setup,
    .launch = linear_launch<bf16_product>,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(bf16);

static const struct assay_variant tf32 = {
    .operation = "linear",
    .name = "tf32_128",
    .summary = "tensor cores, tiles of 128 x 128: wgmma on Hopper, else mma.sync",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = tf32_supports,
    .shared_bytes = linear_128_shared_bytes,
    .setup = setup,
    .launch = linear_launch<tf32_product>,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(tf32);
