/*
 * imma_output.cuh - C from the int32 sums of an int8 product: (sum >> shift) unit.
 */
#pragma once

#include "imma.h"
#include "lut_cuda.h"

struct imma_output {
    float *c;
    int64_t rows, columns;
    int stages_of_k; /* K in steps of IMMA_K, rounded up */
    int shift;       /* C = (sum >> shift) unit */
    float unit;
    int unused; /* no bytes without a value: a gate compares arguments whole */
};

/* Of a call of lut_matmul. */
static inline struct imma_output imma_output_of(const struct assay_call *call)
{
    const struct lut_geometry geometry = lut_geometry(call->shape);
    return {.c = (float *)call->buffer[LUT_C],
            .rows = geometry.rows,
            .columns = geometry.columns,
            .stages_of_k = (int)(lut_decoded_stride(&geometry) / IMMA_K),
            .shift = lut_shift(geometry.divisor),
            .unit = geometry.unit};
}

/* Two neighbours of C. */
static __device__ __forceinline__ float2 imma_pair(const imma_output &out, int32_t first,
                                                   int32_t second)
{
    return make_float2((float)(first >> out.shift) * out.unit,
                       (float)(second >> out.shift) * out.unit);
}

static __device__ __forceinline__ void imma_store(const imma_output &out, int64_t row,
                                                  int64_t column, int32_t first, int32_t second)
{
    if (row >= out.rows) return;
    float2 values = imma_pair(out, first, second);
    float *c = out.c + row * out.columns + column;
    if (column + 1 < out.columns && out.columns % 2 == 0)
        *(float2 *)c = values;
    else {
        if (column < out.columns) c[0] = values.x;
        if (column + 1 < out.columns) c[1] = values.y;
    }
}
