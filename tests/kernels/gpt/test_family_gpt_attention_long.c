/*
 * test_family_gpt_attention_long.c - whether the check of a long attention can fail. The
 * verifier's own places of it are computed as the kernels compute them, in their order and with
 * their roundings, and then with mistakes that kernels make.
 */
#include "tests/kernels/bench.h"
#include "case/registry.h"
#include "device/device.h"
#include "kernels/gpt/gpt.h"
#include "measure/verify.h"
#include <math.h>
#include <string.h>

enum { STEP = 8, MAX_HEAD = 128, MAX_TILE = 128 };

static const enum gpt_precision precisions[] = {GPT_FP32, GPT_TF32, GPT_BF16, GPT_FP16};

/* A case with the places that the verifier looks at; the rest of its output is written as zeros,
 * so that it is whole. */
static void bench_open(struct bench *bench, int64_t heads, int64_t tokens, int64_t size,
                       enum gpt_precision precision)
{
    bench_init(bench, SHAPE("attention", 1, heads, tokens, size, precision));
    assert_int_equal(verifier_init(&bench->verifier, &bench->buffers), 0);
    memset(bench->buffers.data[ATTENTION_Y], 0, bench_bytes(bench, ATTENTION_Y));
    bench->expects = true;
}

/* ---------------------------------------------- as the kernels compute it -- */

/* How tiles are gone through, and what is done wrong: -1 for nothing. */
struct way {
    int64_t tile;    /* keys */
    bool from_last;  /* tile first */
    bool normalised; /* weights are divided by their sum before they are rounded */
    int64_t dropped; /* the tile of keys that is left out */
    int64_t wrong;   /* the block of `tile` queries that has the next block's q */
    bool kept;       /* sums are not rescaled to a new peak */
    bool drifts;     /* the factor of a new peak has a product that is not rounded, one is */
};

static const struct way right = {.tile = 64, .dropped = -1, .wrong = -1};

/* What a tensor core does to a sum: the next number towards zero is one less in bits. */
static float truncated(double sum)
{
    float nearest = (float)sum;
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    bits -= fabs((double)nearest) > fabs(sum);
    memcpy(&nearest, &bits, sizeof nearest);
    return nearest;
}

/* sum + STEP products: one after the other, or by a tensor core. */
static float step(enum gpt_precision precision, float sum, const float *a, const float *b)
{
    double all = (double)sum;
    for (int i = 0; i < STEP; i++)
        if (precision == GPT_FP32)
            sum = fmaf(a[i], b[i], sum);
        else
            all += (double)a[i] * (double)b[i];
    return precision == GPT_FP32 ? sum : truncated(all);
}

/* The same of `size` sums at once: a[i] times row i of b. */
static void step_rows(enum gpt_precision precision, int64_t size, float *sum, const float *a,
                      float b[STEP][MAX_HEAD])
{
    double all[MAX_HEAD];
    for (int64_t i = 0; i < size; i++)
        all[i] = (double)sum[i];
    for (int j = 0; j < STEP; j++) {
        if (precision == GPT_FP32)
            for (int64_t i = 0; i < size; i++)
                sum[i] = fmaf(a[j], b[j][i], sum[i]);
        else
#pragma omp simd
            for (int64_t i = 0; i < size; i++)
                all[i] += (double)a[j] * (double)b[j][i];
    }
    if (precision != GPT_FP32)
        for (int64_t i = 0; i < size; i++)
            sum[i] = truncated(all[i]);
}

static float operand(enum gpt_precision precision, float value)
{
    if (precision == GPT_FP32) return value;
    if (precision == GPT_BF16) return gpt_widen(gpt_narrow(value));
    if (precision == GPT_FP16) {
        uint16_t half;
        gpt_store(&half, GPT_FP16, 0, value);
        return half_widen(half);
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= ~0x1fffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One head of a token, its first number at `first` of q and of token 0 at `origin`. */
struct head {
    const float *qkv;
    enum gpt_precision precision;
    int64_t token, size, stride, width;
    int64_t first, origin;
};

/* What a query has so far. */
struct rows {
    float peak, total, sum[MAX_HEAD];
};

static void add_tile(const struct head *head, const struct way *way, const float *q, int64_t key0,
                     float total, struct rows *rows)
{
    float s[MAX_TILE], v[MAX_TILE][MAX_HEAD], most = rows->peak;
    float scale = 1.4426950408889634f / sqrtf((float)head->size);
    for (int64_t j = 0; j < way->tile; j++) {
        s[j] = -INFINITY;
        memset(v[j], 0, sizeof v[j]);
        if (key0 + j > head->token) continue;
        const float *k = head->qkv + head->origin + head->width + (key0 + j) * head->stride;
        float score = 0;
        memcpy(v[j], k + head->width, (size_t)head->size * sizeof **v);
        for (int64_t i = 0; i < head->size; i += STEP)
            score = step(head->precision, score, q + i, k + i);
        s[j] = score;
        most = fmaxf(most, score);
    }
    float keep = way->kept ? rows->peak > -INFINITY : exp2f((rows->peak - most) * scale);
    if (way->drifts && rows->peak > -INFINITY) keep = exp2f(fmaf(rows->peak, scale, -most * scale));
    rows->peak = most;
    rows->total *= keep;
    for (int64_t i = 0; i < head->size; i++)
        rows->sum[i] *= keep;
    for (int64_t j = 0; j < way->tile; j++) {
        float weight = exp2f(fmaf(s[j], scale, -most * scale));
        rows->total += weight;
        s[j] = operand(head->precision, total > 0 ? weight / total : weight);
    }
    for (int64_t j = 0; j < way->tile; j += STEP)
        step_rows(head->precision, head->size, rows->sum, s + j, v + j);
}

static struct rows add_tiles(const struct head *head, const struct way *way, const float *q,
                             struct rows rows, float total)
{
    int64_t tiles = head->token / way->tile + 1;
    for (int64_t i = 0; i < tiles; i++) {
        int64_t tile = way->from_last ? tiles - 1 - i : i;
        if (tile != way->dropped) add_tile(head, way, q, tile * way->tile, total, &rows);
    }
    return rows;
}

static void attend(const struct bench *bench, const float *qkv, const struct way *way,
                   int64_t token, int64_t index)
{
    const int64_t *value = bench->shape.value;
    enum gpt_precision precision = (enum gpt_precision)value[ATTENTION_PRECISION];
    int64_t size = value[ATTENTION_HEAD_SIZE], width = value[ATTENTION_HEADS] * size;
    struct head head = {
        qkv,         precision, token, size, 3 * width, width, token * 3 * width + index * size,
        index * size};
    bool other = token / way->tile == way->wrong;
    const float *q = qkv + head.first + (other ? way->tile * head.stride : 0);
    const struct rows none = {.peak = -INFINITY};
    struct rows rows = add_tiles(&head, way, q, none, 0);
    float total = rows.total;
    if (way->normalised) {
        struct rows known = {.peak = rows.peak};
        rows = add_tiles(&head, way, q, known, total);
        total = 1;
    }
    for (int64_t i = 0; i < size; i++)
        gpt_store(bench->buffers.data[ATTENTION_Y], precision, token * width + index * size + i,
                  rows.sum[i] / total);
}

/* The inputs as floats, for free(3): they are numbers of the operand's type already. */
static float *inputs_of(const struct bench *bench)
{
    int64_t count = bench->buffers.spec[ATTENTION_QKV].count;
    int64_t precision = bench->shape.value[ATTENTION_PRECISION];
    float *qkv = malloc((size_t)count * sizeof *qkv);
    assert_non_null(qkv);
    for (int64_t i = 0; i < count; i++)
        qkv[i] = gpt_load(bench->buffers.data[ATTENTION_QKV], precision, i);
    return qkv;
}

/* Wrong elements of those that are checked. */
static int64_t wrong_by(struct bench *bench, struct way way)
{
    const struct assay_variant variant = {.operation = "attention", .name = "acted_out"};
    struct assay_call call = {.shape = &bench->shape};
    struct check_result found;
    int64_t heads = bench->shape.value[ATTENTION_HEADS];
    int64_t width = heads * bench->shape.value[ATTENTION_HEAD_SIZE];
    float *qkv = inputs_of(bench);
#pragma omp parallel for schedule(dynamic)
    for (int c = 0; c < bench->verifier.chunk_count; c++)
        for (int64_t at = bench->verifier.chunks[c].begin; at < bench->verifier.chunks[c].end;
             at += width)
            for (int64_t head = 0; head < heads; head++)
                attend(bench, qkv, &way, at / width, head);
    free(qkv);
    assert_int_equal(verifier_check(&bench->verifier, &variant, &call, &found), 0);
    return found.wrong;
}

/* ------------------------------------------------------------------ tests -- */

TEST(a_long_attention_rounded_as_the_kernels_round_is_right)
{
    struct way last = right, whole = right, large = right;
    last.from_last = true;
    whole.normalised = true;
    large.tile = 128;
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++)
        for (int64_t size = 16; size <= 64; size *= 4) {
            struct bench bench;
            bench_open(&bench, 1, 4096, size, precisions[p]);
            assert_int_equal(wrong_by(&bench, right), 0);
            assert_int_equal(wrong_by(&bench, last), 0);
            assert_int_equal(wrong_by(&bench, whole), 0);
            assert_int_equal(wrong_by(&bench, large), 0);
            bench_release(&bench);
        }
}

TEST(a_dropped_tile_of_keys_is_wrong_wherever_it_is)
{
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        struct bench bench;
        bench_open(&bench, 1, 4096, 64, precisions[p]);
        for (int64_t tile = 0; tile < 64; tile += 31) {
            struct way way = right;
            way.dropped = tile;
            /* Most elements of the queries that see the tile must be wrong. */
            int64_t see = bench.verifier.checked * (64 - tile) / 64;
            assert_true(wrong_by(&bench, way) > see / 2);
        }
        bench_release(&bench);
    }
}

TEST(a_block_of_queries_with_the_next_ones_is_wrong_wherever_it_is)
{
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        struct bench bench;
        bench_open(&bench, 1, 4096, 64, precisions[p]);
        for (int64_t block = 0; block < 63; block += 31) {
            struct way way = right;
            way.wrong = block;
            assert_true(wrong_by(&bench, way) > bench.verifier.checked / 64 / 2);
        }
        bench_release(&bench);
    }
}

TEST(sums_that_are_not_rescaled_are_wrong)
{
    struct way way = right;
    way.kept = true;
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        struct bench bench;
        bench_open(&bench, 1, 4096, 64, precisions[p]);
        assert_true(wrong_by(&bench, way) > bench.verifier.checked / 2);
        bench_release(&bench);
    }
}

TEST(zeros_are_wrong)
{
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        struct bench bench;
        struct check_result found;
        const struct assay_variant variant = {.operation = "attention", .name = "zeros"};
        struct assay_call call = {0};
        bench_open(&bench, 1, 16384, 64, precisions[p]);
        memset(bench.buffers.data[ATTENTION_Y], 0,
               16384 * 64 * (size_t)gpt_bytes((int64_t)precisions[p]));
        assert_int_equal(verifier_check(&bench.verifier, &variant, &call, &found), 0);
        assert_true(found.wrong > found.near + bench.verifier.checked * 9 / 10);
        bench_release(&bench);
    }
}

TEST(a_dropped_tile_of_sixteen_thousand_keys_is_wrong)
{
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        struct bench bench;
        struct way way = right;
        bench_open(&bench, 1, 16384, 32, precisions[p]);
        assert_int_equal(wrong_by(&bench, right), 0);
        way.dropped = 100;
        assert_true(wrong_by(&bench, way) > bench.verifier.checked * 156 / 256 / 2);
        bench_release(&bench);
    }
}

/* Where the peak stays, the factor is the exponential of a rounding error in place of 1, at every
 * tile: the first of 512 weighs 5e-5 more than the last. */
TEST(a_factor_that_drifts_over_sixteen_thousand_keys_is_wrong)
{
    struct bench bench;
    struct way way = right;
    way.tile = 32;
    bench_open(&bench, 2, 16384, 64, GPT_FP32);
    assert_int_equal(wrong_by(&bench, way), 0);
    way.drifts = true;
    assert_true(wrong_by(&bench, way) > 0);
    bench_release(&bench);
}

/* Blocks of queries of a warpgroup are 64. */
TEST(every_head_of_every_block_of_queries_is_checked)
{
    struct bench bench;
    int taken[16384 / 64] = {0};
    bench_open(&bench, 3, 16384, 48, GPT_BF16);
    for (int c = 0; c < bench.verifier.chunk_count; c++) {
        const struct chunk *chunk = &bench.verifier.chunks[c];
        assert_int_equal(chunk->begin % 144, 0); /* three heads of 48 */
        assert_true(chunk->end - chunk->begin >= 144);
        taken[chunk->begin / 144 / 64]++;
    }
    for (int block = 0; block < 16384 / 64; block++)
        assert_true(taken[block] > 0);
    assert_int_equal(bench.verifier.chunks[bench.verifier.chunk_count - 1].end, 16384 * 144);
    bench_release(&bench);
}

TEST(bounds_are_within_the_family_s)
{
    const double most[] = {1e-5, 1e-3, 1e-2, 1e-3};
    const int64_t shapes[][3] = {{3, 128, 16}, {2, 1024, 64}, {1, 300, 256}, {1, 16384, 128}};
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            struct bench bench;
            bench_open(&bench, shapes[s][0], shapes[s][1], shapes[s][2], precisions[p]);
            for (int64_t i = 0; i < bench.verifier.checked; i++)
                assert_true(bench.verifier.bound[i] <= most[p]);
            bench_release(&bench);
        }
}

TEST(inputs_are_numbers_of_the_operand_type)
{
    struct bench bench;
    bench_open(&bench, 2, 100, 16, GPT_TF32);
    const float *qkv = bench.buffers.data[ATTENTION_QKV];
    for (int64_t i = 0; i < bench.buffers.spec[ATTENTION_QKV].count; i++)
        assert_true(operand(GPT_TF32, qkv[i]) == qkv[i]);
    bench_release(&bench);
}
