/*
 * test_family_gpt_norms.c - softmax, rmsnorm, cross_entropy and rope on the host: variants against
 * the reference, and bounds in which honest arithmetic has room and mistakes have none.
 */
#include <float.h>

#include "tests/kernels/margin.h"
#include "kernels/gpt/norms/norms.h"
#include "kernels/gpt/row/row_plan.h"

enum { SEEDS = 10 };

static const int64_t lengths[][2] = {{1, 1},   {3, 1},    {7, 3},    {5, 9},
                                     {33, 31}, {17, 257}, {64, 768}, {3, 8191}};

/* Elements of row `row` whose piece is not the row's alone. */
static int edge_of(int row, int columns, int width)
{
    int begin = row * columns, end = begin + columns, edge = 0;
    for (int at = begin; at < end; at++) {
        int piece = at / width * width;
        edge += piece < begin || piece + width > end;
    }
    return edge;
}

TEST(the_edge_of_rows_is_that_of_the_worst_of_them)
{
    for (int width = 4; width <= 8; width *= 2)
        for (int columns = 1; columns < 300; columns++) {
            int most = 0;
            for (int row = 0; row < 40; row++) {
                int edge = edge_of(row, columns, width);
                if (edge > most) most = edge;
            }
            assert_int_equal(row_edge(columns, width), most);
        }
}

TEST(every_variant_is_right_on_rows_of_any_length)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int64_t type = NORMS_FP32; type <= NORMS_FP16; type++)
            for (int64_t choice = 0; choice < 2; choice++) {
                int64_t rows = lengths[i][0], columns = lengths[i][1];
                bench_all(SHAPE("row_softmax", rows, columns, type, choice),
                          "host_scalar host_omp");
                bench_all(SHAPE("rmsnorm", rows, columns, type), "host_scalar host_omp");
                for (int64_t gradient = 0; gradient < 2; gradient++)
                    bench_all(SHAPE("cross_entropy", rows, columns, type, choice, gradient),
                              "host_scalar host_omp");
                bench_all(SHAPE("rope", 2, rows, 3, 2 * columns, type, choice),
                          "host_scalar host_omp");
            }
}

/* Whether the outputs as they stand pass: near enough to half of the bounds if they should, beyond
 * twice the bounds if not. */
static void expect_margin(struct bench *bench, const char *name, bool right)
{
    struct margin margin = margin_of(bench);
    margin_print(name, margin);
    if (right)
        assert_true(margin.wrong == 0 && margin.worst <= 0.5);
    else
        assert_true(margin.wrong > 0 && !(margin.worst < 2));
}

/* ---------------------------------------------------------------- softmax -- */

/* How a row's softmax is computed in fp32. */
struct way {
    const char *name;
    bool right;
    int lanes;     /* parts with a largest element of their own; 1: all */
    bool anyway;   /* the largest element is not taken off */
    bool no_scale; /* parts are joined as if their largest elements were the same */
    int left_out;  /* last elements that the sum misses */
    float power;   /* relative error of each exponential */
};

static const struct way ways[] = {
    {.name = "one part", .right = true, .lanes = 1},
    {.name = "32 parts", .right = true, .lanes = 32},
    {.name = "exponential off by 4 u", .right = true, .lanes = 32, .power = 0x1p-22f},
    {.name = "nothing taken off", .lanes = 1, .anyway = true},
    {.name = "parts not scaled", .lanes = 32, .no_scale = true},
    {.name = "last left out", .lanes = 1, .left_out = 1},
    {.name = "exponential off by 2^-12", .lanes = 32, .power = 0x1p-12f},
};

/* The largest element and the sum of `count` elements by one of the ways. */
static void softmax_parts(const struct way *way, const float *x, int64_t count, float *most,
                          float *sum)
{
    float part_most[32], part_sum[32] = {0};
    for (int l = 0; l < way->lanes; l++)
        part_most[l] = -FLT_MAX;
    for (int64_t i = 0; i < count; i++)
        part_most[i % way->lanes] = fmaxf(part_most[i % way->lanes], x[i]);
    *most = -FLT_MAX;
    for (int l = 0; l < way->lanes; l++)
        *most = fmaxf(*most, part_most[l]);
    if (way->anyway) *most = part_most[0] = 0;
    for (int64_t i = 0; i < count - way->left_out; i++)
        part_sum[i % way->lanes] += expf(x[i] - part_most[i % way->lanes]) * (1 + way->power);
    *sum = 0;
    for (int l = 0; l < way->lanes; l++)
        *sum += way->no_scale ? part_sum[l] : part_sum[l] * expf(part_most[l] - *most);
}

static void softmax_by(struct bench *bench, const struct way *way)
{
    int64_t rows = bench->shape.value[SOFTMAX_ROWS], columns = bench->shape.value[SOFTMAX_COLUMNS];
    const float *x = bench->buffers.data[SOFTMAX_X];
    float *y = bench->buffers.data[SOFTMAX_Y], most, sum;
    for (int64_t row = 0; row < rows; row++, x += columns, y += columns) {
        softmax_parts(way, x, columns, &most, &sum);
        for (int64_t i = 0; i < columns; i++)
            y[i] = expf(x[i] - most) * (1 + (i % 2 ? way->power : -way->power)) * (1 / sum);
    }
}

TEST(a_softmax_without_its_largest_element_is_wrong)
{
    const int64_t columns[] = {48, 768, 4096};
    for (size_t c = 0; c < 3; c++)
        for (int64_t data = NORMS_PLAIN; data <= NORMS_SHIFTED; data++)
            for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
                struct bench bench;
                bench_init(&bench, SHAPE("row_softmax", 16, columns[c], NORMS_FP32, data));
                for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                    if (ways[w].anyway && data == NORMS_PLAIN) continue; /* right there */
                    softmax_by(&bench, &ways[w]);
                    expect_margin(&bench, ways[w].name, ways[w].right);
                }
                bench_release(&bench);
            }
}

static void expect_cut_off_is_wrong(int64_t type)
{
    struct bench bench;
    const int64_t rows = 64, columns = 768;
    bench_init(&bench, SHAPE("row_softmax", rows, columns, type, NORMS_PLAIN));
    bench_launch(&bench, bench_variant("row_softmax", "host_scalar"));
    assert_true(bench_judge(&bench).reason[0] == '\0');
    uint16_t *y = bench.buffers.data[SOFTMAX_Y];
    for (int64_t i = 0; i < rows * columns; i++)
        if (y[i] && i % 2) y[i]--; /* what half of all are one less by */
    assert_true(bench_judge(&bench).reason[0] != '\0');
    bench_release(&bench);
}

TEST(a_softmax_in_16_bits_that_is_cut_off_is_wrong)
{
    expect_cut_off_is_wrong(NORMS_BF16);
    expect_cut_off_is_wrong(NORMS_FP16);
}

/* ---------------------------------------------------------------- rmsnorm -- */

struct root {
    const char *name;
    bool right;
    int lanes;
    float epsilon;
    bool outside; /* of the root */
    int left_out; /* last elements that the sum misses */
    bool centred; /* the mean is taken off first */
};

static void rmsnorm_by(struct bench *bench, const struct root *root)
{
    int64_t rows = bench->shape.value[RMSNORM_ROWS], columns = bench->shape.value[RMSNORM_COLUMNS];
    const float *x = bench->buffers.data[RMSNORM_X], *w = bench->buffers.data[RMSNORM_WEIGHT];
    float *y = bench->buffers.data[RMSNORM_Y];
    for (int64_t row = 0; row < rows; row++, x += columns, y += columns) {
        float part[32] = {0}, sum = 0, mean = 0;
        for (int64_t i = 0; root->centred && i < columns; i++)
            mean += x[i] / (float)columns;
        for (int64_t i = 0; i < columns - root->left_out; i++)
            part[i % root->lanes] += (x[i] - mean) * (x[i] - mean);
        for (int l = 0; l < root->lanes; l++)
            sum += part[l];
        sum /= (float)columns;
        float scale =
            root->outside ? 1 / (sqrtf(sum) + root->epsilon) : 1 / sqrtf(sum + root->epsilon);
        for (int64_t i = 0; i < columns; i++)
            y[i] = (x[i] - mean) * scale * w[i];
    }
}

TEST(an_rmsnorm_with_another_epsilon_or_a_mean_is_wrong)
{
    static const struct root roots[] = {
        {.name = "from first to last", .right = true, .lanes = 1, .epsilon = 1e-5f},
        {.name = "32 lanes", .right = true, .lanes = 32, .epsilon = 1e-5f},
        {.name = "epsilon 0", .lanes = 32},
        {.name = "epsilon 1e-6", .lanes = 32, .epsilon = 1e-6f},
        {.name = "epsilon 9e-6", .lanes = 32, .epsilon = 9e-6f},
        {.name = "epsilon outside", .lanes = 32, .epsilon = 1e-5f, .outside = true},
        {.name = "last left out", .lanes = 32, .epsilon = 1e-5f, .left_out = 1},
        {.name = "mean taken off", .lanes = 32, .epsilon = 1e-5f, .centred = true},
    };
    const int64_t columns[] = {48, 768, 4096};
    for (size_t c = 0; c < 3; c++)
        for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
            struct bench bench;
            bench_init(&bench, SHAPE("rmsnorm", 16, columns[c], NORMS_FP32));
            for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
                rmsnorm_by(&bench, &roots[i]);
                expect_margin(&bench, roots[i].name, roots[i].right);
            }
            bench_release(&bench);
        }
}

/* ----------------------------------------------------------- cross_entropy -- */

/* loss and gradient by 32 parts, with a mistake. */
enum mistake { NONE, LOG2, NO_ROWS, NO_TARGET, NEXT_TARGET, UNSHIFTED };

static void cross_by(struct bench *bench, enum mistake mistake)
{
    int64_t rows = bench->shape.value[CROSS_ROWS], columns = bench->shape.value[CROSS_COLUMNS];
    const float *x = bench->buffers.data[CROSS_X];
    const int32_t *target = bench->buffers.data[CROSS_TARGET];
    float *loss = bench->buffers.data[CROSS_LOSS], *dx = bench->buffers.data[CROSS_DX];
    for (int64_t row = 0; row < rows; row++, x += columns, dx += columns) {
        float most, sum;
        int64_t at = (target[row] + (mistake == NEXT_TARGET)) % columns;
        softmax_parts(&ways[1], x, columns, &most, &sum);
        float log_sum = mistake == LOG2 ? log2f(sum) : logf(sum);
        loss[row] = log_sum + ((mistake == UNSHIFTED ? 0 : most) - x[at]);
        for (int64_t i = 0; i < columns; i++) {
            float y = expf(x[i] - most) / sum;
            if (i == at && mistake != NO_TARGET) y -= 1;
            dx[i] = mistake == NO_ROWS ? y : y / (float)rows;
        }
    }
}

TEST(a_loss_or_gradient_with_a_mistake_is_wrong)
{
    static const char *const names[] = {"honest",    "log2",        "not divided",
                                        "no target", "next target", "largest element forgotten"};
    const int64_t columns[] = {48, 1031, 4096};
    for (size_t c = 0; c < 3; c++)
        for (int64_t data = NORMS_PLAIN; data <= NORMS_SHIFTED; data++)
            for (bench_seed = 1; bench_seed <= SEEDS; bench_seed++) {
                struct bench bench;
                bench_init(&bench,
                           SHAPE("cross_entropy", 16, columns[c], NORMS_FP32, data, CROSS_WITH));
                for (int mistake = NONE; mistake <= UNSHIFTED; mistake++) {
                    cross_by(&bench, mistake);
                    expect_margin(&bench, names[mistake], mistake == NONE);
                }
                bench_release(&bench);
            }
}

TEST(a_target_outside_of_the_row_is_refused_before_the_launch)
{
    const int32_t outside[] = {-1, 11, INT32_MAX, INT32_MIN};
    struct group group;
    struct bench bench;
    bench_init(&bench, SHAPE("cross_entropy", 3, 11));
    bench_group(&group, bench.shape);
    bench_runs(&group, "host_scalar host_omp");
    for (int v = 0; v < group.variant_count; v++) {
        if (group.skip[v][0]) continue;
        assert_non_null(group.variant[v]->setup);
        for (int i = 0; i < 4; i++) {
            ((int32_t *)bench.buffers.data[CROSS_TARGET])[2] = outside[i];
            struct assay_call call = bench_call(&bench);
            assert_int_equal(group.variant[v]->setup(&call), -1);
        }
    }
    bench_release(&bench);
}

/* -------------------------------------------------------------------- rope -- */

enum turn { HONEST, OTHER_WAY, OTHER_PAIRS, NEXT_TOKEN };

static void rope_by(struct bench *bench, enum turn turn)
{
    const int64_t *value = bench->shape.value;
    int64_t half = value[ROPE_SIZE] / 2, heads = value[ROPE_HEADS], tokens = value[ROPE_TOKENS];
    bool halves = (value[ROPE_PAIRS] == ROPE_HALVES) != (turn == OTHER_PAIRS);
    const float *x = bench->buffers.data[ROPE_X], *cosine = bench->buffers.data[ROPE_COS];
    const float *sine = bench->buffers.data[ROPE_SIN];
    float *y = bench->buffers.data[ROPE_Y];
    for (int64_t row = 0; row < value[ROPE_BATCH] * tokens * heads; row++)
        for (int64_t j = 0; j < half; j++) {
            int64_t angle = (row / heads + (turn == NEXT_TOKEN)) % tokens * half + j;
            int64_t first = row * 2 * half + (halves ? j : 2 * j);
            int64_t second = first + (halves ? half : 1);
            float s = turn == OTHER_WAY ? -sine[angle] : sine[angle];
            y[first] = x[first] * cosine[angle] - x[second] * s;
            y[second] = x[first] * s + x[second] * cosine[angle];
        }
}

TEST(a_rotation_the_other_way_or_of_other_pairs_is_wrong)
{
    static const char *const names[] = {"honest", "other way", "other pairs", "next token"};
    for (int64_t pairs = ROPE_HALVES; pairs <= ROPE_NEIGHBOURS; pairs++) {
        struct bench bench;
        bench_init(&bench, SHAPE("rope", 2, 37, 3, 64, NORMS_FP32, pairs));
        for (int turn = HONEST; turn <= NEXT_TOKEN; turn++) {
            rope_by(&bench, turn);
            expect_margin(&bench, names[turn], turn == HONEST);
        }
        bench_release(&bench);
    }
}

TEST(a_head_of_an_odd_size_is_refused)
{
    struct group group;
    bench_group(&group, SHAPE("rope", 1, 3, 2, 7));
    for (int v = 0; v < group.variant_count; v++)
        assert_string_equal(group.skip[v], "a head has an odd size");
}
