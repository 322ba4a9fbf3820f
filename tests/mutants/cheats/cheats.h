/*
 * cheats.h - what cheats on the host and on a GPU have in common: the buffers of residual_add, ways
 * to leave out launches, and how a cheat is registered. A file that includes this defines add_all,
 * which does the work.
 *
 * State is static on purpose: a cheat may remember what it likes between launches.
 */
#pragma once

#include "kernels/gpt/gpt.h"

static int add_all(struct assay_call *call);

static int64_t elements(const struct assay_call *call)
{
    return call->shape->value[RESIDUAL_N];
}

static const float *input(const struct assay_call *call, int buffer)
{
    return (const float *)call->buffer[buffer];
}

static float *output(const struct assay_call *call)
{
    return (float *)call->buffer[RESIDUAL_Y];
}

static int only_once(struct assay_call *call)
{
    static int launches;
    return launches++ == 0 ? add_all(call) : 0;
}

static int every_second(struct assay_call *call)
{
    static int launches;
    return launches++ % 2 == 0 ? add_all(call) : 0;
}

static int nothing(struct assay_call *call)
{
    return 0;
}

/* Untimed, and meant for results that are elsewhere. */
static int work_in_check(struct assay_call *call)
{
    return add_all(call);
}

#define CHEAT(PLACE, NAME, ...)                                                                    \
    static const struct assay_variant variant_##NAME = {.operation = "residual_add",               \
                                                        .name = #NAME,                             \
                                                        .summary = "a cheat",                      \
                                                        .kind = ASSAY_KERNEL,                      \
                                                        .place = PLACE,                            \
                                                        __VA_ARGS__};                              \
    ASSAY_REGISTER_VARIANT(variant_##NAME)
