/*
 * adaptive.c - operation lattice_encode_adaptive (adaptive.h), and the host's variant.
 *
 * Bytes: those of lattice_encode; x is counted once, though its statistics must be known before the
 * first block is coded, so that a batch which no cache holds is read twice. Operations: those of
 * lattice_encode, and 2 per entry.
 *
 * What is a right answer: r to the bit, and the codes of lattice_encode for that r.
 */
#include "adaptive.h"
#include "quality.h"

enum { PIECE = 1 << 15 };

/* As many as one T for the tensor is checked with, for the same reason. */
static const int64_t MOST_ENTRIES = 1 << 20;

/* Beyond the code's range; so far beyond that a block is lost; no numbers. Nothing in between:
 * where x r is no whole number, fp32 cannot tell near points from one another at 10^4. */
static const float hard[] = {
    INFINITY, -INFINITY, NAN,    -NAN, 0.0f,  -0.0f, 1e-40f, -1e-40f, 8.5f,
    -8.5f,    20.0f,     -20.0f, 1e9f, -1e9f, 3e38f, -3e38f, 0.5f,    -0.5f,
};

/* The same tensor for lattice_encode. */
static struct assay_shape encode_shape(const struct assay_shape *shape)
{
    struct assay_shape encode = {.operation = &lattice_encode};
    const int64_t *value = shape->value;
    encode.value[DIM_ROWS] = value[ADAPTIVE_ROWS];
    encode.value[DIM_COLUMNS] = value[ADAPTIVE_COLUMNS];
    encode.value[DIM_LATTICE] = value[ADAPTIVE_LATTICE];
    encode.value[DIM_CODE] = value[ADAPTIVE_CODE];
    encode.value[DIM_SCALING] = SCALING_ON;
    encode.value[DIM_OVERLOAD] = OVERLOAD_OFF;
    encode.value[DIM_TYPE] = TYPE_PACKED;
    encode.value[DIM_DATA] = DATA_GAUSSIAN;
    return encode;
}

struct lattice_job adaptive_job(const struct assay_shape *shape)
{
    const struct assay_shape encode = encode_shape(shape);
    return lattice_job(&encode);
}

static uint64_t sum_of_squares(const float *x, int64_t entries)
{
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static) if (entries > PIECE)
    for (int64_t i = 0; i < entries; i++)
        sum += adaptive_square(x[i]);
    return sum;
}

struct lattice_job adaptive_job_of(const struct assay_shape *shape, const float *x)
{
    struct lattice_job job = adaptive_job(shape);
    int64_t entries = job.rows * job.columns;
    job.r = adaptive_r(sum_of_squares(x, entries), entries, job.r);
    job.half = 0.5f / job.r;
    return job;
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[ADAPTIVE_ROWS] * shape->value[ADAPTIVE_COLUMNS] > MOST_ENTRIES)
        return "a scale from all entries is checked up to 2^20 of them: its reference is a scan of "
               "all for each piece";
    return NULL;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    struct lattice_job job = adaptive_job(shape);
    out[BUF_OUT] = lattice_code_buffer(&job, ASSAY_OUT);
    out[ADAPTIVE_R] =
        (struct assay_buffer){.name = "r", .role = ASSAY_OUT, .type = ASSAY_F32, .count = 1};
    if (shape->value[ADAPTIVE_DATA] == DATA_UNIT_NORM) job.sigma = 1.0 / sqrt((double)job.columns);
    out[BUF_IN] = lattice_entries(&job, ASSAY_IN);
    if (shape->value[ADAPTIVE_DATA] == DATA_EXTREME) {
        out[BUF_IN].fill.hard = hard;
        out[BUF_IN].fill.hard_count = sizeof hard / sizeof *hard;
        out[BUF_IN].fill.hard_every = 64;
    }
    return 3;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const struct assay_shape encode = encode_shape(shape);
    struct assay_work work = lattice_work(&encode);
    work.write_bytes += 4.0; /* r */
    work.ops[ASSAY_FP32] +=
        2.0 * (double)(shape->value[ADAPTIVE_ROWS] * shape->value[ADAPTIVE_COLUMNS]);
    return work;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct lattice_job job = adaptive_job_of(shape, in[BUF_IN]);
    if (buffer == BUF_OUT) return lattice_encode_reference(&job, in, BUF_OUT, begin, end, expected);
    expected[0] = (double)job.r;
    return 0;
}

static enum assay_match match(const struct assay_shape *shape, int buffer, double expected,
                              double got)
{
    if (buffer == BUF_OUT) return lattice_encode_match(shape, buffer, expected, got);
    return got == expected ? ASSAY_EXACT : ASSAY_WRONG;
}

static double reference_cost(const struct assay_shape *shape)
{
    return 30.0 * work(shape).ops[ASSAY_FP32] /
           (double)(shape->value[ADAPTIVE_ROWS] * shape->value[ADAPTIVE_COLUMNS]);
}

/* The whole tensor, so that it is scanned once. */
static int64_t reference_run(const struct assay_shape *shape)
{
    const struct lattice_job job = adaptive_job(shape);
    return job.blocks * job.block_elements;
}

static int quality(const struct assay_shape *shape, const void *const host[],
                   struct assay_metric out[ASSAY_MAX_METRICS])
{
    const struct lattice_job job = adaptive_job_of(shape, host[BUF_IN]);
    return lattice_quality_of(&job, host, work(shape).write_bytes, out);
}

static const struct assay_operation operation = {
    .name = "lattice_encode_adaptive",
    .summary = "lattice_encode at a scale from the batch's own standard deviation",
    .dims = {[ADAPTIVE_ROWS] = {.name = "rows",
                                .summary = "rows of x",
                                .fallback = 256,
                                .min = 1,
                                .max = 1 << 20},
             [ADAPTIVE_COLUMNS] = {.name = "columns",
                                   .summary = "entries per row, cut into blocks of d",
                                   .fallback = 4096,
                                   .min = 1,
                                   .max = 1 << 20},
             [ADAPTIVE_LATTICE] = {.name = "lattice",
                                   .summary = "d = 2, 2 (hexagonal), 4 or 8",
                                   .choices = lattice_names,
                                   .fallback = LATTICE_E8},
             [ADAPTIVE_CODE] = {.name = "code",
                                .summary = "q values per digit, M levels",
                                .choices = lattice_codes,
                                .fallback = CODE_Q4M2},
             [ADAPTIVE_DATA] = {.name = "data",
                                .summary = "normal, sd 1 / sqrt(columns), or with values beyond",
                                .choices = lattice_datas}},
    .supports = supports,
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .reference_run = reference_run,
    .tolerance = {.near_share = 1e-4},
    .match = match,
    .quality = quality,
    .data_dims = "data",
};
ASSAY_REGISTER_OPERATION(operation);

int adaptive_model(const struct assay_shape *shape, const void *const in[], int buffer,
                   int64_t begin, int64_t end, void *out)
{
    const struct lattice_job job = adaptive_job_of(shape, in[BUF_IN]);
    if (buffer == BUF_OUT) return lattice_model_encode_of(&job, in, BUF_OUT, begin, end, out);
    *(float *)out = job.r;
    return 0;
}

static int launch(struct assay_call *call)
{
    const float *x = call->buffer[BUF_IN];
    const struct lattice_job job = adaptive_job_of(call->shape, x);
    *(float *)call->buffer[ADAPTIVE_R] = job.r;
#pragma omp parallel for schedule(static) if (job.blocks * job.d > PIECE)
    for (int64_t block = 0; block < job.blocks; block++) {
        float entries[8];
        int64_t offset;
        int t;
        lattice_gather(&job, x, block, entries, &offset);
        lattice_write_digits(&job, lattice_block_encode(&job, entries, &t), call->buffer[BUF_OUT],
                             block * job.block_elements);
    }
    return 0;
}

static const struct assay_variant host_omp = {
    .operation = "lattice_encode_adaptive",
    .name = "host_omp",
    .summary = "all cores: the sum of squares, then the codes",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
    .model = adaptive_model,
};
ASSAY_REGISTER_VARIANT(host_omp);
