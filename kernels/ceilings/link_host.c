/*
 * link_host.c - `link` where there is no device: the same copy within the host's memory, by the C
 * library's memcpy on one core. Its time says nothing about a link; it is only a bound.
 *
 * Bytes: `bytes` read and as many written in host memory, counted once.
 */
#include <stdlib.h>
#include <string.h>

#include "link.h"

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LINK_MEMORY] == LINK_PAGEABLE ? NULL : "host memory is not page-locked";
}

static int setup(struct assay_call *call)
{
    size_t bytes = (size_t)call->shape->value[LINK_BYTES];
    uint8_t *host = malloc(bytes);
    if (!host) return assay_error("out of memory");
    link_host_prepare(call->shape, host);
    call->state = host;
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    size_t bytes = (size_t)call->shape->value[LINK_BYTES];
    if (call->shape->value[LINK_DIRECTION] == LINK_H2D)
        memcpy(call->buffer[LINK_DEVICE], call->state, bytes);
    else
        memcpy(call->state, call->buffer[LINK_DEVICE], bytes);
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static int check(struct assay_call *call)
{
    return link_host_check(call->shape, call->state);
}

static const struct assay_variant host_memcpy = {
    .operation = "link",
    .name = "host_memcpy",
    .summary = "the same copy inside the host, no link: memcpy on one core",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(host_memcpy);
