/*
 * ceilings_bench.h - what the tests of the ceilings share: a shape with its buffers,
 * filled and guarded, and host variants run on it and judged by the reference.
 */
#ifndef CEILINGS_BENCH_H
#define CEILINGS_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "assay.h"
#include "base/fill.h"
#include "case/registry.h"
#include "case/shape.h"

enum { GUARD = 64, POISON = 0xa7, SEED = 20 };

/* One shape with its buffers, filled and guarded: what a worker does, in small. */
struct bench {
    struct assay_shape shape;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    int buffers;
    unsigned char *memory[ASSAY_MAX_BUFFERS];
};

static inline size_t buffer_bytes(const struct bench *bench, int index)
{
    return (size_t)bench->buffer[index].count * assay_type_bytes(bench->buffer[index].type);
}

static inline void fill_input(struct bench *bench, int index)
{
    const struct assay_buffer *buffer = &bench->buffer[index];
    if (buffer->fill.kind == ASSAY_FILL_CUSTOM) {
        assert_int_equal(
            bench->shape.operation->fill(&bench->shape, index, SEED, bench->memory[index]), 0);
        return;
    }
    for (int64_t i = 0; i < buffer->count; i++)
        assay_store(buffer->type, bench->memory[index], i,
                    fill_value(&buffer->fill, buffer->fill.hard, SEED + (uint64_t)index, i));
}

static inline void bench_init(struct bench *bench, const char *operation, const char *shape)
{
    const struct assay_operation *found = registry_operation(operation);
    assert_non_null(found);
    memset(bench, 0, sizeof *bench);
    assert_int_equal(shape_parse(found, shape, &bench->shape), 0);
    if (found->supports) assert_null(found->supports(&bench->shape));
    bench->buffers = found->buffers(&bench->shape, bench->buffer);
    for (int i = 0; i < bench->buffers; i++) {
        size_t bytes = buffer_bytes(bench, i);
        bench->memory[i] = aligned_alloc(256, (bytes + GUARD + 255) / 256 * 256);
        assert_non_null(bench->memory[i]);
        memset(bench->memory[i], POISON, bytes + GUARD);
        if (bench->buffer[i].role == ASSAY_IN) fill_input(bench, i);
    }
}

static inline void bench_release(struct bench *bench)
{
    for (int i = 0; i < bench->buffers; i++)
        free(bench->memory[i]);
}

/* How many output elements are outside their bound (0 where the reference sets
 * none, for none of these operations has a tolerance). */
static inline int64_t wrong_elements(struct bench *bench)
{
    const struct assay_operation *operation = bench->shape.operation;
    int64_t wrong = 0;
    for (int b = 0; b < bench->buffers; b++) {
        const struct assay_buffer *buffer = &bench->buffer[b];
        if (buffer->role != ASSAY_OUT) continue;
        const void *in[ASSAY_MAX_BUFFERS] = {NULL};
        for (int i = 0; i < bench->buffers; i++)
            if (bench->buffer[i].role == ASSAY_IN) in[i] = bench->memory[i];
        for (int64_t at = 0; at < buffer->count; at++) {
            double expected, bound = NAN;
            assert_int_equal(
                operation->reference(&bench->shape, in, b, at, at + 1, &expected, &bound), 0);
            double got = assay_load(buffer->type, bench->memory[b], at);
            wrong += !(fabs(got - expected) <= (isnan(bound) ? 0 : bound));
        }
    }
    return wrong;
}

static inline void expect_guards_whole(const struct bench *bench)
{
    for (int b = 0; b < bench->buffers; b++)
        for (size_t i = 0; i < GUARD; i++)
            assert_int_equal(bench->memory[b][buffer_bytes(bench, b) + i], POISON);
}

static inline void poison_outputs(struct bench *bench)
{
    for (int b = 0; b < bench->buffers; b++)
        if (bench->buffer[b].role == ASSAY_OUT)
            memset(bench->memory[b], POISON, buffer_bytes(bench, b));
}

/* Launch a variant twice, as the worker does, and judge it. */
static inline void expect_variant_right(struct bench *bench, const struct assay_variant *variant)
{
    struct assay_call call = {.shape = &bench->shape};
    for (int b = 0; b < bench->buffers; b++)
        call.buffer[b] = bench->memory[b];
    if (variant->setup) assert_int_equal(variant->setup(&call), 0);
    for (int launch = 0; launch < 2; launch++) {
        poison_outputs(bench);
        assert_int_equal(variant->launch(&call), 0);
        if (wrong_elements(bench)) fail_msg("%s is wrong", variant->name);
        if (variant->check) assert_int_equal(variant->check(&call), 0);
        expect_guards_whole(bench);
    }
    if (variant->teardown) variant->teardown(&call);
}

/* Every host variant that takes the shape; returns how many did. */
static inline int expect_host_variants_right(const char *operation, const char *shape)
{
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, variants, REGISTRY_MAX_VARIANTS), ran = 0;
    struct bench bench;
    bench_init(&bench, operation, shape);
    for (int i = 0; i < count; i++) {
        if (variants[i]->place != ASSAY_HOST) continue;
        if (variants[i]->supports && variants[i]->supports(&bench.shape)) continue;
        expect_variant_right(&bench, variants[i]);
        ran++;
    }
    bench_release(&bench);
    return ran;
}

static inline const struct assay_variant *host_variant(const char *operation, const char *name)
{
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, variants, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (variants[i]->place == ASSAY_HOST && !strcmp(variants[i]->name, name))
            return variants[i];
    fail_msg("no host variant %s of %s", name, operation);
    return NULL;
}

#endif
