/*
 * vq_gather.c - operation `vq_gather`: look up the codewords of a batch of codes.
 *
 *   out[i] = codebook[code_i]
 *
 * Bytes per vector: 1 read, 512 written; the codebook, 128 KiB, is read once. The passes that widen
 * the codes are not counted, because the result does not need them. Operations: none. Results must
 * be equal bit by bit.
 */
#include <math.h>

#include "vq_gather.h"

static const char *const indices[] = {"u8", "i64", "chain", NULL};

/* A gather must keep bits that arithmetic would change. */
static const float hard[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-45f, -3e38f};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t vectors = gather_vectors(shape);
    out[GATHER_CODES] =
        (struct assay_buffer){.name = "codes",
                              .role = ASSAY_IN,
                              .type = ASSAY_U8,
                              .count = vectors,
                              .fill = {.kind = ASSAY_FILL_INTEGER, .a = 0, .b = CODEWORDS - 1}};
    out[GATHER_CODEBOOK] = (struct assay_buffer){.name = "codebook",
                                                 .role = ASSAY_IN,
                                                 .type = ASSAY_F32,
                                                 .count = CODEWORDS * CODEWORD_LENGTH,
                                                 .fill = {.kind = ASSAY_FILL_NORMAL,
                                                          .b = 1,
                                                          .hard = hard,
                                                          .hard_count = sizeof hard / sizeof *hard,
                                                          .hard_every = 512}};
    out[GATHER_OUT] = (struct assay_buffer){
        .name = "out", .role = ASSAY_OUT, .type = ASSAY_F32, .count = CODEWORD_LENGTH * vectors};
    if (shape->value[GATHER_INDEX] == GATHER_U8) return 3;
    out[GATHER_WIDE] = (struct assay_buffer){
        .name = "wide", .role = ASSAY_SCRATCH, .type = ASSAY_I64, .count = vectors};
    if (shape->value[GATHER_INDEX] == GATHER_I64) return 4;
    out[GATHER_FLOAT] = (struct assay_buffer){
        .name = "float", .role = ASSAY_SCRATCH, .type = ASSAY_F32, .count = vectors};
    return 5;
}

static struct assay_work work(const struct assay_shape *shape)
{
    return (struct assay_work){.read_bytes = (double)gather_vectors(shape) +
                                             (double)sizeof(float) * CODEWORDS * CODEWORD_LENGTH,
                               .write_bytes = (double)gather_out_bytes(shape)};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const uint8_t *codes = in[GATHER_CODES];
    const float *codebook = in[GATHER_CODEBOOK];
    for (int64_t i = begin; i < end; i++) {
        int code = codes[i / CODEWORD_LENGTH];
        expected[i - begin] = (double)codebook[code * CODEWORD_LENGTH + i % CODEWORD_LENGTH];
    }
    return 0;
}

static const char *const baselines[] = {"memset", "host_memset", NULL};

static const struct assay_operation vq_gather = {
    .name = "vq_gather",
    .summary = "codewords of codes: out[i] = codebook[code_i], 64 codes per leaf, 128 fp32 each",
    .dims = {[GATHER_LEAVES] = {.name = "leaves",
                                .summary = "leaves of 64 codes",
                                .fallback = 64,
                                .min = 1,
                                .max = 1 << 20},
             [GATHER_INDEX] = {.name = "index",
                               .summary = "codes as they come, widened to int64 first, or to "
                                          "int64 and then fp32",
                               .choices = indices,
                               .fallback = GATHER_U8}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(vq_gather);
