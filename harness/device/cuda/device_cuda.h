/*
 * device_cuda.h - what the parts of the CUDA device share: device_cuda.c (the
 * card, its memory) and sampling_cuda.c (its clocks).
 */
#ifndef DEVICE_CUDA_H
#define DEVICE_CUDA_H

#include <cuda_runtime_api.h>

#include "device/device.h"

enum { MAX_BLOCK = 64 }; /* samples; the events made for them */

struct device {
    int index;
    bool cupti, nvml;
    bool recording;      /* CUPTI makes records now */
    bool flush_by_write; /* --flush write */
    struct cudaDeviceProp properties;
    cudaStream_t stream;
    cudaEvent_t before[MAX_BLOCK], after[MAX_BLOCK];
    void *flush;
    size_t flush_bytes;
    uint64_t *sum; /* for checksums; on the device */
    float *hard;   /* for fills; on the device */
    double event_floor_ns, kernel_floor_ns;
    double worked_s; /* when the GPU last did long work */
    int launches;    /* of the variant, in the block under way */
    char lost[4 * ASSAY_MAX_REASON];
};

/* 0, or the CUDA error's words as an assay_error. */
static inline int cuda_check(cudaError_t error, const char *what)
{
    return error == cudaSuccess ? 0 : assay_error("%s: %s", what, cudaGetErrorString(error));
}

/* Wait for the GPU; errors of earlier launches come out here. */
static inline int cuda_synchronize(struct device *device)
{
    (void)device;
    if (cuda_check(cudaDeviceSynchronize(), "the GPU") < 0) return -1;
    return cuda_check(cudaGetLastError(), "the GPU");
}

/* Push everything else out of L2, as the options say. Only enqueues. */
int cuda_flush(struct device *device);

/* Record or not, and start from an empty list, so that marks can be counted. */
int cuda_record(struct device *device, bool on);

/* The clocks' entries in the table of the device; see device.h. */
int cuda_warm_up(struct device *device);
int cuda_sample(struct device *device, const struct block *block, struct block_sample *out,
                struct block_totals *totals, struct code_seen *code);
int cuda_energy(struct device *device, const struct block *block, double ns, int *launches,
                double *energy_mj);

/* profile_cuda.c */
int cuda_profile(struct device *device, const struct block *block, struct profile *profile);

/* Whether cuda_profile could read a counter here; -1 with assay_error: why not. */
int cuda_try_counters(struct device *device);

/* The empty kernel by both clocks. Where CUPTI opened and yet gives no records,
 * its use ends here: *deaf is set. */
int cuda_measure_floors(struct device *device, bool *deaf);

#endif
