/* batch_weights.c - the one set of weights of the batch operations; see batch.h. */
#include <pthread.h>

#include "batch.h"
#include "codec_net.h"

/* References are called from several threads and are given no state, and a megabyte of
 * noise is not worth making for every element. Kept until the process ends. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct codec_weights *weights;

static void make(void)
{
    weights = codec_weights_make(BATCH_WEIGHTS_SEED);
}

const struct codec_weights *batch_weights(void)
{
    if (pthread_once(&once, make) || !weights) assay_error("no memory for the codec's weights");
    return weights;
}
