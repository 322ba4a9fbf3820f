/*
 * norms_copy_cuda.c - bounds of softmax, rmsnorm, rope and group_norm_relu on the GPU:
 * cudaMemcpyAsync of x to y, which reads and writes as many bytes, but for weights, cos and sin.
 */
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "assay.h"

/* x is the first buffer of each operation, y the one that its elements make. */
struct arrays {
    int y;
    int64_t bytes; /* of an element */
    int64_t count;
};

static struct arrays arrays_of(const struct assay_shape *shape)
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    int count = shape->operation->buffers(shape, buffers);
    struct arrays arrays = {.bytes = (int64_t)assay_type_bytes(buffers[0].type),
                            .count = buffers[0].count};
    for (int b = 0; b < count; b++)
        if (buffers[b].role == ASSAY_OUT) arrays.y = b;
    return arrays;
}

static int launch(struct assay_call *call)
{
    struct arrays arrays = arrays_of(call->shape);
    return cuda_error(cudaMemcpyAsync(call->buffer[arrays.y], call->buffer[0],
                                      (size_t)(arrays.bytes * arrays.count),
                                      cudaMemcpyDeviceToDevice, call->stream),
                      "cudaMemcpyAsync");
}

static int model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
                 int64_t end, void *out)
{
    int64_t bytes = arrays_of(shape).bytes;
    memcpy(out, (const char *)in[0] + begin * bytes, (size_t)((end - begin) * bytes));
    return 0;
}

#define COPY(object, name_of_operation)                                                            \
    static const struct assay_variant object = {                                                   \
        .operation = name_of_operation,                                                            \
        .name = "device_copy",                                                                     \
        .summary = "cudaMemcpyAsync of x to y",                                                    \
        .kind = ASSAY_BOUND,                                                                       \
        .place = ASSAY_CUDA,                                                                       \
        .apart = true,                                                                             \
        .launch = launch,                                                                          \
        .model = model,                                                                            \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(object)

COPY(softmax, "row_softmax");
COPY(rmsnorm, "rmsnorm");
COPY(rope, "rope");
COPY(group_norm, "group_norm_relu");
