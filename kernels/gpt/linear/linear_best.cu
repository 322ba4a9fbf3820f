/*
 * linear_best.cu - the fastest of our products for a shape (linear_choice.h). The note says which
 * it was.
 */
#include <stdlib.h>

#include "linear.cuh"
#include "linear_choice.h"

struct best {
    void *copy; /* the transposed weight */
    struct linear_choice *choice;
};

static int setup(struct assay_call *call)
{
    struct best *best = (struct best *)calloc(1, sizeof *best);
    struct linear_operands operands;
    call->state = best;
    if (!best) return assay_error("out of memory");
    int status = linear_prepare(call, &best->copy);
    if (status) return status;
    if (linear_begin(call, best->copy, &operands) < 0) return -1;
    status =
        linear_choice_make(&best->choice, &operands,
                           (enum gpt_precision)call->shape->value[LINEAR_PRECISION], NULL, call);
    if (status) return status;
    linear_choice_name(best->choice, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct best *best = (const struct best *)call->state;
    struct linear_operands operands;
    if (linear_begin(call, best->copy, &operands) < 0) return -1;
    if (linear_choice_enqueue(best->choice, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct best *best = (struct best *)call->state;
    if (!best) return;
    linear_choice_release(best->choice);
    cudaFree(best->copy);
    free(best);
}

static const char *supports(const struct assay_shape *shape)
{
    if (gpt_bytes(shape->value[LINEAR_PRECISION]) == 4) return NULL;
    return shape->value[LINEAR_WEIGHT] == LINEAR_DIRECT ? NULL : linear_unaligned(shape);
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return shape->value[LINEAR_PRECISION] == GPT_FP32 ? 0 : linear_128_shared_bytes(shape);
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "best",
    .summary = "the fastest of our products for the shape, as timed in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
