/*
 * launch_overhead_host.c - the host's counterpart of a launch: a call of an empty function through
 * a volatile pointer, so that the compiler cannot remove it.
 *
 * Bytes: none. Operations: none.
 */
#include "launch_overhead.h"

static void nothing(void)
{
}

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[LAUNCH_HOW] == LAUNCH_STREAM ? NULL : "the host has no graphs";
}

static int launch(struct assay_call *call)
{
    void (*volatile function)(void) = nothing;
    for (int64_t i = 0; i < call->shape->value[LAUNCH_COUNT]; i++)
        function();
    return 0;
}

static const struct assay_variant calls = {
    .operation = "launch_overhead",
    .name = "calls",
    .summary = "calls of an empty function through a pointer",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = supports,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(calls);
