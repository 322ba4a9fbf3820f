/*
 * linear_host.c - `linear` on the host: in its simplest form on one core, and on all cores with dot
 * products in vectors.
 *
 * Operations: 2 m n k. Bytes: those of the operation; w once per row, or per tile of rows.
 */
#include "kernels/gpt/gpt.h"
#include "kernels/gpt/widest.h"

enum { COLUMNS = 64 };

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    if (shape->value[LINEAR_BIAS] == LINEAR_SEPARATE) return "the bias is added in place";
    return NULL;
}

static float bias_of(const struct assay_call *call, int64_t column)
{
    if (call->shape->value[LINEAR_BIAS] == LINEAR_NO_BIAS) return 0;
    return gpt_load(call->buffer[LINEAR_B], call->shape->value[LINEAR_PRECISION], column);
}

static int scalar_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t n = value[LINEAR_N], k = value[LINEAR_K], precision = value[LINEAR_PRECISION];
    for (int64_t row = 0; row < value[LINEAR_M]; row++) {
        for (int64_t column = 0; column < n; column++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += gpt_load(call->buffer[LINEAR_X], precision, row * k + l) *
                       gpt_load(call->buffer[LINEAR_W], precision, column * k + l);
            gpt_store(call->buffer[LINEAR_Y], precision, row * n + column,
                      sum + bias_of(call, column));
        }
    }
    return 0;
}

WIDEST static float dot_fp32(const float *a, const float *b, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

WIDEST static float dot_bf16(const uint16_t *a, const uint16_t *b, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += gpt_widen(a[i]) * gpt_widen(b[i]);
    return sum;
}

WIDEST static float dot_fp16(const uint16_t *a, const uint16_t *b, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += half_widen(a[i]) * half_widen(b[i]);
    return sum;
}

/* Of row `i` of a and row `j` of b, n long. */
static float dot(const void *a, int64_t i, const void *b, int64_t j, int64_t n, int64_t precision)
{
    if (precision == GPT_BF16)
        return dot_bf16((const uint16_t *)a + i * n, (const uint16_t *)b + j * n, n);
    if (precision == GPT_FP16)
        return dot_fp16((const uint16_t *)a + i * n, (const uint16_t *)b + j * n, n);
    return dot_fp32((const float *)a + i * n, (const float *)b + j * n, n);
}

static int omp_launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t n = value[LINEAR_N], k = value[LINEAR_K], precision = value[LINEAR_PRECISION];
    const void *x = call->buffer[LINEAR_X], *w = call->buffer[LINEAR_W];
    /* COLUMNS rows of w stay in cache for all rows of x. */
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < n; first += COLUMNS) {
        int64_t last = first + COLUMNS < n ? first + COLUMNS : n;
        for (int64_t row = 0; row < value[LINEAR_M]; row++)
            for (int64_t column = first; column < last; column++)
                gpt_store(call->buffer[LINEAR_Y], precision, row * n + column,
                          dot(x, row, w, column, k, precision) + bias_of(call, column));
    }
    return 0;
}

static const struct assay_variant scalar = {
    .operation = "linear",
    .name = "host_scalar",
    .summary = "three loops on one core",
    .kind = ASSAY_REFERENCE,
    .place = ASSAY_HOST,
    .supports = supports,
    .launch = scalar_launch,
};
ASSAY_REGISTER_VARIANT(scalar);

static const struct assay_variant omp = {
    .operation = "linear",
    .name = "host_omp",
    .summary = "all cores, dot products in the widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = supports,
    .launch = omp_launch,
};
ASSAY_REGISTER_VARIANT(omp);
