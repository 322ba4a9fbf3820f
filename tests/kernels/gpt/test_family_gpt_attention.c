/*
 * test_family_gpt_attention.c - attention on the host: variants against the reference,
 * what the mask lets through, and the tile loop of the tensor-core kernel acted out in
 * its own order.
 */
#include "tests/kernels/bench.h"
#include "kernels/gpt/attention/attention_configs.h"
#include "kernels/gpt/attention/attention_order.h"
#include "kernels/gpt/gpt.h"

TEST(every_attention_is_right_from_one_token_up_at_any_head_size)
{
    const int64_t shapes[][4] = {{1, 1, 1, 16},  {1, 1, 2, 1},   {2, 3, 7, 5},
                                 {1, 2, 65, 16}, {3, 1, 33, 48}, {1, 1, 130, 128}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
            const int64_t *s = shapes[i];
            bench_all(SHAPE("attention", s[0], s[1], s[2], s[3], precision),
                      "host_scalar host_omp");
        }
}

TEST(the_first_token_is_its_own_value)
{
    struct bench bench;
    bench_init(&bench, SHAPE("attention", 2, 3, 4, 16, GPT_FP32));
    const float *qkv = bench.buffers.data[ATTENTION_QKV];
    for (int64_t batch = 0; batch < 2; batch++)
        for (int64_t head = 0; head < 3; head++) {
            double expected[16], bound[16];
            int64_t at = (batch * 4 * 3 + head) * 16;
            const float *v = qkv + batch * 4 * 3 * 48 + 2 * 48 + head * 16;
            assert_int_equal(bench.shape.operation->reference(&bench.shape, bench.in, ATTENTION_Y,
                                                              at, at + 16, expected, bound),
                             0);
            for (int i = 0; i < 16; i++)
                assert_true(expected[i] == (double)v[i]);
        }
    bench_release(&bench);
}

/* Attention by tiles of 64 keys with weights and answers rounded to bf16, as the
 * tensor-core kernel takes them. `see` keys behind the query are let through. */
static int64_t wrong_by_tiles(int64_t tokens, int64_t size, int see, bool rescale)
{
    enum { KEYS = 64 };
    struct bench bench;
    bench_init(&bench, SHAPE("attention", 1, 1, tokens, size, GPT_BF16));
    const void *qkv = bench.buffers.data[ATTENTION_QKV];
    float scale = 1.4426950408889634f / sqrtf((float)size);
    for (int64_t query = 0; query < tokens; query++) {
        float peak = -INFINITY, total = 0, sum[128] = {0};
        for (int64_t key0 = 0; key0 <= query + see; key0 += KEYS) {
            float s[KEYS], most = peak;
            for (int64_t j = 0; j < KEYS; j++) {
                s[j] = -INFINITY;
                if (key0 + j > query + see || key0 + j >= tokens) continue;
                s[j] = 0;
                for (int64_t i = 0; i < size; i++)
                    s[j] += gpt_load(qkv, GPT_BF16, query * 3 * size + i) *
                            gpt_load(qkv, GPT_BF16, (key0 + j) * 3 * size + size + i);
                most = fmaxf(most, s[j]);
            }
            float keep = rescale ? exp2f((peak - most) * scale) : peak > -INFINITY;
            peak = most;
            total *= keep;
            for (int64_t i = 0; i < size; i++)
                sum[i] *= keep;
            for (int64_t j = 0; j < KEYS && key0 + j < tokens; j++) {
                float p = exp2f(fmaf(s[j], scale, -most * scale));
                total += p;
                for (int64_t i = 0; i < size; i++)
                    sum[i] += gpt_widen(gpt_narrow(p)) *
                              gpt_load(qkv, GPT_BF16, (key0 + j) * 3 * size + 2 * size + i);
            }
        }
        for (int64_t i = 0; i < size; i++)
            gpt_store(bench.buffers.data[ATTENTION_Y], GPT_BF16, query * size + i, sum[i] / total);
    }
    int64_t wrong = bench_judge(&bench).wrong;
    bench_release(&bench);
    return wrong;
}

TEST(tiles_with_bf16_weights_are_within_the_bound)
{
    for (int64_t size = 16; size <= 128; size *= 2)
        assert_int_equal(wrong_by_tiles(257, size, 0, true), 0);
}

TEST(a_key_too_many_or_a_sum_not_rescaled_is_wrong)
{
    assert_true(wrong_by_tiles(257, 64, 1, true) > 256 * 64 / 4);
    assert_true(wrong_by_tiles(257, 64, 0, false) > 64);
}

TEST(work_is_half_the_square_and_half_the_diagonal)
{
    struct assay_shape shape = {registry_operation("attention"), {1, 2, 3, 16, GPT_BF16}};
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.ops[ASSAY_BF16_OPS] == 2 * 6 * 4 * 16);
    assert_true(work.read_bytes == 3 * 2 * 3 * 16 * 2 && work.write_bytes == 2 * 3 * 16 * 2);
    shape.value[ATTENTION_PRECISION] = GPT_FP16;
    work = shape.operation->work(&shape);
    assert_true(work.ops[ASSAY_FP16_OPS] == 2 * 6 * 4 * 16 && work.ops[ASSAY_BF16_OPS] == 0);
    assert_true(work.write_bytes == 2 * 3 * 16 * 2);
}

/* Shapes of the Hopper kernel: lines, tokens, bytes of a token's keys and values, queries
 * per block. Lines of 8 MiB, four of them taken together; short ones; one with one token. */
static const int order_shapes[][4] = {
    {16, 16384, 512, 128}, {17, 2048, 512, 192}, {1, 1, 256, 192}, {256, 513, 256, 128}};

static struct attention_order order_at(int index)
{
    const int *s = order_shapes[index];
    return attention_order_of(s[0], s[1], s[2], s[3]);
}

TEST(every_block_of_queries_of_every_line_is_worked_on_once)
{
    enum { MOST_LINES = 256, MOST_BLOCKS = 128 };
    static int taken[MOST_LINES][MOST_BLOCKS];
    for (int i = 0; i < 4; i++) {
        struct attention_order order = order_at(i);
        memset(taken, 0, sizeof taken);
        for (int index = 0; index < order.works; index++) {
            struct attention_work work = attention_order_at(&order, index);
            assert_in_range(work.line, 0, order.lines - 1);
            assert_int_equal(work.first % order.queries, 0);
            taken[work.line][work.first / order.queries]++;
        }
        for (int line = 0; line < MOST_LINES; line++)
            for (int block = 0; block < MOST_BLOCKS; block++)
                assert_int_equal(taken[line][block], line < order.lines && block < order.blocks);
    }
}

TEST(multiprocessors_end_within_a_fiftieth_of_each_other)
{
    enum { PROCESSORS = 132 };
    struct attention_order order = order_at(0);
    int64_t until[PROCESSORS] = {0}, most = 0, sum = 0;
    for (int index = 0; index < order.works; index++) {
        int first = 0; /* to get free */
        for (int i = 1; i < PROCESSORS; i++)
            if (until[i] < until[first]) first = i;
        int64_t cost = attention_order_at(&order, index).first + order.queries;
        until[first] += cost;
        sum += cost;
        most = until[first] > most ? until[first] : most;
    }
    assert_true(most * 50 * PROCESSORS < sum * 51);
}

TEST(lines_taken_together_fit_l2_and_their_last_queries_come_first)
{
    struct attention_order order = order_at(0);
    assert_int_equal(order.together, 4);
    for (int i = 0; i < 4 * order.blocks; i++) {
        struct attention_work work = attention_order_at(&order, i);
        assert_in_range(work.line, 0, 3);
        assert_int_equal(work.first, (order.blocks - 1 - i / 4) * order.queries);
    }
    assert_int_equal(attention_order_at(&order, 4 * order.blocks).line, 4);
    assert_int_equal(attention_order_at(&order, order.works - 1).line, 15);
}

TEST(the_largest_division_that_fills_the_device_is_taken)
{
    const int queries[] = {16, 32, 64, 128};
    assert_int_equal(attention_division(queries, 4, 1024, 128), 3);
    assert_int_equal(attention_division(queries, 4, 128, 128), 3);
    assert_int_equal(attention_division(queries, 4, 127, 128), 2);
    assert_int_equal(attention_division(queries, 4, 64, 128), 2);
    assert_int_equal(attention_division(queries, 4, 32, 128), 1);
}

TEST(the_smallest_division_is_taken_where_none_fills_the_device)
{
    const int queries[] = {16, 32, 64};
    assert_int_equal(attention_division(queries, 3, 6, 128), 0);
    assert_int_equal(attention_division(queries, 3, 1, 1), 0);
    assert_int_equal(attention_division(queries, 1, 1000, 1000), 0);
}

TEST(a_part_of_a_block_counts_as_a_block)
{
    const int queries[] = {16, 32};
    assert_int_equal(attention_division(queries, 2, 64, 33), 1);
    assert_int_equal(attention_division(queries, 2, 64, 32), 0);
}
