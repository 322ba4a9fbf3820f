/*
 * rope.c - operation rope: rotary position embedding (Su et al., "RoFormer", 2021, section 3.4.2).
 * In each head, channel pair j of a token is turned by the angle of (token, j):
 *
 *   y1 = x1 cos - x2 sin,  y2 = x1 sin + x2 cos
 *
 *   pairs=halves      x1, x2 are channels j and j + size / 2
 *   pairs=neighbours  x1, x2 are channels 2 j and 2 j + 1
 *
 * x and y are [batch, tokens, heads, size]; cos and sin [tokens, size / 2] in fp32, computed once.
 *
 * Bytes per element: one read and one written, 4 in fp32, else 2; 8 per token and pair for
 * cos and sin. Operations per element: 3.
 *
 * A right answer is off by u, 2^-24, of each of two products and of their sum, so by 2 u of the
 * products' magnitudes, also where they cancel; twice that is allowed.
 */
#include "norms.h"

static const char *const pairs[] = {"halves", "neighbours", NULL};

static int64_t elements(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return value[ROPE_BATCH] * value[ROPE_TOKENS] * value[ROPE_HEADS] * value[ROPE_SIZE];
}

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[ROPE_SIZE] % 2 ? "a head has an odd size" : NULL;
}

/* The angle of pair j at token t is t / 10000^(2 j / size). */
static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    int64_t half = shape->value[ROPE_SIZE] / 2;
    float *table = host;
    for (int64_t i = 0; i < shape->value[ROPE_TOKENS] * half; i++) {
        double angle = (double)(i / half) * pow(10000, -(double)(i % half) / (double)half);
        table[i] = (float)(buffer == ROPE_COS ? cos(angle) : sin(angle));
    }
    return 0;
}

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    enum assay_type type = gpt_type(norms_precision(shape->value[ROPE_TYPE]));
    int64_t table = shape->value[ROPE_TOKENS] * shape->value[ROPE_SIZE] / 2;
    struct assay_fill normal = {.kind = ASSAY_FILL_NORMAL, .a = 0, .b = 1};
    struct assay_fill custom = {.kind = ASSAY_FILL_CUSTOM};
    out[ROPE_X] = (struct assay_buffer){"x", ASSAY_IN, type, elements(shape), normal};
    out[ROPE_COS] =
        (struct assay_buffer){"cos", ASSAY_IN, ASSAY_F32, table, custom, .constant = true};
    out[ROPE_SIN] =
        (struct assay_buffer){"sin", ASSAY_IN, ASSAY_F32, table, custom, .constant = true};
    out[ROPE_Y] = (struct assay_buffer){
        .name = "y", .role = ASSAY_OUT, .type = type, .count = elements(shape)};
    return 4;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double count = (double)elements(shape);
    double bytes = count * (double)gpt_bytes(norms_precision(shape->value[ROPE_TYPE]));
    double table = 4 * (double)shape->value[ROPE_TOKENS] * (double)shape->value[ROPE_SIZE];
    return (struct assay_work){
        .read_bytes = bytes + table, .write_bytes = bytes, .ops = {[ASSAY_FP32] = 3 * count}};
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const int64_t *value = shape->value;
    enum gpt_precision precision = norms_precision(value[ROPE_TYPE]);
    int64_t size = value[ROPE_SIZE], half = size / 2;
    for (int64_t i = begin; i < end; i++) {
        int64_t head = i / size, channel = i % size;
        int64_t token = head / value[ROPE_HEADS] % value[ROPE_TOKENS];
        bool halves = value[ROPE_PAIRS] == ROPE_HALVES;
        int64_t pair = halves ? channel % half : channel / 2;
        bool second = halves ? channel >= half : channel % 2 == 1;
        int64_t other = i + (halves ? half : 1) * (second ? -1 : 1);
        double cosine = (double)((const float *)in[ROPE_COS])[token * half + pair];
        double sine = (double)((const float *)in[ROPE_SIN])[token * half + pair];
        double own = (double)gpt_load(in[ROPE_X], precision, i) * cosine;
        double cross = (double)gpt_load(in[ROPE_X], precision, other) * sine;
        double y = second ? own + cross : own - cross;
        expected[i - begin] = y;
        bound[i - begin] =
            norms_bound(value[ROPE_TYPE], y, 4 * GPT_UNIT_FP32 * (fabs(own) + fabs(cross)));
    }
    return 0;
}

static const char *const baselines[] = {"scalar", "host_scalar", NULL};

static const struct assay_operation operation = {
    .name = "rope",
    .summary = "rotary embedding: pairs of channels turned by the angle of their position",
    .dims = {[ROPE_BATCH] =
                 {.name = "batch", .summary = "sequences", .fallback = 8, .min = 1, .max = 1 << 16},
             [ROPE_TOKENS] = {.name = "tokens",
                              .summary = "tokens of a sequence",
                              .fallback = 1024,
                              .min = 1,
                              .max = 1 << 20},
             [ROPE_HEADS] =
                 {.name = "heads", .summary = "heads", .fallback = 32, .min = 1, .max = 1 << 10},
             [ROPE_SIZE] = {.name = "head_size",
                            .summary = "channels of a head, an even number",
                            .fallback = 128,
                            .min = 1,
                            .max = 1 << 12},
             [ROPE_TYPE] = {.name = "type", .summary = "type of x and y", .choices = norms_types},
             [ROPE_PAIRS] = {.name = "pairs",
                             .summary = "which channels are turned together",
                             .choices = pairs}},
    .supports = supports,
    .buffers = buffers,
    .fill = fill,
    .work = work,
    .reference = reference,
    .tolerance = {.near_share = 0.02},
    .baselines = baselines,
};
ASSAY_REGISTER_OPERATION(operation);
