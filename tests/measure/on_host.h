/*
 * on_host.h - buffers with their check, and whole groups, on the host device or a simulated one.
 */
#pragma once

#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "measure/measure.h"
#include "measure/verify.h"

struct bench {
    const struct device_ops *ops;
    struct device *device;
    struct assay_shape shape;
    struct buffers buffers;
    struct verifier verifier;
    struct assay_call call;
};

static inline void open_device(const char *spec, const struct device_ops **ops,
                               struct device **device)
{
    const struct device_options options = {.spec = spec, .flush = -1};
    if (device_open(&options, ops, device) < 0) fail_msg("%s", assay_last_error());
}

static inline void bench_open(struct bench *bench, struct assay_shape shape, uint64_t seed)
{
    memset(bench, 0, sizeof *bench);
    bench->shape = shape;
    open_device("host", &bench->ops, &bench->device);
    assert_int_equal(buffers_init(&bench->buffers, bench->ops, bench->device, &bench->shape, seed),
                     0);
    assert_int_equal(verifier_init(&bench->verifier, &bench->buffers), 0);
}

static inline void bench_close(struct bench *bench)
{
    verifier_release(&bench->verifier);
    buffers_release(&bench->buffers);
    bench->ops->close(bench->device);
}

static inline struct check_result bench_check(struct bench *bench,
                                              const struct assay_variant *variant)
{
    struct check_result found;
    assert_int_equal(verifier_check(&bench->verifier, variant, &bench->call, &found), 0);
    return found;
}

/* Measure a group on a device that `change` (NULL: nothing) may have changed; a simulated one puts
 * stubs into the request, as it does for a worker. What measure_group returns; no group may break
 * its worker. */
static inline int measure_on(const char *spec, struct measure_request *request,
                             struct case_result *results, void (*change)(struct device_ops *ops))
{
    const struct device_ops *opened;
    struct device *device;
    struct board board = {0};
    struct measure_outcome outcome;
    for (int i = 0; i < request->count; i++)
        result_init(&results[i]);
    open_device(spec, &opened, &device);
    struct device_ops ops = *opened;
    if (change) change(&ops);
    if (ops.stage) assert_int_equal(ops.stage(device, request), 0);
    int status = measure_group(&ops, device, &board, request, results, &outcome);
    opened->close(device);
    assert_false(outcome.broken);
    return status;
}

static inline int measure_on_host(const struct measure_request *request,
                                  struct case_result *results,
                                  void (*change)(struct device_ops *ops))
{
    struct measure_request copy = *request;
    return measure_on("host", &copy, results, change);
}

static inline void release_results(struct case_result *results, int count)
{
    for (int i = 0; i < count; i++)
        samples_release(&results[i].samples);
}
