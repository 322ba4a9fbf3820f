/*
 * codec_batch_fused_cuda.c - the codec's network by its fused kernels: two for the encoder, one
 * for the decoder (codec_net_encode_*.cu and codec_net_decode.cu, which also say how many bytes and
 * operations a leaf takes).
 */
#include <stdlib.h>

#include "codec_batch.h"
#include "codec_net_cuda.h"
#include "codec_net_internal.h"
#include "kernels/cuda/device_memory.h"

struct fused {
    struct codec_net *net;
    void *workspace; /* the encoder's */
};

static int setup_net(struct assay_call *call)
{
    const struct codec_weights *weights = codec_weights_default();
    struct fused *fused = calloc(1, sizeof *fused);
    if (!fused || !weights) {
        free(fused);
        return assay_error("out of memory");
    }
    call->state = fused;
    return codec_net_create(&fused->net, weights);
}

static int setup_encode(struct assay_call *call)
{
    const size_t bytes = codec_net_workspace_bytes(call->shape->value[BATCH_LEAVES]);
    if (setup_net(call)) return -1;
    struct fused *fused = call->state;
    return device_memory(call, &fused->workspace, (int64_t)bytes,
                         "activations between the kernels");
}

static int launch_encode(struct assay_call *call)
{
    const struct fused *fused = call->state;
    return codec_net_encode(fused->net, call->buffer[ENCODE_LEAVES], call->buffer[ENCODE_CODES],
                            call->shape->value[BATCH_LEAVES], fused->workspace, call->stream);
}

static int launch_decode(struct assay_call *call)
{
    const struct fused *fused = call->state;
    return codec_net_decode(fused->net, call->buffer[DECODE_CODES], call->buffer[DECODE_LEAVES],
                            call->shape->value[BATCH_LEAVES], call->stream);
}

static void teardown(struct assay_call *call)
{
    struct fused *fused = call->state;
    if (!fused) return;
    codec_net_destroy(fused->net);
    cudaFree(fused->workspace);
    free(fused);
}

static const struct assay_variant encode_fused = {
    .operation = "codec_encode",
    .name = "fused",
    .summary = "two kernels: 8^3 and 4^3 in shared memory, tf32 tensor cores, search folded in",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = CODEC_NET_SM,
    .supports = batch_only_tf32,
    .shared_bytes = codec_net_shared_bytes,
    .setup = setup_encode,
    .launch = launch_encode,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(encode_fused);

static const struct assay_variant decode_fused = {
    .operation = "codec_decode",
    .name = "fused",
    .summary = "one kernel, four leaves per block in shared memory, tf32 tensor cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = CODEC_NET_SM,
    .supports = batch_only_tf32,
    .shared_bytes = codec_net_shared_bytes,
    .setup = setup_net,
    .launch = launch_decode,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(decode_fused);
