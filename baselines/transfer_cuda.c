/*
 * transfer_cuda.c - `transfer` by cudaMemcpyAsync, with the host's side in each kind of memory.
 *
 *   pageable        ordinary memory: the driver copies it to staging memory, and the call blocks
 *   pinned          page-locked, allocated once; asynchronous
 *   pinned_wall     the same, timed by the host's clock as `pageable` has to be
 *   write_combined  page-locked and not cached: the host's writes bypass its caches, and its reads
 *                   are very slow (no launch reads it)
 *
 * For both directions at once, the copy to the host runs on a second stream. It forks from the
 * stream of the launch and joins it again, so the launch ends when both copies have ended.
 *
 * Bytes: `bytes` per direction over the link. Operations: none.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/codec/pipeline/transfer.h"

enum kind { KIND_PAGEABLE, KIND_PINNED, KIND_WRITE_COMBINED };

struct route {
    enum kind kind;
    uint8_t *up, *down; /* host memory; NULL where the direction has none */
    cudaStream_t side;
    cudaEvent_t fork, join;
};

/* ---------------------------------------------------------------- memory -- */

static int host_alloc(enum kind kind, size_t bytes, uint8_t **out)
{
    unsigned flags = kind == KIND_PINNED ? cudaHostAllocDefault : cudaHostAllocWriteCombined;
    if (kind != KIND_PAGEABLE)
        return cuda_error(cudaHostAlloc((void **)out, bytes, flags), "page-locked memory");
    *out = malloc(bytes);
    return *out ? 0 : assay_error("out of memory");
}

static void host_release(enum kind kind, uint8_t *host)
{
    if (kind == KIND_PAGEABLE)
        free(host);
    else if (host)
        cudaFreeHost(host);
}

static int setup(struct assay_call *call, enum kind kind)
{
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    bool up = transfer_up(call->shape), down = transfer_down(call->shape);
    struct route *route = calloc(1, sizeof *route);
    if (!route) return assay_error("out of memory");
    route->kind = kind;
    call->state = route;
    if (up && host_alloc(kind, (size_t)bytes, &route->up)) return -1;
    if (down && host_alloc(kind, (size_t)bytes, &route->down)) return -1;
    if (up) transfer_host_source(route->up, bytes);
    if (down) transfer_host_poison(route->down, bytes);
    call->workspace_bytes += (up + down) * bytes;
    if (!up || !down) return 0;
    if (cuda_error(cudaStreamCreateWithFlags(&route->side, cudaStreamNonBlocking), "stream"))
        return -1;
    if (cuda_error(cudaEventCreateWithFlags(&route->fork, cudaEventDisableTiming), "event"))
        return -1;
    return cuda_error(cudaEventCreateWithFlags(&route->join, cudaEventDisableTiming), "event");
}

static void teardown(struct assay_call *call)
{
    struct route *route = call->state;
    if (!route) return;
    if (route->join) cudaEventDestroy(route->join);
    if (route->fork) cudaEventDestroy(route->fork);
    if (route->side) cudaStreamDestroy(route->side);
    host_release(route->kind, route->up);
    host_release(route->kind, route->down);
    free(route);
}

/* ---------------------------------------------------------------- copies -- */

static int copy_up(struct assay_call *call, const struct route *route)
{
    return cuda_error(cudaMemcpyAsync(transfer_destination(call), route->up,
                                      (size_t)call->shape->value[TRANSFER_BYTES],
                                      cudaMemcpyHostToDevice, call->stream),
                      "cudaMemcpyAsync to the device");
}

static int copy_down(struct assay_call *call, const struct route *route, cudaStream_t stream)
{
    return cuda_error(cudaMemcpyAsync(route->down, transfer_source(call),
                                      (size_t)call->shape->value[TRANSFER_BYTES],
                                      cudaMemcpyDeviceToHost, stream),
                      "cudaMemcpyAsync to the host");
}

static int copy_both(struct assay_call *call, const struct route *route)
{
    if (cuda_error(cudaEventRecord(route->fork, call->stream), "fork")) return -1;
    if (cuda_error(cudaStreamWaitEvent(route->side, route->fork, 0), "fork")) return -1;
    if (copy_up(call, route) || copy_down(call, route, route->side)) return -1;
    if (cuda_error(cudaEventRecord(route->join, route->side), "join")) return -1;
    return cuda_error(cudaStreamWaitEvent(call->stream, route->join, 0), "join");
}

static int launch(struct assay_call *call)
{
    const struct route *route = call->state;
    if (route->up && route->down) return copy_both(call, route);
    return route->up ? copy_up(call, route) : copy_down(call, route, call->stream);
}

/* ----------------------------------------------------------------- check -- */

/* Write-combined memory is copied to ordinary memory through the device: the host itself would
 * read a few bytes per 100 ns. */
static int read_back(const uint8_t *from, size_t bytes, uint8_t *to)
{
    void *device = NULL;
    if (cuda_error(cudaMalloc(&device, bytes), "memory for the check")) return -1;
    int status = cuda_error(cudaMemcpy(device, from, bytes, cudaMemcpyHostToDevice), "read back");
    if (status == 0)
        status = cuda_error(cudaMemcpy(to, device, bytes, cudaMemcpyDeviceToHost), "read back");
    cudaFree(device);
    return status;
}

static int check_write_combined(const struct route *route, int64_t bytes)
{
    uint8_t *copy = malloc((size_t)bytes);
    if (!copy) return assay_error("out of memory");
    int status = read_back(route->down, (size_t)bytes, copy);
    if (status == 0) status = transfer_host_check(copy, bytes);
    free(copy);
    return status;
}

static int check(struct assay_call *call)
{
    const struct route *route = call->state;
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    if (!route->down) return 0;
    if (route->kind == KIND_WRITE_COMBINED ? check_write_combined(route, bytes)
                                           : transfer_host_check(route->down, bytes))
        return -1;
    transfer_host_poison(route->down, bytes);
    return 0;
}

/* -------------------------------------------------------------- variants -- */

static int setup_pageable(struct assay_call *call)
{
    return setup(call, KIND_PAGEABLE);
}

static int setup_pinned(struct assay_call *call)
{
    return setup(call, KIND_PINNED);
}

static int setup_write_combined(struct assay_call *call)
{
    return setup(call, KIND_WRITE_COMBINED);
}

static const struct assay_variant pageable = {
    .operation = "transfer",
    .name = "pageable",
    .summary = "ordinary host memory, which the driver stages; blocks",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup_pageable,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(pageable);

static const struct assay_variant pinned = {
    .operation = "transfer",
    .name = "pinned",
    .summary = "page-locked host memory, by the device's clock",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .setup = setup_pinned,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(pinned);

static const struct assay_variant pinned_wall = {
    .operation = "transfer",
    .name = "pinned_wall",
    .summary = "page-locked host memory, by the host's clock",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup_pinned,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(pinned_wall);

static const struct assay_variant write_combined = {
    .operation = "transfer",
    .name = "write_combined",
    .summary = "page-locked host memory that the host does not cache",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .setup = setup_write_combined,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(write_combined);
