/*
 * mlp_products.cu - mlp by the products of linear/, with gelu either as a separate kernel between
 * them or in the epilogue of the first.
 *
 * fp32 uses tiles of 32 x 32 in fp32; the others use tensor cores and tiles of 128 x 128.
 * Operations: those of mlp. Bytes: those of mlp, and for each value of h 8 (bf16: 4), or 16 (8)
 * with gelu as a kernel.
 */
#include "kernels/gpt/gpt.cuh"
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/linear/linear_products.h"

enum { THREADS = 256 };

template <typename T> static __global__ void __launch_bounds__(THREADS) gelu(T *h, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) gpt_put(h + i, gpt_gelu_fast(gpt_float(h[i])));
}

static int product(const struct assay_call *call, const struct linear_operands *operands)
{
    static int (*const products[])(const struct linear_operands *, cudaStream_t) = {
        linear_smem32, linear_tf32_128, linear_bf16_128, linear_fp16_128};
    return products[call->shape->value[MLP_PRECISION]](operands, (cudaStream_t)call->stream);
}

static int run(const struct assay_call *call, bool apart)
{
    int64_t m = call->shape->value[MLP_M], c = call->shape->value[MLP_C], n = m * 4 * c;
    cudaStream_t stream = (cudaStream_t)call->stream;
    void *h = call->state;
    struct linear_operands first = {
        call->buffer[MLP_X], call->buffer[MLP_W1], call->buffer[MLP_B1], h, m, 4 * c, c, c, false};
    struct linear_operands second = {
        h,    call->buffer[MLP_W2], call->buffer[MLP_B2], call->buffer[MLP_Y], m, c, 4 * c, 4 * c,
        false};
    first.finish = apart ? LINEAR_PLAIN : LINEAR_GELU;
    if (product(call, &first) < 0) return -1;
    if (apart && call->shape->value[MLP_PRECISION] == GPT_BF16)
        gelu<<<gpt_blocks(n, THREADS), THREADS, 0, stream>>>((uint16_t *)h, n);
    else if (apart && call->shape->value[MLP_PRECISION] == GPT_FP16)
        gelu<<<gpt_blocks(n, THREADS), THREADS, 0, stream>>>((fp16_t *)h, n);
    else if (apart)
        gelu<<<gpt_blocks(n, THREADS), THREADS, 0, stream>>>((float *)h, n);
    if (assay_launched() < 0) return -1;
    return product(call, &second);
}

static const char *supports(const struct assay_shape *shape)
{
    int64_t c = shape->value[MLP_C], type = shape->value[MLP_PRECISION];
    if (type == GPT_TF32 && c % 4 != 0) return "c is no multiple of 4";
    if (gpt_bytes(type) == 2 && c % 8 != 0) return "c is no multiple of 8";
    return NULL;
}

static const char *finish_supports(const struct assay_shape *shape)
{
    if (shape->value[MLP_PRECISION] == GPT_FP32)
        return "the fp32 product finishes with a bias only";
    return supports(shape);
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t bytes = 4 * value[MLP_M] * value[MLP_C] * gpt_bytes(value[MLP_PRECISION]);
    if (linear_128_allow() < 0) return -1;
    return device_memory(call, &call->state, bytes, "the hidden layer");
}

static int launch(struct assay_call *call)
{
    return run(call, true);
}

static int finish_launch(struct assay_call *call)
{
    return run(call, false);
}

static const struct assay_variant variant = {
    .operation = "mlp",
    .name = "linear_gelu_linear",
    .summary = "three kernels: product, gelu, product",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .shared_bytes = linear_128_shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);

static const struct assay_variant finish_variant = {
    .operation = "mlp",
    .name = "linear_finish_gelu",
    .summary = "two kernels: gelu in the finish of the first product",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = finish_supports,
    .shared_bytes = linear_128_shared_bytes,
    .setup = setup,
    .launch = finish_launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(finish_variant);
