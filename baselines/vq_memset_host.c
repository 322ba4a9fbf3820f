/*
 * vq_memset_host.c - memory-bound baseline of `vq_gather` on the host: memset of as many bytes as a
 * gather writes; and the model that such a fill is checked against, bit by bit.
 *
 * Bytes per vector: 512 written. Operations: none.
 */
#include <string.h>

#include "kernels/codec/search/vq_gather.h"

int gather_model_memset(const struct assay_shape *shape, const void *const in[], int buffer,
                        int64_t begin, int64_t end, void *out)
{
    memset(out, GATHER_BYTE_WRITTEN, sizeof(float) * (size_t)(end - begin));
    return 0;
}

static int launch(struct assay_call *call)
{
    memset(call->buffer[GATHER_OUT], GATHER_BYTE_WRITTEN, gather_out_bytes(call->shape));
    return 0;
}

static const struct assay_variant host_memset = {
    .operation = "vq_gather",
    .name = "host_memset",
    .summary = "memset of the bytes that a gather writes, on one core",
    .kind = ASSAY_BOUND,
    .place = ASSAY_HOST,
    .apart = true,
    .launch = launch,
    .model = gather_model_memset,
};
ASSAY_REGISTER_VARIANT(host_memset);
