/*
 * cuda_trial.h - times candidates in setup as the case will be timed: hot, repeated in a CUDA
 * graph; cold, one by one, with L2 filled by reading other memory before each, and then by what
 * comes before the candidate in a launch.
 */
#pragma once

#include "assay.h"
#include "kernels/cuda/cuda_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_TRIAL_BATCH = 3 }; /* samples that are enqueued together */

struct cuda_trial {
    void *stream;
    void *flush; /* NULL: hot */
    size_t flush_bytes;
    const struct cuda_work *before; /* in a launch; NULL after cuda_trial_open: nothing */
    cudaEvent_t begin[CUDA_TRIAL_BATCH], end[CUDA_TRIAL_BATCH];
};

/* For the call's stream and temperature. 0, -1 or ASSAY_SKIP; the trial may be closed after a
 * failure too. Its memory is not counted in call->workspace_bytes: it is freed before any launch.
 */
int cuda_trial_open(struct cuda_trial *trial, const struct assay_call *call);
void cuda_trial_close(struct cuda_trial *trial);

/* Microseconds that `work` takes. INFINITY if it cannot be launched, or if single launches
 * show that it takes far longer than `least_us`, the least so far; not the first, which may load
 * the kernel. */
double cuda_trial_us(const struct cuda_trial *trial, const struct cuda_work *work, double least_us);

enum { CUDA_TRIALS = 9 };

/* One of those among which the fastest is searched. The caller fills the first two. */
struct cuda_rival {
    struct cuda_work work;
    double handicap; /* its times count as so many times what they are; 0: as 1 */
    double us;       /* the median of its trials */
    double trial_us[CUDA_TRIALS];
    int trials;
};

/* The index of the fastest, in *fastest; `before` is as in a trial. Every rival is timed once,
 * those close to the least again, those within 3 % of it CUDA_TRIALS times: a time of a few
 * microseconds differs by 2 % from one trial to the next, so the least of several would be that of
 * the luckiest, and the first trial may be half a microsecond too long. 0, -1 or ASSAY_SKIP. */
int cuda_trial_fastest(const struct assay_call *call, const struct cuda_work *before,
                       struct cuda_rival *rivals, int count, int *fastest);

#ifdef __cplusplus
}
#endif
