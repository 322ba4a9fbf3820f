/*
 * attention_fp8.h - dims and buffers of the operation `attention_fp8`, and where the numbers of a
 * query and head lie.
 */
#pragma once

#include "assay.h"

enum attention_fp8_dim { AFP8_BATCH, AFP8_HEADS, AFP8_TOKENS, AFP8_HEAD_SIZE, AFP8_MASK };
enum attention_fp8_mask { AFP8_CAUSAL, AFP8_FULL };
enum attention_fp8_buffer { AFP8_QKV, AFP8_SCALES, AFP8_Y };

enum {
    AFP8_MAX_HEAD = 256,
    AFP8_GROUP = 128, /* keys whose sum may stay in the tensor cores */
};

/* A query and a head: which keys it sees, and elements of qkv and y. */
struct attention_fp8_query {
    int64_t size, keys;
    int64_t stride;  /* elements from token to token */
    int64_t q, k, v; /* of this token; of token 0; of token 0 */
    int64_t head, heads;
};

/* The query and head of number `index` = (sequence, token, head). */
static inline struct attention_fp8_query attention_fp8_query(const struct assay_shape *shape,
                                                             int64_t index)
{
    const int64_t *value = shape->value;
    int64_t heads = value[AFP8_HEADS], tokens = value[AFP8_TOKENS], size = value[AFP8_HEAD_SIZE];
    int64_t head = index % heads, token = index / heads % tokens, batch = index / heads / tokens;
    int64_t stride = 3 * heads * size, first = batch * tokens * stride + head * size;
    struct attention_fp8_query query;
    query.size = size;
    query.keys = value[AFP8_MASK] == AFP8_CAUSAL ? token + 1 : tokens;
    query.stride = stride;
    query.q = first + token * stride;
    query.k = first + heads * size;
    query.v = first + 2 * heads * size;
    query.head = head;
    query.heads = heads;
    return query;
}
