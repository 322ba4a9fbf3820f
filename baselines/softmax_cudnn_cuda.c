/*
 * softmax_cudnn_cuda.c - softmax by cuDNN's cudnnSoftmaxForward, which takes the largest element of
 * a row off: what one calls without a compiler of one's own.
 *
 * In bf16, rows of more than some hundred columns are not computed as the operation is defined. On
 * an H200 (cuDNN 9.14) 22 to 26 % of the outputs are off by more than half a unit in the last
 * place, and none by more than a whole one, at each of 22 shapes from 1021 to 1048576 columns with
 * data=plain; up to 257 columns all are right. A quarter is what two roundings to bf16 give, of the
 * exponential and of the quotient: each error is even between half a unit down and up, and their
 * sum is beyond half a unit in a quarter of all cases. Such rows are skipped: the bound is that of
 * one rounding, as in all other variants. In fp16 they are skipped too, untried.
 */
#include <stdlib.h>

#include "cudnn_api.h"
#include "kernels/gpt/norms/norms.h"

enum { EXACT_COLUMNS = 257 }; /* in 16 bits */

struct session {
    const struct cudnn *api;
    void *handle, *tensor; /* x and y alike */
};

static int enqueue(const struct assay_call *call)
{
    static const float one = 1, zero = 0;
    const struct session *session = call->state;
    const struct cudnn *api = session->api;
    int status = api->set_stream(session->handle, call->stream);
    if (status == 0)
        status = api->softmax(session->handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_INSTANCE, &one,
                              session->tensor, call->buffer[SOFTMAX_X], &zero, session->tensor,
                              call->buffer[SOFTMAX_Y]);
    return cudnn_error(api, status, "cudnnSoftmaxForward");
}

static int setup(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    static const int types[] = {CUDNN_FLOAT, CUDNN_BFLOAT16, CUDNN_HALF};
    const int type = types[value[SOFTMAX_TYPE]];
    struct session *session = call->state = calloc(1, sizeof *session);
    if (!session) return assay_error("out of memory");
    int status = cudnn_load(&session->api);
    if (status) return status;
    const struct cudnn *api = session->api;
    if (!api->make_tensor || !api->unmake_tensor || !api->set_tensor || !api->softmax) {
        assay_error("this cuDNN has no cudnnSoftmaxForward");
        return ASSAY_SKIP;
    }
    status = cudnn_error(api, api->create(&session->handle), "cudnnCreate");
    if (status) return status;
    status = cudnn_error(api, api->make_tensor(&session->tensor), "a tensor");
    if (status) return status;
    status =
        cudnn_error(api,
                    api->set_tensor(session->tensor, CUDNN_NCHW, type, (int)value[SOFTMAX_ROWS],
                                    (int)value[SOFTMAX_COLUMNS], 1, 1),
                    "a tensor");
    return status ? status : enqueue(call); /* says whether it takes this shape */
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[SOFTMAX_TYPE] != NORMS_FP32 && shape->value[SOFTMAX_COLUMNS] > EXACT_COLUMNS)
        return "in 16 bits cuDNN is off by up to a unit in the last place above 257 columns";
    return NULL;
}

static int launch(struct assay_call *call)
{
    return enqueue(call) ? -1 : 0;
}

static void teardown(struct assay_call *call)
{
    struct session *session = call->state;
    if (!session) return;
    if (session->tensor) session->api->unmake_tensor(session->tensor);
    if (session->handle) session->api->destroy(session->handle);
    free(session);
}

static const struct assay_variant cudnn = {
    .operation = "row_softmax",
    .name = "cudnn",
    .summary = "cudnnSoftmaxForward",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cudnn);
