/* codec_net_reference.c - the codec's network in double, see codec_net.h. */
#pragma GCC optimize("O3")

typedef double real;

#include "codec_net_internal.h"
#include "codec_net_layers.h"

int codec_encode_reference(const struct codec_weights *weights, const float *leaves, int64_t count,
                           uint8_t *codes, double *margin)
{
    return layers_encode_all(weights, leaves, count, codes, margin);
}

int codec_decode_reference(const struct codec_weights *weights, const uint8_t *codes, int64_t count,
                           double *leaves)
{
    return layers_decode_all(weights, codes, count, leaves);
}

int codec_vectors_reference(const struct codec_weights *weights, const float *leaf, double *z)
{
    struct layers *work = malloc(sizeof *work);
    if (!work) return assay_error("out of memory");
    memcpy(z, layers_encode(weights, leaf, work), sizeof *z * LEAF_VECTORS * CODEWORD_LENGTH);
    free(work);
    return 0;
}
