/*
 * test_family_gpt_attention_margin.c - the bound of attention over many seeds: each precision's own
 * arithmetic stays within it, and each mistake that kernels make is refused.
 */
#include "tests/kernels/margin.h"
#include "tests/kernels/gpt/rounded.h"

enum { SEEDS = 40, MAX_TOKENS = 1024, MAX_HEAD = 128 };

struct way {
    const char *name;
    bool right;
    enum operand score, weight; /* what q and k, and the weights, are taken as */
    bool truncates;
    bool normalised;  /* weights are divided by their sum before they are rounded */
    int64_t tile;     /* keys between two rescalings; 0: the peak is known */
    double exp_error; /* relative, of the exponential; its sign by the key */
    /* Mistakes. */
    int see;     /* keys behind the query that are let through; negative: left out */
    float scale; /* of the scores, beside the right one; 0: 1 */
    bool first_left_out;
    int dropped;      /* a head, from 1 on */
    bool head_mixed;  /* the next head's values */
    bool stale_total; /* the sum of weights has rounded weights in place of whole ones */
};

/* One head as fp32: q, k, v of each token. */
struct line {
    int64_t tokens, size;
    const float *q, *k, *v;
};

static void attend(const struct line *line, const struct way *way, int64_t token, float *y)
{
    int64_t size = line->size, keys = token + 1 + way->see, first = way->first_left_out;
    float weight[MAX_TOKENS], sum[MAX_HEAD] = {0}, total = 0, peak = -INFINITY;
    float scale = (way->scale > 0 ? way->scale : 1) * 1.4426950408889634f / sqrtf((float)size);
    if (keys > line->tokens) keys = line->tokens;
    if (keys <= first) keys = first + 1;
    int64_t tile = way->tile > 0 ? way->tile : keys;
    for (int64_t key0 = first; key0 < keys; key0 += tile) {
        int64_t count = keys - key0 < tile ? keys - key0 : tile;
        float most = peak;
        for (int64_t j = 0; j < count; j++) {
            weight[j] = dot(way->score, way->truncates, 0, line->q + token * size,
                            line->k + (key0 + j) * size, size, 1);
            most = fmaxf(most, weight[j]);
        }
        float shift = most * scale;
        float keep = exp2f(peak * scale - shift);
        if (key0 == first) keep = 0;
        peak = most;
        total *= keep;
        for (int64_t j = 0; j < count; j++) {
            double error = (j * 7 + key0) % 2 ? way->exp_error : -way->exp_error;
            weight[j] = exp2f((float)((double)weight[j] * (double)scale - (double)shift)) *
                        (float)(1 + error);
            float rounded = operand(way->weight, weight[j]);
            total += way->stale_total ? rounded : weight[j];
            if (!way->normalised) weight[j] = rounded;
        }
        if (way->normalised)
            for (int64_t j = 0; j < count; j++)
                weight[j] = operand(way->weight, weight[j] / total);
        for (int64_t i = 0; i < size; i++)
            sum[i] = dot(AS_STORED, way->truncates, sum[i] * keep, weight,
                         line->v + key0 * size + i, count, size);
    }
    for (int64_t i = 0; i < size; i++)
        y[i] = sum[i] / (way->normalised ? 1 : total);
}

/* The answer by the way into the bench's buffer, and how near it is. */
static struct margin act_out(struct bench *bench, const struct way *way)
{
    const int64_t *value = bench->shape.value;
    int64_t heads = value[ATTENTION_HEADS], tokens = value[ATTENTION_TOKENS];
    int64_t size = value[ATTENTION_HEAD_SIZE], precision = value[ATTENTION_PRECISION];
    int64_t count = tokens * size;
    const void *qkv = bench->in[ATTENTION_QKV];
    float *memory = malloc(3 * (size_t)count * sizeof *memory);
    assert_non_null(memory);
    for (int64_t head = 0; head < heads; head++) {
        for (int64_t part = 0; part < 3; part++)
            for (int64_t i = 0; i < count; i++) {
                int64_t from = part == 2 && way->head_mixed ? (head + 1) % heads : head;
                memory[part * count + i] = gpt_load(
                    qkv, precision, ((i / size * 3 + part) * heads + from) * size + i % size);
            }
        const struct line line = {tokens, size, memory, memory + count, memory + 2 * count};
#pragma omp parallel for schedule(dynamic)
        for (int64_t token = 0; token < tokens; token++) {
            float y[MAX_HEAD] = {0};
            if (way->dropped != head + 1) attend(&line, way, token, y);
            for (int64_t i = 0; i < size; i++)
                gpt_store(bench->buffers.data[ATTENTION_Y], precision,
                          (token * heads + head) * size + i, y[i]);
        }
    }
    free(memory);
    return margin_of(bench);
}

/* ------------------------------------------------------------------ tests -- */

/* 2^-22: ex2.approx. */
static const struct way fp32_ways[] = {
    {.name = "peak known", .right = true},
    {.name = "tiles of 32", .right = true, .tile = 32, .exp_error = 0x1p-22},
    {.name = "tiles of 64", .right = true, .tile = 64, .exp_error = 0x1p-22},
    {.name = "scores in tf32", .score = NEAREST_TF32},
    {.name = "scores truncated to tf32", .score = TRUNCATED_TF32},
    {.name = "weights in tf32", .weight = NEAREST_TF32},
    {NULL},
};
static const struct way tf32_ways[] = {
    {.name = "nearest", .right = true, .weight = NEAREST_TF32, .truncates = true},
    {.name = "truncated, tiles of 64",
     .right = true,
     .weight = TRUNCATED_TF32,
     .truncates = true,
     .tile = 64,
     .exp_error = 0x1p-22},
    {.name = "normalised first",
     .right = true,
     .weight = TRUNCATED_TF32,
     .truncates = true,
     .normalised = true},
    {.name = "weights in fp32", .right = true},
    {.name = "scores in bf16", .score = NEAREST_BF16, .weight = NEAREST_TF32},
    {.name = "weights in bf16", .weight = NEAREST_BF16},
    {NULL},
};
static const struct way bf16_ways[] = {
    {.name = "tiles of 64",
     .right = true,
     .weight = NEAREST_BF16,
     .truncates = true,
     .tile = 64,
     .exp_error = 0x1p-22},
    {.name = "normalised first",
     .right = true,
     .weight = NEAREST_BF16,
     .truncates = true,
     .normalised = true},
    {.name = "rounded weights summed", .right = true, .weight = NEAREST_BF16, .stale_total = true},
    {.name = "weights in fp32", .right = true},
    {NULL},
};
static const struct way fp16_ways[] = {
    {.name = "tiles of 64",
     .right = true,
     .weight = NEAREST_FP16,
     .truncates = true,
     .tile = 64,
     .exp_error = 0x1p-22},
    {.name = "normalised first",
     .right = true,
     .weight = NEAREST_FP16,
     .truncates = true,
     .normalised = true},
    {.name = "rounded weights summed", .right = true, .weight = NEAREST_FP16, .stale_total = true},
    {.name = "weights in fp32", .right = true},
    {.name = "scores in bf16", .score = NEAREST_BF16, .weight = NEAREST_FP16},
    {.name = "weights in bf16", .weight = NEAREST_BF16},
    {NULL},
};
static const struct way *const ways[] = {fp32_ways, tf32_ways, bf16_ways, fp16_ways};

static const struct way mistakes[] = {
    {.name = "a key too many", .see = 1},
    {.name = "the last key left out", .see = -1},
    {.name = "the first key left out", .first_left_out = true},
    {.name = "scores 1 % too large", .scale = 1.01f},
    {.name = "scores 1 % too small", .scale = 0.99f},
    {.name = "scores by the size's root of one more", .scale = 0.9922f},
    {.name = "a head dropped", .dropped = 1},
    {.name = "the next head's values", .head_mixed = true},
    {NULL},
};

static void judge(struct bench *bench, const struct way *way)
{
    char name[96];
    struct margin margin = act_out(bench, way);
    snprintf(name, sizeof name, "%s %s", gpt_types[bench->shape.value[ATTENTION_PRECISION]],
             way->name);
    margin_print(name, margin);
    bool refused = bench_judge(bench).reason[0] != 0;
    /* Where few keys count, the bound of all but fp32 is the largest error that rounding their
     * weights can make, not a deviation: right answers come near it and cannot be beyond. */
    double most = bench->shape.value[ATTENTION_PRECISION] == GPT_FP32 ? 0.5 : 1.0;
    if (way->right && (refused || margin.worst > most)) fail_msg("%s is refused", name);
    if (!way->right && !refused) fail_msg("%s is not refused", name);
}

static void judge_all(struct assay_shape shape)
{
    int64_t precision = shape.value[ATTENTION_PRECISION];
    struct bench bench;
    bench_init(&bench, shape);
    for (const struct way *way = ways[precision]; way->name; way++)
        judge(&bench, way);
    for (const struct way *mistake = mistakes; mistake->name; mistake++) {
        struct way way = *mistake;
        way.weight = ways[precision]->weight;
        way.truncates = ways[precision]->truncates;
        judge(&bench, &way);
    }
    bench_release(&bench);
}

TEST(every_mistake_in_an_attention_is_refused)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
        for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++)
            judge_all(SHAPE("attention", 1, 2, 96, 32, precision));
    bench_seed = 1;
}

int main(int argc, char **argv)
{
    /* MARGINS=1 test heads tokens size: by hand, any shape of one sequence. */
    if (argc > 3) {
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
            judge_all(
                SHAPE("attention", 1, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), precision));
        return 0;
    }
    return test_main(NULL, NULL);
}
