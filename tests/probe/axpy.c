/*
 * axpy.c - operation axpy: z = 2 x + y, fp32, and its variant on the host.
 *
 * Bytes of an element: 8 read, 4 written. Operations: a multiply-add, which is two.
 */
#include "assay.h"

enum { DIM_N };               /* dims */
enum { BUF_X, BUF_Y, BUF_Z }; /* buffers */

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const char *const names[] = {[BUF_X] = "x", [BUF_Y] = "y", [BUF_Z] = "z"};
    for (int b = BUF_X; b <= BUF_Z; b++)
        out[b] = (struct assay_buffer){
            .name = names[b],
            .role = b == BUF_Z ? ASSAY_OUT : ASSAY_IN,
            .type = ASSAY_F32,
            .count = shape->value[DIM_N],
            .fill = {.kind = ASSAY_FILL_NORMAL, .b = 1},
        };
    return 3;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double n = (double)shape->value[DIM_N];
    return (struct assay_work){
        .read_bytes = 8 * n, .write_bytes = 4 * n, .ops = {[ASSAY_FP32] = 2 * n}};
}

/* In double; the bound stays the operation's tolerance. */
static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const float *x = in[BUF_X], *y = in[BUF_Y];
    (void)shape;
    (void)buffer;
    (void)bound;
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 2 * (double)x[i] + (double)y[i];
    return 0;
}

static const struct assay_operation operation = {
    .name = "axpy",
    .summary = "z = 2 x + y",
    .dims = {[DIM_N] = {.name = "n", .summary = "elements", .fallback = 1000000}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    /* 2 x is exact, so the sum is rounded once: half a unit in the last place. */
    .tolerance = {.rel = 0x1p-24},
};
ASSAY_REGISTER_OPERATION(operation);

static int launch(struct assay_call *call)
{
    const float *x = call->buffer[BUF_X], *y = call->buffer[BUF_Y];
    float *z = call->buffer[BUF_Z];
    for (int64_t i = 0; i < call->shape->value[DIM_N]; i++)
        z[i] = 2 * x[i] + y[i];
    return 0;
}

static const struct assay_variant variant = {
    .operation = "axpy",
    .name = "host_plain",
    .summary = "one element at a time on one core",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .clock = ASSAY_CLOCK_DEVICE,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
