/*
 * cuda_trial.cu - see cuda_trial.h. A cold sample is flush, what comes before the work, event,
 * work, event: while the device reads the flush's memory, tens of microseconds, the host enqueues
 * the rest, so that the events do not time how fast it launches.
 */
#include "cuda_trial.h"

#include <math.h>
#include <string.h>

extern "C" {
#include "base/stats.h"
}
#include "kernels/cuda/device_memory.h"

enum {
    SAMPLES = 5,
    BLOCKS = 1024,
    THREADS = 256,
    ROUNDS = 9,
    ROUGH = 3, /* of them */
};
static const double CLOSE = 1.2, CLOSEST = 1.03; /* times the least, and */
static const double CLOSE_US = 1, CLOSEST_US = 0.1;

/* The memory holds zeros and `sink` is never written, which the compiler cannot know. */
__global__ void cuda_trial_flush(const uint4 *__restrict__ memory, size_t count, unsigned *sink)
{
    unsigned any = 0;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint4 v = memory[i];
        any |= v.x | v.y | v.z | v.w;
    }
    if (any) *sink = any;
}

static int open_flush(struct cuda_trial *trial)
{
    int device, l2_bytes;
    struct assay_call uncounted = {};
    if (assay_cuda(cudaGetDevice(&device), "the current device") ||
        assay_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device), "the L2"))
        return -1;
    trial->flush_bytes = 2 * (size_t)l2_bytes; /* as the harness does */
    int status =
        device_memory(&uncounted, &trial->flush, (int64_t)trial->flush_bytes, "flushing the L2");
    if (status) return status;
    return assay_cuda(
        cudaMemsetAsync(trial->flush, 0, trial->flush_bytes, (cudaStream_t)trial->stream),
        "the flush's memory");
}

int cuda_trial_open(struct cuda_trial *trial, const struct assay_call *call)
{
    memset(trial, 0, sizeof *trial);
    trial->stream = call->stream;
    /* What setups left on other streams, such as a counter that is set to zero. */
    if (assay_cuda(cudaDeviceSynchronize(), "setting up")) return -1;
    if (assay_cuda(cudaEventCreate(&trial->begin), "event") ||
        assay_cuda(cudaEventCreate(&trial->end), "event"))
        return -1;
    return call->temperature == ASSAY_COLD ? open_flush(trial) : 0;
}

void cuda_trial_close(struct cuda_trial *trial)
{
    if (trial->begin) cudaEventDestroy(trial->begin);
    if (trial->end) cudaEventDestroy(trial->end);
    cudaFree(trial->flush);
}

static int enqueue(const struct cuda_trial *trial, const struct cuda_work *work)
{
    return work ? work->enqueue(work->what, trial->stream) : 0;
}

static bool sample(const struct cuda_trial *trial, const struct cuda_work *work, float *ms)
{
    cudaStream_t stream = (cudaStream_t)trial->stream;
    cuda_trial_flush<<<BLOCKS, THREADS, 0, stream>>>(
        (const uint4 *)trial->flush, trial->flush_bytes / sizeof(uint4), (unsigned *)trial->flush);
    return !cudaGetLastError() && !enqueue(trial, trial->before) &&
           !cudaEventRecord(trial->begin, stream) && !enqueue(trial, work) &&
           !cudaEventRecord(trial->end, stream) && !cudaEventSynchronize(trial->end) &&
           !cudaEventElapsedTime(ms, trial->begin, trial->end);
}

static double cold_us(const struct cuda_trial *trial, const struct cuda_work *work)
{
    float ms;
    if (sample(trial, work, &ms)) return 1e3 * (double)ms;
    cudaGetLastError(); /* clears it, for the next candidate */
    return INFINITY;
}

double cuda_trial_us(const struct cuda_trial *trial, const struct cuda_work *work, double least_us)
{
    if (!trial->flush) return cuda_graph_time_us(work, trial->stream, least_us);
    double us[SAMPLES];
    (void)cold_us(trial, work); /* loads the kernel, which its time says nothing about */
    for (int i = 0; i < SAMPLES; i++) {
        us[i] = cold_us(trial, work);
        if (i == 1 && fmin(us[0], us[1]) > 1.5 * least_us) return INFINITY;
    }
    return stats_median(us, SAMPLES);
}

/* -------------------------------------------------------------- choice -- */

static bool is_close(const struct cuda_rival *rival, int round, double least_us)
{
    return rival->us <=
           (round < ROUGH ? CLOSE * least_us + CLOSE_US : CLOSEST * least_us + CLOSEST_US);
}

static void try_rival(const struct cuda_trial *trial, struct cuda_rival *rival, double least_us)
{
    const double us = cuda_trial_us(trial, &rival->work, least_us);
    rival->sum_us += rival->handicap > 0 ? rival->handicap * us : us;
    rival->us = rival->sum_us / ++rival->trials;
}

static int fastest_of(const struct cuda_trial *trial, struct cuda_rival *rivals, int count)
{
    double least_us = INFINITY;
    int fastest = -1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++) {
            if (round > 0 && !is_close(&rivals[i], round, least_us)) continue;
            try_rival(trial, &rivals[i], round == 0 ? least_us : INFINITY);
            if (round == 0 && rivals[i].us < least_us) least_us = rivals[i].us;
        }
        least_us = INFINITY;
        for (int i = 0; i < count; i++)
            if (rivals[i].us < least_us) least_us = rivals[i].us, fastest = i;
    }
    return fastest;
}

int cuda_trial_fastest(const struct assay_call *call, const struct cuda_work *before,
                       struct cuda_rival *rivals, int count, int *fastest)
{
    struct cuda_trial trial;
    int status = cuda_trial_open(&trial, call);
    trial.before = before;
    if (!status) *fastest = fastest_of(&trial, rivals, count);
    cuda_trial_close(&trial);
    if (status) return status;
    return *fastest >= 0 ? 0 : assay_error("none of the kernels ran");
}
