/*
 * copy_lattice_host.c - memory-bound baselines of the lattice family on the host, and the host
 * models that the copies are checked against (kernels/lattice/copy.h).
 *
 * Bytes per entry: those of the operation with packed codes.
 */
#include "kernels/lattice/copy.h"

enum { PIECE = 1 << 16 };

const char *lattice_copy_supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.columns % 8) return "columns must be a multiple of 8";
    if (job.type != TYPE_PACKED) return "packed codes only";
    if (job.overload == OVERLOAD_TENSOR) return "a T per block or none";
    return NULL;
}

static void encode_bytes(const uint32_t *x, int bytes, int64_t begin, int64_t end, uint8_t *out)
{
    uint64_t word = 0;
    for (int64_t at = begin; at < end; at++) {
        int64_t place = at % bytes;
        if (at == begin || place == 0) word = copy_word(x + at / bytes * 8);
        out[at - begin] = (uint8_t)(word >> (8 * place));
    }
}

/* `ts` scales per group; 0, and `t` NULL, where there are none. */
static void decode_entries(const uint8_t *codes, int bytes, const uint8_t *t, int ts, int64_t begin,
                           int64_t end, uint32_t *out)
{
    for (int64_t at = begin; at < end; at++) {
        uint32_t word = 0;
        for (int i = 0; i < bytes && i < 4; i++)
            word |= (uint32_t)codes[at / 8 * bytes + i] << (8 * i);
        if (ts) word ^= t[at * ts / 8];
        out[at - begin] = word ^ (uint32_t)(at % 8);
    }
}

int lattice_model_copy(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, void *out)
{
    const struct lattice_job job = lattice_job(shape);
    const int bytes = job.task == TASK_ROUNDTRIP ? 0 : copy_group_bytes(&job);
    const int ts = copy_group_ts(&job);
    if (job.task == TASK_ENCODE)
        encode_bytes(in[BUF_IN], buffer == BUF_T ? ts : bytes, begin, end, out);
    else if (job.task == TASK_DECODE)
        decode_entries(in[BUF_IN], bytes, ts ? in[BUF_T] : NULL, ts, begin, end, out);
    else
        memcpy(out, (const float *)in[BUF_IN] + begin, (size_t)(end - begin) * sizeof(float));
    return 0;
}

/* `count` elements of `width` bytes into output `buffer`, one piece per thread. */
static void copy_output(struct assay_call *call, int buffer, int64_t count, int64_t width)
{
    const void *const *in = (const void *const *)call->buffer;
#pragma omp parallel for schedule(static) if (count > PIECE)
    for (int64_t at = 0; at < count; at += PIECE)
        lattice_model_copy(call->shape, in, buffer, at, at + PIECE < count ? at + PIECE : count,
                           (char *)call->buffer[buffer] + at * width);
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    if (job.task != TASK_ENCODE) {
        copy_output(call, BUF_OUT, job.rows * job.columns, sizeof(float));
        return 0;
    }
    copy_output(call, BUF_OUT, job.blocks * job.block_elements, 1);
    if (copy_group_ts(&job)) copy_output(call, BUF_T, job.blocks, 1);
    return 0;
}

#define HOST_COPY(task)                                                                            \
    static const struct assay_variant variant_##task = {                                           \
        .operation = "lattice_" #task,                                                             \
        .name = "host_copy_" #task,                                                                \
        .summary = "moves the bytes of the operation, next to no arithmetic",                      \
        .kind = ASSAY_BOUND,                                                                       \
        .place = ASSAY_HOST,                                                                       \
        .apart = true,                                                                             \
        .supports = lattice_copy_supports,                                                         \
        .launch = launch,                                                                          \
        .model = lattice_model_copy,                                                               \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_##task)

HOST_COPY(encode);
HOST_COPY(decode);
HOST_COPY(roundtrip);
