/*
 * host_omp.c - all cores, with the widest vectors that the processor has.
 *
 * Formula per tensor: (x (1 / s)) + z; per token: x (127 / a), scale a / 127. Each operation is
 * rounded to nearest, so the bits are the same for every vector width. Bytes per element: 4 read
 * (bf16: 2), 1 written; per token the row is read twice, the second time from cache.
 *
 * Rounding without a conversion: |q| <= 128 after the clamp, so adding 1.5 * 2^23 rounds q to a
 * whole number, half to even, and leaves it in the low bits in two's complement. Every vector unit
 * can add.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
/* Comparisons that cannot trap can become vector selects; no value changes. Set before the headers,
 * because otherwise their inline functions could not be inlined here. */
#pragma GCC optimize("O3", "no-trapping-math")
/* One clone per vector width, chosen when the program starts. */
#define WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST
#endif

#include "int8.h"

enum { CHUNK = 1 << 15 };

static inline int8_t code(float q)
{
    q = q > 127.0f ? 127.0f : q;
    q = q < -128.0f ? -128.0f : q;
    q = q != q ? 0.0f : q;
    float shifted = q + 0x1.8p23f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return (int8_t)(bits & 0xff);
}

/* y = code(x * multiplier + zero). Adding a zero of 0 changes no code. */
WIDEST static void encode_fp32(const float *restrict x, int8_t *restrict y, int64_t n,
                               float multiplier, float zero)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = code(x[i] * multiplier + zero);
}

WIDEST static void encode_bf16(const uint16_t *restrict x, int8_t *restrict y, int64_t n,
                               float multiplier, float zero)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = code(int8_widen(x[i]) * multiplier + zero);
}

/* Magnitudes compare as the integers of their bits without the sign. */
WIDEST static uint32_t largest_fp32(const uint32_t *x, int64_t n)
{
    uint32_t most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++)
        most = most > (x[i] & 0x7fffffff) ? most : (x[i] & 0x7fffffff);
    return most;
}

WIDEST static uint32_t largest_bf16(const uint16_t *x, int64_t n)
{
    uint16_t most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++)
        most = most > (x[i] & 0x7fff) ? most : (uint16_t)(x[i] & 0x7fff);
    return (uint32_t)most << 16;
}

static void encode(const void *x, int64_t input, int8_t *y, int64_t begin, int64_t end,
                   float multiplier, float zero)
{
    if (input == INPUT_BF16)
        encode_bf16((const uint16_t *)x + begin, y + begin, end - begin, multiplier, zero);
    else
        encode_fp32((const float *)x + begin, y + begin, end - begin, multiplier, zero);
}

static float row_absmax(const void *x, int64_t input, int64_t begin, int64_t hidden)
{
    uint32_t bits = input == INPUT_BF16 ? largest_bf16((const uint16_t *)x + begin, hidden)
                                        : largest_fp32((const uint32_t *)x + begin, hidden);
    float absmax;
    memcpy(&absmax, &bits, sizeof absmax);
    return absmax;
}

static int launch_tensor(struct assay_call *call)
{
    int64_t n = call->shape->value[DIM_N];
    int64_t input = call->shape->value[DIM_INPUT];
    float inverse = 1.0f / int8_scale(call->shape), zero = int8_zero(call->shape);
    const void *x = call->buffer[BUF_X];
    int8_t *y = call->buffer[BUF_Y];
#pragma omp parallel for schedule(static) if (n > CHUNK)
    for (int64_t i = 0; i < n; i += CHUNK)
        encode(x, input, y, i, i + CHUNK < n ? i + CHUNK : n, inverse, zero);
    return 0;
}

static int launch_token(struct assay_call *call)
{
    int64_t tokens = call->shape->value[TOKEN_TOKENS];
    int64_t hidden = call->shape->value[TOKEN_HIDDEN];
    int64_t input = call->shape->value[TOKEN_INPUT];
    const void *x = call->buffer[BUF_X];
    int8_t *y = call->buffer[BUF_Y];
    float *scales = call->buffer[BUF_SCALES];
#pragma omp parallel for schedule(static) if (tokens * hidden > CHUNK)
    for (int64_t row = 0; row < tokens; row++) {
        float absmax = row_absmax(x, input, row * hidden, hidden);
        float multiplier = absmax > 0.0f ? 127.0f / absmax : 0.0f;
        scales[row] = absmax / 127.0f;
        encode(x, input, y, row * hidden, (row + 1) * hidden, multiplier, 0.0f);
    }
    return 0;
}

static const struct assay_variant tensor = {
    .operation = "int8_quantize",
    .name = "host_omp",
    .summary = "all cores, widest vectors, multiplying by the reciprocal",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_tensor,
    .model = int8_model_rcp_muladd,
};
ASSAY_REGISTER_VARIANT(tensor);

static const struct assay_variant token = {
    .operation = "int8_quantize_token",
    .name = "host_omp",
    .summary = "one row per core, widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_token,
    .model = int8_model_token,
};
ASSAY_REGISTER_VARIANT(token);
