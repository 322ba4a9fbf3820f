/*
 * @NAME@.c - a variant of @OPERATION@ on the host. It begins as the reference, which is right and
 * slow: put yours in the place of what launch does. In call->buffer, for the suite's shape:
 *
@BUFFERS@
 */
#include <assay.h>
#include <math.h>
#include <stdlib.h>

static int compute(const struct assay_call *call, const void *const in[], int buffer,
                   const struct assay_buffer *about)
{
    double *expected = (double *)malloc(2 * sizeof(double) * (size_t)about->count);
    if (!expected) return assay_error("out of memory");
    double *bound = expected + about->count; /* the reference may write how exact it is */
    int status = call->shape->operation->reference(call->shape, in, buffer, 0, about->count,
                                                   expected, bound);
    for (int64_t i = 0; i < about->count && status == 0; i++)
        assay_store(about->type, call->buffer[buffer], i,
                    about->type < ASSAY_I8 ? expected[i] : rint(expected[i]));
    free(expected);
    return status;
}

static int launch(struct assay_call *call)
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    const void *in[ASSAY_MAX_BUFFERS] = {NULL};
    int count = call->shape->operation->buffers(call->shape, buffers), status = 0;
    for (int i = 0; i < count; i++)
        if (buffers[i].role == ASSAY_IN) in[i] = call->buffer[i];
    for (int i = 0; i < count && status == 0; i++)
        if (buffers[i].role == ASSAY_OUT) status = compute(call, in, i, &buffers[i]);
    return status;
}

static const struct assay_variant variant = {
    .operation = "@OPERATION@",
    .name = "@NAME@",
    .summary = "the reference, to begin with",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
