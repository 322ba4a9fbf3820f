/*
 * memory_alloc_host.c - a batch's block on the host: malloc and free each time (above 128 KiB glibc
 * maps and unmaps pages), or one block that is kept.
 *
 * Bytes: 64 written and copied. Operations: none.
 */
#include <stdlib.h>
#include <string.h>

#include "memory_alloc.h"

static void use(struct assay_call *call, void *block)
{
    memset(block, ALLOC_BYTE, ALLOC_TOUCHED);
    memcpy(call->buffer[ALLOC_OUT], block, ALLOC_TOUCHED);
}

static int launch_malloc(struct assay_call *call)
{
    void *block = malloc((size_t)call->shape->value[ALLOC_BYTES]);
    if (!block) return assay_error("out of memory");
    use(call, block);
    free(block);
    return 0;
}

static int setup(struct assay_call *call)
{
    call->state = malloc((size_t)call->shape->value[ALLOC_BYTES]);
    if (!call->state) return assay_error("out of memory");
    call->workspace_bytes += call->shape->value[ALLOC_BYTES];
    return 0;
}

static int launch_preallocated(struct assay_call *call)
{
    use(call, call->state);
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant host_malloc = {
    .operation = "memory_alloc",
    .name = "host_malloc",
    .summary = "malloc and free for each batch",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_WALL,
    .launch = launch_malloc,
};
ASSAY_REGISTER_VARIANT(host_malloc);

static const struct assay_variant host_preallocated = {
    .operation = "memory_alloc",
    .name = "host_preallocated",
    .summary = "one block, kept",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_WALL,
    .setup = setup,
    .launch = launch_preallocated,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(host_preallocated);
