/*
 * test_family_gpt_choices_gpu.c - everything that the models' `best` may choose, each by
 * itself: a model is verified with what it chose for its shape, and these are the choices
 * that it did not take. Left out where there is no GPU.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "tests/kernels/gpu_only.h"

#ifdef ASSAY_HAVE_CUDA
#include "kernels/gpt/model/model_cuda.h"
#include "kernels/gpt/model/model_pair.h"
#include "kernels/gpt/model/model_ring.h"
#include "kernels/gpt/model/model_split.h"
#include "kernels/gpt/model/model_whole.h"

#define FINE(call) assert_int_equal(call, 0)

/* How far a product of rounded operands, and a result in memory, may be off. */
static const double operand_unit[] = {GPT_UNIT_FP32, GPT_UNIT_TF32, GPT_UNIT_BF16, GPT_UNIT_FP16};
static const double result_unit[] = {GPT_UNIT_FP32, GPT_UNIT_FP32, GPT_UNIT_BF16, GPT_UNIT_FP16};

/* An array that both sides have: numbers of eight bits, which every precision holds. */
struct numbers {
    int64_t count, precision;
    double *host;
    void *device;
};

/* Murmur3's finalizer. A mere multiple of the place repeats itself: a row of w came to be a row of
 * x, whose products are all positive, and rounding a sum of those at one binary place is no longer
 * up as often as down. */
static uint32_t mixed(uint32_t bits)
{
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}

static void numbers_init(struct numbers *numbers, int64_t count, int64_t precision, unsigned seed)
{
    int64_t bytes = count * gpt_bytes(precision);
    void *image = malloc((size_t)bytes);
    *numbers = (struct numbers){.count = count, .precision = precision};
    numbers->host = malloc((size_t)count * sizeof *numbers->host);
    assert_true(image && numbers->host);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = mixed((uint32_t)i + seed * 0x9e3779b9u);
        numbers->host[i] = ((double)(bits >> 24) - 127.5) / 128;
        gpt_store(image, precision, i, (float)numbers->host[i]);
    }
    FINE(cudaMalloc(&numbers->device, (size_t)bytes));
    FINE(cudaMemcpy(numbers->device, image, (size_t)bytes, cudaMemcpyHostToDevice));
    FINE(cudaDeviceSynchronize());
    free(image);
}

static void numbers_release(struct numbers *numbers)
{
    free(numbers->host);
    cudaFree(numbers->device);
}

/* --------------------------------------------------------------- products -- */

enum { GUARD = 64 }; /* elements behind y that nobody may write */

/* A step, its operands, and y as it ought to be with what it may be off. */
struct trial {
    struct model_step step;
    struct numbers x, w, bias, scale, shift, residual, y, normed;
    double *expected, *bound;
};

struct kind {
    bool norm, bias, gelu, residual;
};

static void expect_row(struct trial *trial, int64_t row, double *normed)
{
    const struct model_step *step = &trial->step;
    const double *x = trial->x.host + row * step->k;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < step->k; i++)
        mean += x[i] / (double)step->k;
    for (int64_t i = 0; i < step->k; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)step->k;
    double factor = 1 / sqrt(variance + (double)GPT_LAYERNORM_EPSILON);
    for (int64_t i = 0; i < step->k; i++)
        normed[i] = step->scale
                        ? (x[i] - mean) * factor * trial->scale.host[i] + trial->shift.host[i]
                        : x[i];
    for (int64_t column = 0; column < step->n; column++) {
        const double *w = trial->w.host + column * step->k;
        double sum = 0, size = 0;
        for (int64_t i = 0; i < step->k; i++) {
            sum += normed[i] * w[i];
            size += fabs(normed[i] * w[i]);
        }
        int64_t at = row * step->n + column;
        if (step->bias) sum += trial->bias.host[column];
        if (step->gelu) sum = gpt_gelu(sum);
        if (step->residual) sum += trial->residual.host[at];
        trial->expected[at] = sum;
        trial->bound[at] = (2 * operand_unit[step->precision] + 1e-6) * (size + 1) +
                           result_unit[step->precision] * (fabs(sum) + 1);
    }
}

static void trial_init(struct trial *trial, int64_t precision, int64_t m, int64_t n, int64_t k,
                       struct kind kind)
{
    numbers_init(&trial->x, m * k, precision, 1);
    numbers_init(&trial->w, n * k, precision, 2);
    numbers_init(&trial->bias, n, precision, 3);
    numbers_init(&trial->scale, k, precision, 4);
    numbers_init(&trial->shift, k, precision, 5);
    numbers_init(&trial->residual, m * n, precision, 6);
    numbers_init(&trial->y, m * n + GUARD, precision, 7);
    numbers_init(&trial->normed, m * k, precision, 8);
    trial->step = (struct model_step){
        .precision = precision,
        .m = m,
        .n = n,
        .k = k,
        .x = trial->x.device,
        .w = trial->w.device,
        .bias = kind.bias ? trial->bias.device : NULL,
        .scale = kind.norm ? trial->scale.device : NULL,
        .shift = kind.norm ? trial->shift.device : NULL,
        .residual = kind.residual ? trial->residual.device : NULL,
        .y = trial->y.device,
        .ldx = k,
        .ldr = n,
        .ldy = n,
        .gelu = kind.gelu,
    };
    trial->expected = malloc((size_t)(m * n) * sizeof *trial->expected);
    trial->bound = malloc((size_t)(m * n) * sizeof *trial->bound);
    double *normed = malloc((size_t)k * sizeof *normed);
    assert_true(trial->expected && trial->bound && normed);
    for (int64_t row = 0; row < m; row++)
        expect_row(trial, row, normed);
    free(normed);
}

static void trial_release(struct trial *trial)
{
    struct numbers *all[] = {&trial->x,     &trial->w,        &trial->bias, &trial->scale,
                             &trial->shift, &trial->residual, &trial->y,    &trial->normed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        numbers_release(all[i]);
    free(trial->expected);
    free(trial->bound);
}

static void spoil(const struct trial *trial)
{
    FINE(cudaMemset(trial->y.device, 0xff,
                    (size_t)(trial->y.count * gpt_bytes(trial->step.precision))));
    FINE(cudaDeviceSynchronize());
}

static void judge(const struct trial *trial, const char *choice)
{
    const struct model_step *step = &trial->step;
    int64_t bytes = trial->y.count * gpt_bytes(step->precision), made = step->m * step->n;
    void *image = malloc((size_t)bytes);
    assert_non_null(image);
    FINE(cudaDeviceSynchronize());
    FINE(cudaMemcpy(image, trial->y.device, (size_t)bytes, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < made; i++) {
        double got = (double)gpt_load(image, step->precision, i);
        if (fabs(got - trial->expected[i]) <= trial->bound[i]) continue;
        fail_msg("%s, %s, %d x %d x %d%s%s%s: y[%d] is %g, expected %g within %g", choice,
                 gpt_types[step->precision], (int)step->m, (int)step->n, (int)step->k,
                 step->scale ? ", norm" : "", step->gelu ? ", gelu" : "",
                 step->residual ? ", residual" : "", (int)i, got, trial->expected[i],
                 trial->bound[i]);
    }
    for (int64_t i = made; i < trial->y.count; i++)
        assert_true(isnan(gpt_load(image, step->precision, i)));
    free(image);
}

static int try_tiles(const struct trial *trial)
{
    int tried = 0;
    for (int tile = 0; tile < model_tiles(trial->step.precision); tile++) {
        if (model_tile_refused(&trial->step, tile)) continue;
        spoil(trial);
        FINE(model_tile_enqueue(&trial->step, tile, NULL));
        judge(trial, model_tile_name(trial->step.precision, tile));
        tried++;
    }
    return tried;
}

static int try_rings(const struct trial *trial)
{
    int tried = 0;
    for (int ring = 0; ring < model_rings(); ring++) {
        if (model_ring_refused(&trial->step, ring)) continue;
        spoil(trial);
        FINE(model_ring_enqueue(&trial->step, ring, trial->normed.device, NULL));
        judge(trial, model_ring_name(ring));
        tried++;
    }
    return tried;
}

static int try_wholes(const struct trial *trial)
{
    int tried = 0;
    for (int whole = 0; whole < model_wholes(); whole++) {
        if (model_whole_refused(&trial->step, whole)) continue;
        spoil(trial);
        FINE(model_whole_enqueue(&trial->step, whole, NULL));
        judge(trial, model_whole_name(whole));
        tried++;
    }
    return tried;
}

static int try_pairs(const struct trial *trial)
{
    int tried = 0;
    for (int pair = 0; pair < model_pairs(); pair++) {
        char name[32];
        if (model_pair_refused(&trial->step, pair)) continue;
        spoil(trial);
        FINE(model_pair_enqueue(&trial->step, pair, trial->normed.device, NULL));
        model_pair_name(pair, name, sizeof name);
        judge(trial, name);
        tried++;
    }
    return tried;
}

static int try_splits(const struct trial *trial)
{
    const struct model_step *step = &trial->step;
    const struct model model = {.precision = step->precision,
                                .rows = step->m,
                                .channels = step->n > step->k ? step->n : step->k};
    struct assay_call call = {0};
    struct model_split *split;
    int tried = 0;
    FINE(model_split_init(&split, &model, &call));
    for (int number = 0; number < model_splits(); number++) {
        char name[32];
        if (model_split_refused(split, step, number)) continue;
        spoil(trial);
        FINE(model_split_enqueue(split, step, number, trial->normed.device, NULL));
        model_split_name(number, name, sizeof name);
        judge(trial, name);
        tried++;
    }
    model_split_release(split);
    return tried;
}

static int try_wgmma(const struct trial *trial)
{
    if (model_wgmma_refused(&trial->step)) return 0;
    spoil(trial);
    FINE(model_wgmma_enqueue(&trial->step, trial->normed.device, NULL));
    judge(trial, "wgmma");
    return 1;
}

static int try_gemv(const struct trial *trial)
{
    if (model_gemv_refused(&trial->step)) return 0;
    spoil(trial);
    FINE(model_gemv_enqueue(&trial->step, NULL));
    judge(trial, "warp");
    return 1;
}

/* At shapes that cut a tile both ways, that fill one and start others, whose k goes round a ring
 * of stages, of rows that do not start on 16 bytes, and of few rows; with each of what a layer
 * asks for. */
static int try_all(int (*try)(const struct trial *trial))
{
    static const int64_t shapes[][3] = {{37, 50, 72}, {131, 264, 136}, {97, 204, 1036},
                                        {9, 33, 67},  {7, 50, 72},     {61, 152, 328}};
    static const struct kind kinds[] = {{.bias = true},
                                        {.norm = true, .bias = true, .gelu = true},
                                        {.bias = true, .residual = true},
                                        {.norm = true}};
    int tried = 0;
    FINE(model_tiles_allow());
    FINE(model_rings_allow());
    FINE(model_wholes_allow());
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
        for (int shape = 0; shape < 6; shape++)
            for (int kind = 0; kind < 4; kind++) {
                struct trial trial;
                trial_init(&trial, precision, shapes[shape][0], shapes[shape][1], shapes[shape][2],
                           kinds[kind]);
                tried += try(&trial);
                trial_release(&trial);
            }
    return tried;
}

TEST(every_tile_makes_the_product)
{
    assert_true(try_all(try_tiles) > 0);
}

TEST(every_ring_makes_the_product_where_it_is_not_refused)
{
    assert_true((try_all(try_rings) > 0) == assay_card()->arch_specific);
}

TEST(every_whole_tile_makes_the_product_where_it_is_not_refused)
{
    assert_true((try_all(try_wholes) > 0) == assay_card()->arch_specific);
}

TEST(every_pair_makes_the_product_where_it_is_not_refused)
{
    assert_true((try_all(try_pairs) > 0) == assay_card()->arch_specific);
}

TEST(parts_make_the_product_where_they_are_not_refused)
{
    assert_true((try_all(try_splits) > 0) == assay_card()->arch_specific);
}

TEST(wgmma_makes_the_product_where_it_is_not_refused)
{
    assert_true((try_all(try_wgmma) > 0) == assay_card()->arch_specific);
}

TEST(a_warp_an_output_makes_the_product_of_few_rows)
{
    assert_true(try_all(try_gemv) > 0);
}

/* -------------------------------------------------------------- attention -- */

enum { BATCH = 2, HEADS = 3, TOKENS = 131 };

/* y of one query in double; `qkv` is [batch][tokens][3][heads][size]. */
static void attend_query(const double *qkv, int batch, int head, int query, int size, double *y)
{
    double weight[TOKENS], most = -INFINITY, sum = 0;
    int64_t row = 3 * HEADS * size;
    const double *base = qkv + batch * TOKENS * row + head * size;
    for (int key = 0; key <= query; key++) {
        weight[key] = 0;
        for (int i = 0; i < size; i++)
            weight[key] += base[query * row + i] * base[key * row + HEADS * size + i];
        weight[key] /= sqrt(size);
        most = fmax(most, weight[key]);
    }
    for (int key = 0; key <= query; key++)
        sum += weight[key] = exp(weight[key] - most);
    for (int i = 0; i < size; i++) {
        y[i] = 0;
        for (int key = 0; key <= query; key++)
            y[i] += weight[key] / sum * base[key * row + 2 * HEADS * size + i];
    }
}

/* Values are at most 1, and so is what a weight's rounding is multiplied by. */
static void judge_attention(const struct numbers *qkv, const void *image, int64_t size,
                            const char *choice)
{
    double expected[128], bound = 8 * operand_unit[qkv->precision] + 1e-5;
    for (int64_t line = 0; line < BATCH * TOKENS * HEADS; line++) {
        int head = (int)(line % HEADS), query = (int)(line / HEADS % TOKENS);
        attend_query(qkv->host, (int)(line / HEADS / TOKENS), head, query, (int)size, expected);
        for (int64_t i = 0; i < size; i++) {
            double got = (double)gpt_load(image, qkv->precision, line * size + i);
            if (fabs(got - expected[i]) <= bound) continue;
            fail_msg("%s, %s, head size %d: query %d of head %d is %g, expected %g within %g",
                     choice, gpt_types[qkv->precision], (int)size, query, head, got, expected[i],
                     bound);
        }
    }
}

/* By one division, or with `config` < 0 by a block a query. */
static void try_attention(int64_t precision, int64_t size, int config)
{
    struct numbers qkv, y;
    numbers_init(&qkv, BATCH * TOKENS * 3 * HEADS * size, precision, 11);
    numbers_init(&y, BATCH * TOKENS * HEADS * size, precision, 12);
    size_t bytes = (size_t)(y.count * gpt_bytes(precision));
    const struct model_attend attend = {qkv.device, y.device, BATCH,     TOKENS,
                                        HEADS,      size,     precision, false};
    void *image = malloc(bytes);
    assert_non_null(image);
    FINE(cudaMemset(y.device, 0xff, bytes));
    FINE(cudaDeviceSynchronize());
    FINE(config < 0 ? model_attend_any(&attend, NULL) : model_attend_by(&attend, config, NULL));
    FINE(cudaDeviceSynchronize());
    FINE(cudaMemcpy(image, y.device, bytes, cudaMemcpyDeviceToHost));
    judge_attention(&qkv, image, size, config < 0 ? "query" : model_attend_name(precision, config));
    free(image);
    numbers_release(&y);
    numbers_release(&qkv);
}

TEST(every_division_of_a_block_makes_the_attention)
{
    static const int64_t sizes[] = {16, 32, 64, 128};
    int tried[4] = {0};
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
        for (int config = 0; config < model_attend_configs(precision); config++)
            for (int s = 0; s < 4; s++) {
                const struct model_attend of = {.size = sizes[s], .precision = precision};
                if (model_attend_refused(&of, config)) continue;
                try_attention(precision, sizes[s], config);
                tried[s]++;
            }
    for (int s = 0; s < 4; s++)
        assert_true(tried[s] >= 3);
}

TEST(a_block_a_query_makes_the_attention_of_any_head_size)
{
    static const int64_t sizes[] = {1, 11, 16, 64, 67, 128};
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++)
        for (int s = 0; s < 6; s++)
            try_attention(precision, sizes[s], -1);
}
#endif

int main(void)
{
    return gpu_main("what `best` may choose", open_gpu, close_gpu);
}
