/*
 * linear_tf32_128.cu - the product by tensor cores, tiles of 128 x 128
 * (linear_128.cuh), mma.sync m16n8k8.
 *
 * Operations: 2 m n k in tf32. mma.sync reaches some five eighths of what Hopper's own
 * wgmma does, so that share of the vendor's library is the most to hope for there.
 */
#include "linear_128.cuh"

int linear_tf32_128_allow(void)
{
    return l128_allow<float>();
}

int linear_tf32_128(const struct linear_operands *operands, enum linear_finish finish,
                    cudaStream_t stream)
{
    return l128_enqueue<float>(operands, finish, stream);
}

static int product(const struct linear_operands *operands, cudaStream_t stream)
{
    return linear_tf32_128(operands, LINEAR_PLAIN, stream);
}

static const char *supports(const struct assay_shape *shape)
{
    const char *other = linear_only(shape, GPT_TF32, "tf32 only");
    return other ? other : l128_refuses(shape->value[LINEAR_K], GPT_TF32);
}

static int setup(struct assay_call *call)
{
    return linear_tf32_128_allow() < 0 ? -1 : linear_setup(call);
}

static int launch(struct assay_call *call)
{
    return linear_launch(call, product);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "tf32_128",
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
