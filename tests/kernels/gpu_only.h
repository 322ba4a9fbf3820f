/* gpu_only.h - what a program has whose tests all need a GPU: its main, and the test that stands
 * for them where there is none. */
#pragma once

#include <stdio.h>

#include "tests/test.h"

#ifdef ASSAY_HAVE_CUDA
#include <cuda_runtime_api.h>

#include "device/device.h"

static inline int count_gpus(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/* Set-up and tear-down of a group of tests that call kernels themselves: assay_card() is what the
 * GPU offers while it is open. */
static inline int open_gpu(void **state)
{
    const struct device_options options = {.spec = "cuda:0", .use_events = true, .flush = -1};
    const struct device_ops *ops;
    return device_open(&options, &ops, (struct device **)state);
}

static inline int close_gpu(void **state)
{
    device_cuda.close(*state);
    return 0;
}
#else
static inline int count_gpus(void)
{
    return 0;
}

static inline int open_gpu(void **state)
{
    return 0;
}

static inline int close_gpu(void **state)
{
    return 0;
}
#endif

static inline void without_a_gpu_there_is_nothing_to_run_on(void **state)
{
    assert_int_equal(count_gpus(), 0);
}

/* The tests of this program; `what` they are of. */
static inline int gpu_main(const char *what, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const struct CMUnitTest none[] = {cmocka_unit_test(without_a_gpu_there_is_nothing_to_run_on)};
    if (count_gpus() > 0) return test_main(setup, teardown);
    printf("# skipped: %s on a GPU: there is none here\n", what);
    return cmocka_run_group_tests(none, NULL, NULL);
}
