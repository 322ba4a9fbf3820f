/*
 * link.c - operation `link`: a copy between host memory and the device.
 *
 *   destination[i] = source[i], `bytes` of them
 *
 * Bytes: `bytes` over the link, counted once: as written in device memory (h2d) or as read from it
 * (d2h). Operations: none.
 */
#include "link.h"

static const char *const directions[] = {"h2d", "d2h", NULL};
static const char *const memories[] = {"pinned", "pageable", NULL};

void link_host_prepare(const struct assay_shape *shape, uint8_t *host)
{
    uint8_t flip = shape->value[LINK_DIRECTION] == LINK_H2D ? 0 : 0xff;
    for (int64_t i = 0; i < shape->value[LINK_BYTES]; i++)
        host[i] = link_byte(i) ^ flip;
}

int link_host_check(const struct assay_shape *shape, uint8_t *host)
{
    if (shape->value[LINK_DIRECTION] == LINK_H2D) return 0;
    for (int64_t i = 0; i < shape->value[LINK_BYTES]; i++)
        if (host[i] != link_byte(i))
            return assay_error("host byte %lld is 0x%02x, not 0x%02x", (long long)i, host[i],
                               link_byte(i));
    link_host_prepare(shape, host);
    return 0;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    bool to_device = shape->value[LINK_DIRECTION] == LINK_H2D;
    out[LINK_DEVICE] = (struct assay_buffer){
        .name = "device",
        .role = to_device ? ASSAY_OUT : ASSAY_IN,
        .type = ASSAY_U8,
        .count = shape->value[LINK_BYTES],
        .fill = {.kind = ASSAY_FILL_CUSTOM},
    };
    return 1;
}

/* The seed is not used, because variants have to know the bytes too (link_byte). */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    for (int64_t i = 0; i < shape->value[LINK_BYTES]; i++)
        ((uint8_t *)host)[i] = link_byte(i);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double bytes = (double)shape->value[LINK_BYTES];
    bool up = shape->value[LINK_DIRECTION] == LINK_H2D;
    return (struct assay_work){
        .read_bytes = up ? 0 : bytes, .write_bytes = up ? bytes : 0, .over_link = true};
}

/* Only h2d writes a buffer of the operation; variants check d2h themselves. */
int link_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                   int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = link_byte(i);
    return 0;
}

static const char *ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    static const char *const names[LINK_DIRECTIONS][LINK_MEMORIES] = {
        [LINK_H2D] = {"link_h2d", "link_h2d_pageable"},
        [LINK_D2H] = {"link_d2h", "link_d2h_pageable"},
    };
    return names[shape->value[LINK_DIRECTION]][shape->value[LINK_MEMORY]];
}

static const char *const baselines[] = {"pinned", "pageable", "host_memcpy", NULL};

static const struct assay_operation link_operation = {
    .name = "link",
    .summary = "copy between host memory and the device: destination[i] = source[i]",
    .dims = {{.name = "bytes",
              .summary = "bytes copied",
              .fallback = 64 << 20,
              .min = 1,
              .max = INT64_C(1) << 36},
             {.name = "direction",
              .summary = "host to device, or device to host",
              .choices = directions,
              .fallback = LINK_H2D},
             {.name = "memory",
              .summary = "the host's memory: page-locked or ordinary",
              .choices = memories,
              .fallback = LINK_PINNED}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = link_reference,
    .baselines = baselines,
    .ceiling = ceiling,
};
ASSAY_REGISTER_OPERATION(link_operation);
