/*
 * transfer.c - operation `transfer`: bytes between host memory and the device, one
 * way or both at once.
 *
 *   destination[i] = source[i], `bytes` of them in each direction
 *
 * Bytes: `bytes` per direction over the link, counted once, as written (h2d) or read
 * (d2h) in device memory. Operations: none. The kind of host memory is the variant,
 * so that kinds are compared within a group. (`link` is the same copy as a limit of
 * the machine, with the kind of memory as a dim.)
 */
#include "transfer.h"

#include "kernels/ceilings/link.h"

static const char *const directions[] = {"h2d", "d2h", "both", NULL};

enum { PAGE_BYTES = 4096, PARALLEL_BYTES = 1 << 20 };

/* A page is placed near the core that touches it first, and the speed of copies depends on that.
 * So the caller's core touches every page first, and then the others help. */
static void write_all(uint8_t *host, int64_t bytes, uint8_t flipped)
{
    for (int64_t i = 0; i < bytes; i += PAGE_BYTES)
        host[i] = 0;
#pragma omp parallel for schedule(static) if (bytes >= PARALLEL_BYTES)
    for (int64_t i = 0; i < bytes; i++)
        host[i] = link_byte(i) ^ flipped;
}

void transfer_host_source(uint8_t *host, int64_t bytes)
{
    write_all(host, bytes, 0);
}

void transfer_host_poison(uint8_t *host, int64_t bytes)
{
    write_all(host, bytes, 0xff);
}

int transfer_host_check(const uint8_t *host, int64_t bytes)
{
    int64_t wrong = bytes; /* the first */
#pragma omp parallel for schedule(static) reduction(min : wrong) if (bytes >= PARALLEL_BYTES)
    for (int64_t i = 0; i < bytes; i++)
        if (host[i] != link_byte(i) && i < wrong) wrong = i;
    if (wrong == bytes) return 0;
    return assay_error("host byte %lld is 0x%02x, not 0x%02x", (long long)wrong, host[wrong],
                       link_byte(wrong));
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int count = 0;
    int64_t bytes = shape->value[TRANSFER_BYTES];
    if (transfer_up(shape))
        out[count++] = (struct assay_buffer){
            .name = "destination", .role = ASSAY_OUT, .type = ASSAY_U8, .count = bytes};
    if (transfer_down(shape))
        out[count++] = (struct assay_buffer){.name = "source",
                                             .role = ASSAY_IN,
                                             .type = ASSAY_U8,
                                             .count = bytes,
                                             .fill = {.kind = ASSAY_FILL_CUSTOM}};
    return count;
}

/* The seed is left out on purpose: a variant has to know the bytes too. */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    transfer_host_source(host, shape->value[TRANSFER_BYTES]);
    return 0;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double bytes = (double)shape->value[TRANSFER_BYTES];
    return (struct assay_work){.read_bytes = transfer_down(shape) ? bytes : 0,
                               .write_bytes = transfer_up(shape) ? bytes : 0,
                               .over_link = true};
}

static const char *const baselines[] = {"pinned", "host_memcpy", NULL};

static const struct assay_operation transfer = {
    .name = "transfer",
    .summary = "bytes between host memory and the device, one way or both at once",
    .dims = {[TRANSFER_BYTES] = {.name = "bytes",
                                 .summary = "bytes in each direction",
                                 .fallback = 1 << 20,
                                 .min = 1,
                                 .max = INT64_C(1) << 36},
             [TRANSFER_DIRECTION] = {.name = "direction",
                                     .summary = "host to device, device to host, both at once",
                                     .choices = directions,
                                     .fallback = TRANSFER_H2D}},
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = link_reference, /* the device's side; the host's is checked by the variants */
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(transfer);
