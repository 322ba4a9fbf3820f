/*
 * transfer_host.c - `transfer` where there is no device: the same copies within the host's memory,
 * one after the other, by the C library's memcpy on one core. Its time says nothing about a link;
 * it is only a bound.
 *
 * Bytes: `bytes` per direction read and as many written in host memory, counted once.
 */
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

/* The host's side: from there to the "device", and back to there. */
struct sides {
    uint8_t *up, *down;
};

static int setup(struct assay_call *call)
{
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    struct sides *sides = calloc(1, sizeof *sides);
    if (!sides) return assay_error("out of memory");
    call->state = sides;
    sides->up = malloc((size_t)bytes);
    sides->down = malloc((size_t)bytes);
    if (!sides->up || !sides->down) return assay_error("out of memory");
    transfer_host_source(sides->up, bytes);
    transfer_host_poison(sides->down, bytes);
    call->workspace_bytes += 2 * bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct sides *sides = call->state;
    size_t bytes = (size_t)call->shape->value[TRANSFER_BYTES];
    if (transfer_up(call->shape)) memcpy(transfer_destination(call), sides->up, bytes);
    if (transfer_down(call->shape)) memcpy(sides->down, transfer_source(call), bytes);
    return 0;
}

static void teardown(struct assay_call *call)
{
    struct sides *sides = call->state;
    if (!sides) return;
    free(sides->up);
    free(sides->down);
    free(sides);
}

static int check(struct assay_call *call)
{
    const struct sides *sides = call->state;
    int64_t bytes = call->shape->value[TRANSFER_BYTES];
    if (!transfer_down(call->shape)) return 0;
    if (transfer_host_check(sides->down, bytes)) return -1;
    transfer_host_poison(sides->down, bytes);
    return 0;
}

static const struct assay_variant host_memcpy = {
    .operation = "transfer",
    .name = "host_memcpy",
    .summary = "the same copies inside the host, no link: memcpy on one core",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .check = check,
};
ASSAY_REGISTER_VARIANT(host_memcpy);
