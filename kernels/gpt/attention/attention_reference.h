/*
 * attention_reference.h - one query of the attention in double, and how far a right answer
 * may be from it. Pure.
 */
#pragma once

#include "kernels/gpt/gpt.h"

enum { ATTENTION_MAX_HEAD = 256 };

/* A query and a head: where its numbers lie in q, k and v. */
struct attention_query {
    int64_t precision, size;
    int64_t stride;  /* elements from token to token */
    int64_t token;   /* of the query: it sees keys 0 to this */
    int64_t q, k, v; /* of this token; of token 0; of token 0 */
};

/* `size` elements of y, and their bounds. `scratch` has room for 2 (token + 1). */
void attention_expect(const struct attention_query *query, const void *qkv, double *scratch,
                      double *y, double *bound);
