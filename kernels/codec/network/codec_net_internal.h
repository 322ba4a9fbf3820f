/* codec_net_internal.h - what the parts of the network's host side share. */
#pragma once

#include "codec_net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The encoder's vectors z [LEAF_VECTORS][CODEWORD_LENGTH] of one leaf, before the search. */
int codec_vectors_reference(const struct codec_weights *weights, const float *leaf, double *z);

/* The weights that the operations use: made on the first call and never freed. NULL with
 * assay_error if out of memory. */
const struct codec_weights *codec_weights_default(void);

#ifdef __cplusplus
}
#endif
