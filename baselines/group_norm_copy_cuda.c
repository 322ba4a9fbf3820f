/*
 * group_norm_copy_cuda.c - memory-bound baseline of `group_norm_relu` on the GPU: cudaMemcpyAsync
 * of x to y, which reads and writes as many bytes as the operation.
 */
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/codec/layers/group_norm.h"

static int launch(struct assay_call *call)
{
    const struct norm_job job = norm_job(call->shape);
    size_t bytes = sizeof(float) * (size_t)job.groups * (size_t)job.length;
    return cuda_error(cudaMemcpyAsync(call->buffer[NORM_Y], call->buffer[NORM_X], bytes,
                                      cudaMemcpyDeviceToDevice, call->stream),
                      "cudaMemcpyAsync");
}

static int model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
                 int64_t end, void *out)
{
    memcpy(out, (const float *)in[NORM_X] + begin, sizeof(float) * (size_t)(end - begin));
    return 0;
}

static const struct assay_variant device_copy = {
    .operation = "group_norm_relu",
    .name = "device_copy",
    .summary = "cudaMemcpyAsync of x to y",
    .kind = ASSAY_BOUND,
    .place = ASSAY_CUDA,
    .apart = true,
    .launch = launch,
    .model = model,
};
ASSAY_REGISTER_VARIANT(device_copy);
