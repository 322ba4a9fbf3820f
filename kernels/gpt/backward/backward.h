/*
 * backward.h - buffers of attention_backward; its dims are those of attention (gpt.h).
 */
#pragma once

#include "kernels/gpt/gpt.h"

enum { BACKWARD_MAX_HEAD = 256 };

/* QKV and DQKV are [batch, tokens, 3, heads, head size], Y and DY [batch, tokens, heads, head
 * size], LSE is [batch, heads, tokens] in fp32. The first two are those of attention. */
enum backward_buffer { BACKWARD_QKV, BACKWARD_Y, BACKWARD_LSE, BACKWARD_DY, BACKWARD_DQKV };

/* The dim `type` of this operation has no tf32. */
static inline enum gpt_precision backward_precision(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_PRECISION] ? GPT_BF16 : GPT_FP32;
}

/* Where the numbers of one head of one sequence lie, in elements. */
struct backward_line {
    enum gpt_precision precision;
    int64_t tokens, size;
    int64_t q, stride;   /* of token 0; from token to token of QKV and DQKV */
    int64_t y, stride_y; /* the same of Y and DY; stride_y also leads from q to k and from k to v */
    int64_t lse;         /* of token 0 */
};

static inline struct backward_line backward_line_of(const struct assay_shape *shape, int64_t line)
{
    int64_t heads = shape->value[ATTENTION_HEADS], tokens = shape->value[ATTENTION_TOKENS];
    int64_t size = shape->value[ATTENTION_HEAD_SIZE], width = heads * size;
    int64_t batch = line / heads, head = line % heads;
    return (struct backward_line){.precision = backward_precision(shape),
                                  .tokens = tokens,
                                  .size = size,
                                  .q = batch * tokens * 3 * width + head * size,
                                  .stride = 3 * width,
                                  .y = batch * tokens * width + head * size,
                                  .stride_y = width,
                                  .lse = line * tokens};
}
