/*
 * embedding.c - operation embedding: y[b, t] = wte[ids[b, t]] + wpe[t].
 *
 * Bytes: 4 per id; each row of wte that occurs among the ids, once (M uniform ids name V (1 - (1 -
 * 1/V)^M) of V rows on average); each row of wpe once; and 4 written per element. Operations: 1
 * addition per element, so the answer is exact.
 *
 * An id outside the vocabulary would read memory beside the table, so every variant checks the ids
 * in its setup and refuses them (gpt_check_ids).
 */
#include "kernels/gpt/gpt.h"

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t rows = shape->value[EMBEDDING_BATCH] * shape->value[EMBEDDING_TOKENS];
    int64_t channels = shape->value[EMBEDDING_CHANNELS];
    int64_t vocabulary = shape->value[EMBEDDING_VOCABULARY];
    struct assay_fill any = {.kind = ASSAY_FILL_INTEGER, .a = 0, .b = (double)(vocabulary - 1)};
    struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    out[EMBEDDING_IDS] = (struct assay_buffer){"ids", ASSAY_IN, ASSAY_I32, rows, any};
    out[EMBEDDING_WTE] = (struct assay_buffer){
        "wte", ASSAY_IN, ASSAY_F32, vocabulary * channels, normal, .constant = true};
    out[EMBEDDING_WPE] = (struct assay_buffer){"wpe",     ASSAY_IN,
                                               ASSAY_F32, shape->value[EMBEDDING_TOKENS] * channels,
                                               normal,    .constant = true};
    out[EMBEDDING_Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = rows * channels};
    return 4;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double rows = (double)(shape->value[EMBEDDING_BATCH] * shape->value[EMBEDDING_TOKENS]);
    double channels = (double)shape->value[EMBEDDING_CHANNELS];
    double vocabulary = (double)shape->value[EMBEDDING_VOCABULARY];
    double named = -vocabulary * expm1(rows * log1p(-1 / vocabulary));
    if (shape->value[EMBEDDING_VOCABULARY] == 1) named = 1;
    return (struct assay_work){
        .read_bytes = 4 * rows + 4 * channels * (named + (double)shape->value[EMBEDDING_TOKENS]),
        .write_bytes = 4 * rows * channels,
        .ops = {[ASSAY_FP32] = rows * channels},
    };
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    int64_t channels = shape->value[EMBEDDING_CHANNELS], tokens = shape->value[EMBEDDING_TOKENS];
    const int32_t *ids = in[EMBEDDING_IDS];
    const float *wte = in[EMBEDDING_WTE], *wpe = in[EMBEDDING_WPE];
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i / channels, channel = i % channels;
        float sum = wte[ids[row] * channels + channel] + wpe[row % tokens * channels + channel];
        expected[i - begin] = (double)sum;
        bound[i - begin] = 0;
    }
    return 0;
}

static const char *const baselines[] = {"split", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "embedding",
    .summary = "y[b, t] = wte[ids[b, t]] + wpe[t]",
    .dims = {[EMBEDDING_BATCH] =
                 {.name = "batch", .summary = "sequences", .fallback = 8, .min = 1, .max = 1 << 16},
             [EMBEDDING_TOKENS] = {.name = "tokens",
                                   .summary = "tokens of a sequence",
                                   .fallback = 128,
                                   .min = 1,
                                   .max = 1 << 20},
             [EMBEDDING_CHANNELS] = {.name = "channels",
                                     .summary = "numbers per token",
                                     .fallback = 768,
                                     .min = 1,
                                     .max = 1 << 16},
             [EMBEDDING_VOCABULARY] = {.name = "vocabulary",
                                       .summary = "rows of the token table",
                                       .fallback = 50257,
                                       .min = 1,
                                       .max = 1 << 20}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
