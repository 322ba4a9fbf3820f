/*
 * pipe_host.c - the batch operations on the host: the network in fp32, the leaves of a
 * batch spread over all cores by OpenMP. There is no link and no stage but one.
 *
 * Operations of a leaf: 30.6 M to encode, 114.1 M to decode (codec_net.h).
 */
#include "pipe_batch.h"
#include "kernels/codec/network/codec_net.h"
#include "kernels/codec/network/codec_net_internal.h"

static int setup(struct assay_call *call)
{
    if (pipe_volume_open(call)) return -1;
    call->state = (void *)codec_weights_default();
    return call->state ? 0 : -1;
}

static int launch_encode(struct assay_call *call)
{
    int64_t leaves = call->shape->value[PIPE_LEAVES], batches = call->shape->value[PIPE_BATCHES];
    const float *in = call->buffer[PIPE_IN];
    uint8_t *out = call->buffer[PIPE_OUT];
    for (int64_t b = 0; leaves && b < batches; b++)
        if (codec_encode_host(call->state, in + b * leaves * LEAF_VOXELS, leaves,
                              out + b * leaves * LEAF_VECTORS))
            return -1;
    return 0;
}

static int launch_decode(struct assay_call *call)
{
    int64_t leaves = call->shape->value[PIPE_LEAVES], batches = call->shape->value[PIPE_BATCHES];
    const uint8_t *in = call->buffer[PIPE_IN];
    float *out = call->buffer[PIPE_OUT];
    for (int64_t b = 0; leaves && b < batches; b++)
        if (codec_decode_host(call->state, in + b * leaves * LEAF_VECTORS, leaves,
                              out + b * leaves * LEAF_VOXELS))
            return -1;
    return 0;
}

static const struct assay_variant host_encode = {
    .operation = "codec_encode_batch",
    .name = "host_openmp",
    .summary = "fp32 on all cores, no device",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup,
    .launch = launch_encode,
};
ASSAY_REGISTER_VARIANT(host_encode);

static const struct assay_variant host_decode = {
    .operation = "codec_decode_batch",
    .name = "host_openmp",
    .summary = "fp32 on all cores, no device",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup,
    .launch = launch_decode,
};
ASSAY_REGISTER_VARIANT(host_decode);
