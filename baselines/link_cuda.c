/*
 * link_cuda.c - `link` by cudaMemcpyAsync from page-locked and from ordinary host memory.
 *
 * The copy from page-locked memory is asynchronous and timed by the device's clock. Ordinary memory
 * is staged by the driver while the call blocks, so that copy is timed by the host's clock.
 *
 * Bytes: `bytes` over the link. Operations: none.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/ceilings/link.h"

static void adopt(struct assay_call *call, void *host)
{
    link_host_prepare(call->shape, host);
    call->state = host;
    call->workspace_bytes += call->shape->value[LINK_BYTES];
}

static int launch(struct assay_call *call)
{
    void *device = call->buffer[LINK_DEVICE];
    size_t bytes = (size_t)call->shape->value[LINK_BYTES];
    bool to_device = call->shape->value[LINK_DIRECTION] == LINK_H2D;
    return cuda_error(
        cudaMemcpyAsync(to_device ? device : call->state, to_device ? call->state : device, bytes,
                        to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, call->stream),
        "cudaMemcpyAsync");
}

static int check(struct assay_call *call)
{
    return link_host_check(call->shape, call->state);
}

/* ---------------------------------------------------------------- pinned -- */

static const char *supports_pinned(const struct assay_shape *shape)
{
    return shape->value[LINK_MEMORY] == LINK_PINNED ? NULL : "page-locked memory only";
}

static int setup_pinned(struct assay_call *call)
{
    void *host;
    if (cuda_error(
            cudaHostAlloc(&host, (size_t)call->shape->value[LINK_BYTES], cudaHostAllocDefault),
            "page-locked memory"))
        return -1;
    adopt(call, host);
    return 0;
}

static void teardown_pinned(struct assay_call *call)
{
    if (call->state) cudaFreeHost(call->state);
}

static const struct assay_variant link_pinned = {
    .operation = "link",
    .name = "pinned",
    .summary = "cudaMemcpyAsync with page-locked host memory",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports_pinned,
    .setup = setup_pinned,
    .launch = launch,
    .teardown = teardown_pinned,
    .check = check,
};
ASSAY_REGISTER_VARIANT(link_pinned);

/* -------------------------------------------------------------- pageable -- */

static const char *supports_pageable(const struct assay_shape *shape)
{
    return shape->value[LINK_MEMORY] == LINK_PAGEABLE ? NULL : "ordinary memory only";
}

static int setup_pageable(struct assay_call *call)
{
    void *host = malloc((size_t)call->shape->value[LINK_BYTES]);
    if (!host) return assay_error("out of memory");
    adopt(call, host);
    return 0;
}

static void teardown_pageable(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant link_pageable = {
    .operation = "link",
    .name = "pageable",
    .summary = "cudaMemcpyAsync with ordinary host memory, which blocks",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .supports = supports_pageable,
    .setup = setup_pageable,
    .launch = launch,
    .teardown = teardown_pageable,
    .check = check,
};
ASSAY_REGISTER_VARIANT(link_pageable);
