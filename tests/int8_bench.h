/*
 * int8_bench.h - what the tests of the int8 family share: a shape's buffers, filled
 * and guarded, and host variants run on them and judged as the harness would.
 */
#ifndef INT8_BENCH_H
#define INT8_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fill.h"
#include "kernels/int8/int8.h"

enum { GUARD = 64, POISON = 0xa5, SEED = 20 };

extern const struct assay_operation *const __start_assay_operations[],
    *const __stop_assay_operations[];
extern const struct assay_variant *const __start_assay_variants[], *const __stop_assay_variants[];

typedef int model_function(const struct assay_shape *shape, const void *const in[], int buffer,
                           int64_t begin, int64_t end, void *out);

static inline const struct assay_operation *operation_named(const char *name)
{
    for (size_t i = 0; i < (size_t)(__stop_assay_operations - __start_assay_operations); i++)
        if (strcmp(__start_assay_operations[i]->name, name) == 0)
            return __start_assay_operations[i];
    fail_msg("no operation %s", name);
    return NULL;
}

static inline struct assay_shape tensor_shape(int64_t n, int64_t input, int64_t scale)
{
    return (struct assay_shape){operation_named("int8_quantize"), {n, input, scale}};
}

static inline struct assay_shape token_shape(int64_t tokens, int64_t hidden, int64_t input)
{
    return (struct assay_shape){operation_named("int8_quantize_token"), {tokens, hidden, input}};
}

/* The buffers of a shape: inputs filled, outputs poisoned, a guard behind each. */
struct bench {
    struct assay_shape shape;
    int count;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    void *memory[ASSAY_MAX_BUFFERS];
};

static inline size_t element_bytes(enum assay_type type)
{
    return type == ASSAY_F32 ? 4 : type == ASSAY_BF16 ? 2 : 1;
}

static inline size_t buffer_bytes(const struct assay_buffer *buffer)
{
    return (size_t)buffer->count * element_bytes(buffer->type);
}

static inline uint16_t bf16_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline void fill_input(const struct bench *bench, int b)
{
    const struct assay_buffer *buffer = &bench->buffer[b];
    if (buffer->fill.kind == ASSAY_FILL_CUSTOM) {
        assert_int_equal(bench->shape.operation->fill(&bench->shape, b, SEED, bench->memory[b]), 0);
        return;
    }
    for (int64_t i = 0; i < buffer->count; i++) {
        float value = (float)fill_value(&buffer->fill, buffer->fill.hard, SEED, i);
        if (buffer->type == ASSAY_BF16)
            ((uint16_t *)bench->memory[b])[i] = bf16_of(value);
        else
            ((float *)bench->memory[b])[i] = value;
    }
}

static inline void poison_outputs(const struct bench *bench)
{
    for (int b = 0; b < bench->count; b++)
        if (bench->buffer[b].role == ASSAY_OUT)
            memset(bench->memory[b], POISON, buffer_bytes(&bench->buffer[b]));
}

static inline void bench_init(struct bench *bench, struct assay_shape shape)
{
    bench->shape = shape;
    bench->count = shape.operation->buffers(&shape, bench->buffer);
    for (int b = 0; b < bench->count; b++) {
        size_t bytes = buffer_bytes(&bench->buffer[b]);
        bench->memory[b] = malloc(bytes + GUARD);
        assert_non_null(bench->memory[b]);
        memset(bench->memory[b], POISON, bytes + GUARD);
        if (bench->buffer[b].role == ASSAY_IN) fill_input(bench, b);
    }
}

static inline void bench_release(struct bench *bench)
{
    for (int b = 0; b < bench->count; b++) {
        const unsigned char *end =
            (const unsigned char *)bench->memory[b] + buffer_bytes(&bench->buffer[b]);
        for (int i = 0; i < GUARD; i++)
            assert_int_equal(end[i], POISON);
        free(bench->memory[b]);
    }
}

static inline double load(enum assay_type type, const void *base, int64_t i)
{
    return type == ASSAY_F32 ? (double)((const float *)base)[i] : ((const int8_t *)base)[i];
}

/* Every element of output b in `got`; returns how many were NEAR, fails on WRONG. */
static inline int64_t near_count(const struct bench *bench, int b, const void *got)
{
    const struct assay_operation *operation = bench->shape.operation;
    int64_t count = bench->buffer[b].count;
    double *expected = calloc((size_t)count, 2 * sizeof *expected);
    assert_non_null(expected);
    const void *const *in = (const void *const *)bench->memory;
    assert_int_equal(
        operation->reference(&bench->shape, in, b, 0, count, expected, expected + count), 0);
    int64_t near = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = load(bench->buffer[b].type, got, i);
        enum assay_match match = operation->match(&bench->shape, b, expected[i], value);
        if (match == ASSAY_WRONG)
            fail_msg("%s: output %d, element %lld: %g where %.9g is expected", operation->name, b,
                     (long long)i, value, expected[i]);
        near += match == ASSAY_NEAR;
    }
    free(expected);
    return near;
}

/* NEAR elements that pass: the operation's share, and one in a small output. */
static inline int64_t near_allowed(const struct bench *bench, int64_t count)
{
    int64_t share = (int64_t)((double)count * bench->shape.operation->tolerance.near_share);
    return share > 1 ? share : 1;
}

static inline void check_model(const struct bench *bench, model_function *model,
                               const void *const got[])
{
    for (int b = 0; b < bench->count; b++) {
        if (bench->buffer[b].role != ASSAY_OUT) continue;
        size_t bytes = buffer_bytes(&bench->buffer[b]);
        void *exact = malloc(bytes);
        assert_non_null(exact);
        assert_int_equal(model(&bench->shape, (const void *const *)bench->memory, b, 0,
                               bench->buffer[b].count, exact),
                         0);
        assert_memory_equal(exact, got[b], bytes);
        free(exact);
    }
}

static inline void run_variant(const struct bench *bench, const struct assay_variant *variant)
{
    struct assay_call call = {.shape = &bench->shape};
    memcpy(call.buffer, bench->memory, sizeof call.buffer);
    poison_outputs(bench);
    if (variant->setup) assert_int_equal(variant->setup(&call), 0);
    assert_int_equal(variant->launch(&call), 0);
    if (variant->model) check_model(bench, variant->model, (const void *const *)bench->memory);
    for (int b = 0; b < bench->count && !variant->apart; b++)
        if (bench->buffer[b].role == ASSAY_OUT)
            assert_true(near_count(bench, b, bench->memory[b]) <=
                        near_allowed(bench, bench->buffer[b].count));
    if (variant->check) {
        assert_int_equal(variant->check(&call), 0);
        /* The check poisons again: without a launch in between it must fail. */
        assert_int_equal(variant->check(&call), -1);
    }
    assert_true(variant->model || variant->check);
    if (variant->teardown) variant->teardown(&call);
}

/* Run every host variant on a shape; returns how many there are. */
static inline int run_host_variants(struct assay_shape shape)
{
    int ran = 0;
    struct bench bench;
    bench_init(&bench, shape);
    for (size_t i = 0; i < (size_t)(__stop_assay_variants - __start_assay_variants); i++) {
        const struct assay_variant *variant = __start_assay_variants[i];
        if (variant->place != ASSAY_HOST) continue;
        if (strcmp(variant->operation, shape.operation->name) != 0) continue;
        run_variant(&bench, variant);
        ran++;
    }
    bench_release(&bench);
    return ran;
}

#endif
