#include "lut_mlp.h"

#include <stdlib.h>

#include "kernels/product.h"

enum { CHECKED = 8 };

static bool is_moderate(const float *x, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        if (!(fabsf(x[i]) <= 1e15f)) return false;
    return true;
}

const char *lut_mlp_unchecked(const struct assay_shape *shape)
{
    if (shape->value[MLP_DATA] == MLP_EXTREME && shape->value[MLP_LAYERS] > 1)
        return "rows of extreme values are checked for one layer: fp32 may overflow before a clip";
    return NULL;
}

int lut_mlp_check(const struct assay_shape *shape, const float *x, const void *w, const float *c)
{
    const struct mlp mlp = mlp_of(shape);
    int64_t width = mlp.geometry.columns;
    double *expected = malloc(2 * (size_t)width * sizeof *expected);
    int status = expected ? 0 : assay_error("out of host memory for a check"), checked = 0;
    for (int64_t row = 0; row < mlp.geometry.rows && checked < CHECKED && status == 0; row++) {
        const bool may_overflow = !is_moderate(x + row * width, width);
        double *deviation = expected + width;
        status = mlp_row_plain(&mlp, x + row * width, w, expected, deviation);
        checked++;
        for (int64_t i = 0; i < width && status == 0; i++) {
            double got = (double)c[row * width + i];
            if (!(fabs(got - expected[i]) <= PRODUCT_SIGMAS * deviation[i]) &&
                !(may_overflow && !isfinite(got)))
                status = assay_error("c[%lld][%lld] is %.9g, expected %.9g", (long long)row,
                                     (long long)i, got, expected[i]);
        }
    }
    free(expected);
    return status;
}
