/*
 * codec_net_host.c - the codec's network in fp32, one leaf per core; see codec_net.h.
 */
#pragma GCC optimize("O3")

typedef float real;

#include "codec_net_layers.h"

int codec_encode_host(const struct codec_weights *weights, const float *leaves, int64_t count,
                      uint8_t *codes)
{
    return layers_encode_all(weights, leaves, count, codes, NULL);
}

int codec_decode_host(const struct codec_weights *weights, const uint8_t *codes, int64_t count,
                      float *leaves)
{
    return layers_decode_all(weights, codes, count, leaves);
}
