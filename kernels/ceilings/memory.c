/*
 * memory.c - operation `memory`: memory traffic with a known ratio of reads to writes.
 *
 *   out[j] = xor of in[f j], ..., in[f j + f - 1]      (memory.h)
 *
 * f is 1024 for read, 4 for r4w1 and 1 for copy; write stores a constant. Every bit of the input
 * decides a bit of the output, so no implementation can leave out a read; and xor is exact in any
 * order.
 *
 * Bytes: the dim `bytes` is the whole traffic, read plus written: a copy of 1 GiB to another 1 GiB
 * is bytes=2Gi. Operations: none counted.
 */
#include <math.h>

#include "memory.h"

static const char *const mixes[] = {"read", "r4w1", "copy", "write", NULL};

static const char *supports(const struct assay_shape *shape)
{
    int64_t bytes = shape->value[MEMORY_BYTES];
    if (bytes % 4) return "bytes must be a multiple of 4";
    if (shape->value[MEMORY_MIX] == MEMORY_COPY && bytes % 8)
        return "bytes of a copy must be a multiple of 8";
    return NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct memory_layout layout = memory_layout(shape);
    out[MEMORY_OUT] = (struct assay_buffer){
        .name = "out", .role = ASSAY_OUT, .type = ASSAY_U32, .count = layout.out_words};
    if (layout.mix == MEMORY_WRITE) return 1;
    out[MEMORY_IN] =
        (struct assay_buffer){.name = "in",
                              .role = ASSAY_IN,
                              .type = ASSAY_U32,
                              .count = layout.in_words,
                              .fill = {.kind = ASSAY_FILL_INTEGER, .a = 0, .b = UINT32_MAX}};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    struct memory_layout layout = memory_layout(shape);
    return (struct assay_work){.read_bytes = 4.0 * (double)layout.in_words,
                               .write_bytes = 4.0 * (double)layout.out_words};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    struct memory_layout layout = memory_layout(shape);
    for (int64_t j = begin; j < end; j++) {
        uint32_t word = layout.mix == MEMORY_WRITE ? MEMORY_WORD_WRITTEN : 0;
        int64_t first = layout.fan_in * j, last = first + layout.fan_in;
        if (last > layout.in_words) last = layout.in_words;
        for (int64_t i = first; i < last; i++)
            word ^= ((const uint32_t *)in[MEMORY_IN])[i];
        expected[j - begin] = word;
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return fmax(1.0, (double)memory_layout(shape).fan_in);
}

static const char *ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    static const char *const names[2][MEMORY_MIXES] = {
        [ASSAY_COLD] = {"memory_read", "memory_r4w1", "memory_copy", "memory_write"},
        [ASSAY_HOT] = {"cache_read", "cache_r4w1", "cache_copy", "cache_write"},
    };
    return names[temperature][shape->value[MEMORY_MIX]];
}

static const char *const baselines[] = {"memcpy", "memset", "vec4_x4", "omp", NULL};

static const struct assay_operation memory = {
    .name = "memory",
    .summary = "bandwidth of a mix of reads and writes: out[j] = xor of a run of input words",
    .dims = {{.name = "bytes",
              .summary = "whole traffic, read plus written, in bytes (a copy moves half of it)",
              .fallback = INT64_C(1) << 30,
              .min = 64,
              .max = INT64_C(1) << 40},
             {.name = "mix",
              .summary = "only reads, four read for one written, a copy, or only writes",
              .choices = mixes,
              .fallback = MEMORY_COPY}},
    .supports = supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .baselines = baselines,
    .ceiling = ceiling,
};
ASSAY_REGISTER_OPERATION(memory);
