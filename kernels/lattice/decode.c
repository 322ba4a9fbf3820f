/*
 * decode.c - operation lattice_decode: the points that digits stand for.
 *
 *     y = beta 2^T sum_m q^m (G b_m - q Q(G b_m / q + dither))
 *
 * Bytes per entry: M log2 q / 8 read, 4 written, and one byte per block for T. The sum, doubled,
 * is a whole number, so every correct variant computes the same one; one or two products in fp32
 * follow. Codes are drawn uniformly, T from 0 to 12. A T above 10 marks a lost block, which
 * decodes to zeros.
 */
#include "dims.h"
#include "lattice.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct lattice_job job = lattice_job(shape);
    out[BUF_IN] = lattice_code_buffer(&job, ASSAY_IN);
    out[BUF_OUT] = lattice_entries(&job, ASSAY_OUT);
    if (job.overload == OVERLOAD_OFF) return 2;
    out[BUF_T] = lattice_t_buffer(&job, ASSAY_IN);
    return 3;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct lattice_job job = lattice_job(shape);
    const uint8_t *stored = job.overload == OVERLOAD_OFF ? NULL : in[BUF_T];
    int64_t block = begin / job.columns * job.row_blocks + begin % job.columns / job.d;
    for (int64_t at = begin; at < end; block++) {
        float none[8];
        double y[8];
        int64_t offset;
        int count = lattice_gather(&job, NULL, block, none, &offset);
        lattice_exact_decode(&job, lattice_read_digits(&job, in[BUF_IN], block),
                             lattice_read_t(&job, stored, block), y);
        for (; at < end && at < offset + count; at++)
            expected[at - begin] = y[at - offset];
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 20.0 * (double)shape->operation->work(shape).ops[ASSAY_FP32] /
           (double)(shape->value[DIM_ROWS] * shape->value[DIM_COLUMNS]);
}

static const char *const baselines[] = {"copy_decode", "host_copy_decode", NULL};

static const struct assay_operation operation = {
    .name = "lattice_decode",
    .summary = "y = beta sum_m q^m (G b_m - q Q(G b_m / q))",
    .dims = {LATTICE_DIMS, [DIM_TYPE] = LATTICE_DIM_TYPE},
    .supports = lattice_supports,
    .buffers = buffers,
    .work = lattice_work,
    .reference = reference,
    .reference_cost = reference_cost,
    .tolerance = {.rel = 4e-7}, /* three roundings, and those of beta / 2 and sqrt 3 */
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
