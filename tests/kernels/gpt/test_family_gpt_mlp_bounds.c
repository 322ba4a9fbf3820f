/*
 * test_family_gpt_mlp_bounds.c - the bounds of mlp pass right arithmetics, and refuse a hidden unit
 * that is left out, another GELU, fewer bits in either product and an output that is cut off.
 */
#include "tests/kernels/arithmetics.h"
#include "kernels/gpt/gpt.h"

struct layer {
    struct arithmetic expand, contract;
    double (*gelu)(double);
    double (*before)(double), (*after)(double); /* what is between, before and after gelu */
    int left_out;                               /* hidden units */
};

static double gelu_erf(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

/* As cuBLASLt's epilogue: see mlp.c. */
static double gelu_less_exact(double x)
{
    return gpt_gelu(x) + 0x1p-17 * fabs(x);
}

static double to_fp32(double value)
{
    return (double)(float)value;
}

static void load(double *out, const void *base, int64_t precision, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = (double)gpt_load(base, precision, first + i);
}

/* One row of y. */
static void compute_row(struct bench *bench, const struct layer *layer, int64_t row)
{
    int64_t c = bench->shape.value[MLP_C], precision = bench->shape.value[MLP_PRECISION];
    double *h = malloc(12 * (size_t)c * sizeof *h), *left = h + 4 * c, *right = left + 4 * c;
    for (int64_t j = 0; j < 4 * c; j++) {
        load(left, bench->in[MLP_X], precision, row * c, c);
        load(right, bench->in[MLP_W1], precision, j * c, c);
        double bias = (double)gpt_load(bench->in[MLP_B1], precision, j);
        h[j] =
            layer->after(layer->gelu(layer->before(emulate(&layer->expand, left, right, c, bias))));
        if (j < layer->left_out) h[j] = 0;
    }
    for (int64_t i = 0; i < c; i++) {
        memcpy(left, h, 4 * (size_t)c * sizeof *h);
        load(right, bench->in[MLP_W2], precision, i * 4 * c, 4 * c);
        double bias = (double)gpt_load(bench->in[MLP_B2], precision, i);
        assay_store(gpt_type(precision), bench->buffers.data[MLP_Y], row * c + i,
                    emulate(&layer->contract, left, right, 4 * c, bias));
    }
    free(h);
}

/* With how many seeds the check refuses a layer. */
static int refused_layer(const struct layer *layer, int64_t m, int64_t c, int64_t precision,
                         int seeds)
{
    int found = 0;
    double element = 0, rms = 0;
    for (bench_seed = 1; bench_seed <= (uint64_t)seeds; bench_seed++) {
        struct bench bench;
        bench_init(&bench, SHAPE("mlp", m, c, precision));
#pragma omp parallel for
        for (int64_t row = 0; row < m; row++)
            compute_row(&bench, layer, row);
        struct check_result result = bench_judge(&bench);
        found += result.reason[0] != '\0';
        element = fmax(element, worst_share(&bench, MLP_Y));
        rms = fmax(rms, result.rms);
        bench_release(&bench);
    }
    bench_seed = 1;
    if (getenv("MARGINS"))
        printf("mlp %s c=%-5d %-24s %9.3g %9.3g\n", gpt_types[precision], (int)c,
               layer->expand.name, element, rms);
    return found;
}

#define BOTH(operand, sum, output)                                                                 \
    .contract = {"", operand, sum, NULL, output}, .gelu = gpt_gelu, .before = to_fp32,             \
    .after = to_fp32

static const struct layer right_fp32[] = {
    {{"forwards", as_it_is, sum_forwards, NULL, NULL}, BOTH(as_it_is, sum_forwards, NULL)},
    {{"bias first", as_it_is, sum_bias_first, NULL, NULL}, BOTH(as_it_is, sum_bias_first, NULL)},
    {{"pairwise", as_it_is, sum_pairwise, NULL, NULL}, BOTH(as_it_is, sum_pairwise, NULL)},
    {.expand = {"gelu less exact", as_it_is, sum_pairwise, NULL, NULL},
     .contract = {"", as_it_is, sum_pairwise, NULL, NULL},
     .gelu = gelu_less_exact,
     .before = to_fp32,
     .after = to_fp32},
};

static const struct layer right_tf32[] = {
    {{"nearest", tf32_nearest, sum_blocks_of_4, NULL, NULL},
     BOTH(tf32_nearest, sum_blocks_of_4, NULL)},
    {{"cut off", tf32_cut, sum_blocks_of_4, NULL, NULL}, BOTH(tf32_cut, sum_blocks_of_4, NULL)},
    {{"fp32", as_it_is, sum_pairwise, NULL, NULL}, BOTH(as_it_is, sum_pairwise, NULL)},
};

/* Of numbers of 16 bits, which `nearest` rounds to; the last where rows are not aligned. */
#define RIGHT_HALVES(nearest)                                                                      \
    {.expand = {"h rounded", as_it_is, sum_blocks_of_16, NULL, NULL},                              \
     .contract = {"", as_it_is, sum_blocks_of_16, NULL, NULL},                                     \
     .gelu = gpt_gelu,                                                                             \
     .before = to_fp32,                                                                            \
     .after = nearest},                                                                            \
        {.expand = {"h rounded twice", as_it_is, sum_blocks_of_16, NULL, NULL},                    \
         .contract = {"", as_it_is, sum_blocks_of_16, NULL, NULL},                                 \
         .gelu = gpt_gelu,                                                                         \
         .before = nearest,                                                                        \
         .after = nearest},                                                                        \
        {{"fp32", as_it_is, sum_pairwise, NULL, NULL}, BOTH(as_it_is, sum_pairwise, NULL)},        \
        {.expand = {"and the product", as_it_is, sum_blocks_of_16, nearest, NULL},                 \
         .contract = {"", as_it_is, sum_blocks_of_16, nearest, NULL},                              \
         .gelu = gpt_gelu,                                                                         \
         .before = nearest,                                                                        \
         .after = nearest},

static const struct layer right_bf16[] = {RIGHT_HALVES(bf16_nearest)};
static const struct layer right_fp16[] = {RIGHT_HALVES(fp16_nearest)};

static void check_right(const struct layer *layers, size_t count, int64_t precision)
{
    static const struct {
        int64_t m, c;
        int seeds;
    } shapes[] = {{7, 1, 40}, {259, 4, 40}, {16, 45, 10}, {16, 48, 10}, {4, 256, 5}, {2, 768, 2}};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof shapes / sizeof *shapes; j++) {
            int seeds = seeds_of(shapes[j].seeds);
            if (layers[i].contract.product && shapes[j].c % 8 == 0) continue;
            int found = refused_layer(&layers[i], shapes[j].m, shapes[j].c, precision, seeds);
            if (found)
                fail_msg("%s, c = %d: refused with %d of %d seeds", layers[i].expand.name,
                         (int)shapes[j].c, found, seeds);
        }
}

TEST(right_arithmetics_pass)
{
    check_right(right_fp32, sizeof right_fp32 / sizeof *right_fp32, GPT_FP32);
    check_right(right_tf32, sizeof right_tf32 / sizeof *right_tf32, GPT_TF32);
    check_right(right_bf16, sizeof right_bf16 / sizeof *right_bf16, GPT_BF16);
    check_right(right_fp16, sizeof right_fp16 / sizeof *right_fp16, GPT_FP16);
}

static const struct {
    int64_t precision;
    struct layer layer;
} wrongs[] = {
    {GPT_FP32,
     {{"second in tf32", as_it_is, sum_pairwise, NULL, NULL},
      BOTH(tf32_nearest, sum_blocks_of_4, NULL)}},
    {GPT_FP32,
     {{"first in tf32", tf32_nearest, sum_blocks_of_4, NULL, NULL},
      BOTH(as_it_is, sum_pairwise, NULL)}},
    {GPT_FP32,
     {.expand = {"erf", as_it_is, sum_pairwise, NULL, NULL},
      .contract = {"", as_it_is, sum_pairwise, NULL, NULL},
      .gelu = gelu_erf,
      .before = to_fp32,
      .after = to_fp32}},
    {GPT_FP32,
     {{"unit left out", as_it_is, sum_pairwise, NULL, NULL},
      BOTH(as_it_is, sum_pairwise, NULL),
      1}},
    {GPT_TF32,
     {{"unit left out", tf32_nearest, sum_blocks_of_4, NULL, NULL},
      BOTH(tf32_nearest, sum_blocks_of_4, NULL),
      1}},
    {GPT_TF32,
     {{"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL},
      BOTH(bf16_nearest, sum_blocks_of_16, NULL)}},
    {GPT_BF16,
     {.expand = {"unit left out", as_it_is, sum_blocks_of_16, NULL, NULL},
      .contract = {"", as_it_is, sum_blocks_of_16, NULL, NULL},
      .gelu = gpt_gelu,
      .before = to_fp32,
      .after = bf16_nearest,
      .left_out = 1}},
    {GPT_BF16,
     {.expand = {"cut off", as_it_is, sum_blocks_of_16, NULL, NULL},
      .contract = {"", as_it_is, sum_blocks_of_16, NULL, bf16_cut},
      .gelu = gpt_gelu,
      .before = to_fp32,
      .after = bf16_nearest}},
    {GPT_FP16,
     {.expand = {"unit left out", as_it_is, sum_blocks_of_16, NULL, NULL},
      .contract = {"", as_it_is, sum_blocks_of_16, NULL, NULL},
      .gelu = gpt_gelu,
      .before = to_fp32,
      .after = fp16_nearest,
      .left_out = 1}},
    {GPT_FP16,
     {.expand = {"cut off", as_it_is, sum_blocks_of_16, NULL, NULL},
      .contract = {"", as_it_is, sum_blocks_of_16, NULL, fp16_cut},
      .gelu = gpt_gelu,
      .before = to_fp32,
      .after = fp16_nearest}},
    {GPT_FP16,
     {{"bf16", bf16_nearest, sum_blocks_of_16, NULL, NULL},
      BOTH(bf16_nearest, sum_blocks_of_16, NULL)}},
};

TEST(a_wrong_layer_is_refused_at_every_width)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        for (int64_t c = 48; c <= 768; c *= 4) {
            int seeds = seeds_of(c < 768 ? 3 : 1);
            int found = refused_layer(&wrongs[i].layer, 6144 / c, c, wrongs[i].precision, seeds);
            if (found < seeds)
                fail_msg("%s %s, c = %d: refused with %d of %d seeds only",
                         gpt_types[wrongs[i].precision], wrongs[i].layer.expand.name, (int)c, found,
                         seeds);
        }
}
