/*
 * group_norm_copy_host.c - memory-bound baseline of `group_norm_relu` on the host: memcpy of x to
 * y, which reads and writes as many bytes as the operation.
 */
#include <string.h>

#include "kernels/codec/layers/group_norm.h"

static size_t bytes_of(const struct norm_job *job)
{
    return sizeof(float) * (size_t)job->groups * (size_t)job->length;
}

static int launch(struct assay_call *call)
{
    const struct norm_job job = norm_job(call->shape);
    memcpy(call->buffer[NORM_Y], call->buffer[NORM_X], bytes_of(&job));
    return 0;
}

static int model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
                 int64_t end, void *out)
{
    memcpy(out, (const float *)in[NORM_X] + begin, sizeof(float) * (size_t)(end - begin));
    return 0;
}

static const struct assay_variant host_memcpy = {
    .operation = "group_norm_relu",
    .name = "host_memcpy",
    .summary = "memcpy of x to y, on one core",
    .kind = ASSAY_BOUND,
    .place = ASSAY_HOST,
    .apart = true,
    .launch = launch,
    .model = model,
};
ASSAY_REGISTER_VARIANT(host_memcpy);
