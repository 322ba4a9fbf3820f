/*
 * host.c - the family on the host. host_scalar works block by block in double on one core, by the
 * reference's own formulas; host_omp has the arithmetic of the GPU kernels, on all cores.
 *
 * Bytes per entry: those of the operations; the digits of a block stay in a register.
 */
#include "lattice.h"

enum { BLOCKS_A_PIECE = 4096 };

struct pass {
    struct lattice_job job;
    const void *in;
    void *out;
    uint8_t *t; /* NULL without protection */
    bool exact;
};

static uint64_t encode(const struct pass *pass, const float x[8], int shared, int *t)
{
    bool unused, near;
    const struct lattice_job *job = &pass->job;
    *t = shared;
    if (job->overload == OVERLOAD_TENSOR)
        return pass->exact ? lattice_exact_encode_at(job, x, shared, &unused, &near)
                           : lattice_block_encode_at(job, x, shared, NULL);
    return pass->exact ? lattice_exact_encode(job, x, t, &near) : lattice_block_encode(job, x, t);
}

static void decode(const struct pass *pass, uint64_t digits, int t, float y[8])
{
    double exact[8];
    if (!pass->exact) {
        lattice_block_decode(&pass->job, digits, t, y);
        return;
    }
    lattice_exact_decode(&pass->job, digits, t, exact);
    for (int i = 0; i < pass->job.d; i++)
        y[i] = (float)exact[i];
}

static void one_block(const struct pass *pass, int64_t block, int shared)
{
    const struct lattice_job *job = &pass->job;
    float x[8], y[8];
    int64_t offset;
    int t = 0;
    uint64_t digits;
    const float *entries = job->task == TASK_DECODE ? NULL : pass->in;
    int count = lattice_gather(job, entries, block, x, &offset);
    if (job->task == TASK_DECODE) {
        digits = lattice_read_digits(job, pass->in, block);
        t = lattice_read_t(job, pass->t, block);
    } else {
        digits = encode(pass, x, shared, &t);
    }
    if (job->task == TASK_ENCODE) {
        lattice_write_digits(job, digits, pass->out, block * job->block_elements);
        if (job->overload == OVERLOAD_BLOCK) pass->t[block] = (uint8_t)t;
        return;
    }
    decode(pass, digits, t, y);
    memcpy((float *)pass->out + offset, y, (size_t)count * sizeof *y);
}

/* The largest T, which the whole tensor takes. */
static int tensor_t(const struct pass *pass)
{
    int most = 0;
#pragma omp parallel for reduction(max : most) if (!pass->exact)
    for (int64_t block = 0; block < pass->job.blocks; block++) {
        float x[8];
        int64_t offset;
        int t;
        bool near;
        lattice_gather(&pass->job, pass->in, block, x, &offset);
        if (pass->exact)
            lattice_exact_encode(&pass->job, x, &t, &near);
        else
            lattice_block_encode(&pass->job, x, &t);
        if (t <= LATTICE_T_MAX && t > most) most = t;
    }
    return most;
}

static int run(struct assay_call *call, bool exact)
{
    struct pass pass = {.job = lattice_job(call->shape),
                        .in = call->buffer[BUF_IN],
                        .out = call->buffer[BUF_OUT],
                        .exact = exact};
    const struct lattice_job *job = &pass.job;
    if (job->overload != OVERLOAD_OFF && job->task != TASK_ROUNDTRIP) pass.t = call->buffer[BUF_T];
    int shared = 0;
    if (job->task == TASK_ENCODE && job->overload == OVERLOAD_TENSOR) {
        shared = tensor_t(&pass);
        pass.t[0] = (uint8_t)shared;
    }
    if (exact) {
        for (int64_t block = 0; block < job->blocks; block++)
            one_block(&pass, block, shared);
        return 0;
    }
#pragma omp parallel for schedule(static) if (job->blocks > BLOCKS_A_PIECE)
    for (int64_t block = 0; block < job->blocks; block++)
        one_block(&pass, block, shared);
    return 0;
}

static int launch_scalar(struct assay_call *call)
{
    return run(call, true);
}

static int launch_omp(struct assay_call *call)
{
    return run(call, false);
}

#define HOST_VARIANT(task)                                                                         \
    static const struct assay_variant scalar_##task = {                                            \
        .operation = "lattice_" #task,                                                             \
        .name = "host_scalar",                                                                     \
        .summary = "the formulas in double, one block at a time on one core",                      \
        .kind = ASSAY_REFERENCE,                                                                   \
        .place = ASSAY_HOST,                                                                       \
        .launch = launch_scalar,                                                                   \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(scalar_##task);                                                         \
    static const struct assay_variant omp_##task = {                                               \
        .operation = "lattice_" #task,                                                             \
        .name = "host_omp",                                                                        \
        .summary = "the arithmetic of the GPU kernels on all cores",                               \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_HOST,                                                                       \
        .launch = launch_omp,                                                                      \
        .model = lattice_model_##task,                                                             \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(omp_##task)

HOST_VARIANT(encode);
HOST_VARIANT(decode);
HOST_VARIANT(roundtrip);
