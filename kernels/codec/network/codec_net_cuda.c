/*
 * codec_net_cuda.c - makes a net (packs its weights on the host and copies them to one block of
 * device memory), encodes and decodes with it. See codec_net_cuda.h.
 */
#include "codec_net_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda_error.h"
#include "codec_net_fused.h"
#include "codec_pack.h"
#include "kernels/cuda/device_memory.h"

struct codec_net {
    void *memory;
    struct fused_encoder encoder;
    struct fused_decoder decoder;
    struct fused_outside outside;
    int processors; /* that blocks may be spread over in clusters; 1: the GPU has none */
    int side_by_side;
};

/* The layout of the device's memory as it is built up. If `host` is NULL, bytes are only counted.
 */
struct image {
    float *host, *device;
    size_t used; /* floats */
};

enum { ALIGNMENT = 64 }; /* floats */

/* Space for `count` floats: returns its address on the device, and in *host where to write them,
 * or NULL while counting. */
static const float *image_room(struct image *image, size_t count, float **host)
{
    const size_t at = image->used;
    image->used += (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *host = image->host ? image->host + at : NULL;
    return image->device ? image->device + at : NULL;
}

static const float *image_copy(struct image *image, const float *from, size_t count)
{
    float *host;
    const float *device = image_room(image, count, &host);
    if (host) memcpy(host, from, sizeof *host * count);
    return device;
}

static size_t conv_words(const struct codec_conv *conv)
{
    return (size_t)(conv->kernel * conv->kernel * conv->kernel) * (size_t)(conv->in * conv->out);
}

static struct fused_conv image_packed(struct image *image, const struct codec_conv *conv)
{
    float *host;
    struct fused_conv fused;
    fused.weight = image_room(image, conv_words(conv), &host);
    if (host) pack_conv(conv, host);
    fused.bias = image_copy(image, conv->bias, (size_t)conv->out);
    return fused;
}

static struct fused_conv image_plain(struct image *image, const struct codec_conv *conv)
{
    struct fused_conv fused;
    fused.weight = image_copy(image, conv->weight, conv_words(conv));
    fused.bias = image_copy(image, conv->bias, (size_t)conv->out);
    return fused;
}

static struct fused_norm image_norm(struct image *image, const struct codec_norm *norm,
                                    int channels)
{
    struct fused_norm fused;
    fused.gamma = image_copy(image, norm->gamma, (size_t)channels);
    fused.beta = image_copy(image, norm->beta, (size_t)channels);
    return fused;
}

static struct fused_residual image_residual(struct image *image, const struct codec_residual *block)
{
    struct fused_residual fused;
    for (int i = 0; i < 2; i++) {
        fused.norm[i] = image_norm(image, &block->norm[i], block->conv[i].in);
        fused.conv[i] = image_packed(image, &block->conv[i]);
    }
    return fused;
}

static struct fused_attention image_attention(struct image *image,
                                              const struct codec_attention *attention)
{
    struct fused_attention fused;
    fused.squeeze = image_plain(image, &attention->squeeze);
    fused.excite = image_plain(image, &attention->excite);
    return fused;
}

static void image_search(struct image *image, const struct codec_weights *weights,
                         struct fused_encoder *encoder)
{
    float *high, *low, *bias;
    encoder->search_high = image_room(image, (size_t)NET_DOWN * CODEWORDS, &high);
    encoder->search_low = image_room(image, (size_t)NET_DOWN * CODEWORDS, &low);
    encoder->search_bias = image_room(image, CODEWORDS, &bias);
    if (high) pack_search(weights, high, low, bias);
}

static void image_encoder(struct image *image, const struct codec_weights *weights,
                          struct fused_encoder *encoder)
{
    float *stem;
    encoder->stem.weight = image_room(image, (size_t)PACK_STEM_TAPS * NET_STEM, &stem);
    if (stem) pack_stem(&weights->stem, stem);
    encoder->stem.bias = image_copy(image, weights->stem.bias, NET_STEM);
    encoder->stem_norm = image_norm(image, &weights->stem_norm, NET_STEM);
    encoder->stem_residual = image_residual(image, &weights->stem_residual);
    encoder->down = image_packed(image, &weights->down);
    encoder->down_residual = image_residual(image, &weights->down_residual);
    encoder->attention = image_attention(image, &weights->down_attention);
    image_search(image, weights, encoder);
}

static void image_decoder(struct image *image, const struct codec_weights *weights,
                          struct fused_decoder *decoder)
{
    float *table;
    decoder->table = image_room(image, (size_t)27 * CODEWORDS * NET_WIDE, &table);
    if (table) pack_widen(weights, table);
    decoder->widen_bias = image_copy(image, weights->widen.bias, NET_WIDE);
    decoder->norm = image_norm(image, &weights->wide_norm, NET_WIDE);
    decoder->residual = image_residual(image, &weights->wide_residual);
    decoder->attention = image_attention(image, &weights->wide_attention);
    decoder->expand = image_packed(image, &weights->expand);
    decoder->last = image_plain(image, &weights->last);
}

/* Lays the net out and returns its bytes. */
static size_t image_net(struct image *image, const struct codec_weights *weights,
                        struct codec_net *net)
{
    image->used = 0;
    image_encoder(image, weights, &net->encoder);
    image_decoder(image, weights, &net->decoder);
    return image->used * sizeof(float);
}

static int net_fill(struct codec_net *net, const struct codec_weights *weights)
{
    struct image image = {0};
    const size_t bytes = image_net(&image, weights, net);
    image.host = calloc(1, bytes);
    if (!image.host) return assay_error("out of memory");
    int status = cuda_error(cudaMalloc(&net->memory, bytes), "the codec's weights");
    if (status == 0) {
        image.device = net->memory;
        image_net(&image, weights, net);
        status = device_upload(net->memory, image.host, bytes, "the codec's weights");
    }
    free(image.host);
    return status;
}

static int make_slots(struct fused_outside *outside, int slots)
{
    const size_t each = FUSED_SLOT_BYTES + sizeof *outside->taken;
    if (cuda_error(cudaMalloc(&outside->memory, (size_t)slots * each), "activations")) return -1;
    outside->taken = (unsigned *)((char *)outside->memory + (size_t)slots * FUSED_SLOT_BYTES);
    outside->slots = slots;
    return cuda_error(cudaMemset(outside->taken, 0, (size_t)slots * sizeof *outside->taken),
                      "activations");
}

static int64_t net_bytes(bool outside)
{
    const int64_t encode = fused_encode_shared_bytes(outside);
    const int64_t decode = fused_decode_shared_bytes(outside);
    return encode > decode ? encode : decode;
}

int64_t codec_net_shared_bytes(const struct assay_shape *shape)
{
    return net_bytes(true);
}

int codec_net_create(struct codec_net **net, const struct codec_weights *weights)
{
    *net = NULL;
    const struct assay_card *card = assay_card();
    const bool outside = card->shared_bytes < net_bytes(false);
    if (fused_prepare_encode_large(outside) || fused_prepare_encode_small() ||
        fused_prepare_decode(outside))
        return -1;
    struct codec_net *made = calloc(1, sizeof *made);
    if (!made) return assay_error("out of memory");
    made->side_by_side = 1;
    /* Clusters came with compute capability 9.0, and share what is in shared memory. */
    made->processors = card->sm >= 90 && !outside ? card->multiprocessors : 1;
    if (net_fill(made, weights) || (outside && make_slots(&made->outside, card->multiprocessors))) {
        codec_net_destroy(made);
        return -1;
    }
    *net = made;
    return 0;
}

void codec_net_destroy(struct codec_net *net)
{
    if (!net) return;
    cudaFree(net->memory);
    cudaFree(net->outside.memory);
    free(net);
}

void codec_net_side_by_side(struct codec_net *net, int calls)
{
    net->side_by_side = calls;
}

size_t codec_net_workspace_bytes(int64_t leaves)
{
    return (size_t)(leaves > 0 ? leaves : 1) * FUSED_LEAF_BYTES;
}

int codec_net_encode(struct codec_net *net, const float *leaves_dev, uint8_t *codes_dev,
                     int64_t leaves, void *workspace, cudaStream_t stream)
{
    if (leaves <= 0) return 0;
    if (fused_encode_large(&net->encoder, &net->outside, leaves_dev, workspace, leaves, stream))
        return -1;
    return fused_encode_small(&net->encoder, workspace, codes_dev, leaves, stream);
}

int codec_net_decode(struct codec_net *net, const uint8_t *codes_dev, float *leaves_dev,
                     int64_t leaves, cudaStream_t stream)
{
    if (leaves <= 0) return 0;
    return fused_decode(&net->decoder, &net->outside, codes_dev, leaves_dev, leaves,
                        net->processors / net->side_by_side, stream);
}
