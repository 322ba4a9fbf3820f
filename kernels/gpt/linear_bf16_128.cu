/*
 * linear_bf16_128.cu - the product by tensor cores, tiles of 128 x 128
 * (linear_128.cuh), mma.sync m16n8k16.
 *
 * Operations: 2 m n k in bf16. mma.sync reaches some five eighths of what Hopper's own
 * wgmma does, so that share of the vendor's library is the most to hope for there.
 */
#include "linear_128.cuh"

int linear_bf16_128_allow(void)
{
    return l128_allow<uint16_t>();
}

int linear_bf16_128(const struct linear_operands *operands, enum linear_finish finish,
                    cudaStream_t stream)
{
    return l128_enqueue<uint16_t>(operands, finish, stream);
}

static int product(const struct linear_operands *operands, cudaStream_t stream)
{
    return linear_bf16_128(operands, LINEAR_PLAIN, stream);
}

static const char *supports(const struct assay_shape *shape)
{
    const char *other = linear_only(shape, GPT_BF16, "bf16 only");
    return other ? other : l128_refuses(shape->value[LINEAR_K], GPT_BF16);
}

static int setup(struct assay_call *call)
{
    return linear_bf16_128_allow() < 0 ? -1 : linear_setup(call);
}

static int launch(struct assay_call *call)
{
    return linear_launch(call, product);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "bf16_128",
    .summary = "tensor cores, tiles of 128 x 128, three stages",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = linear_teardown,
};
ASSAY_REGISTER_VARIANT(variant);
