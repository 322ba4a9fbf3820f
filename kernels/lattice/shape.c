/*
 * shape.c - a shape of the lattice family worked out: sizes, scale, buffers and the
 * layout of codes.
 */
#include "lattice.h"

const char *const lattice_names[] = {"Z2", "A2", "D4", "E8", NULL};
const char *const lattice_codes[] = {"q2m1", "q4m1", "q4m2", "q3m2", "q4m3", NULL};
const char *const lattice_scalings[] = {"on", "off", NULL};
const char *const lattice_overloads[] = {"off", "block", "tensor", NULL};
const char *const lattice_types[] = {"packed", "int8", "int32", "fp32", NULL};
const char *const lattice_datas[] = {"gaussian", "unit_norm", "extreme", NULL};

/* Entries up to which one T for the tensor can be checked: every piece of the
 * reference has to look at all of them. */
static const int64_t TENSOR_ENTRIES = 1 << 20;

/* Slightly and far beyond any range of the codes; infinities and NaN; ties. */
static const float hard[] = {
    INFINITY, -INFINITY, NAN,   -NAN, 0.0f,  -0.0f, 1e-40f, -1e-40f, 8.5f,   -8.5f, 100.0f,
    -100.0f,  1e3f,      -1e3f, 3e4f, -3e4f, 1e9f,  -1e9f,  3e38f,   -3e38f, 0.5f,  -0.5f,
};

/* sigma / beta for each (q, M), as the published codes and the paper's tables use it, with few
 * overloads: a share of the code's range q^M that is smaller for rounder cells. */
static float ratio(int lattice, int code)
{
    static const float share[] = {0.1875f, 0.1875f, 0.1625f, 0.1125f};
    float range = 1.0f;
    for (int m = 0; m < code_levels(code); m++)
        range *= (float)code_q(code);
    return share[lattice] * range;
}

struct lattice_job lattice_job(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    const char *name = shape->operation->name;
    struct lattice_job job = {.lattice = (int)value[DIM_LATTICE],
                              .code = (int)value[DIM_CODE],
                              .overload = (int)value[DIM_OVERLOAD],
                              .rows = value[DIM_ROWS],
                              .columns = value[DIM_COLUMNS]};
    job.task = strcmp(name, "lattice_encode") == 0   ? TASK_ENCODE
               : strcmp(name, "lattice_decode") == 0 ? TASK_DECODE
                                                     : TASK_ROUNDTRIP;
    if (job.task != TASK_ROUNDTRIP) job.type = (int)value[DIM_TYPE];
    if (job.task == TASK_ENCODE) job.data = (int)value[DIM_DATA];
    if (job.task == TASK_ROUNDTRIP) job.data = (int)value[DIM_ROUNDTRIP_DATA];
    job.d = lattice_d(job.lattice);
    job.q = code_q(job.code);
    job.levels = code_levels(job.code);
    job.block_elements =
        job.type == TYPE_PACKED ? lattice_packed_bytes(job.lattice, job.code) : job.d * job.levels;
    job.row_blocks = (job.columns + job.d - 1) / job.d;
    job.blocks = job.rows * job.row_blocks;

    float scale = ratio(job.lattice, job.code);
    job.sigma = job.data == DATA_UNIT_NORM ? 1.0 / sqrt((double)job.columns) : 1.0;
    job.r = (float)((double)scale / job.sigma);
    if (value[DIM_SCALING] == SCALING_OFF) {
        job.sigma *= (double)job.r;
        job.r = 1.0f;
    }
    job.half = 0.5f / job.r;
    return job;
}

const char *lattice_supports(const struct assay_shape *shape)
{
    struct lattice_job job = lattice_job(shape);
    if (job.data == DATA_UNIT_NORM && shape->value[DIM_SCALING] == SCALING_OFF)
        return "rows of unit norm need scaling: at beta = 1 all their codes are 0";
    if (job.overload != OVERLOAD_TENSOR) return NULL;
    if (job.task == TASK_ROUNDTRIP)
        return "a scale for the whole tensor must be known before the first block: it is encode "
               "and decode, not one pass";
    if (job.task == TASK_ENCODE && job.rows * job.columns > TENSOR_ENTRIES)
        return "one scale for the tensor is checked up to 2^20 entries: its reference is a scan "
               "of all for each piece";
    return NULL;
}

double lattice_moment(int lattice)
{
    static const double moment[] = {1.0 / 12.0, 5.0 / 72.0, 13.0 / 120.0, 929.0 / 12960.0};
    return moment[lattice];
}

struct assay_work lattice_work(const struct assay_shape *shape)
{
    struct lattice_job job = lattice_job(shape);
    static const enum assay_type type[] = {ASSAY_U8, ASSAY_I8, ASSAY_I32, ASSAY_F32};
    double entries = 4.0 * (double)job.rows * (double)job.columns;
    double codes =
        (double)job.blocks * job.block_elements * (double)assay_type_bytes(type[job.type]);
    if (job.overload == OVERLOAD_BLOCK) codes += (double)job.blocks;
    if (job.overload == OVERLOAD_TENSOR) codes += 1.0;
    /* Operations of one closest point by the naive formulas; one addition per digit. */
    static const double closest[] = {6.0, 14.0, 20.0, 130.0};
    double encode = job.levels * (closest[job.lattice] + job.d);
    double decode = job.levels * (closest[job.lattice] + 4.0 * job.d);
    double once = job.task == TASK_ENCODE ? encode : decode;
    struct assay_work work = {.read_bytes = entries, .write_bytes = codes};
    if (job.task == TASK_DECODE)
        work = (struct assay_work){.read_bytes = codes, .write_bytes = entries};
    if (job.task == TASK_ROUNDTRIP) {
        work.write_bytes = entries;
        once = encode + decode;
    }
    work.ops[ASSAY_FP32] = once * (double)job.blocks;
    return work;
}

/* --------------------------------------------------------------- buffers -- */

struct assay_buffer lattice_entries(const struct lattice_job *job, enum assay_role role)
{
    struct assay_buffer buffer = {.name = role == ASSAY_IN ? "x" : "y",
                                  .role = role,
                                  .type = ASSAY_F32,
                                  .count = job->rows * job->columns};
    if (role != ASSAY_IN) return buffer;
    buffer.fill = (struct assay_fill){.kind = ASSAY_FILL_NORMAL, .a = 0.0, .b = job->sigma};
    if (job->data == DATA_EXTREME) {
        buffer.fill.hard = hard;
        buffer.fill.hard_count = sizeof hard / sizeof *hard;
        buffer.fill.hard_every = 64;
    }
    return buffer;
}

struct assay_buffer lattice_code_buffer(const struct lattice_job *job, enum assay_role role)
{
    static const enum assay_type type[] = {ASSAY_U8, ASSAY_I8, ASSAY_I32, ASSAY_F32};
    /* Every byte is a packed code: what lies above the last digit is ignored. */
    double most = job->type == TYPE_PACKED ? 255.0 : (double)(job->q - 1);
    return (struct assay_buffer){.name = "codes",
                                 .role = role,
                                 .type = type[job->type],
                                 .count = job->blocks * job->block_elements,
                                 .fill = {.kind = ASSAY_FILL_INTEGER, .a = 0.0, .b = most}};
}

struct assay_buffer lattice_t_buffer(const struct lattice_job *job, enum assay_role role)
{
    return (struct assay_buffer){.name = "t",
                                 .role = role,
                                 .type = ASSAY_U8,
                                 .count = job->overload == OVERLOAD_TENSOR ? 1 : job->blocks,
                                 .fill = {.kind = ASSAY_FILL_INTEGER, .a = 0.0, .b = 12.0}};
}

/* ---------------------------------------------------------------- layout -- */

int lattice_gather(const struct lattice_job *job, const float *x, int64_t block, float out[8],
                   int64_t *offset)
{
    int64_t column = block % job->row_blocks * job->d;
    int64_t left = job->columns - column;
    int count = left < job->d ? (int)left : job->d;
    *offset = block / job->row_blocks * job->columns + column;
    for (int i = 0; i < job->d; i++)
        out[i] = i < count && x ? x[*offset + i] : 0.0f;
    return count;
}

double lattice_code_element(const struct lattice_job *job, uint64_t digits, int element)
{
    if (job->type != TYPE_PACKED) return (double)(digits >> (2 * element) & 3);
    uint64_t packed = lattice_pack(job->q, job->d * job->levels, digits);
    return (double)(packed >> (8 * element) & 255);
}

void lattice_write_digits(const struct lattice_job *job, uint64_t digits, void *out, int64_t at)
{
    if (job->type == TYPE_PACKED) {
        uint64_t packed = lattice_pack(job->q, job->d * job->levels, digits);
        for (int i = 0; i < job->block_elements; i++)
            ((uint8_t *)out)[at + i] = (uint8_t)(packed >> (8 * i));
        return;
    }
    for (int i = 0; i < job->block_elements; i++) {
        int digit = (int)(digits >> (2 * i) & 3);
        if (job->type == TYPE_INT8) ((int8_t *)out)[at + i] = (int8_t)digit;
        if (job->type == TYPE_INT32) ((int32_t *)out)[at + i] = digit;
        if (job->type == TYPE_FP32) ((float *)out)[at + i] = (float)digit;
    }
}

uint64_t lattice_read_digits(const struct lattice_job *job, const void *codes, int64_t block)
{
    int64_t at = block * job->block_elements;
    uint64_t word = 0;
    for (int i = 0; i < job->block_elements; i++) {
        if (job->type == TYPE_PACKED) word |= (uint64_t)((const uint8_t *)codes)[at + i] << (8 * i);
        if (job->type == TYPE_INT8)
            word |= (uint64_t)(((const int8_t *)codes)[at + i] & 3) << (2 * i);
        if (job->type == TYPE_INT32)
            word |= (uint64_t)(((const int32_t *)codes)[at + i] & 3) << (2 * i);
        if (job->type == TYPE_FP32)
            word |= (uint64_t)((int)((const float *)codes)[at + i] & 3) << (2 * i);
    }
    return job->type == TYPE_PACKED ? lattice_unpack(job->q, job->d * job->levels, word) : word;
}

int lattice_read_t(const struct lattice_job *job, const uint8_t *t, int64_t block)
{
    return t ? t[job->overload == OVERLOAD_TENSOR ? 0 : block] : 0;
}
