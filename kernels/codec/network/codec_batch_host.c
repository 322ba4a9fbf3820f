/* codec_batch_host.c - the codec's network on the host: one leaf per core, in fp32. */
#include "codec_batch.h"
#include "codec_net_internal.h"

static int launch_encode(struct assay_call *call)
{
    const struct codec_weights *weights = codec_weights_default();
    if (!weights) return -1;
    return codec_encode_host(weights, call->buffer[ENCODE_LEAVES], call->shape->value[BATCH_LEAVES],
                             call->buffer[ENCODE_CODES]);
}

static int launch_decode(struct assay_call *call)
{
    const struct codec_weights *weights = codec_weights_default();
    if (!weights) return -1;
    return codec_decode_host(weights, call->buffer[DECODE_CODES], call->shape->value[BATCH_LEAVES],
                             call->buffer[DECODE_LEAVES]);
}

/* So that the weights are made before anything is timed. */
static int setup(struct assay_call *call)
{
    return codec_weights_default() ? 0 : -1;
}

static const struct assay_variant encode_omp = {
    .operation = "codec_encode",
    .name = "host_omp",
    .summary = "one leaf per core, sixteen channels of four voxels in vector units",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = batch_only_fp32,
    .setup = setup,
    .launch = launch_encode,
};
ASSAY_REGISTER_VARIANT(encode_omp);

static const struct assay_variant decode_omp = {
    .operation = "codec_decode",
    .name = "host_omp",
    .summary = "one leaf per core, sixteen channels of four voxels in vector units",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = batch_only_fp32,
    .setup = setup,
    .launch = launch_decode,
};
ASSAY_REGISTER_VARIANT(decode_omp);
