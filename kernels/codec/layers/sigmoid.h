/* sigmoid.h - the dims and buffers of the operation `sigmoid`, and its kernel for others. */
#pragma once

#include "kernels/codec/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sigmoid_dim { SIGMOID_LEAVES };
enum sigmoid_buffer { SIGMOID_X, SIGMOID_Y };

/* Enqueue on `stream`, a cudaStream_t; y may be x. `count` is a multiple of 4. */
int sigmoid_enqueue(const float *x, float *y, int64_t count, void *stream);

#ifdef __cplusplus
}
#endif
