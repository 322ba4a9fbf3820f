#include "quality.h"

static const int64_t LOOKED_AT = 1 << 20;

struct tally {
    int64_t blocks, overloaded, inside_entries;
    double inside_error, error, signal;
};

/* The point that block `block` was coded as, from its codes or from y, and its T; false if the
 * block is lost. */
static bool decoded(const struct lattice_job *job, const void *const host[], int64_t block,
                    const float x[8], float y[8], int *doublings)
{
    int64_t offset;
    int t;
    if (job->task == TASK_ROUNDTRIP) {
        lattice_gather(job, host[BUF_OUT], block, y, &offset);
        lattice_block_encode(job, x, &t);
    } else {
        const uint8_t *stored = job->overload == OVERLOAD_OFF ? NULL : host[BUF_T];
        t = lattice_read_t(job, stored, block);
        lattice_block_decode(job, lattice_read_digits(job, host[BUF_OUT], block), t, y);
    }
    float v[8];
    int sound = 1;
    LATTICE_UNROLL
    for (int i = 0; i < job->d; i++) {
        v[i] = x[i] * job->r;
        sound &= fabsf(v[i]) < 0x1p20f; /* false for NaN */
    }
    *doublings = t;
    return sound && t <= LATTICE_T_MAX;
}

static void look_at(const struct lattice_job *job, const void *const host[], int64_t block,
                    struct tally *tally)
{
    float x[8], y[8];
    int64_t offset;
    bool overload;
    int t, count = lattice_gather(job, host[BUF_IN], block, x, &offset);
    lattice_block_encode_at(job, x, 0, &overload);
    tally->blocks++;
    tally->overloaded += overload;
    if (!decoded(job, host, block, x, y, &t)) return;
    double error = 0.0;
    for (int i = 0; i < count; i++) {
        double off = (double)x[i] - (double)y[i];
        error += off * off;
        tally->signal += (double)x[i] * (double)x[i];
    }
    tally->error += error;
    /* A protected block fits at the beta that it was coded with, 2^T times that of the shape. */
    if (overload && job->overload == OVERLOAD_OFF) return;
    tally->inside_error += ldexp(error, -2 * t);
    tally->inside_entries += count;
}

int lattice_quality_of(const struct lattice_job *job, const void *const host[], double code_bytes,
                       struct assay_metric out[ASSAY_MAX_METRICS])
{
    int64_t blocks = LOOKED_AT / job->d < job->blocks ? LOOKED_AT / job->d : job->blocks;
    struct tally tally = {0};
    for (int64_t block = 0; block < blocks; block++)
        look_at(job, host, block, &tally);

    double r = (double)job->r;
    double mse = tally.inside_error / (double)tally.inside_entries * r * r;
    int count = 0;
    out[count++] = (struct assay_metric){"mse", mse};
    out[count++] = (struct assay_metric){"mse_ratio", mse / lattice_moment(job->lattice)};
    out[count++] = (struct assay_metric){"sqnr_db", 10.0 * log10(tally.signal / tally.error)};
    out[count++] =
        (struct assay_metric){"overload_rate", (double)tally.overloaded / (double)tally.blocks};
    if (job->task == TASK_ROUNDTRIP) return count;
    out[count++] = (struct assay_metric){
        "bits_per_entry", 8.0 * code_bytes / ((double)job->rows * (double)job->columns)};
    out[count++] = (struct assay_metric){"code_bytes", code_bytes};
    return count;
}

int lattice_quality(const struct assay_shape *shape, const void *const host[],
                    struct assay_metric out[ASSAY_MAX_METRICS])
{
    const struct lattice_job job = lattice_job(shape);
    return lattice_quality_of(&job, host, lattice_work(shape).write_bytes, out);
}
