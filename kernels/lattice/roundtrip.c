/*
 * roundtrip.c - operation lattice_roundtrip: y is x, encoded and decoded.
 *
 * Bytes per entry: 4 read, 4 written. Without overload, y = beta Q(x / beta). Where two points tie
 * within 1e-5 of squared distance, the reference accepts any value of the entry (an infinite
 * bound); the models still check its bits there.
 */
#include "dims.h"
#include "lattice.h"
#include "quality.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct lattice_job job = lattice_job(shape);
    out[BUF_IN] = lattice_entries(&job, ASSAY_IN);
    out[BUF_OUT] = lattice_entries(&job, ASSAY_OUT);
    return 2;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct lattice_job job = lattice_job(shape);
    int64_t block = begin / job.columns * job.row_blocks + begin % job.columns / job.d;
    for (int64_t at = begin; at < end; block++) {
        float x[8];
        double y[8];
        int64_t offset;
        int t;
        bool near;
        int count = lattice_gather(&job, in[BUF_IN], block, x, &offset);
        uint64_t digits = lattice_exact_encode(&job, x, &t, &near);
        lattice_exact_decode(&job, digits, t, y);
        for (; at < end && at < offset + count; at++) {
            expected[at - begin] = y[at - offset];
            if (near) bound[at - begin] = INFINITY;
        }
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 20.0 * (double)shape->operation->work(shape).ops[ASSAY_FP32] /
           (double)(shape->value[DIM_ROWS] * shape->value[DIM_COLUMNS]);
}

static const char *const baselines[] = {"copy_roundtrip", "host_copy_roundtrip", NULL};

static const struct assay_operation operation = {
    .name = "lattice_roundtrip",
    .summary = "y = decode(encode(x)), which is beta Q(x / beta) without overload",
    .dims = {LATTICE_DIMS, [DIM_ROUNDTRIP_DATA] = LATTICE_DIM_DATA},
    .supports = lattice_supports,
    .buffers = buffers,
    .work = lattice_work,
    .reference = reference,
    .reference_cost = reference_cost,
    .tolerance = {.rel = 4e-7},
    .quality = lattice_quality,
    .baselines = baselines,
    .data_dims = "data",
};
ASSAY_REGISTER_OPERATION(operation);
