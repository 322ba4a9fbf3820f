/*
 * device_cuda.h - shared by the parts of the CUDA device: device_cuda.c (the card and its
 * memory), sampling_cuda.c (its clocks) and profile_cuda.c (its profiles).
 */
#pragma once

#include <cuda_runtime_api.h>

#include "case/card.h"
#include "device/device.h"

enum {
    MAX_BLOCK = 64,     /* samples per block, and event pairs allocated */
    FOUND_BYTES = 8192, /* of device->found */
};

struct device {
    struct card_spec spec;
    int peers;              /* GPUs that this process sees */
    struct assay_card card; /* what it shows, within the limits of `spec` */
    bool cupti, nvml;
    bool recording;      /* CUPTI is recording now */
    bool flush_by_write; /* --flush write */
    bool persists;       /* a variant has set L2 lines aside for persisting accesses */
    struct cudaDeviceProp properties;
    cudaStream_t stream;
    cudaEvent_t before[MAX_BLOCK], after[MAX_BLOCK];
    void *flush;
    size_t flush_bytes;
    uint64_t *sum; /* for checksums; on the device */
    float *hard;   /* for fills; on the device */
    void *found;   /* what the checks of whole outputs find; on the device */
    double event_floor_ns, kernel_floor_ns;
    double worked_s;            /* when the GPU was last busy for some time */
    int launches;               /* launches of the variant in the current block */
    struct launch_trace *trace; /* launch_trace.h; NULL: nothing is traced */
    char lost[4 * ASSAY_MAX_REASON];
};

/* 0, or -1 with assay_error("WHAT: the CUDA error's text"). */
static inline int cuda_check(cudaError_t error, const char *what)
{
    return error == cudaSuccess ? 0 : assay_error("%s: %s", what, cudaGetErrorString(error));
}

/* Wait for the GPU; reports errors of earlier launches. */
static inline int cuda_synchronize(struct device *device)
{
    (void)device;
    if (cuda_check(cudaDeviceSynchronize(), "the GPU") < 0) return -1;
    return cuda_check(cudaGetLastError(), "the GPU");
}

/* Copy and wait. */
static inline int cuda_move(struct device *device, void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind)
{
    if (cuda_check(cudaMemcpyAsync(to, from, bytes, kind, device->stream), "copying") < 0)
        return -1;
    return cuda_check(cudaStreamSynchronize(device->stream), "copying");
}

/* Evict everything else from L2, by the method the options chose. Only enqueues. */
int cuda_flush(struct device *device);

/* Switch recording on or off. On discards earlier records, so that marks can be counted. */
int cuda_record(struct device *device, bool on);

/* Members of struct device_ops; see device.h. */
int cuda_warm_up(struct device *device);
int cuda_sample(struct device *device, const struct block *block, struct block_sample *out,
                struct block_totals *totals, struct code_seen *code);
int cuda_energy(struct device *device, const struct block *block, double ns, int *launches,
                double *energy_mj);

int cuda_profile(struct device *device, const struct block *block, struct profile *profile);
int cuda_trace(struct device *device, enum trace_step step, const struct assay_variant *variant,
               struct fingerprint *print);

/* Watch what the process has the GPU do. Before CUPTI is opened. -1 with assay_error. */
int cuda_trace_open(struct device *device);
void cuda_trace_close(struct device *device);

/* 0 if cuda_profile can read counters on this machine, -1 with assay_error if not. */
int cuda_try_counters(struct device *device);

/* Measure the empty kernel by both clocks. *no_records: CUPTI opened but delivers none. */
int cuda_measure_floors(struct device *device, bool *no_records);
