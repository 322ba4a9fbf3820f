/*
 * pipe_host.c - the batch operations on the host: the network in fp32, with the leaves of a batch
 * spread over all cores by OpenMP. There is no link, and only one stage.
 *
 * Operations per leaf: 30.6 M to encode, 114.1 M to decode (codec_net.h).
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

static int launch(struct assay_call *call, enum pipe_direction direction)
{
    int64_t leaves = call->shape->value[PIPE_LEAVES], batches = call->shape->value[PIPE_BATCHES];
    for (int64_t b = 0; leaves && b < batches; b++) {
        const void *in = (char *)call->buffer[PIPE_IN] + b * leaves * leaf_in_bytes(direction);
        void *out = (char *)call->buffer[PIPE_OUT] + b * leaves * leaf_out_bytes(direction);
        if (direction == PIPE_ENCODE ? codec_encode_host(call->state, in, leaves, out)
                                     : codec_decode_host(call->state, in, leaves, out))
            return -1;
    }
    return 0;
}

static int launch_encode(struct assay_call *call)
{
    return launch(call, PIPE_ENCODE);
}

static int launch_decode(struct assay_call *call)
{
    return launch(call, PIPE_DECODE);
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
