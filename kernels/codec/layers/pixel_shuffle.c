/*
 * pixel_shuffle.c - operation `pixel_shuffle`: eight channels become one with twice the edge (Shi
 * et al., "Real-Time Single Image and Video Super-Resolution", CVPR 2016, here in three
 * dimensions).
 *
 *   y[l][c][2 z + dz][2 y + dy][2 x + dx] = x[l][8 c + 4 dz + 2 dy + dx][z][y][x]
 *
 * Bytes per number: 4 read, 4 written. Operations: none. Results must be equal bit by bit.
 */
#include "pixel_shuffle.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const int64_t count = shuffle_job(shape).numbers;
    const struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .b = 1.0};
    out[SHUFFLE_X] = (struct assay_buffer){"x", ASSAY_IN, ASSAY_F32, count, normal};
    out[SHUFFLE_Y] =
        (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = count};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const double bytes = 4.0 * (double)shuffle_job(shape).numbers;
    return (struct assay_work){.read_bytes = bytes, .write_bytes = bytes};
}

/* The index in x of the number that becomes number `at` of y. */
static int64_t source_of(const struct shuffle_job *job, int64_t at)
{
    const int64_t side = job->side, edge = 2 * side;
    const int64_t x = at % edge, y = at / edge % edge, z = at / edge / edge % edge;
    const int64_t channel = at / edge / edge / edge; /* and leaf */
    const int64_t part = 4 * (z % 2) + 2 * (y % 2) + x % 2;
    return (((channel * 8 + part) * side + z / 2) * side + y / 2) * side + x / 2;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct shuffle_job job = shuffle_job(shape);
    for (int64_t at = begin; at < end; at++)
        expected[at - begin] = (double)((const float *)in[SHUFFLE_X])[source_of(&job, at)];
    return 0;
}

static const char *const baselines[] = {"scalar", "host_scalar", NULL};

static const struct assay_operation pixel_shuffle = {
    .name = "pixel_shuffle",
    .summary = "eight channels to one of twice the edge: y[2 z + dz] = x[8 c + 4 dz + 2 dy + dx]",
    .dims = {[SHUFFLE_LEAVES] = {.name = "leaves",
                                 .summary = "leaves of a batch",
                                 .fallback = 64,
                                 .min = 1,
                                 .max = 1 << 20},
             [SHUFFLE_CHANNELS] = {.name = "channels",
                                   .summary = "channels of y",
                                   .fallback = 32,
                                   .min = 1,
                                   .max = 1024},
             [SHUFFLE_SIDE] = {.name = "side",
                               .summary = "voxels along an edge of x",
                               .fallback = 4,
                               .min = 1,
                               .max = 32}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(pixel_shuffle);

/* ------------------------------------------------------------------ host -- */

static int launch_scalar(struct assay_call *call)
{
    const struct shuffle_job job = shuffle_job(call->shape);
    const float *x = call->buffer[SHUFFLE_X];
    float *y = call->buffer[SHUFFLE_Y];
    for (int64_t at = 0; at < job.numbers; at++)
        y[at] = x[source_of(&job, at)];
    return 0;
}

/* A row of y takes its numbers alternately from two rows of x. */
static int launch_omp(struct assay_call *call)
{
    const struct shuffle_job job = shuffle_job(call->shape);
    const int side = job.side;
    const int64_t volume = (int64_t)side * side * side, rows = job.numbers / (2 * side);
#pragma omp parallel for schedule(static) if (job.numbers >= 1 << 16)
    for (int64_t row = 0; row < rows; row++) {
        float *y = (float *)call->buffer[SHUFFLE_Y] + row * 2 * side;
        const float *even =
            (const float *)call->buffer[SHUFFLE_X] + source_of(&job, row * 2 * side);
        for (int i = 0; i < side; i++) {
            y[2 * i] = even[i];
            y[2 * i + 1] = even[volume + i];
        }
    }
    return 0;
}

static const struct assay_variant host_scalar = {
    .operation = "pixel_shuffle",
    .name = "host_scalar",
    .summary = "one number after another, on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .launch = launch_scalar,
};
ASSAY_REGISTER_VARIANT(host_scalar);

static const struct assay_variant host_omp = {
    .operation = "pixel_shuffle",
    .name = "host_omp",
    .summary = "all cores, a row of y from two of x",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(host_omp);
