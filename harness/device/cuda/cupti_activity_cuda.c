/*
 * cupti_activity_cuda.c - decodes CUPTI's activity records.
 *
 * From one CUDA version to the next records only grow at the end, so the oldest struct
 * with the needed fields reads them all: CUpti_ActivityKernel4 is in the headers of CUDA 9
 * to 13. Its offsets are checked below against the newest struct that every CUDA 12 and 13
 * has.
 *
 * Each kernel of a graph has a normal record (graph-level records, which would replace
 * them, are not enabled); all have the correlation id of the call that launched the graph.
 */
#if __has_include(<cupti_activity.h>)

#include <cuda.h>

#include "device/cuda/cupti_activity_cuda.h"

#define SAME_PLACE(field)                                                                          \
    _Static_assert(offsetof(CUpti_ActivityKernel4, field) ==                                       \
                       offsetof(CUpti_ActivityKernel9, field),                                     \
                   "kernel records differ in " #field)
#if CUDA_VERSION >= 12000
SAME_PLACE(registersPerThread);
SAME_PLACE(start);
SAME_PLACE(end);
SAME_PLACE(deviceId);
SAME_PLACE(streamId);
SAME_PLACE(gridX);
SAME_PLACE(blockZ);
SAME_PLACE(staticSharedMemory);
SAME_PLACE(dynamicSharedMemory);
SAME_PLACE(localMemoryPerThread);
SAME_PLACE(correlationId);
SAME_PLACE(name);
#endif
#undef SAME_PLACE

static struct cupti_record read_kernel(const CUpti_ActivityKernel4 *activity,
                                       struct symbols *symbols)
{
    /* CUPTI's name may become invalid with its module; the copy stays. */
    const struct symbol *symbol = symbols_intern(symbols, activity->name ? activity->name : "");
    return (struct cupti_record){
        .kind = CUPTI_KERNEL,
        .start_ns = activity->start,
        .end_ns = activity->end,
        .correlation = activity->correlationId,
        .stream = activity->streamId,
        .device = (int32_t)activity->deviceId,
        .name = symbol ? symbol->name : "",
        .registers = activity->registersPerThread,
        .shared_bytes = activity->staticSharedMemory + activity->dynamicSharedMemory,
        .local_bytes = (int32_t)activity->localMemoryPerThread,
        .dynamic_shared_bytes = activity->dynamicSharedMemory,
        .grid = {activity->gridX, activity->gridY, activity->gridZ},
        .block = {activity->blockX, activity->blockY, activity->blockZ},
    };
}

/* Copies and sets have the same fields under different types. */
static struct cupti_record transfer(enum cupti_kind kind, uint64_t start, uint64_t end,
                                    uint32_t correlation, uint32_t stream)
{
    return (struct cupti_record){
        .kind = kind,
        .start_ns = start,
        .end_ns = end,
        .correlation = correlation,
        .stream = stream,
        .device = -1,
        .name = "",
        .registers = -1,
        .shared_bytes = -1,
        .local_bytes = -1,
        .dynamic_shared_bytes = -1,
        .grid = {-1, -1, -1},
        .block = {-1, -1, -1},
    };
}

bool activity_read(const CUpti_Activity *activity, struct symbols *symbols,
                   struct cupti_record *out)
{
    if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
        activity->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        *out = read_kernel((const CUpti_ActivityKernel4 *)activity, symbols);
        return true;
    }
    if (activity->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy *copy = (const CUpti_ActivityMemcpy *)activity;
        *out = transfer(CUPTI_COPY, copy->start, copy->end, copy->correlationId, copy->streamId);
        return true;
    }
    if (activity->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const CUpti_ActivityMemset *set = (const CUpti_ActivityMemset *)activity;
        *out = transfer(CUPTI_SET, set->start, set->end, set->correlationId, set->streamId);
        return true;
    }
    return false;
}

#endif
