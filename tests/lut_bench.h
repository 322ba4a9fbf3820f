/*
 * lut_bench.h - what the tests of the lookup-table family share: a shape's buffers, and host
 * variants run on them and judged.
 */
#ifndef LUT_BENCH_H
#define LUT_BENCH_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fill.h"
#include "case/registry.h"
#include "kernels/lut/lut.h"

struct problem {
    struct assay_shape shape;
    struct assay_call call;
    struct assay_buffer spec[ASSAY_MAX_BUFFERS];
    int count;
};

static inline void problem_init(struct problem *problem, const char *operation, const int64_t *dims)
{
    memset(problem, 0, sizeof *problem);
    problem->shape.operation = registry_operation(operation);
    assert_non_null(problem->shape.operation);
    memcpy(problem->shape.value, dims, 7 * sizeof *dims);
    problem->call.shape = &problem->shape;
    problem->count = problem->shape.operation->buffers(&problem->shape, problem->spec);
    for (int b = 0; b < problem->count; b++) {
        const struct assay_buffer *spec = &problem->spec[b];
        uint64_t seed = 1000 + (uint64_t)b;
        size_t bytes = (size_t)spec->count * assay_type_bytes(spec->type);
        void *data = problem->call.buffer[b] = aligned_alloc(256, (bytes + 255) / 256 * 256);
        memset(data, 0xff, bytes);
        if (spec->role != ASSAY_IN) continue;
        if (spec->fill.kind == ASSAY_FILL_CUSTOM)
            problem->shape.operation->fill(&problem->shape, b, seed, data);
        else
            for (int64_t i = 0; i < spec->count; i++)
                assay_store(spec->type, data, i, fill_value(&spec->fill, spec->fill.hard, seed, i));
    }
}

static inline void problem_release(struct problem *problem)
{
    for (int b = 0; b < problem->count; b++)
        free(problem->call.buffer[b]);
}

static inline int64_t problem_outputs(const struct problem *problem)
{
    return problem->spec[LUT_C].count;
}

/* The output against the reference, and bit for bit against the model. */
static inline void assert_right(const struct problem *problem, const struct assay_variant *variant)
{
    int64_t count = problem_outputs(problem);
    const void *const *in = (const void *const *)problem->call.buffer;
    const float *got = problem->call.buffer[LUT_C];
    double *expected = malloc((size_t)count * sizeof(double));
    double *bound = malloc((size_t)count * sizeof(double));
    float *model = malloc((size_t)count * sizeof(float));
    assert_int_equal(
        problem->shape.operation->reference(&problem->shape, in, LUT_C, 0, count, expected, bound),
        0);
    const struct assay_operation *operation = problem->shape.operation;
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(operation->match
                             ? operation->match(&problem->shape, LUT_C, expected[i], (double)got[i])
                         : fabs(got[i] - expected[i]) <= bound[i] ? ASSAY_EXACT
                                                                  : ASSAY_WRONG,
                         ASSAY_EXACT);
    if (variant->model) {
        assert_int_equal(variant->model(&problem->shape, in, LUT_C, 0, count, model), 0);
        assert_memory_equal(model, got, (size_t)count * sizeof(float));
    }
    free(model);
    free(bound);
    free(expected);
}

/* What computes something else has only its own check, before teardown. */
static inline void run(struct problem *problem, const struct assay_variant *variant)
{
    problem->call.state = NULL;
    if (variant->setup) assert_int_equal(variant->setup(&problem->call), 0);
    assert_int_equal(variant->launch(&problem->call), 0);
    if (variant->check) assert_int_equal(variant->check(&problem->call), 0);
    if (variant->teardown) variant->teardown(&problem->call);
}

/* Every host variant of an operation that takes this shape. Returns how many ran. */
static inline int run_host_variants(const char *operation, const int64_t *dims)
{
    const struct assay_variant *variants[64];
    struct problem problem;
    int ran = 0;
    problem_init(&problem, operation, dims);
    const char *why = problem.shape.operation->supports
                          ? problem.shape.operation->supports(&problem.shape)
                          : NULL;
    int count = why ? 0 : registry_variants(operation, variants, 64);
    for (int i = 0; i < count; i++) {
        if (variants[i]->place != ASSAY_HOST) continue;
        if (variants[i]->supports && variants[i]->supports(&problem.shape)) continue;
        memset(problem.call.buffer[LUT_C], 0xff, (size_t)problem_outputs(&problem) * 4);
        run(&problem, variants[i]);
        if (!variants[i]->apart) assert_right(&problem, variants[i]);
        ran++;
    }
    problem_release(&problem);
    return ran;
}

#endif
