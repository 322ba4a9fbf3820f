/*
 * gpt_bench.h - what the tests of the GPT layers share: a shape's buffers, filled and
 * guarded, and host variants run on them and judged as the harness judges.
 */
#ifndef GPT_BENCH_H
#define GPT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fill.h"
#include "base/rng.h"
#include "case/registry.h"
#include "kernels/gpt/gpt.h"
#include "measure/verify.h"

enum { GUARD = 64, POISON = 0xa5, SEED = 20 };

struct bench {
    struct assay_shape shape;
    int count;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    void *memory[ASSAY_MAX_BUFFERS];
    const void *in[ASSAY_MAX_BUFFERS]; /* NULL where not an input, as the harness has it */
};

static inline size_t bench_bytes(const struct bench *bench, int b)
{
    return (size_t)bench->buffer[b].count * assay_type_bytes(bench->buffer[b].type);
}

static inline void bench_fill(struct bench *bench, int b)
{
    const struct assay_buffer *buffer = &bench->buffer[b];
    uint64_t seed = rng_mix(SEED, (uint64_t)b);
    if (buffer->fill.kind == ASSAY_FILL_CUSTOM) {
        assert_int_equal(bench->shape.operation->fill(&bench->shape, b, seed, bench->memory[b]), 0);
        return;
    }
    for (int64_t i = 0; i < buffer->count; i++)
        assay_store(buffer->type, bench->memory[b], i,
                    fill_value(&buffer->fill, buffer->fill.hard, seed, i));
}

static inline void bench_init(struct bench *bench, const char *operation, const int64_t *value,
                              int dims)
{
    memset(bench, 0, sizeof *bench);
    bench->shape.operation = registry_operation(operation);
    assert_non_null(bench->shape.operation);
    memcpy(bench->shape.value, value, (size_t)dims * sizeof *value);
    bench->count = bench->shape.operation->buffers(&bench->shape, bench->buffer);
    for (int b = 0; b < bench->count; b++) {
        size_t bytes = bench_bytes(bench, b);
        bench->memory[b] = malloc(bytes + GUARD);
        assert_non_null(bench->memory[b]);
        memset(bench->memory[b], POISON, bytes + GUARD);
        if (bench->buffer[b].role != ASSAY_IN) continue;
        bench_fill(bench, b);
        bench->in[b] = bench->memory[b];
    }
}

static inline void bench_release(struct bench *bench)
{
    for (int b = 0; b < bench->count; b++) {
        const unsigned char *end = (const unsigned char *)bench->memory[b] + bench_bytes(bench, b);
        for (int i = 0; i < GUARD; i++)
            assert_int_equal(end[i], POISON);
        free(bench->memory[b]);
    }
}

static inline struct assay_call bench_call(const struct bench *bench)
{
    struct assay_call call = {.shape = &bench->shape};
    memcpy(call.buffer, bench->memory, sizeof call.buffer);
    return call;
}

/* How many elements of the outputs, as they stand, are wrong. */
static inline int64_t bench_wrong(const struct bench *bench)
{
    const struct assay_operation *operation = bench->shape.operation;
    int64_t wrong = 0;
    for (int b = 0; b < bench->count; b++) {
        if (bench->buffer[b].role != ASSAY_OUT) continue;
        int64_t count = bench->buffer[b].count;
        double *expected = calloc((size_t)count, 2 * sizeof *expected), *bound = expected + count;
        assert_non_null(expected);
        for (int64_t i = 0; i < count; i++)
            bound[i] = NAN;
        assert_int_equal(
            operation->reference(&bench->shape, bench->in, b, 0, count, expected, bound), 0);
        for (int64_t i = 0; i < count; i++)
            wrong += verify_element(operation, &bench->shape, b, expected[i], bound[i],
                                    assay_load(bench->buffer[b].type, bench->memory[b], i)) ==
                     ASSAY_WRONG;
        free(expected);
    }
    return wrong;
}

/* Run every host variant that takes the shape; returns how many, fails on a wrong element. */
static inline int bench_run(const char *operation, const int64_t *value, int dims)
{
    struct bench bench;
    int ran = 0;
    bench_init(&bench, operation, value, dims);
    const struct assay_variant *variants[64];
    int count = registry_variants(operation, variants, 64);
    for (int v = 0; v < count; v++) {
        const struct assay_variant *variant = variants[v];
        if (variant->place != ASSAY_HOST) continue;
        if (variant->supports && variant->supports(&bench.shape)) continue;
        for (int b = 0; b < bench.count; b++)
            if (bench.buffer[b].role == ASSAY_OUT)
                memset(bench.memory[b], POISON, bench_bytes(&bench, b));
        struct assay_call call = bench_call(&bench);
        if (variant->setup) assert_int_equal(variant->setup(&call), 0);
        assert_int_equal(variant->launch(&call), 0);
        if (variant->teardown) variant->teardown(&call);
        int64_t wrong = bench_wrong(&bench);
        if (wrong > 0)
            fail_msg("%s/%s: %lld elements are wrong", operation, variant->name, (long long)wrong);
        ran++;
    }
    bench_release(&bench);
    return ran;
}

#endif
