/*
 * sampling_cuda.c - the clocks of the CUDA device. One sample is
 *
 *     [flush L2]  [hold]  event  LAUNCH  event
 *
 * all enqueued while `hold` occupies the stream, so that the launch never waits for the
 * host. Kernel timestamps (CUPTI) and event pairs measure the same launches; once per
 * block the host clock measures one more launch, without recording.
 */
#include <math.h>

#include "base/clock.h"
#include "base/stats.h"
#include "device/cuda/cupti.h"
#include "device/cuda/device_cuda.h"
#include "device/cuda/device_kernels.h"
#include "device/cuda/spans.h"
#include "device/nvml.h"
#include "device/nvtx.h"

enum {
    FLOOR_SAMPLES = 50,  /* of the empty kernel, when a device opens */
    WARM_SLICE_MS = 10,  /* between looks at the SM clock */
    WARM_LIMIT_MS = 400, /* longest warm-up, even if the clock is not steady */
};

int cuda_flush(struct device *device)
{
    if (device->flush_by_write)
        return kernel_flush_write(device->stream, device->flush, device->flush_bytes);
    return kernel_flush_read(device->stream, device->flush, device->flush_bytes, device->sum);
}

/* Whether a variant has set L2 lines aside for persisting accesses, which no flush evicts. */
static void ask_persisting(struct device *device)
{
    size_t bytes = 0;
    cudaError_t error = cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize);
    if (error != cudaSuccess) cudaGetLastError(); /* a GPU that has none */
    device->persists = error == cudaSuccess && bytes > 0;
}

/* Evict everything from L2 before a cold sample. Persisting lines become normal ones when the
 * call returns, so the launch before must have ended. */
static int make_cold(struct device *device)
{
    if (!device->persists) return cuda_flush(device);
    cudaStreamAttrValue none = {.accessPolicyWindow = {.num_bytes = 0}};
    if (cuda_synchronize(device) < 0) return -1;
    if (cuda_check(
            cudaStreamSetAttribute(device->stream, cudaStreamAttributeAccessPolicyWindow, &none),
            "clearing the access policy window") < 0 ||
        cuda_check(cudaCtxResetPersistingL2Cache(), "resetting persisting lines of L2") < 0)
        return -1;
    return cuda_flush(device);
}

/* Until two readings of the SM clock agree. A GPU that was busy a moment ago is already warm. */
int cuda_warm_up(struct device *device)
{
    double start = clock_s(), last_mhz = 0;
    if (start - device->worked_s < 0.05) return 0;
    while (clock_s() - start < WARM_LIMIT_MS * 1e-3) {
        double slice = clock_s();
        while (clock_s() - slice < WARM_SLICE_MS * 1e-3) {
            for (int i = 0; i < 16; i++)
                if (cuda_flush(device) < 0) return -1;
            if (cuda_check(cudaStreamSynchronize(device->stream), "warming up") < 0) return -1;
        }
        struct device_state state;
        nvml_state(&state);
        bool steady = fabs(state.sm_mhz - last_mhz) <= 0.01 * last_mhz;
        bool blind = isnan(state.sm_mhz) && clock_s() - start > 0.1;
        if (steady || blind) break;
        last_mhz = state.sm_mhz;
    }
    device->worked_s = clock_s();
    return 0;
}

static int launch(struct device *device, struct block_turn turn)
{
    device->launches++;
    return turn.variant->launch(turn.call);
}

/* The launch before the samples of a hot block. */
static int warm(struct device *device, const struct block *block)
{
    bool warmed = block->temperature == ASSAY_HOT && !block->no_warm_up;
    return warmed ? launch(device, (struct block_turn){block->variant, block->call}) : 0;
}

static int enqueue(struct device *device, const struct block *block, int i)
{
    if (block->temperature == ASSAY_COLD && make_cold(device) < 0) return -1;
    if (kernel_hold(device->stream, block->hold_ns) < 0) return -1;
    if (cuda_check(cudaEventRecord(device->before[i], device->stream), "recording an event") < 0)
        return -1;
    struct block_turn turn = block_turn_of(block, i);
    nvtx_push(NVTX_LAUNCH, turn.variant->name);
    int status = launch(device, turn);
    nvtx_pop();
    if (status < 0) return -1;
    return cuda_check(cudaEventRecord(device->after[i], device->stream), "recording an event");
}

/* Measure one launch by the host clock, from the call to the completed synchronisation. */
static int wall_sample(struct device *device, const struct block *block, struct block_turn turn,
                       double *wall_ns)
{
    if (block->temperature == ASSAY_COLD && make_cold(device) < 0) return -1;
    if (kernel_hold(device->stream, 0) < 0) return -1;
    if (cuda_synchronize(device) < 0) return -1;
    double start = clock_ns();
    if (launch(device, turn) < 0) return -1;
    if (cuda_synchronize(device) < 0) return -1;
    *wall_ns = clock_ns() - start;
    return 0;
}

/* ------------------------------------------------------------- recording -- */

static int read_events(struct device *device, int count, double *event_ns)
{
    for (int i = 0; i < count; i++) {
        float ms = 0;
        if (cuda_check(cudaEventElapsedTime(&ms, device->before[i], device->after[i]),
                       "reading an event pair") < 0)
            return -1;
        event_ns[i] = 1e6 * (double)ms;
    }
    return 0;
}

int cuda_record(struct device *device, bool on)
{
    const struct cupti_record *records;
    int count, lost;
    if (!device->cupti) return 0;
    if (device->recording != on && cupti_record(on) < 0) return -1;
    device->recording = on;
    return on ? cupti_collect(&records, &count, &lost) : 0;
}

static int run_block(struct device *device, const struct block *block, double *event_ns)
{
    if (cuda_synchronize(device) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        if (enqueue(device, block, i) < 0) return -1;
    if (cuda_synchronize(device) < 0) return -1;
    return read_events(device, block->count, event_ns);
}

static int deal_records(int count, struct block_sample *out, struct code_seen *code)
{
    const struct cupti_record *records;
    int record_count, lost;
    if (cupti_collect(&records, &record_count, &lost) < 0) return -1;
    spans_deal(records, record_count, lost, out, count, code, cupti_code_hash);
    return 0;
}

/* Recording adds a quarter of a microsecond to each node of a graph, which lengthens the
 * span of many nodes. So the event pairs are measured again without recording; if the span
 * proves to be stretched, the time is that of the pair less the pair's overhead. */
static int unstretch(struct device *device, const struct block *block, struct block_sample *out,
                     double *event_ns, struct code_seen *code)
{
    double overhead_ns = device->event_floor_ns - device->kernel_floor_ns;
    if (cuda_record(device, false) < 0 || run_block(device, block, event_ns) < 0) return -1;
    code->stretched = spans_stretched(out, event_ns, block->count, code->kernels, overhead_ns);
    for (int i = 0; code->stretched && i < block->count; i++)
        out[i].time_ns = event_ns[i] - overhead_ns;
    return 0;
}

/* Of variants in turns `code` is nobody's: their code was learned in blocks of each. */
static int sample_device_clock(struct device *device, const struct block *block,
                               struct block_sample *out, struct code_seen *code)
{
    double event_ns[MAX_BLOCK], overhead_ns = device->event_floor_ns - device->kernel_floor_ns;
    bool by_records = device->cupti && !block->by_pairs;
    double less_ns = device->cupti && block->by_pairs ? overhead_ns : 0;
    if (warm(device, block) < 0 || cuda_synchronize(device) < 0) return -1;
    if (cuda_record(device, by_records) < 0 || run_block(device, block, event_ns) < 0) return -1;
    for (int i = 0; i < block->count; i++)
        out[i] = (struct block_sample){.time_ns = event_ns[i] - less_ns, .busy_ns = NAN};
    if (by_records && deal_records(block->count, out, code) < 0) return -1;
    if (!block->turn && code->kernels > 1 && unstretch(device, block, out, event_ns, code) < 0)
        return -1;
    for (int i = 0; i < block->count; i++)
        out[i].event_ns = event_ns[i];
    return 0;
}

/* To learn the code of a variant that blocks the host, whose timed launches are not recorded. */
static int see_once(struct device *device, const struct block *block, struct code_seen *code)
{
    struct block_sample unused[1];
    double wall_ns;
    if (!device->cupti || code->kernels > 0) return 0;
    struct block_turn turn = {block->variant, block->call};
    if (cuda_record(device, true) < 0 || wall_sample(device, block, turn, &wall_ns) < 0) return -1;
    return deal_records(1, unused, code);
}

static int sample_wall_clock(struct device *device, const struct block *block,
                             struct block_sample *out, struct code_seen *code)
{
    if (see_once(device, block, code) < 0) return -1;
    if (warm(device, block) < 0) return -1;
    if (cuda_synchronize(device) < 0 || cuda_record(device, false) < 0) return -1;
    for (int i = 0; i < block->count; i++) {
        out[i] = (struct block_sample){.busy_ns = NAN, .event_ns = NAN};
        if (wall_sample(device, block, block_turn_of(block, i), &out[i].time_ns) < 0) return -1;
    }
    return 0;
}

int cuda_sample(struct device *device, const struct block *block, struct block_sample *out,
                struct block_totals *totals, struct code_seen *code)
{
    if (block->count > MAX_BLOCK) return assay_error("a block of %d samples", block->count);
    if (!block->turn && code->kernels <= 0) code_seen_clear(code);
    *totals = (struct block_totals){.wall_ns = NAN};
    device->launches = 0;
    ask_persisting(device);
    int status;
    if (block->variant->clock == ASSAY_CLOCK_WALL) {
        status = sample_wall_clock(device, block, out, code);
        if (!block->turn) totals->wall_ns = out[block->count - 1].time_ns;
    } else if (block->turn) {
        struct code_seen unused;
        status = sample_device_clock(device, block, out, &unused);
    } else {
        status = sample_device_clock(device, block, out, code);
        if (status == 0) status = cuda_record(device, false);
        struct block_turn turn = {block->variant, block->call};
        if (status == 0) status = wall_sample(device, block, turn, &totals->wall_ns);
    }
    totals->launches = device->launches;
    device->worked_s = clock_s();
    return status;
}

/* ---------------------------------------------------------------- floors -- */

static int launch_empty(struct assay_call *call)
{
    return kernel_empty(call->stream);
}

/* By event pair: the overhead in every event time. By CUPTI: the least time of a kernel. */
int cuda_measure_floors(struct device *device, bool *no_records)
{
    static const struct assay_variant empty = {
        .name = "empty", .place = ASSAY_CUDA, .launch = launch_empty};
    struct assay_call call = {.stream = device->stream};
    struct block block = {.variant = &empty,
                          .call = &call,
                          .temperature = ASSAY_HOT,
                          .count = FLOOR_SAMPLES,
                          .hold_ns = 30000};
    struct block_sample samples[FLOOR_SAMPLES];
    struct code_seen code = {0};
    struct block_totals totals;
    double events[FLOOR_SAMPLES], kernels[FLOOR_SAMPLES];
    int event_count = 0, kernel_count = 0;
    for (int warm = 0; warm < 2; warm++)
        if (cuda_sample(device, &block, samples, &totals, &code) < 0) return -1;
    for (int i = 0; i < FLOOR_SAMPLES; i++) {
        events[event_count++] = samples[i].event_ns;
        if (device->cupti && samples[i].mark == 0) kernels[kernel_count++] = samples[i].time_ns;
    }
    device->event_floor_ns = stats_median(events, event_count);
    device->kernel_floor_ns = stats_median(kernels, kernel_count);
    *no_records = device->cupti && kernel_count == 0;
    return 0;
}
