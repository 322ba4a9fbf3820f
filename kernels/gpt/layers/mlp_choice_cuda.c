/*
 * mlp_choice_cuda.c - mlp by two products, each the fastest of linear's for its shape
 * (linear_choice.h), with gelu in the epilogue of the first. The second is timed behind the first,
 * which has left the hidden layer in L2, or its end.
 *
 * Operations: those of mlp. Bytes: those of mlp, and 8 (in 16 bits: 4) for each value of h, written
 * and read once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/linear/linear_choice.h"
#include "kernels/gpt/linear/linear_products.h"

struct state {
    void *h;
    struct linear_choice *first, *second;
};

static int enqueue(const void *product, void *stream)
{
    return linear_choice_enqueue(product, stream);
}

static void describe(const struct state *state, char *note, size_t size)
{
    char first[ASSAY_MAX_NOTE], second[ASSAY_MAX_NOTE];
    linear_choice_name(state->first, first, sizeof first);
    linear_choice_name(state->second, second, sizeof second);
    (void)snprintf(note, size, "%s; %s", first, second);
}

static int choose(struct state *state, struct assay_call *call)
{
    const int64_t m = call->shape->value[MLP_M], c = call->shape->value[MLP_C];
    const enum gpt_precision precision = (enum gpt_precision)call->shape->value[MLP_PRECISION];
    void *const *buffer = call->buffer;
    const struct linear_operands first = {.x = buffer[MLP_X],
                                          .w = buffer[MLP_W1],
                                          .bias = buffer[MLP_B1],
                                          .y = state->h,
                                          .m = m,
                                          .n = 4 * c,
                                          .k = c,
                                          .leading = c,
                                          .finish = LINEAR_GELU};
    const struct linear_operands second = {.x = state->h,
                                           .w = buffer[MLP_W2],
                                           .bias = buffer[MLP_B2],
                                           .y = buffer[MLP_Y],
                                           .m = m,
                                           .n = c,
                                           .k = 4 * c,
                                           .leading = 4 * c};
    int status = linear_choice_make(&state->first, &first, precision, NULL, call);
    if (status) return status;
    const struct cuda_work before = {enqueue, state->first};
    return linear_choice_make(&state->second, &second, precision, &before, call);
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t bytes = 4 * value[MLP_M] * value[MLP_C] * gpt_bytes(value[MLP_PRECISION]);
    struct state *state = calloc(1, sizeof *state);
    call->state = state;
    if (!state) return assay_error("out of memory");
    int status = device_memory(call, &state->h, bytes, "the hidden layer");
    if (status == 0) status = choose(state, call);
    if (status == 0) describe(state, call->note, sizeof call->note);
    return status;
}

static int launch(struct assay_call *call)
{
    const struct state *state = call->state;
    if (linear_choice_enqueue(state->first, call->stream) < 0) return -1;
    return linear_choice_enqueue(state->second, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct state *state = call->state;
    if (!state) return;
    linear_choice_release(state->first);
    linear_choice_release(state->second);
    cudaFree(state->h);
    free(state);
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return shape->value[MLP_PRECISION] == GPT_FP32 ? 0 : linear_128_shared_bytes(shape);
}

static const struct assay_variant variant = {
    .operation = "mlp",
    .name = "linear_finish_gelu_best",
    .summary = "two kernels, each the fastest of linear's: gelu in the finish of the first",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
