/*
 * cuda_trial.h - times candidates in setup as the case will be timed: hot, repeated in a CUDA
 * graph; cold, one by one, the L2 read full of something else before each.
 */
#pragma once

#include "assay.h"
#include "kernels/cuda/cuda_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_trial {
    void *stream;
    void *flush; /* NULL: hot */
    size_t flush_bytes;
    cudaEvent_t begin, end;
};

/* On the call's stream, at the call's temperature. 0, -1 or ASSAY_SKIP; the trial may be closed
 * after a failure too. The memory is not counted in the call, for it is gone before a launch. */
int cuda_trial_open(struct cuda_trial *trial, const struct assay_call *call);
void cuda_trial_close(struct cuda_trial *trial);

/* Microseconds of `work`. INFINITY if it is refused, or if its first launches show that it takes
 * far longer than `least_us`. */
double cuda_trial_us(const struct cuda_trial *trial, const struct cuda_work *work, double least_us);

#ifdef __cplusplus
}
#endif
