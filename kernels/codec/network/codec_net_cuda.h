/*
 * codec_net_cuda.h - the codec's network (codec_net.h) on a GPU.
 *
 * A net holds the weights on the device that was current when it was made. Encode and
 * decode only enqueue: they allocate nothing, may be captured in a graph, and may run
 * concurrently on several streams as long as each encoder has its own workspace. All
 * pointers are to device memory, aligned to 256 bytes. Products of convolutions are of
 * tf32 operands with fp32 sums, all else is fp32.
 */
#pragma once

#include <cuda_runtime_api.h>

#include "codec_net.h"

#ifdef __cplusplus
extern "C" {
#endif

struct codec_net;

/* Shared memory that a block needs at least, for a variant's shared_bytes, and compute capability
 * x 10 for its min_sm. */
int64_t codec_net_shared_bytes(const struct assay_shape *shape);
enum { CODEC_NET_SM = 80 };

/* 0, or -1 with assay_error and *net NULL. The weights may be released afterwards. */
int codec_net_create(struct codec_net **net, const struct codec_weights *weights);

/* Accepts NULL. No call that uses the net may still be running. */
void codec_net_destroy(struct codec_net *net);

/* How many calls will run at the same time; 1 unless set. Where leaves are few, a call spreads them
 * over its share of the GPU: one call alone then takes the least time, and several side by side
 * reach the most throughput. */
void codec_net_side_by_side(struct codec_net *net, int calls);

/* The bytes of workspace needed to encode so many leaves; decoding needs none. */
size_t codec_net_workspace_bytes(int64_t leaves);

/* leaves_dev [leaves][512], codes_dev [leaves][64]; `leaves` may be 0. */
int codec_net_encode(struct codec_net *net, const float *leaves_dev, uint8_t *codes_dev,
                     int64_t leaves, void *workspace, cudaStream_t stream);
int codec_net_decode(struct codec_net *net, const uint8_t *codes_dev, float *leaves_dev,
                     int64_t leaves, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
