/*
 * codec_bench.h - what the tests of the codec family share: a shape's buffers, filled
 * and guarded, and host variants run on them and judged as the harness would.
 */
#ifndef CODEC_BENCH_H
#define CODEC_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fill.h"
#include "case/registry.h"
#include "measure/verify.h"

enum { BENCH_GUARD = 64, BENCH_POISON = 0xa5, BENCH_SEED = 5, BENCH_MOST_VARIANTS = 32 };

/* The buffers of a shape: inputs filled, outputs poisoned, a guard behind each. */
struct bench {
    struct assay_shape shape;
    int count;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    void *memory[ASSAY_MAX_BUFFERS];
};

/* A shape of operation `name`, every dim from the second on as given. */
static inline struct assay_shape bench_shape(const char *name, int64_t first, int64_t second,
                                             int64_t third)
{
    struct assay_shape shape = {registry_operation(name), {first, second, third}};
    assert_non_null(shape.operation);
    return shape;
}

static inline size_t bench_bytes(const struct assay_buffer *buffer)
{
    return (size_t)buffer->count * assay_type_bytes(buffer->type);
}

static inline void bench_fill(const struct bench *bench, int b)
{
    const struct assay_buffer *buffer = &bench->buffer[b];
    if (buffer->fill.kind == ASSAY_FILL_CUSTOM) {
        assert_int_equal(
            bench->shape.operation->fill(&bench->shape, b, BENCH_SEED, bench->memory[b]), 0);
        return;
    }
    for (int64_t i = 0; i < buffer->count; i++)
        assay_store(buffer->type, bench->memory[b], i,
                    fill_value(&buffer->fill, buffer->fill.hard, BENCH_SEED + (uint64_t)b, i));
}

static inline void bench_poison(const struct bench *bench)
{
    for (int b = 0; b < bench->count; b++)
        if (bench->buffer[b].role != ASSAY_IN)
            memset(bench->memory[b], BENCH_POISON, bench_bytes(&bench->buffer[b]));
}

static inline void bench_init(struct bench *bench, struct assay_shape shape)
{
    memset(bench, 0, sizeof *bench);
    bench->shape = shape;
    bench->count = shape.operation->buffers(&shape, bench->buffer);
    for (int b = 0; b < bench->count; b++) {
        size_t bytes = bench_bytes(&bench->buffer[b]);
        bench->memory[b] = malloc(bytes + BENCH_GUARD);
        assert_non_null(bench->memory[b]);
        memset(bench->memory[b], BENCH_POISON, bytes + BENCH_GUARD);
        if (bench->buffer[b].role == ASSAY_IN) bench_fill(bench, b);
    }
}

static inline void bench_release(struct bench *bench)
{
    for (int b = 0; b < bench->count; b++) {
        const unsigned char *end =
            (const unsigned char *)bench->memory[b] + bench_bytes(&bench->buffer[b]);
        for (int i = 0; i < BENCH_GUARD; i++)
            assert_int_equal(end[i], BENCH_POISON);
        free(bench->memory[b]);
    }
}

/* Every element of output b; returns how many are NEAR, fails on WRONG. */
static inline int64_t bench_judge(const struct bench *bench, int b)
{
    const struct assay_operation *operation = bench->shape.operation;
    int64_t count = bench->buffer[b].count, near = 0;
    double *expected = calloc((size_t)count, 2 * sizeof *expected), *bound = expected + count;
    assert_non_null(expected);
    for (int64_t i = 0; i < count; i++)
        bound[i] = NAN;
    const void *const *in = (const void *const *)bench->memory;
    assert_int_equal(operation->reference(&bench->shape, in, b, 0, count, expected, bound), 0);
    for (int64_t i = 0; i < count; i++) {
        double got = assay_load(bench->buffer[b].type, bench->memory[b], i);
        enum assay_match match =
            verify_element(operation, &bench->shape, b, expected[i], bound[i], got);
        if (match == ASSAY_WRONG)
            fail_msg("%s: output %d, element %lld: %g where %.9g is expected", operation->name, b,
                     (long long)i, got, expected[i]);
        near += match == ASSAY_NEAR;
    }
    free(expected);
    return near;
}

static inline void bench_judge_model(const struct bench *bench, int b,
                                     const struct assay_variant *variant)
{
    size_t bytes = bench_bytes(&bench->buffer[b]);
    void *exact = malloc(bytes);
    assert_non_null(exact);
    assert_int_equal(variant->model(&bench->shape, (const void *const *)bench->memory, b, 0,
                                    bench->buffer[b].count, exact),
                     0);
    assert_memory_equal(exact, bench->memory[b], bytes);
    free(exact);
}

/* Run one variant; returns how many elements of its outputs are NEAR. */
static inline int64_t bench_run(const struct bench *bench, const struct assay_variant *variant)
{
    struct assay_call call = {.shape = &bench->shape};
    int64_t near = 0;
    memcpy(call.buffer, bench->memory, sizeof call.buffer);
    if (variant->setup) assert_int_equal(variant->setup(&call), 0);
    bench_poison(bench);
    assert_int_equal(variant->launch(&call), 0);
    if (variant->check) assert_int_equal(variant->check(&call), 0);
    for (int b = 0; b < bench->count; b++) {
        if (bench->buffer[b].role != ASSAY_OUT) continue;
        if (!variant->apart) near += bench_judge(bench, b);
        if (variant->model) bench_judge_model(bench, b, variant);
    }
    if (variant->teardown) variant->teardown(&call);
    return near;
}

/* Run every host variant that supports the shape; returns how many there are, and
 * in *near, which may be NULL, the most that one had NEAR. */
static inline int bench_run_host(struct assay_shape shape, int64_t *near)
{
    const struct assay_variant *list[BENCH_MOST_VARIANTS];
    int count = registry_variants(shape.operation->name, list, BENCH_MOST_VARIANTS), ran = 0;
    struct bench bench;
    bench_init(&bench, shape);
    if (near) *near = 0;
    for (int i = 0; i < count; i++) {
        if (list[i]->place != ASSAY_HOST) continue;
        if (list[i]->supports && list[i]->supports(&shape)) continue;
        int64_t found = bench_run(&bench, list[i]);
        if (near && found > *near) *near = found;
        ran++;
    }
    bench_release(&bench);
    return ran;
}

#endif
