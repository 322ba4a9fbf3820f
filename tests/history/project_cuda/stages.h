/* stages.h - the four stages of the variant `kernels`: a kernel each, for n floats; x and y apart.
 * Each returns a cudaError_t; `stream` is a cudaStream_t. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
int smooth(float *y, const float *x, int n, void *stream); /* mean of a value and its neighbours */
int scale(float *y, const float *x, int n, void *stream);  /* x 1.5 + 0.25 */
int clamp(float *y, const float *x, int n, void *stream);  /* to [-1, 1] */
int blend(float *y, const float *x, int n, void *stream);  /* y = 0.5 y + 0.5 x */
#ifdef __cplusplus
}
#endif

enum { THREADS = 256 };
