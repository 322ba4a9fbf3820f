/* test_product.c - an output that is a product is wrong where one of its elements is, although
 * the reference looks at a few. */
#include <math.h>
#include <stdio.h>

#include "on_host.h"

enum { M, N, K };

static int product_buffers(const struct assay_shape *shape,
                           struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = -1, .b = 1};
    const int64_t *v = shape->value;
    out[0] = (struct assay_buffer){"a", ASSAY_IN, ASSAY_F32, v[M] * v[K], uniform};
    out[1] = (struct assay_buffer){"b", ASSAY_IN, ASSAY_F32, v[N] * v[K], uniform};
    out[2] = (struct assay_buffer){
        .name = "c", .role = ASSAY_OUT, .type = ASSAY_F32, .count = v[M] * v[N]};
    return 3;
}

static double exact(const struct assay_shape *shape, const void *const in[], int64_t i, int64_t j)
{
    int64_t k = shape->value[K];
    const float *a = (const float *)in[0] + i * k, *b = (const float *)in[1] + j * k;
    double sum = 0;
    for (int64_t l = 0; l < k; l++)
        sum += (double)a[l] * (double)b[l];
    return sum;
}

static int product_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                             int64_t begin, int64_t end, double *expected, double *bound)
{
    for (int64_t at = begin; at < end; at++)
        expected[at - begin] = exact(shape, in, at / shape->value[N], at % shape->value[N]);
    return 0;
}

/* So dear that the first and the last element alone are checked. */
static double product_cost(const struct assay_shape *shape)
{
    return ASSAY_CHECK_BUDGET / 2.0;
}

static int64_t columns_of(const struct assay_shape *shape, int buffer)
{
    return buffer == 2 ? shape->value[N] : 0;
}

static int signed_product(const struct assay_shape *shape, const void *const in[], int buffer,
                          const double *sign, double *expected, double *bound)
{
    int64_t m = shape->value[M], n = shape->value[N], k = shape->value[K];
    assert_int_equal(buffer, 2);
    for (int64_t i = 0; i < m; i++) {
        expected[i] = 0;
        for (int64_t j = 0; j < n; j++)
            expected[i] += sign[j] * exact(shape, in, i, j);
        bound[i] = (double)(n * k) * 0x1p-24;
    }
    return 0;
}

static const struct assay_operation product = {
    .name = "product",
    .dims = {{.name = "m"}, {.name = "n"}, {.name = "k"}},
    .buffers = product_buffers,
    .reference = product_reference,
    .reference_cost = product_cost,
    .product_columns = columns_of,
    .product_check = signed_product,
    .tolerance = {1e-5, 0, 0}};

static void product_open(struct bench *bench, int64_t m, int64_t n, int64_t k)
{
    bench_open(bench, (struct assay_shape){&product, {m, n, k}}, 7);
    float *c = bench->buffers.data[2];
    const void *const in[] = {bench->buffers.data[0], bench->buffers.data[1]};
    for (int64_t i = 0; i < m * n; i++)
        c[i] = (float)exact(&bench->shape, in, i / n, i % n);
}

static struct check_result ask(struct bench *bench, bool apart)
{
    const struct assay_variant variant = {.operation = "product", .name = "any", .apart = apart};
    return bench_check(bench, &variant);
}

TEST(a_right_product_passes)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {37, 41, 19}, {3, 9000, 5}, {500, 7, 3}};
    for (int i = 0; i < 4; i++) {
        struct bench bench;
        product_open(&bench, shapes[i][0], shapes[i][1], shapes[i][2]);
        assert_string_equal(ask(&bench, false).reason, "");
        bench_close(&bench);
    }
}

TEST(one_wrong_element_anywhere_makes_its_row_wrong)
{
    struct bench bench;
    product_open(&bench, 37, 41, 19);
    assert_int_equal(bench.verifier.checked, 2);
    float *c = bench.buffers.data[2];
    for (int64_t at = 1; at < 37 * 41 - 1; at += 97) {
        float was = c[at];
        char row[32];
        (void)snprintf(row, sizeof row, "row %d of 'c' ", (int)(at / 41));
        c[at] += 0.01f;
        struct check_result found = ask(&bench, false);
        assert_int_equal(found.wrong, 1);
        if (!strstr(found.reason, row)) fail_msg("%s", found.reason);
        assert_non_null(strstr(found.reason, "expected"));
        c[at] = was;
    }
    bench_close(&bench);
}

TEST(a_nan_makes_its_row_wrong)
{
    struct bench bench;
    product_open(&bench, 37, 41, 19);
    ((float *)bench.buffers.data[2])[500] = NAN;
    assert_int_equal(ask(&bench, false).wrong, 1);
    bench_close(&bench);
}

/* Elements that cancel without signs. */
TEST(two_elements_that_are_exchanged_are_found)
{
    struct bench bench;
    int found = 0;
    product_open(&bench, 37, 41, 19);
    float *c = bench.buffers.data[2];
    for (int i = 2; i < 36; i++) {
        float was = c[i * 41], other = c[i * 41 + i];
        c[i * 41] = other, c[i * 41 + i] = was;
        found += ask(&bench, false).wrong == 1;
        c[i * 41] = was, c[i * 41 + i] = other;
    }
    assert_in_range(found, 8, 30); /* where the two signs differ: about half */
    bench_close(&bench);
}

TEST(one_that_is_apart_is_not_asked)
{
    struct bench bench;
    product_open(&bench, 37, 41, 19);
    ((float *)bench.buffers.data[2])[500] = NAN;
    assert_string_equal(ask(&bench, true).reason, "");
    bench_close(&bench);
}
