/*
 * codec_batch_unfused_cuda.c - the codec's network with one kernel per layer: the convolution of
 * the shape's type, direct in fp32 or on tf32 tensor cores, and `best` of the norm, the attention,
 * the shuffle and the search, which is fp32 as in the fused network. Activations go to memory and
 * back between layers. The fused kernels are compared with it.
 *
 * Bytes per leaf: each layer reads and writes its activations, up to 64 KiB: about 0.6 MB to
 * encode and 0.7 MB to decode. Operations: those of the network.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/codec/layers/channel_attention.h"
#include "codec_batch.h"
#include "codec_net_internal.h"
#include "kernels/cuda/device_memory.h"
#include "codec_unfused.h"
#include "kernels/codec/layers/conv3d.h"
#include "kernels/codec/layers/group_norm.h"
#include "kernels/codec/layers/pixel_shuffle.h"
#include "kernels/codec/layers/sigmoid.h"
#include "kernels/codec/search/vq_search.h"

/* Numbers of a leaf's largest layer; memory holds three such layers. */
enum { MOST = NET_SHUFFLED * LEAF_VOXELS, LAYERS = 3, SMALL = LEAF_EDGE / 2 };

struct unfused {
    const struct codec_weights
        *weights;   /* pointers into the host's `storage`; at() gives the device's address */
    float *storage; /* the same on the device */
    float *layers, *layer[LAYERS]; /* one piece: x, and two between */
    int64_t leaves;
    bool tf32; /* convolutions */
    void *stream;
};

static int setup(struct assay_call *call)
{
    const int64_t leaves = call->shape->value[BATCH_LEAVES];
    struct unfused *net = calloc(1, sizeof *net);
    if (!net) return assay_error("out of memory");
    call->state = net;
    net->weights = codec_weights_default();
    if (!net->weights) return -1;
    net->leaves = leaves;
    net->tf32 = call->shape->value[BATCH_TYPE] == BATCH_TF32;
    net->stream = call->stream;
    const size_t weight_bytes = sizeof(float) * net->weights->count;
    if (vq_search_prepare(SEARCH_FP32)) return -1;
    if (cuda_error(cudaMalloc((void **)&net->storage, weight_bytes), "weights")) return -1;
    if (device_upload(net->storage, net->weights->storage, weight_bytes, "weights")) return -1;
    const int64_t bytes = (int64_t)sizeof(float) * MOST * leaves;
    int status = device_memory(call, (void **)&net->layers, LAYERS * bytes, "layers");
    if (status) return status;
    for (int i = 0; i < LAYERS; i++)
        net->layer[i] = net->layers + i * MOST * leaves;
    return 0;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return vq_search_shared_bytes();
}

static void teardown(struct assay_call *call)
{
    struct unfused *net = call->state;
    if (!net) return;
    cudaFree(net->layers);
    cudaFree(net->storage);
    free(net);
}

/* The device's address of a weight, given the host's. */
static const float *at(const struct unfused *net, const float *host)
{
    return net->storage + (host - net->weights->storage);
}

static int conv(const struct unfused *net, const struct codec_conv *conv, int side, int stride,
                const float *x, float *y)
{
    const struct conv_job job =
        conv_job_of(net->leaves, conv->in, conv->out, side, conv->kernel, stride);
    return (net->tf32 ? conv3d_tf32_enqueue : conv3d_direct_enqueue)(
        &job, x, at(net, conv->weight), at(net, conv->bias), y, net->stream);
}

static int norm(const struct unfused *net, const struct codec_norm *norm, int channels, int side,
                const float *x, float *y)
{
    const struct assay_shape shape = {
        NULL, {net->leaves, channels, (int64_t)side * side * side, norm->groups}};
    const struct norm_job job = norm_job(&shape);
    return group_norm_relu_enqueue(&job, x, at(net, norm->gamma), at(net, norm->beta), y,
                                   net->stream);
}

static int attention(const struct unfused *net, const struct codec_attention *block, float *x)
{
    const struct attention_job job = {.leaves = net->leaves,
                                      .channels = block->squeeze.in,
                                      .hidden = block->squeeze.out,
                                      .voxels = LEAF_VECTORS,
                                      .x = x,
                                      .s = at(net, block->squeeze.weight),
                                      .s_bias = at(net, block->squeeze.bias),
                                      .e = at(net, block->excite.weight),
                                      .e_bias = at(net, block->excite.bias),
                                      .y = x};
    return channel_attention_enqueue(&job, net->stream);
}

/* In place on activations 0; 1 and 2 hold what is between. */
static int residual(const struct unfused *net, const struct codec_residual *block, int side)
{
    float *x = net->layer[0], *a = net->layer[1], *b = net->layer[2];
    const int channels = block->conv[0].in;
    if (norm(net, &block->norm[0], channels, side, x, a)) return -1;
    if (conv(net, &block->conv[0], side, 1, a, b)) return -1;
    if (norm(net, &block->norm[1], channels, side, b, a)) return -1;
    if (conv(net, &block->conv[1], side, 1, a, b)) return -1;
    return unfused_add(x, b, NET_RESIDUAL_SCALE, net->leaves * channels * side * side * side,
                       net->stream);
}

static int launch_encode(struct assay_call *call)
{
    const struct unfused *net = call->state;
    const struct codec_weights *w = net->weights;
    float *x = net->layer[0], *a = net->layer[1], *b = net->layer[2];
    if (conv(net, &w->stem, LEAF_EDGE, 1, call->buffer[ENCODE_LEAVES], a)) return -1;
    if (norm(net, &w->stem_norm, NET_STEM, LEAF_EDGE, a, x)) return -1;
    if (residual(net, &w->stem_residual, LEAF_EDGE)) return -1;
    if (conv(net, &w->down, LEAF_EDGE, 2, x, a)) return -1;
    if (cuda_error(cudaMemcpyAsync(x, a, sizeof *x * NET_DOWN * LEAF_VECTORS * (size_t)net->leaves,
                                   cudaMemcpyDeviceToDevice, call->stream),
                   "copy"))
        return -1;
    if (residual(net, &w->down_residual, SMALL)) return -1;
    if (attention(net, &w->down_attention, x)) return -1;
    if (conv(net, &w->project, SMALL, 1, x, a)) return -1;
    if (unfused_vectors(a, b, net->leaves, call->stream)) return -1;
    return vq_search_enqueue(b, at(net, w->codebook), call->buffer[ENCODE_CODES], net->leaves,
                             SEARCH_FP32, call->stream);
}

static int launch_decode(struct assay_call *call)
{
    const struct unfused *net = call->state;
    const struct codec_weights *w = net->weights;
    const struct shuffle_job shuffle = shuffle_job_of(net->leaves, NET_SHUFFLED, SMALL);
    float *x = net->layer[0], *a = net->layer[1], *b = net->layer[2];
    float *leaves = call->buffer[DECODE_LEAVES];
    if (unfused_codewords(call->buffer[DECODE_CODES], at(net, w->codebook), a, net->leaves,
                          call->stream))
        return -1;
    if (conv(net, &w->widen, SMALL, 1, a, b)) return -1;
    if (norm(net, &w->wide_norm, NET_WIDE, SMALL, b, x)) return -1;
    if (residual(net, &w->wide_residual, SMALL)) return -1;
    if (attention(net, &w->wide_attention, x)) return -1;
    if (conv(net, &w->expand, SMALL, 1, x, a)) return -1;
    if (pixel_shuffle_enqueue(&shuffle, a, b, call->stream)) return -1;
    if (conv(net, &w->last, LEAF_EDGE, 1, b, leaves)) return -1;
    return sigmoid_enqueue(leaves, leaves, net->leaves * LEAF_VOXELS, call->stream);
}

static const struct assay_variant encode_unfused = {
    .operation = "codec_encode",
    .name = "unfused",
    .summary = "one kernel per layer, activations in memory",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch_encode,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(encode_unfused);

static const struct assay_variant decode_unfused = {
    .operation = "codec_decode",
    .name = "unfused",
    .summary = "one kernel per layer, activations in memory",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch_decode,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(decode_unfused);
