/*
 * margin.h - how near an output comes to its bounds: what shows that honest variants have room
 * and mistakes do not pass.
 */
#pragma once

#include "tests/kernels/bench.h"

struct margin {
    double worst, rms; /* of |got - expected| / bound; elements without a bound are left out */
    int64_t wrong, checked;
};

/* Of all outputs, as they stand. An operation with `match` has no bounds: wrong and checked. */
static inline struct margin margin_of(struct bench *bench)
{
    struct margin margin = {.wrong = bench_judge(bench).wrong};
    double squares = 0;
    int64_t counted = 0;
    for (int c = 0; c < bench->verifier.chunk_count; c++) {
        const struct chunk *chunk = &bench->verifier.chunks[c];
        const void *got = bench->buffers.data[chunk->buffer];
        margin.checked += chunk->end - chunk->begin;
        for (int64_t i = chunk->begin; i < chunk->end; i++) {
            int64_t at = chunk->at + i - chunk->begin;
            double bound = bench->verifier.bound[at];
            if (!(bound > 0)) continue;
            double off = assay_load(bench->buffers.spec[chunk->buffer].type, got, i) -
                         bench->verifier.expected[at];
            if (!(fabs(off) / bound <= margin.worst)) margin.worst = fabs(off) / bound;
            squares += off * off / bound / bound;
            counted++;
        }
    }
    margin.rms = counted > 0 ? sqrt(squares / (double)counted) : 0;
    return margin;
}

/* MARGINS=1 in the environment: print what the tests hold against their limits. */
static inline void margin_print(const char *name, struct margin margin)
{
    if (getenv("MARGINS"))
        printf("%-60s worst %9.3g rms %9.3g wrong %lld of %lld\n", name, margin.worst, margin.rms,
               (long long)margin.wrong, (long long)margin.checked);
}
