/*
 * norms.c - see norms.h: the softmax of a row in double, and how far a right answer in fp32 may be
 * off.
 *
 * With u = 2^-24, m the row's largest element, d = x - m <= 0 and C columns:
 *
 *   exp(d)    is taken as 2^(d log2(e)). Difference, product and the constant's own rounding are
 *             each off by u |d|; the instruction by 2 units in the last place, 4 u. So it is off by
 *             (3 |d| + 4) u.
 *   sum       Parts of a row have a largest element of their own, and are scaled when they are
 *             joined: some 20 times at most, 6 u each, with the same |d| in all. A sum of C terms
 *             in any order is off by 4 sqrt(C) u (Higham and Mary, as in layernorm.c).
 *   quotient  4 u for a reciprocal and a product; and 5 u, since exp(d) may be the product of
 *             exp(x - m') and exp(m' - m), with m' the largest element of a part.
 *
 * A value below FLT_MIN may be flushed to zero.
 */
#include "norms.h"

#include <float.h>

#include "kernels/product.h"

enum { JOINS = 20, JOIN_UNITS = 6, QUIET_ROWS = 8, MASKED_COLUMNS = 64 };

const char *const norms_types[] = {"fp32", "bf16", "fp16", NULL};
const char *const norms_datas[] = {"plain", "shifted", NULL};

double norms_bound(int64_t type, double value, double error)
{
    error += 4 * (double)FLT_MIN;
    return type == NORMS_FP32 ? error
                              : product_rounded(gpt_type(norms_precision(type)), value, error);
}

/* exp(x - most), and how far it may be off, relatively. */
static double power(double x, double most, double *error)
{
    double off = x - most;
    *error = isfinite(off) ? (3 * fabs(off) + 4) * GPT_UNIT_FP32 : 0; /* masked: exactly 0 */
    return exp(off);
}

struct norms_softmax norms_softmax_of(const void *x, int64_t type, int64_t begin, int64_t columns)
{
    enum gpt_precision precision = norms_precision(type);
    struct norms_softmax row = {.most = -INFINITY};
    for (int64_t i = begin; i < begin + columns; i++)
        row.most = fmax(row.most, (double)gpt_load(x, precision, i));
    double off = 0;
    for (int64_t i = begin; i < begin + columns; i++) {
        double error, term = power((double)gpt_load(x, precision, i), row.most, &error);
        row.sum += term;
        off += term * error;
    }
    row.sum_error =
        off / row.sum + (4 * sqrt((double)columns) + JOINS * JOIN_UNITS) * GPT_UNIT_FP32;
    return row;
}

double norms_softmax_value(const struct norms_softmax *row, double x, double *error)
{
    double value = power(x, row->most, error) / row->sum;
    *error += row->sum_error + 9 * GPT_UNIT_FP32;
    return value;
}

/* Masked tokens have minus infinity. */
static const float masked[] = {-INFINITY, -1e4f, 30.0f};

/* Behind some rows in which one element in sixteen is masked, far below or far above. shifted: the
 * exponentials overflow without the largest element taken off. */
struct assay_fill norms_logits(int64_t rows, int64_t columns, int64_t data)
{
    int64_t hard = rows / 8 < QUIET_ROWS ? rows / 8 : QUIET_ROWS;
    struct assay_fill fill = {
        .kind = ASSAY_FILL_NORMAL, .a = data == NORMS_SHIFTED ? 1000 : 0, .b = 2};
    if (hard == 0 || columns < MASKED_COLUMNS) return fill;
    fill.hard = masked;
    fill.hard_count = sizeof masked / sizeof *masked;
    fill.hard_every = 16;
    fill.hard_until = hard * columns;
    return fill;
}

int norms_check_host_targets(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return gpt_check_ids(call->buffer[CROSS_TARGET], value[CROSS_ROWS], value[CROSS_COLUMNS]);
}
