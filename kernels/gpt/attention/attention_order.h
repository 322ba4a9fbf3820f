/*
 * attention_order.h - the order in which a causal attention's blocks take their work. Pure, for
 * the host too.
 *
 * A line is one head of one sequence; a unit of work is a block of queries of one line. A thread
 * block that has finished a unit takes the next one. Lines are taken `together` at a time, as many
 * as have their keys and values in L2. Within these the last queries come first, because they have
 * the most keys: so the last units are short, and all thread blocks end at about the same time.
 */
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define ORDER_FUNCTION static __host__ __device__ __forceinline__
#else
#define ORDER_FUNCTION static inline
#endif

struct attention_order {
    int lines, together;
    int blocks, queries; /* of a line; of a block */
    int works;
};

struct attention_work {
    int line;
    int first; /* query */
};

/* Bytes of keys and values of the lines taken together: most of a Hopper's L2 of 50 MB. */
#define ORDER_TOGETHER_BYTES (32 << 20)

/* `token_bytes`: those of a token's keys and values in a line. The lines are divided into
 * equal parts, because a short one at the end would have too few units of work for all blocks. */
ORDER_FUNCTION struct attention_order attention_order_of(int lines, int tokens, int token_bytes,
                                                         int queries)
{
    int64_t fit = ORDER_TOGETHER_BYTES / ((int64_t)tokens * token_bytes);
    int most = fit < 1 ? 1 : fit > lines ? lines : (int)fit;
    int parts = (lines + most - 1) / most;
    struct attention_order order;
    order.lines = lines;
    order.together = (lines + parts - 1) / parts;
    order.blocks = (tokens + queries - 1) / queries;
    order.queries = queries;
    order.works = lines * order.blocks;
    return order;
}

ORDER_FUNCTION struct attention_work attention_order_at(const struct attention_order *order,
                                                        int index)
{
    int begin = index / (order->together * order->blocks) * order->together;
    int left = order->lines - begin, width = left < order->together ? left : order->together;
    int rest = index % (order->together * order->blocks);
    struct attention_work work;
    work.line = begin + rest % width;
    work.first = (order->blocks - 1 - rest / width) * order->queries;
    return work;
}
