/*
 * memory_alloc.c - operation `memory_alloc`: a block of memory for one batch is allocated, used a
 * little and freed.
 *
 *   out[i] = 0x3c, i = 0 to 63, written in the block and copied from it
 *
 * The use proves that the block was there, and costs the same in every variant: the time of
 * `preallocated` is that cost alone. Bytes: 64 written. Operations: none. Timed by the host's
 * clock, because allocating takes the host's time.
 */
#include "memory_alloc.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[ALLOC_OUT] = (struct assay_buffer){
        .name = "out", .role = ASSAY_OUT, .type = ASSAY_U8, .count = ALLOC_TOUCHED};
    return 1;
}

static struct assay_work work(const struct assay_shape *shape)
{
    return (struct assay_work){.write_bytes = ALLOC_TOUCHED};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = ALLOC_BYTE;
    return 0;
}

static const char *const baselines[] = {"preallocated", "host_preallocated", NULL};

static const struct assay_operation memory_alloc = {
    .name = "memory_alloc",
    .summary = "obtain a block of memory for one batch, use 64 bytes of it, give it back",
    .dims = {[ALLOC_BYTES] = {.name = "bytes",
                              .summary = "bytes of the block",
                              .fallback = 128 << 10,
                              .min = ALLOC_TOUCHED,
                              .max = INT64_C(1) << 36}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(memory_alloc);
