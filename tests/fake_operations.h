/*
 * fake_operations.h - operations and variants for the tests of suites and
 * plans. Nothing here is ever launched.
 *
 *   scale   n, input=fp32|bf16: 5 or 3 bytes per element; n = 13 is impossible
 *   stream  bytes, mix=read|r4w1|copy: measures a ceiling
 *   product m, k: measures the fp32 ceiling
 */
#pragma once

#include "assay.h"
#include "case/result.h"

static int fake_launch(struct assay_call *call)
{
    return -1;
}

/* ---------------------------------------------------------------- scale -- */

static const char *const fake_inputs[] = {"fp32", "bf16", NULL};
static const char *const fake_mixes[] = {"read", "r4w1", "copy", NULL};

static const char *scale_supports(const struct assay_shape *shape)
{
    return shape->value[0] == 13 ? "n = 13 is unlucky" : NULL;
}

static int scale_buffers(const struct assay_shape *shape, struct assay_buffer out[])
{
    enum assay_type type = shape->value[1] ? ASSAY_BF16 : ASSAY_F32;
    out[0] = (struct assay_buffer){"x", ASSAY_IN, type, shape->value[0], {.b = 1}};
    out[1] = (struct assay_buffer){"y", ASSAY_OUT, ASSAY_I8, shape->value[0], {.b = 1}};
    return 2;
}

static struct assay_work scale_work(const struct assay_shape *shape)
{
    double n = (double)shape->value[0];
    return (struct assay_work){
        .read_bytes = n * (shape->value[1] ? 2 : 4), .write_bytes = n, .ops[ASSAY_FP32] = 2 * n};
}

static const struct assay_operation scale = {
    .name = "scale",
    .summary = "y = x / s",
    .dims = {{.name = "n", .summary = "elements", .fallback = 1000, .min = 1, .max = 1000000000},
             {.name = "input", .summary = "type of x", .choices = fake_inputs}},
    .supports = scale_supports,
    .buffers = scale_buffers,
    .work = scale_work,
};
ASSAY_REGISTER_OPERATION(scale);

static const char *wide_supports(const struct assay_shape *shape)
{
    return shape->value[0] % 4 ? "n is not a multiple of 4" : NULL;
}

#define FAKE_VARIANT(object, ...)                                                                  \
    static const struct assay_variant object = {                                                   \
        .summary = "a fake", .launch = fake_launch, __VA_ARGS__};                                  \
    ASSAY_REGISTER_VARIANT(object)

FAKE_VARIANT(scale_wide, .operation = "scale", .name = "wide", .place = ASSAY_HOST,
             .supports = wide_supports);
FAKE_VARIANT(scale_fast, .operation = "scale", .name = "fast", .place = ASSAY_HOST);
FAKE_VARIANT(scale_plain, .operation = "scale", .name = "plain", .place = ASSAY_HOST,
             .kind = ASSAY_REFERENCE);
FAKE_VARIANT(scale_library, .operation = "scale", .name = "library", .place = ASSAY_HOST,
             .kind = ASSAY_BASELINE);
FAKE_VARIANT(scale_cuda_fast, .operation = "scale", .name = "fast", .place = ASSAY_CUDA);
FAKE_VARIANT(scale_cuda_tma, .operation = "scale", .name = "tma", .place = ASSAY_CUDA, .min_sm = 90,
             .max_sm = 90, .arch_specific = true);

/* --------------------------------------------------------------- stream -- */

static int stream_buffers(const struct assay_shape *shape, struct assay_buffer out[])
{
    out[0] = (struct assay_buffer){"b", ASSAY_OUT, ASSAY_U8, shape->value[0], {.b = 1}};
    return 1;
}

static struct assay_work stream_work(const struct assay_shape *shape)
{
    static const double written[] = {0, 0.2, 0.5};
    double bytes = (double)shape->value[0], share = written[shape->value[1]];
    return (struct assay_work){.read_bytes = bytes * (1 - share), .write_bytes = bytes * share};
}

static const char *stream_ceiling(const struct assay_shape *shape,
                                  enum assay_temperature temperature)
{
    static const char *const names[2][3] = {{"memory_read", "memory_r4w1", "memory_copy"},
                                            {"cache_read", "cache_r4w1", "cache_copy"}};
    return names[temperature][shape->value[1]];
}

static const struct assay_operation stream = {
    .name = "stream",
    .summary = "moves bytes",
    .dims = {{.name = "bytes", .summary = "read plus written", .fallback = 1 << 20},
             {.name = "mix", .summary = "of reads and writes", .choices = fake_mixes}},
    .buffers = stream_buffers,
    .work = stream_work,
    .ceiling = stream_ceiling,
};
ASSAY_REGISTER_OPERATION(stream);
FAKE_VARIANT(stream_omp, .operation = "stream", .name = "omp", .place = ASSAY_HOST);

static const char *only_copies(const struct assay_shape *shape)
{
    return shape->value[1] == 2 ? NULL : "only copies";
}

FAKE_VARIANT(stream_copy, .operation = "stream", .name = "copy", .place = ASSAY_HOST,
             .supports = only_copies);
FAKE_VARIANT(stream_vec, .operation = "stream", .name = "vec", .place = ASSAY_CUDA);

/* -------------------------------------------------------------- product -- */

static struct assay_work product_work(const struct assay_shape *shape)
{
    double m = (double)shape->value[0], k = (double)shape->value[1];
    return (struct assay_work){
        .read_bytes = 4 * m * k, .write_bytes = 4 * m, .ops[ASSAY_FP32] = 2 * m * k};
}

static const char *product_ceiling(const struct assay_shape *shape,
                                   enum assay_temperature temperature)
{
    (void)shape, (void)temperature;
    return "fp32";
}

static const struct assay_operation product = {
    .name = "product",
    .summary = "matrix times vector",
    .dims = {{.name = "m", .summary = "rows", .fallback = 64},
             {.name = "k", .summary = "columns", .fallback = 64}},
    .buffers = stream_buffers,
    .work = product_work,
    .ceiling = product_ceiling,
};
ASSAY_REGISTER_OPERATION(product);
FAKE_VARIANT(product_host, .operation = "product", .name = "loop", .place = ASSAY_HOST);

/* -------------------------------------------------------------- devices -- */

static const struct device_info fake_host = {
    .place = ASSAY_HOST, .spec = "host", .cache_bytes = 32 << 20, .memory_bytes = (int64_t)8 << 30};
static const struct device_info fake_cuda = {.place = ASSAY_CUDA,
                                             .spec = "cuda:0",
                                             .compute_capability = 80,
                                             .cache_bytes = 40 << 20,
                                             .memory_bytes = (int64_t)80 << 30,
                                             .card = {.sm = 80, .shared_bytes = 163 << 10}};
