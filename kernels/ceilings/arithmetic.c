/*
 * arithmetic.c - operation `arithmetic`: multiply-adds in registers.
 *
 *   x <- fma(x, 1 - 2^-13, 2^-10), `iterations` times, for each of `chains` values of x
 *
 * Operations: 2 * iterations * chains, because a multiply-add counts as two. Bytes: 4 * chains read
 * and as many written. With the default of 4096 iterations that is 1024 operations per byte, many
 * times what any device needs to be limited by its arithmetic.
 */
#include <math.h>

#include "arithmetic.h"

static const char *const kinds[] = {"fp32", NULL};

static int buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    int64_t chains = shape->value[ARITHMETIC_CHAINS];
    out[ARITHMETIC_IN] = (struct assay_buffer){.name = "start",
                                               .role = ASSAY_IN,
                                               .type = ASSAY_F32,
                                               .count = chains,
                                               .fill = {.kind = ASSAY_FILL_UNIFORM, .b = 1}};
    out[ARITHMETIC_OUT] =
        (struct assay_buffer){.name = "end", .role = ASSAY_OUT, .type = ASSAY_F32, .count = chains};
    return 2;
}

static struct assay_work work(const struct assay_shape *shape)
{
    double chains = (double)shape->value[ARITHMETIC_CHAINS];
    double iterations = (double)shape->value[ARITHMETIC_ITERATIONS];
    struct assay_work work = {.read_bytes = 4 * chains, .write_bytes = 4 * chains};
    work.ops[ASSAY_FP32] = 2 * iterations * chains;
    return work;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const float *start = in[ARITHMETIC_IN];
    for (int64_t i = begin; i < end; i++) {
        float x = start[i];
        for (int64_t step = 0; step < shape->value[ARITHMETIC_ITERATIONS]; step++)
            x = fmaf(x, ARITHMETIC_SCALE, ARITHMETIC_SHIFT);
        expected[i - begin] = x;
    }
    return 0;
}

static double reference_cost(const struct assay_shape *shape)
{
    return (double)shape->value[ARITHMETIC_ITERATIONS];
}

static const char *ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    static const char *const names[ARITHMETIC_KINDS] = {"fp32"};
    return names[shape->value[ARITHMETIC_KIND]];
}

static const char *const baselines[] = {"fma_x8", "fma", NULL};

static const struct assay_operation arithmetic = {
    .name = "arithmetic",
    .summary = "rate of multiply-adds in registers: x = fma(x, a, b), over and over",
    .dims = {{.name = "kind",
              .summary = "which arithmetic",
              .choices = kinds,
              .fallback = ARITHMETIC_FP32},
             {.name = "iterations",
              .summary = "steps of a chain",
              .fallback = 4096,
              .min = 1,
              .max = 32768},
             /* 132 x 2^15: in parts of 1024, 132 multiprocessors (H100, H200) get the same
              * number each; on any other number of them the imbalance is within 3 %. */
             {.name = "chains",
              .summary = "independent chains, one output each",
              .fallback = 4325376,
              .min = 1,
              .max = INT64_C(1) << 32}},
    .buffers = buffers,
    .work = work,
    .reference = reference,
    .reference_cost = reference_cost,
    .baselines = baselines,
    .ceiling = ceiling,
};
ASSAY_REGISTER_OPERATION(arithmetic);
