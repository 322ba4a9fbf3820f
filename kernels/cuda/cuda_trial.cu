/*
 * cuda_trial.cu - see cuda_trial.h. A cold sample is flush, what comes before the work, hold,
 * event, work, event, as the harness has them: while the device reads the flush's memory, tens of
 * microseconds, the host enqueues the rest, so that the events do not time how fast it launches.
 * Without the hold the slower of two kernels of 2 us was chosen in every other run at some shapes:
 * 36 x 1096 x 40 in bf16 took 2.43 us in place of 1.82 in eight of fifteen runs, and in none of
 * five with it. What the events time in addition then was not looked into.
 */
#include "cuda_trial.h"

#include <math.h>
#include <string.h>

extern "C" {
#include "base/stats.h"
}
#include "kernels/cuda/device_memory.h"

enum {
    BLOCKS = 1024,
    THREADS = 256,
    HOLD_NS = 4000,
    ROUGH = 3, /* of CUDA_TRIALS rounds */
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

/* The stream is busy until the device has fetched what follows. */
__global__ void cuda_trial_hold(void)
{
    uint64_t begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < (uint64_t)HOLD_NS);
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
    for (int i = 0; i < CUDA_TRIAL_BATCH; i++)
        if (assay_cuda(cudaEventCreate(&trial->begin[i]), "event") ||
            assay_cuda(cudaEventCreate(&trial->end[i]), "event"))
            return -1;
    return call->temperature == ASSAY_COLD ? open_flush(trial) : 0;
}

void cuda_trial_close(struct cuda_trial *trial)
{
    for (int i = 0; i < CUDA_TRIAL_BATCH; i++) {
        if (trial->begin[i]) cudaEventDestroy(trial->begin[i]);
        if (trial->end[i]) cudaEventDestroy(trial->end[i]);
    }
    cudaFree(trial->flush);
}

static int enqueue(const struct cuda_trial *trial, const struct cuda_work *work)
{
    return work ? work->enqueue(work->what, trial->stream) : 0;
}

static bool enqueue_sample(const struct cuda_trial *trial, const struct cuda_work *work, int i)
{
    cudaStream_t stream = (cudaStream_t)trial->stream;
    cuda_trial_flush<<<BLOCKS, THREADS, 0, stream>>>(
        (const uint4 *)trial->flush, trial->flush_bytes / sizeof(uint4), (unsigned *)trial->flush);
    if (cudaGetLastError() || enqueue(trial, trial->before)) return false;
    cuda_trial_hold<<<1, 1, 0, stream>>>();
    return !cudaGetLastError() && !cudaEventRecord(trial->begin[i], stream) &&
           !enqueue(trial, work) && !cudaEventRecord(trial->end[i], stream);
}

/* The times of a batch of samples; false, and no error is left, where the work cannot be launched.
 */
static bool cold_us(const struct cuda_trial *trial, const struct cuda_work *work,
                    double us[CUDA_TRIAL_BATCH])
{
    bool fine = true;
    for (int i = 0; fine && i < CUDA_TRIAL_BATCH; i++)
        fine = enqueue_sample(trial, work, i);
    fine = !cudaStreamSynchronize((cudaStream_t)trial->stream) && fine;
    for (int i = 0; fine && i < CUDA_TRIAL_BATCH; i++) {
        float ms;
        fine = !cudaEventElapsedTime(&ms, trial->begin[i], trial->end[i]);
        us[i] = 1e3 * (double)ms;
    }
    cudaGetLastError(); /* clears it, for the next candidate */
    return fine;
}

double cuda_trial_us(const struct cuda_trial *trial, const struct cuda_work *work, double least_us)
{
    if (!trial->flush) return cuda_graph_time_us(work, trial->stream, least_us);
    double us[2 * CUDA_TRIAL_BATCH];
    if (!cold_us(trial, work, us)) return INFINITY;
    /* The first sample loads the kernel, which its time says nothing about. */
    if (fmin(us[1], us[2]) > 1.5 * least_us) return INFINITY;
    if (!cold_us(trial, work, us + CUDA_TRIAL_BATCH)) return INFINITY;
    return stats_median(us + 1, 2 * CUDA_TRIAL_BATCH - 1);
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
    double sorted_us[CUDA_TRIALS];
    rival->trial_us[rival->trials++] = rival->handicap > 0 ? rival->handicap * us : us;
    memcpy(sorted_us, rival->trial_us, sizeof sorted_us);
    rival->us = stats_median(sorted_us, rival->trials);
}

static int fastest_of(const struct cuda_trial *trial, struct cuda_rival *rivals, int count)
{
    double least_us = INFINITY;
    int fastest = -1;
    for (int round = 0; round < CUDA_TRIALS; round++) {
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
