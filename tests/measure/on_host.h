/*
 * on_host.h - buffers with their check, and whole groups, on the host device.
 */
#pragma once

#include <string.h>

#include "tests/test.h"
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

static inline void host_open(const struct device_ops **ops, struct device **device)
{
    const struct device_options options = {.spec = "host", .flush = -1};
    assert_int_equal(device_open(&options, ops, device), 0);
}

static inline void bench_open(struct bench *bench, struct assay_shape shape, uint64_t seed)
{
    memset(bench, 0, sizeof *bench);
    bench->shape = shape;
    host_open(&bench->ops, &bench->device);
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

/* Measure a group, on a device that `change` (NULL: nothing) may have changed. What measure_group
 * returns; no group may break its worker. */
static inline int measure_on_host(const struct measure_request *request,
                                  struct case_result *results,
                                  void (*change)(struct device_ops *ops))
{
    const struct device_ops *host;
    struct device *device;
    struct board board = {0};
    struct measure_outcome outcome;
    for (int i = 0; i < request->count; i++)
        result_init(&results[i]);
    host_open(&host, &device);
    struct device_ops ops = *host;
    if (change) change(&ops);
    int status = measure_group(&ops, device, &board, request, results, &outcome);
    host->close(device);
    assert_false(outcome.broken);
    return status;
}

static inline void release_results(struct case_result *results, int count)
{
    for (int i = 0; i < count; i++)
        samples_release(&results[i].samples);
}
