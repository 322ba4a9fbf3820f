/*
 * empty.c - operation `empty`: a kernel that does nothing, whose time is the lower limit of all
 * others. Its variant on the host is one call of an empty function.
 *
 * Bytes: none. Operations: none. There is no output.
 */
#include "assay.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    return (struct assay_work){.read_bytes = 0};
}

static const char *const baselines[] = {"kernel", "call", NULL};

static const struct assay_operation empty = {
    .name = "empty",
    .summary = "nothing: the floor under every time",
    .dims = {{.name = "threads",
              .summary = "threads that do it (no meaning on the host)",
              .fallback = 32,
              .min = 1,
              .max = 1 << 30}},
    .buffers = buffers,
    .work = work,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(empty);

static void nothing(void)
{
}

static int launch(struct assay_call *call)
{
    void (*volatile function)(void) = nothing;
    function();
    return 0;
}

static const struct assay_variant call_nothing = {
    .operation = "empty",
    .name = "call",
    .summary = "one call of an empty function through a pointer",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(call_nothing);
