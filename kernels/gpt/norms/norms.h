/*
 * norms.h - dims and buffers of the operations on rows of a GPT, and of the rotary embedding.
 *
 *   row_softmax    y = exp(x - max) / sum exp(x - max), by row
 *   rmsnorm        y = x / sqrt(mean(x^2) + 1e-5) w, by row
 *   cross_entropy  loss = log(sum exp(x)) - x[target] of each row, and the gradient of its mean
 *   rope           pairs of channels turned by an angle of their position
 *
 * The dim `type` is that of the arrays in memory, fp32, bf16 or fp16; sums are in fp32 for all.
 */
#pragma once

#include "kernels/gpt/gpt.h"

enum norms_type { NORMS_FP32, NORMS_BF16, NORMS_FP16 };
enum norms_data { NORMS_PLAIN, NORMS_SHIFTED };

enum softmax_dim { SOFTMAX_ROWS, SOFTMAX_COLUMNS, SOFTMAX_TYPE, SOFTMAX_DATA };
enum softmax_buffer { SOFTMAX_X, SOFTMAX_Y };

enum rmsnorm_dim { RMSNORM_ROWS, RMSNORM_COLUMNS, RMSNORM_TYPE };
enum rmsnorm_buffer { RMSNORM_X, RMSNORM_WEIGHT, RMSNORM_Y };

enum cross_dim { CROSS_ROWS, CROSS_COLUMNS, CROSS_TYPE, CROSS_DATA, CROSS_GRADIENT };
enum cross_gradient { CROSS_WITH, CROSS_WITHOUT };
/* The last one exists only with the gradient. */
enum cross_buffer { CROSS_X, CROSS_TARGET, CROSS_LOSS, CROSS_DX };

enum rope_dim { ROPE_BATCH, ROPE_TOKENS, ROPE_HEADS, ROPE_SIZE, ROPE_TYPE, ROPE_PAIRS };
enum rope_pairs { ROPE_HALVES, ROPE_NEIGHBOURS };
/* X and Y are [batch, tokens, heads, size], COS and SIN [tokens, size / 2] in fp32. */
enum rope_buffer { ROPE_X, ROPE_COS, ROPE_SIN, ROPE_Y };

#define NORMS_RMSNORM_EPSILON 1e-5f

static inline enum gpt_precision norms_precision(int64_t type)
{
    static const enum gpt_precision precisions[] = {GPT_FP32, GPT_BF16, GPT_FP16};
    return precisions[type];
}

#ifdef __cplusplus
extern "C" {
#endif

/* Choices of the dims `type` and `data`, ended by NULL. */
extern const char *const norms_types[];
extern const char *const norms_datas[];

/* The bound of an output of `type` whose exact value is `value`, if it is off by `error` before it
 * is rounded to that type. */
double norms_bound(int64_t type, double value, double error);

/* What a row's softmax is made of. */
struct norms_softmax {
    double most, sum; /* the largest element; the sum of exp(x - most) */
    double sum_error; /* relative */
};

/* Of the row that begins at element `begin`, and how far its sum may be off in fp32 (norms.c). */
struct norms_softmax norms_softmax_of(const void *x, int64_t type, int64_t begin, int64_t columns);

/* The softmax of element `x` of the row, and how far it may be off in fp32, relatively. */
double norms_softmax_value(const struct norms_softmax *row, double x, double *error);

/* Logits: how rows of a softmax are filled. */
struct assay_fill norms_logits(int64_t rows, int64_t columns, int64_t data);

/* Setup of the host's variants of cross_entropy: 0, or an error that names the first target outside
 * of the columns. */
int norms_check_host_targets(struct assay_call *call);

#ifdef __cplusplus
}
#endif
