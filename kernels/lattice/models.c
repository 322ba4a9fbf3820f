/*
 * models.c - the exact bits that the family's kernels write: lattice_math.h, block by block, on
 * the host.
 *
 * Every variant without a note to the contrary computes in this order, so all are compared with
 * this model bit for bit.
 */
#include "lattice.h"

/* The lattice and q as constants: one instance each. */
#define EACH_LATTICE(FUNCTION, ...)                                                                \
    (job->lattice == LATTICE_Z2   ? FUNCTION(LATTICE_Z2, __VA_ARGS__)                              \
     : job->lattice == LATTICE_A2 ? FUNCTION(LATTICE_A2, __VA_ARGS__)                              \
     : job->lattice == LATTICE_D4 ? FUNCTION(LATTICE_D4, __VA_ARGS__)                              \
                                  : FUNCTION(LATTICE_E8, __VA_ARGS__))

uint64_t lattice_block_encode_at(const struct lattice_job *job, const float x[8], int t,
                                 bool *overload)
{
    float r = job->r * lattice_power(-t);
    if (job->q == 4) return EACH_LATTICE(lattice_encode_once, 4, job->levels, x, r, overload);
    return EACH_LATTICE(lattice_encode_once, job->q, job->levels, x, r, overload);
}

uint64_t lattice_block_encode(const struct lattice_job *job, const float x[8], int *t)
{
    if (job->overload == OVERLOAD_OFF) {
        *t = 0;
        return lattice_block_encode_at(job, x, 0, NULL);
    }
    if (job->q == 4) return EACH_LATTICE(lattice_encode_block, 4, job->levels, x, job->r, true, t);
    return EACH_LATTICE(lattice_encode_block, job->q, job->levels, x, job->r, true, t);
}

void lattice_block_decode(const struct lattice_job *job, uint64_t digits, int t, float y[8])
{
    EACH_LATTICE(lattice_decode_block, job->q, job->levels, digits, job->half, t, y);
}

int lattice_tensor_t(const struct lattice_job *job, const float *x)
{
    int most = 0;
    for (int64_t block = 0; block < job->blocks; block++) {
        float entries[8];
        int64_t offset;
        int t;
        lattice_gather(job, x, block, entries, &offset);
        lattice_block_encode(job, entries, &t);
        if (t <= LATTICE_T_MAX && t > most) most = t;
    }
    return most;
}

int lattice_model_encode_of(const struct lattice_job *job, const void *const in[], int buffer,
                            int64_t begin, int64_t end, void *out)
{
    const bool tensor = job->overload == OVERLOAD_TENSOR;
    const int shared = tensor ? lattice_tensor_t(job, in[BUF_IN]) : 0;
    const int per_block = buffer == BUF_T ? 1 : job->block_elements;
    if (tensor && buffer == BUF_T) {
        *(uint8_t *)out = (uint8_t)shared;
        return 0;
    }
    for (int64_t block = begin / per_block; block * per_block < end; block++) {
        float x[8];
        int64_t offset;
        int t;
        lattice_gather(job, in[BUF_IN], block, x, &offset);
        uint64_t digits = tensor ? lattice_block_encode_at(job, x, shared, NULL)
                                 : lattice_block_encode(job, x, &t);
        if (buffer == BUF_T) {
            ((uint8_t *)out)[block - begin] = (uint8_t)t;
            continue;
        }
        for (int i = 0; i < per_block; i++) {
            int64_t at = block * per_block + i - begin;
            if (at < 0 || at >= end - begin) continue;
            double value = lattice_code_element(job, digits, i);
            if (job->type == TYPE_FP32)
                ((float *)out)[at] = (float)value;
            else if (job->type == TYPE_INT32)
                ((int32_t *)out)[at] = (int32_t)value;
            else
                ((uint8_t *)out)[at] = (uint8_t)value;
        }
    }
    return 0;
}

int lattice_model_encode(const struct assay_shape *shape, const void *const in[], int buffer,
                         int64_t begin, int64_t end, void *out)
{
    const struct lattice_job job = lattice_job(shape);
    return lattice_model_encode_of(&job, in, buffer, begin, end, out);
}

/* Decoded entries [begin, end): a block may stand across an end. */
static void model_entries(const struct lattice_job *job, const void *const in[], int64_t begin,
                          int64_t end, float *out)
{
    int64_t row = begin / job->columns;
    int64_t block = row * job->row_blocks + begin % job->columns / job->d;
    for (int64_t at = begin; at < end; block++) {
        float x[8], y[8];
        int64_t offset;
        int t;
        uint64_t digits;
        const float *entries = job->task == TASK_ROUNDTRIP ? in[BUF_IN] : NULL;
        int count = lattice_gather(job, entries, block, x, &offset);
        if (job->task == TASK_ROUNDTRIP) {
            digits = lattice_block_encode(job, x, &t);
        } else {
            digits = lattice_read_digits(job, in[BUF_IN], block);
            t = lattice_read_t(job, job->overload == OVERLOAD_OFF ? NULL : in[BUF_T], block);
        }
        lattice_block_decode(job, digits, t, y);
        for (; at < end && at < offset + count; at++)
            out[at - begin] = y[at - offset];
    }
}

int lattice_model_decode(const struct assay_shape *shape, const void *const in[], int buffer,
                         int64_t begin, int64_t end, void *out)
{
    const struct lattice_job job = lattice_job(shape);
    model_entries(&job, in, begin, end, out);
    return 0;
}

int lattice_model_roundtrip(const struct assay_shape *shape, const void *const in[], int buffer,
                            int64_t begin, int64_t end, void *out)
{
    return lattice_model_decode(shape, in, buffer, begin, end, out);
}
