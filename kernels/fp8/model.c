/*
 * model.c - fp8_quantize in exactly the fp32 operations of its definition, one element at a time:
 * what all variants are compared with bit by bit. Conversions are the element table's.
 *
 * Compiled without contraction: no multiply-add is fused.
 */
#include <math.h>

#include "fp8.h"

/* a of the group that begins at element `first`. */
static float largest(const struct assay_shape *shape, const void *x, int64_t first)
{
    int64_t columns = shape->value[FP8_COLUMNS], end = first / columns * columns + columns;
    if (first + fp8_group(shape) < end) end = first + fp8_group(shape);
    float most = FP8_FLOOR;
    for (int64_t i = first; i < end; i++) {
        float size = fabsf((float)assay_load(fp8_input_type(shape->value[FP8_INPUT]), x, i));
        if (isfinite(size) && size > most) most = size;
    }
    return most;
}

int fp8_model(const struct assay_shape *shape, const void *const in[], int buffer, int64_t begin,
              int64_t end, void *out)
{
    int64_t columns = shape->value[FP8_COLUMNS], groups = fp8_groups(shape);
    struct fp8_format format = fp8_format(shape->value[FP8_FORMAT]);
    if (buffer == FP8_SCALES) {
        for (int64_t g = begin; g < end; g++) {
            int64_t first = g / groups * columns + g % groups * fp8_group(shape);
            ((float *)out)[g - begin] = largest(shape, in[FP8_X], first) / format.most;
        }
        return 0;
    }
    int64_t last = -1;
    float multiplier = 0;
    for (int64_t at = begin; at < end; at++) {
        int64_t first = at - at % columns % fp8_group(shape);
        if (first != last) multiplier = format.most / largest(shape, in[FP8_X], first);
        last = first;
        float x = (float)assay_load(fp8_input_type(shape->value[FP8_INPUT]), in[FP8_X], at);
        float q = x * multiplier;
        assay_store(format.type, out, at - begin, (double)q);
    }
    return 0;
}
