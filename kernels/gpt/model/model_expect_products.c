/*
 * model_expect_products.c - the products of the models' reference: values in double, the
 * variances of their errors in fp32.
 */
#include "model_expect.h"
#include "kernels/gpt/widest.h"

enum { ROWS = MODEL_EXPECT_ROWS, COLUMNS = MODEL_EXPECT_COLUMNS, BLOCK = MODEL_CODE_BLOCK };

typedef double lanes __attribute__((vector_size(sizeof(double) * COLUMNS), aligned(8)));
typedef float float_lanes __attribute__((vector_size(sizeof(float) * COLUMNS), aligned(4)));

/* ROWS rows of x, `stride` apart, times COLUMNS columns of w, which lie side by side. */
WIDEST static void multiply_tile(const double *x, int64_t stride, const lanes *w, int64_t k,
                                 lanes out[ROWS])
{
    const double *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    lanes a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t i = 0; i < k; i++) {
        a += x[i] * w[i];
        b += x1[i] * w[i];
        c += x2[i] * w[i];
        d += x3[i] * w[i];
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

WIDEST static void multiply_float_tile(const float *x, int64_t stride, const float_lanes *w,
                                       int64_t k, float_lanes out[ROWS])
{
    const float *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
    float_lanes a = {0}, b = {0}, c = {0}, d = {0};
    for (int64_t i = 0; i < k; i++) {
        a += x[i] * w[i];
        b += x1[i] * w[i];
        c += x2[i] * w[i];
        d += x3[i] * w[i];
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

/* Weights i to i + BLOCK - 1 of a row, as far as there are any. */
static void load_block(const struct model_workspace *at, struct model_operands op, int64_t row,
                       int64_t i, float w[BLOCK])
{
    const struct model *model = at->model;
    const struct model_matrix matrix = model_matrix(model, op.product);
    if (model->codes) {
        model_code_weights(&at->coded[op.product], op.layer, row, i / BLOCK, w);
        return;
    }
    int64_t first = (op.layer * matrix.n + row) * matrix.k;
    for (int64_t m = 0; m < BLOCK && i + m < matrix.k; m++)
        w[m] = gpt_load(at->in[matrix.buffer], model->precision, first + i + m);
}

/* COLUMNS columns of y, from `column` on. Weights beyond the last column count as zeros. */
static void multiply_columns(const struct model_workspace *at, struct model_operands op,
                             int64_t column, struct model_field x, int64_t rows,
                             struct model_field y)
{
    const struct model *model = at->model;
    const struct model_matrix matrix = model_matrix(model, op.product);
    int64_t n = matrix.n, k = matrix.k;
    int64_t count = n - column < COLUMNS ? n - column : COLUMNS;
    lanes *weight = (lanes *)model_scratch_of(at);
    float_lanes *squares = (float_lanes *)(weight + k);
    double bias[COLUMNS] = {0}, whole = model_whole_share(model, MODEL_BY_WEIGHTS);
    for (int64_t j = 0; j < COLUMNS; j++) {
        for (int64_t i = 0; i < k; i += BLOCK) {
            float w[BLOCK] = {0};
            if (j < count) load_block(at, op, column + j, i, w);
            for (int64_t m = 0; m < BLOCK && i + m < k; m++) {
                weight[i + m][j] = (double)w[m];
                squares[i + m][j] = w[m] * w[m];
            }
        }
        if (j < count && op.bias >= 0)
            bias[j] = (double)gpt_load(at->in[MODEL_BIAS], model->precision, op.bias + column + j);
    }
    for (int64_t row = 0; row < rows; row += ROWS) {
        lanes sum[ROWS];
        float_lanes variance[ROWS];
        multiply_tile(x.value + row * k, k, weight, k, sum);
        multiply_float_tile(at->widened + row * k, k, squares, k, variance);
        for (int64_t i = 0; i < ROWS && row + i < rows; i++)
            for (int64_t j = 0; j < count; j++) {
                int64_t to = (row + i) * n + column + j;
                y.value[to] = sum[i][j] + bias[j];
                y.variance[to] = (float)((double)variance[i][j] + whole * square(sum[i][j]) +
                                         model_stored(model, sum[i][j]) +
                                         model_stored(model, sum[i][j] + bias[j]));
            }
    }
}

void model_multiply(const struct model_workspace *at, struct model_operands op,
                    struct model_field x, int64_t rows, struct model_field y)
{
    const struct model_matrix matrix = model_matrix(at->model, op.product);
    double share = model_term_share(at->model, matrix.k, MODEL_BY_WEIGHTS);
    for (int64_t i = 0; i < rows * matrix.k; i++)
        at->widened[i] = (float)((double)x.variance[i] + share * square(x.value[i]));
#pragma omp taskloop
    for (int64_t column = 0; column < matrix.n; column += COLUMNS)
        multiply_columns(at, op, column, x, rows, y);
}
