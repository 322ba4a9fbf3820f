#include "lut_layer.h"

#include <math.h>

void layer_place(const struct assay_shape *shape, int i, int64_t *row, int64_t *column)
{
    *row = (shape->value[LUT_ROWS] - 1) * i / (LAYER_CHECKED - 1);
    *column = (shape->value[LUT_COLUMNS] - 1) * i / (LAYER_CHECKED - 1);
}

int layer_weights(const struct assay_shape *shape, const void *codes, float *weights)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const struct codebook *codebook = lut_codebook(shape);
    struct lut_codes row = lut_codes(&geometry, codes, 1);
    if (codebook == NULL) return -1;
    for (int64_t block = 0; block < geometry.blocks; block++) {
        int point[CODEBOOK_MAX_D];
        lut_decode_block(codebook, &geometry, &row, true, 0, block, point);
        for (int i = 0; i < geometry.d && block * geometry.d + i < geometry.k; i++)
            weights[block * geometry.d + i] = 0.5f * (float)point[i]; /* E8 */
    }
    return 0;
}

int layer_check_element(const struct assay_shape *shape, const float *x, const float *weights,
                        const struct layer_error *error, float got)
{
    int64_t k = shape->value[LUT_K];
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < k; i++) {
        sum += (double)x[i] * (double)weights[i];
        magnitude += fabs((double)x[i] * (double)weights[i]);
    }
    double bound = (error->entry + (double)(k + 2) * error->term) * magnitude;
    bool fine = isfinite(sum) ? fabs((double)got - sum) <= bound : !isfinite(got);
    return fine ? 0 : assay_error("an element of c is %.9g, expected %.9g", (double)got, sum);
}
