/*
 * test_family_gpt_attention_backward.c - the gradients of attention: that the formula is the
 * gradient of the operation attention, that host variants are right at any shape, and that the
 * bounds let each precision's own arithmetic pass and refuse mistakes.
 */
#include "tests/kernels/margin.h"
#include "tests/kernels/gpt/rounded.h"
#include "kernels/gpt/backward/backward.h"

enum { FP32, BF16 }; /* of the dim `type` */

TEST(every_gradient_is_right_from_one_token_up_at_any_head_size)
{
    const int64_t shapes[][4] = {{1, 1, 1, 16},  {1, 1, 2, 1},   {2, 3, 7, 5},
                                 {1, 2, 65, 16}, {3, 1, 33, 48}, {1, 1, 130, 128}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t type = FP32; type <= BF16; type++) {
            const int64_t *s = shapes[i];
            bench_all(SHAPE("attention_backward", s[0], s[1], s[2], s[3], type),
                      "host_scalar host_omp");
        }
}

/* ------------------------------------------------------------- differences -- */

enum { TOKENS = 5, HEADS = 2, SIZE = 4, COUNT = TOKENS * HEADS * SIZE };

static void forward(const float *qkv, double y[COUNT])
{
    const struct assay_shape shape = SHAPE("attention", 1, HEADS, TOKENS, SIZE, GPT_FP32);
    const void *in[ASSAY_MAX_BUFFERS] = {qkv};
    double bound[COUNT];
    assert_int_equal(shape.operation->reference(&shape, in, ATTENTION_Y, 0, COUNT, y, bound), 0);
}

/* The sum of dy y. */
static double loss(const float *qkv, const float *dy)
{
    double y[COUNT], sum = 0;
    forward(qkv, y);
    for (int i = 0; i < COUNT; i++)
        sum += y[i] * (double)dy[i];
    return sum;
}

static double lse_of(const float *qkv, int head, int token)
{
    double sum = 0;
    for (int j = 0; j <= token; j++) {
        double s = 0;
        for (int i = 0; i < SIZE; i++)
            s += (double)qkv[(token * 3 * HEADS + head) * SIZE + i] *
                 (double)qkv[((j * 3 + 1) * HEADS + head) * SIZE + i];
        sum += exp(s / sqrt(SIZE));
    }
    return log(sum);
}

TEST(with_y_and_lse_of_attention_they_are_its_differences)
{
    struct bench bench;
    bench_init(&bench, SHAPE("attention_backward", 1, HEADS, TOKENS, SIZE, FP32));
    float *qkv = bench.buffers.data[BACKWARD_QKV], *lse = bench.buffers.data[BACKWARD_LSE];
    const float *dy = bench.buffers.data[BACKWARD_DY];
    double y[COUNT], expected[3 * COUNT], bound[3 * COUNT];
    forward(qkv, y);
    for (int i = 0; i < COUNT; i++)
        ((float *)bench.buffers.data[BACKWARD_Y])[i] = (float)y[i];
    for (int head = 0; head < HEADS; head++)
        for (int token = 0; token < TOKENS; token++)
            lse[head * TOKENS + token] = (float)lse_of(qkv, head, token);
    assert_int_equal(bench.shape.operation->reference(&bench.shape, bench.in, BACKWARD_DQKV, 0,
                                                      3 * COUNT, expected, bound),
                     0);
    double largest = 0;
    for (int i = 0; i < 3 * COUNT; i++) {
        const float STEP = 0x1p-9f, at = qkv[i], above = at + STEP, below = at - STEP;
        qkv[i] = above;
        double difference = loss(qkv, dy);
        qkv[i] = below;
        difference = (difference - loss(qkv, dy)) / ((double)above - (double)below);
        qkv[i] = at;
        if (fabs(difference - expected[i]) > 1e-4)
            fail_msg("element %d: %g, by differences %g", i, expected[i], difference);
        largest = fmax(largest, fabs(difference));
    }
    assert_true(largest > 0.5);
    bench_release(&bench);
}

/* ----------------------------------------------------------------- margins -- */

enum { MOST_TOKENS = 256, MOST_HEAD = 64, SEEDS = 6 };

struct way {
    const char *name;
    bool right;
    enum operand weight; /* what p and ds are taken as */
    bool truncates;
    double exp_error; /* relative, its sign by the key */
    /* Mistakes. */
    bool no_delta, delta_of_next, first_left_out, own_left_out, no_dk_scale;
    int see;     /* keys behind the query that are let through */
    float scale; /* of the scores, beside the right one; 0: 1 */
    float ds;    /* the same of ds */
    int dropped; /* queries from here on, 0: none, have no part in dk and dv */
};

/* One head: rows of `size`, and the weights of its pairs by query. */
struct head {
    int64_t tokens, size;
    float q[MOST_TOKENS * MOST_HEAD], k[MOST_TOKENS * MOST_HEAD], v[MOST_TOKENS * MOST_HEAD];
    float y[MOST_TOKENS * MOST_HEAD], dy[MOST_TOKENS * MOST_HEAD], lse[MOST_TOKENS];
    float p[MOST_TOKENS * MOST_TOKENS], ds[MOST_TOKENS * MOST_TOKENS];
};

static void weigh(struct head *head, const struct way *way)
{
    int64_t tokens = head->tokens, size = head->size;
    float scale = (way->scale > 0 ? way->scale : 1) * 1.4426950408889634f / sqrtf((float)size);
    memset(head->p, 0, sizeof head->p);
    memset(head->ds, 0, sizeof head->ds);
    for (int64_t i = 0; i < tokens; i++) {
        int64_t of = way->delta_of_next ? (i + 1) % tokens : i;
        float delta = dot(AS_STORED, false, 0, head->dy + of * size, head->y + of * size, size, 1);
        if (way->no_delta) delta = 0;
        for (int64_t j = way->first_left_out; j <= i + way->see - way->own_left_out; j++) {
            if (j >= tokens) break;
            float s =
                dot(AS_STORED, way->truncates, 0, head->q + i * size, head->k + j * size, size, 1);
            float dp =
                dot(AS_STORED, way->truncates, 0, head->dy + i * size, head->v + j * size, size, 1);
            double error = (j * 7 + i) % 2 ? way->exp_error : -way->exp_error;
            float p =
                exp2f(fmaf(s, scale, -head->lse[i] * 1.4426950408889634f)) * (float)(1 + error);
            float ds = p * (dp - delta) * (way->ds > 0 ? way->ds : 1);
            head->p[i * tokens + j] = operand(way->weight, p);
            head->ds[i * tokens + j] = operand(way->weight, ds);
        }
    }
}

static void act_out_head(struct bench *bench, int64_t index, const struct way *way)
{
    static struct head head;
    struct backward_line line = backward_line_of(&bench->shape, index);
    int64_t tokens = head.tokens = line.tokens, size = head.size = line.size;
    float scale = 1.0f / sqrtf((float)size);
    for (int64_t i = 0; i < tokens * size; i++) {
        int64_t q = line.q + i / size * line.stride + i % size;
        int64_t y = line.y + i / size * line.stride_y + i % size;
        const void *qkv = bench->in[BACKWARD_QKV];
        head.q[i] = gpt_load(qkv, line.precision, q);
        head.k[i] = gpt_load(qkv, line.precision, q + line.stride_y);
        head.v[i] = gpt_load(qkv, line.precision, q + 2 * line.stride_y);
        head.y[i] = gpt_load(bench->in[BACKWARD_Y], line.precision, y);
        head.dy[i] = gpt_load(bench->in[BACKWARD_DY], line.precision, y);
    }
    memcpy(head.lse, (const float *)bench->in[BACKWARD_LSE] + line.lse,
           (size_t)tokens * sizeof *head.lse);
    weigh(&head, way);
    int64_t queries = way->dropped > 0 ? way->dropped : tokens;
    for (int64_t i = 0; i < tokens * size; i++) {
        int64_t token = i / size, d = i % size, to = line.q + token * line.stride + d;
        void *out = bench->buffers.data[BACKWARD_DQKV];
        float p[MOST_TOKENS], ds[MOST_TOKENS]; /* of this token as a key */
        for (int64_t query = 0; query < queries; query++) {
            p[query] = head.p[query * tokens + token];
            ds[query] = head.ds[query * tokens + token];
        }
        float dq =
            dot(AS_STORED, way->truncates, 0, head.ds + token * tokens, head.k + d, tokens, size);
        float dk = dot(AS_STORED, way->truncates, 0, ds, head.q + d, queries, size);
        float dv = dot(AS_STORED, way->truncates, 0, p, head.dy + d, queries, size);
        gpt_store(out, line.precision, to, dq * scale);
        gpt_store(out, line.precision, to + line.stride_y, dk * (way->no_dk_scale ? 1 : scale));
        gpt_store(out, line.precision, to + 2 * line.stride_y, dv);
    }
}

/* 2^-22: ex2.approx. */
static const struct way ways[][8] = {
    [FP32] = {{.name = "plain", .right = true},
              {.name = "exp2 approximate", .right = true, .exp_error = 0x1p-22},
              {.name = "weights in tf32", .weight = NEAREST_TF32},
              {.name = "weights in bf16", .weight = NEAREST_BF16}},
    [BF16] = {{.name = "tensor cores",
               .right = true,
               .weight = NEAREST_BF16,
               .truncates = true,
               .exp_error = 0x1p-22},
              {.name = "weights in fp32", .right = true},
              {.name = "weights in tf32", .right = true, .weight = TRUNCATED_TF32}},
};

static const struct way mistakes[] = {
    {.name = "a key too many", .see = 1},
    {.name = "a query's own key left out", .own_left_out = true},
    {.name = "the first key left out", .first_left_out = true},
    {.name = "no delta", .no_delta = true},
    {.name = "delta of the next query", .delta_of_next = true},
    {.name = "scores 1 % too large", .scale = 1.01f},
    {.name = "ds 3 % too small", .ds = 0.97f},
    {.name = "dk without its scale", .no_dk_scale = true},
    {.name = "the last queries left out", .dropped = 192},
    {NULL},
};

static void judge(struct bench *bench, const struct way *way, int64_t type)
{
    int64_t heads = bench->shape.value[ATTENTION_HEADS];
    for (int64_t head = 0; head < heads; head++)
        act_out_head(bench, head, way);
    struct margin margin = margin_of(bench);
    margin_print(way->name, margin);
    bool refused = margin.wrong > 0;
    /* Where few terms count, the bound of bf16 is the largest error of rounding them. */
    if (way->right && (refused || margin.worst > (type == FP32 ? 0.5 : 1)))
        fail_msg("type %d: %s is refused, %g", (int)type, way->name, margin.worst);
    if (!way->right && !refused) fail_msg("type %d: %s is not refused", (int)type, way->name);
}

static void judge_all(int64_t tokens, int64_t size, int64_t type)
{
    struct bench bench;
    bench_init(&bench, SHAPE("attention_backward", 1, 1, tokens, size, type));
    for (const struct way *way = ways[type]; way->name; way++)
        judge(&bench, way, type);
    for (const struct way *mistake = mistakes; mistake->name; mistake++) {
        struct way way = *mistake;
        way.weight = ways[type]->weight;
        way.truncates = ways[type]->truncates;
        if (way.dropped < tokens) judge(&bench, &way, type);
    }
    bench_release(&bench);
}

TEST(every_mistake_in_the_gradients_is_refused)
{
    for (int64_t type = FP32; type <= BF16; type++) {
        judge_all(MOST_TOKENS, MOST_HEAD, type);
        for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++)
            judge_all(96, 32, type);
        bench_seed = 1;
    }
}

TEST(work_is_five_products_of_half_the_square_and_half_the_diagonal)
{
    const struct assay_shape shape = SHAPE("attention_backward", 1, 2, 3, 16, BF16);
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.ops[ASSAY_BF16_OPS] == 2 * 6 * 10 * 16);
    assert_true(work.read_bytes == 2 * 3 * (5 * 16 * 2 + 4));
    assert_true(work.write_bytes == 3 * 2 * 3 * 16 * 2);
}
