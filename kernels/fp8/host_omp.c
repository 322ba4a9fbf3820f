/*
 * host_omp.c - fp8_quantize on all cores, with the widest vectors that the processor has.
 *
 * Formula: a = the largest finite |x|, at least 2^-100; scale a / M; y = code(x (M / a)), code() by
 * integer additions (fp8.h), so that the bits are the same for every vector width.
 * Bytes per element: 4 read (16-bit inputs: 2), 1 written; a group is read twice, the second time
 * from cache.
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

#include "fp8.h"

enum { CHUNK = 1 << 15 };

/* An encoder of one format: with constants in place of the format's fields it becomes vectors. */
#define ENCODER(name, element, widen, most, fraction_bits, bias)                                   \
    WIDEST static void name(const void *restrict x, uint8_t *restrict y, int64_t n,                \
                            float multiplier)                                                      \
    {                                                                                              \
        const element *restrict in = x;                                                            \
        _Pragma("omp simd") for (int64_t i = 0; i < n; i++) y[i] =                                 \
            fp8_code(widen(in[i]) * multiplier, most, fraction_bits, bias);                        \
    }

#define SEARCH(name, element, widen)                                                               \
    WIDEST static uint32_t name(const void *x, int64_t n)                                          \
    {                                                                                              \
        const element *in = x;                                                                     \
        uint32_t most = 0;                                                                         \
        _Pragma("omp simd reduction(max : most)") for (int64_t i = 0; i < n; i++) most =           \
            most > fp8_magnitude(widen(in[i])) ? most : fp8_magnitude(widen(in[i]));               \
        return most;                                                                               \
    }

static inline float as_it_is(float x)
{
    return x;
}

SEARCH(largest_fp32, float, as_it_is)
SEARCH(largest_bf16, uint16_t, fp8_widen_bf16)
SEARCH(largest_fp16, uint16_t, half_widen)
ENCODER(fp32_e4m3, float, as_it_is, 448.0f, 3, 7)
ENCODER(bf16_e4m3, uint16_t, fp8_widen_bf16, 448.0f, 3, 7)
ENCODER(fp16_e4m3, uint16_t, half_widen, 448.0f, 3, 7)
ENCODER(fp32_e5m2, float, as_it_is, 57344.0f, 2, 15)
ENCODER(bf16_e5m2, uint16_t, fp8_widen_bf16, 57344.0f, 2, 15)
ENCODER(fp16_e5m2, uint16_t, half_widen, 57344.0f, 2, 15)

typedef uint32_t search(const void *x, int64_t n);
typedef void encoder(const void *restrict x, uint8_t *restrict y, int64_t n, float multiplier);

static search *const searches[] = {
    [FP8_FP32] = largest_fp32, [FP8_BF16] = largest_bf16, [FP8_FP16] = largest_fp16};
static encoder *const encoders[][2] = {[FP8_FP32] = {fp32_e4m3, fp32_e5m2},
                                       [FP8_BF16] = {bf16_e4m3, bf16_e5m2},
                                       [FP8_FP16] = {fp16_e4m3, fp16_e5m2}};

/* Elements [begin, begin + n), one group. */
static float encode(const struct assay_call *call, int64_t begin, int64_t n)
{
    const int64_t *value = call->shape->value;
    const char *x = (const char *)call->buffer[FP8_X] +
                    begin * (int64_t)assay_type_bytes(fp8_input_type(value[FP8_INPUT]));
    float most = fp8_format(value[FP8_FORMAT]).most;
    float a = fp8_float(searches[value[FP8_INPUT]](x, n));
    if (a < FP8_FLOOR) a = FP8_FLOOR;
    encoders[value[FP8_INPUT]][value[FP8_FORMAT]](x, (uint8_t *)call->buffer[FP8_Y] + begin, n,
                                                  most / a);
    return a / most;
}

static int launch(struct assay_call *call)
{
    int64_t rows = call->shape->value[FP8_ROWS], columns = call->shape->value[FP8_COLUMNS];
    int64_t group = fp8_group(call->shape), groups = fp8_groups(call->shape);
    float *scales = call->buffer[FP8_SCALES];
#pragma omp parallel for schedule(static) if (rows * columns > CHUNK)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t g = 0; g < groups; g++) {
            int64_t left = columns - g * group;
            scales[row * groups + g] =
                encode(call, row * columns + g * group, left < group ? left : group);
        }
    return 0;
}

static const struct assay_variant variant = {
    .operation = "fp8_quantize",
    .name = "host_omp",
    .summary = "one row per core, widest vectors",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch,
    .model = fp8_model,
};
ASSAY_REGISTER_VARIANT(variant);
