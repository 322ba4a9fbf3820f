/*
 * twin_spin.cu - a kernel whose time is in proportion to SPIN_STEPS, for tests/gpu/twin.sh: 1000
 * and 1001 of them differ by a tenth of a per cent less what a launch takes besides.
 */
#include <cuda_runtime.h>

#include "assay.h"

#ifndef SPIN_STEPS
#define SPIN_STEPS 1000
#endif

enum { HALF, OUT, THREADS = 256, COUNT = 132 * 4 * THREADS, UNROLL = 16 };

static int spin_buffers(const struct assay_shape *, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[HALF] = {"half", ASSAY_IN, ASSAY_F32, COUNT, {ASSAY_FILL_UNIFORM, 0.5, 0.5}};
    out[OUT] = {"out", ASSAY_OUT, ASSAY_F32, COUNT};
    return 2;
}

static struct assay_work spin_work(const struct assay_shape *)
{
    struct assay_work work = {4.0 * COUNT, 4.0 * COUNT};
    work.ops[ASSAY_FP32] = 2.0 * COUNT; /* what it takes at least: the rest is spinning */
    return work;
}

/* Half of 2 x half and half are again as much. */
static int spin_reference(const struct assay_shape *, const void *const in[], int, int64_t begin,
                          int64_t end, double *expected, double *)
{
    const float *half = (const float *)in[HALF];
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 2.0 * half[i];
    return 0;
}

static __global__ void spin(const float *half, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float a = half[i], x = 2 * a;
#pragma unroll 1
    for (int step = 0; step < SPIN_STEPS; step++) {
#pragma unroll
        for (int j = 0; j < UNROLL; j++)
            x = fmaf(x, a, a);
    }
    out[i] = x;
}

static int spin_launch(struct assay_call *call)
{
    spin<<<COUNT / THREADS, THREADS, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[HALF], (float *)call->buffer[OUT]);
    return assay_launched();
}

static struct assay_operation make_operation()
{
    struct assay_operation operation = {};
    operation.name = "twin_spin";
    operation.summary = "two times a half, after a while";
    operation.buffers = spin_buffers;
    operation.work = spin_work;
    operation.reference = spin_reference;
    operation.tolerance.abs = 1e-6;
    return operation;
}

static struct assay_variant make_variant()
{
    struct assay_variant variant = {};
    variant.operation = "twin_spin";
    variant.name = "steps";
    variant.summary = "a chain of multiply-adds";
    variant.kind = ASSAY_KERNEL;
    variant.place = ASSAY_CUDA;
    variant.launch = spin_launch;
    return variant;
}

static const struct assay_operation operation = make_operation();
static const struct assay_variant variant = make_variant();
ASSAY_REGISTER_OPERATION(operation);
ASSAY_REGISTER_VARIANT(variant);
