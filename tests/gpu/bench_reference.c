/* bench_reference.c - what is right of tests/gpu/bench.cu, as `expect = FILE.so` has it. */
#include "assay.h"

int referred_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, double *expected, double *bound)
{
    const float *x = in[0];
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 0.5 * x[i];
    return 0;
}

int typed_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                    int64_t begin, int64_t end, double *expected, double *bound)
{
    const double *a = in[0];
    const int8_t *b = in[1];
    const int64_t *c = in[2];
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = a[i] + b[i] + (double)c[i] - 300 + 200 + 0.25;
    return 0;
}
