/*
 * mlp_wgmma_cuda.c - mlp by two products on Hopper's tensor cores (linear_wgmma.cuh), with gelu in
 * the epilogue of the first.
 *
 * Operations: those of mlp. Bytes: those of mlp, and 8 (bf16: 4) for each value of h, written and
 * read once.
 */
#include <stdlib.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/linear/linear_products.h"

struct state {
    void *h;
    struct linear_wgmma *first, *second;
};

static const char *supports(const struct assay_shape *shape)
{
    int64_t c = shape->value[MLP_C], type = shape->value[MLP_PRECISION];
    if (type == GPT_FP32) return "tf32, bf16 and fp16 only";
    if (type == GPT_TF32) return c % 4 ? "c is no multiple of 4" : NULL;
    return c % 8 ? "c is no multiple of 8" : NULL;
}

static int setup(struct assay_call *call)
{
    int64_t m = call->shape->value[MLP_M], c = call->shape->value[MLP_C];
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[MLP_PRECISION];
    int64_t bytes = 4 * m * c * gpt_bytes(precision);
    struct state *state = calloc(1, sizeof *state);
    if (!state) return assay_error("out of memory");
    call->state = state;
    int status = device_memory(call, &state->h, bytes, "the hidden layer");
    if (status) return status;
    void *const *buffer = call->buffer;
    struct linear_operands first = {
        buffer[MLP_X], buffer[MLP_W1], buffer[MLP_B1], state->h, m, 4 * c, c, c, false};
    struct linear_operands second = {state->h, buffer[MLP_W2], buffer[MLP_B2], buffer[MLP_Y], m,
                                     c,        4 * c,          4 * c,          false};
    first.finish = LINEAR_GELU;
    if (linear_wgmma_init(&state->first, &first, precision) < 0) return -1;
    return linear_wgmma_init(&state->second, &second, precision);
}

static int launch(struct assay_call *call)
{
    const struct state *state = call->state;
    cudaStream_t stream = call->stream;
    if (linear_wgmma_enqueue(state->first, stream) < 0) return -1;
    return linear_wgmma_enqueue(state->second, stream);
}

static void teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    linear_wgmma_release(state->first);
    linear_wgmma_release(state->second);
    cudaFree(state->h);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "mlp",
    .name = "linear_finish_gelu_wgmma",
    .summary = "two kernels by wgmma: gelu in the finish of the first product",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
