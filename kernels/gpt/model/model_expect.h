/*
 * model_expect.h - what the parts of the models' reference share (model_reference.c has the
 * formulas): values with the variances of their errors, a sequence's workspace, and the products.
 */
#pragma once

#include <omp.h>

#include "model_codes.h"

/* Products are computed so many rows and columns at a time. */
enum { MODEL_EXPECT_ROWS = 4, MODEL_EXPECT_COLUMNS = 8 };

/* Values and the variances of their errors. */
struct model_field {
    double *value;
    float *variance;
};

struct model_workspace {
    const struct model *model;
    const void *const *in;
    struct model_coded coded[MODEL_CODE_PRODUCTS]; /* where weights are codes */
    void *memory;
    struct model_field x, normed, wide, attended; /* [tokens]: c, c, 4 c, c */
    float *widened;                               /* [tokens][4 c]: v_x + e^2 x^2 */
    /* `scratch_count` numbers per thread: columns of weights and their squares, or a query's
     * scores. */
    double *scratch;
    int64_t scratch_count;
};

/* The calling thread's own. */
static inline double *model_scratch_of(const struct model_workspace *at)
{
    return at->scratch + omp_get_thread_num() * at->scratch_count;
}

static inline double square(double x)
{
    return x * x;
}

static inline struct model_field model_field_at(struct model_field field, int64_t offset)
{
    return (struct model_field){field.value + offset, field.variance + offset};
}

/* The deviation of a rounding to bf16, which is off by 2^-8 at most; 2^-9.3 over the mantissas.
 * fp16 has three bits more, and below 2^-14 steps of 2^-24. */
#define MODEL_SPREAD_BF16 0x1p-9
#define MODEL_SPREAD_FP16 0x1p-12
#define MODEL_LEAST_FP16  0x1p-25

/* What truncating an operand of a product to tf32 takes off it: up to 2^-10, 0.7 2^-11 on average
 * over the mantissas. */
#define MODEL_LOSS_TF32 0x1p-11

/* The variance that rounding a value adds when it is stored. */
static inline double model_stored(const struct model *model, double value)
{
    if (model->precision == GPT_FP16)
        return square(MODEL_SPREAD_FP16 * value) + square(MODEL_LEAST_FP16);
    return square((model->precision == GPT_BF16 ? MODEL_SPREAD_BF16 : GPT_UNIT_FP32) * value);
}

/* How many operands of a product truncating to tf32 changes: one beside weights, which are numbers
 * of tf32 already, and two in the attention. */
enum { MODEL_BY_WEIGHTS = 1, MODEL_OF_SCORES = 2 };

/* The share of a product's variance that comes from each of its k terms: e^2. */
static inline double model_term_share(const struct model *model, int64_t k, int operands)
{
    if (model->precision == GPT_FP32) return (double)(k + 1) * square(GPT_UNIT_FP32);
    double sum = square(((double)k / 8 + 1) * GPT_UNIT_TENSOR);
    return sum + (model->precision == GPT_TF32 ? square(operands * MODEL_LOSS_TF32) : 0);
}

/* The share of errors that all have the same direction: b^2. */
static inline double model_whole_share(const struct model *model, int operands)
{
    return model->precision == GPT_TF32 ? square(operands * MODEL_LOSS_TF32) : 0;
}

/* Where a product's weight and bias begin; no bias: -1. */
struct model_operands {
    enum model_product product;
    int64_t layer, bias;
};

/* y [rows, n] = x [rows, k] w^T + b, spread as tasks; rows are padded to whole groups of
 * MODEL_EXPECT_ROWS, and a thread's scratch has room for MODEL_EXPECT_COLUMNS columns of
 * weights and their squares. */
void model_multiply(const struct model_workspace *at, struct model_operands op,
                    struct model_field x, int64_t rows, struct model_field y);
