/*
 * bench.h - what the tests of all families share: the buffers of a shape on the host, and the
 * host variants run on them. Filling, poison, guards, references and models are those of a
 * worker (buffers.h, verify.h), and what a shape is for is asked as a plan asks it.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/registry.h"
#include "measure/verify.h"
#include "suite/plan_parts.h"

/* The seed of the inputs; a test may set it before bench_init. */
static uint64_t bench_seed = 1;

/* A shape of operation `name`: SHAPE("memory_alloc", bytes). Dims that are left out are 0. */
#define SHAPE(name, ...) ((struct assay_shape){registry_operation(name), {__VA_ARGS__}})

/* Buffers point to the shape: a bench stays where it is. */
struct bench {
    struct assay_shape shape;
    struct buffers buffers;
    struct verifier verifier;
    const void *in[ASSAY_MAX_BUFFERS]; /* the inputs; NULL where not an input */
    bool expects;                      /* the verifier knows what is expected */
};

/* The host as a device, opened once. */
struct bench_host {
    const struct device_ops *ops;
    struct device *device;
    struct device_info info;
};

static inline const struct bench_host *bench_host(void)
{
    static struct bench_host host;
    struct device_options options = {.spec = "host", .flush = -1};
    if (host.ops) return &host;
    if (device_open(&options, &host.ops, &host.device)) fail_msg("%s", assay_last_error());
    host.ops->describe(host.device, &host.info);
    return &host;
}

static inline void bench_init(struct bench *bench, struct assay_shape shape)
{
    const struct bench_host *host = bench_host();
    assert_non_null(shape.operation);
    memset(bench, 0, sizeof *bench);
    bench->shape = shape;
    if (buffers_init(&bench->buffers, host->ops, host->device, &bench->shape, bench_seed))
        fail_msg("%s", assay_last_error());
    for (int b = 0; b < bench->buffers.count; b++)
        if (bench->buffers.spec[b].role == ASSAY_IN) bench->in[b] = bench->buffers.data[b];
}

static inline void bench_release(struct bench *bench)
{
    if (bench->expects) verifier_release(&bench->verifier);
    buffers_release(&bench->buffers);
}

static inline struct assay_call bench_call(const struct bench *bench)
{
    struct assay_call call = {.shape = &bench->shape};
    memcpy(call.buffer, bench->buffers.data, sizeof call.buffer);
    return call;
}

static inline size_t bench_bytes(const struct bench *bench, int b)
{
    const struct assay_buffer *spec = &bench->buffers.spec[b];
    return (size_t)spec->count * assay_type_bytes(spec->type);
}

/* Compute what is expected of the inputs and the shape as they stand, of every element whatever
 * it costs. bench_judge does it the first time; a test that changes them later does it itself. */
static inline void bench_expect(struct bench *bench)
{
    const struct assay_operation *operation = bench->shape.operation;
    struct assay_operation cheap = *operation;
    cheap.reference_cost = NULL;
    if (bench->expects) verifier_release(&bench->verifier);
    bench->shape.operation = &cheap;
    if (verifier_init(&bench->verifier, &bench->buffers)) fail_msg("%s", assay_last_error());
    bench->shape.operation = operation;
    bench->expects = true;
}

/* The outputs as they stand, whole, against what is expected of `variant`. */
static inline struct check_result bench_judge_as(struct bench *bench,
                                                 const struct assay_variant *variant,
                                                 struct assay_call *call)
{
    struct check_result found;
    if (!bench->expects) bench_expect(bench);
    if (verifier_check(&bench->verifier, variant, call, &found)) fail_msg("%s", assay_last_error());
    assert_int_equal(bench->verifier.checked, bench->verifier.outputs);
    return found;
}

/* The same whoever wrote them. */
static inline struct check_result bench_judge(struct bench *bench)
{
    static const struct assay_variant anyone = {.name = "anyone"};
    return bench_judge_as(bench, &anyone, NULL);
}

/* Set up, launch once and tear down; judge nothing. */
static inline void bench_launch(struct bench *bench, const struct assay_variant *variant)
{
    struct assay_call call = bench_call(bench);
    if (variant->setup) assert_int_equal(variant->setup(&call), 0);
    assert_int_equal(variant->launch(&call), 0);
    if (variant->teardown) variant->teardown(&call);
}

/* Launch twice, on two poisons, and judge what each launch wrote, and where. Returns the most
 * elements that one left NEAR. */
static inline int64_t bench_run(struct bench *bench, const struct assay_variant *variant)
{
    struct assay_call call = bench_call(bench);
    char outside[ASSAY_MAX_REASON] = "";
    int64_t near = 0;
    assay_clear_error();
    if (variant->setup && variant->setup(&call))
        fail_msg("%s/%s: %s", variant->operation, variant->name, assay_last_error());
    for (int i = 0; i < 2; i++) {
        assert_int_equal(buffers_poison(&bench->buffers), 0);
        if (variant->launch(&call))
            fail_msg("%s/%s: %s", variant->operation, variant->name, assay_last_error());
        struct check_result found = bench_judge_as(bench, variant, &call);
        if (found.reason[0] || buffers_intact(&bench->buffers, outside, sizeof outside) != 1)
            fail_msg("%s/%s: %s%s", variant->operation, variant->name, found.reason, outside);
        if (found.near > near) near = found.near;
    }
    if (variant->teardown) variant->teardown(&call);
    return near;
}

static inline const struct assay_variant *bench_variant(const char *operation, const char *name)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, list, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (list[i]->place == ASSAY_HOST && strcmp(list[i]->name, name) == 0) return list[i];
    fail_msg("no host variant %s of %s", name, operation);
    return NULL;
}

/* A group of the shape with every host variant of its operation, and why those are skipped
 * that are. */
static inline void bench_group(struct group *group, struct assay_shape shape)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    assert_non_null(shape.operation);
    int count = registry_variants(shape.operation->name, list, REGISTRY_MAX_VARIANTS);
    memset(group, 0, sizeof *group);
    group->shape = shape;
    for (int i = 0; i < count; i++)
        if (list[i]->place == ASSAY_HOST) group->variant[group->variant_count++] = list[i];
    plan_skip(group, &bench_host()->info);
}

/* Fails unless each variant of `names`, with a blank between two, is run in the group. */
static inline void bench_runs(const struct group *group, const char *names)
{
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", names);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        bool runs = false;
        for (int i = 0; i < group->variant_count; i++)
            runs |= !group->skip[i][0] && strcmp(group->variant[i]->name, name) == 0;
        if (!runs) fail_msg("%s/%s does not take its shape", group->shape.operation->name, name);
    }
}

/* Every host variant that takes the shape is right, and those of `names` take it. Returns the
 * most elements that one left NEAR. */
static inline int64_t bench_all(struct assay_shape shape, const char *names)
{
    struct group group;
    struct bench bench;
    int64_t near = 0;
    bench_group(&group, shape);
    bench_runs(&group, names);
    bench_init(&bench, shape);
    for (int i = 0; i < group.variant_count; i++) {
        if (group.skip[i][0]) continue;
        int64_t found = bench_run(&bench, group.variant[i]);
        if (found > near) near = found;
    }
    bench_release(&bench);
    return near;
}
