/*
 * encode.c - operation lattice_encode: the nested lattice digits of x (lattice.h has the
 * definition).
 *
 * Bytes per entry: 4 read, M log2 q / 8 written packed (E8 at q4m2: 36 bytes for 8 entries), and
 * one byte per block for T.
 *
 * What is a right answer. The reference is exact from v = fma(x, r, dither) on. Kernels decide
 * level 0 in fp32, and may choose the other one of two points whose squared distances differ by
 * less than 1e-5. Every code of such a block may then differ; a code that does counts as NEAR, and
 * at most 1e-4 of all codes may be NEAR. The levels above are exact in every variant.
 */
#include "dims.h"
#include "lattice.h"
#include "quality.h"

/* Added to the expected codes of a block at a tie; no code is as large. */
static const double TIE = 65536.0;

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct lattice_job job = lattice_job(shape);
    out[BUF_IN] = lattice_entries(&job, ASSAY_IN);
    out[BUF_OUT] = lattice_code_buffer(&job, ASSAY_OUT);
    if (job.overload == OVERLOAD_OFF) return 2;
    out[BUF_T] = lattice_t_buffer(&job, ASSAY_OUT);
    return 3;
}

/* The largest T, and whether a block that could have been the largest is at a tie. */
static int exact_tensor_t(const struct lattice_job *job, const float *x, bool *near)
{
    int most = 0;
    *near = false;
    for (int64_t block = 0; block < job->blocks; block++) {
        float entries[8];
        int64_t offset;
        int t;
        bool tie;
        lattice_gather(job, x, block, entries, &offset);
        lattice_exact_encode(job, entries, &t, &tie);
        if (t > LATTICE_T_MAX || t < most) continue;
        *near = t > most ? tie : *near && tie;
        most = t;
    }
    return most;
}

int lattice_encode_reference(const struct lattice_job *job, const void *const in[], int buffer,
                             int64_t begin, int64_t end, double *expected)
{
    const bool tensor = job->overload == OVERLOAD_TENSOR;
    bool tensor_near = false;
    int shared = tensor ? exact_tensor_t(job, in[BUF_IN], &tensor_near) : 0;
    if (tensor && buffer == BUF_T) {
        expected[0] = shared + (tensor_near ? TIE : 0.0);
        return 0;
    }
    const int per_block = buffer == BUF_T ? 1 : job->block_elements;
    for (int64_t block = begin / per_block; block * per_block < end; block++) {
        float x[8];
        int64_t offset;
        int t;
        bool near, overload;
        lattice_gather(job, in[BUF_IN], block, x, &offset);
        uint64_t digits = tensor ? lattice_exact_encode_at(job, x, shared, &overload, &near)
                                 : lattice_exact_encode(job, x, &t, &near);
        double mark = near || tensor_near ? TIE : 0.0;
        for (int i = 0; i < per_block; i++) {
            int64_t at = block * per_block + i;
            if (at < begin || at >= end) continue;
            double value = buffer == BUF_T ? t : lattice_code_element(job, digits, i);
            expected[at - begin] = value + mark;
        }
    }
    return 0;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct lattice_job job = lattice_job(shape);
    return lattice_encode_reference(&job, in, buffer, begin, end, expected);
}

enum assay_match lattice_encode_match(const struct assay_shape *shape, int buffer, double expected,
                                      double got)
{
    bool tie = expected >= TIE;
    if (got == expected - (tie ? TIE : 0.0)) return ASSAY_EXACT;
    return tie && got >= 0.0 && got <= 255.0 ? ASSAY_NEAR : ASSAY_WRONG;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 30.0 * (double)shape->operation->work(shape).ops[ASSAY_FP32] /
           (double)(shape->value[DIM_ROWS] * shape->value[DIM_COLUMNS]);
}

/* A whole block at a time; the whole tensor where one T is found by scanning it,
 * so that it is scanned once. */
static int64_t reference_run(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    return job.overload == OVERLOAD_TENSOR ? job.blocks * job.block_elements : job.block_elements;
}

static const char *const baselines[] = {"copy_encode", "host_copy_encode", NULL};

const struct assay_operation lattice_encode = {
    .name = "lattice_encode",
    .summary = "b_m = G^-1 g mod q, g = Q(x / beta), then g = Q(g / q), for M levels",
    .dims = {LATTICE_DIMS, [DIM_TYPE] = LATTICE_DIM_TYPE, [DIM_DATA] = LATTICE_DIM_DATA},
    .supports = lattice_supports,
    .buffers = buffers,
    .work = lattice_work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .tolerance = {.near_share = 1e-4},
    .match = lattice_encode_match,
    .quality = lattice_quality,
    .baselines = baselines,
    .data_dims = "data",
};
ASSAY_REGISTER_OPERATION(lattice_encode);
