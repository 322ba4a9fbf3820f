/*
 * gpt.h - dims and buffers of the layers of a GPT, and the numbers they share.
 *
 *   layernorm     y = (s - mean) / sqrt(variance + 1e-5) w + b, s = x or x + r
 *   gelu          y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
 *   embedding     y = wte[id] + wpe[position]
 *   residual_add  y = a + b
 *   linear        y = x w^T + b, w as trained: [outputs, inputs]
 *   attention     y = softmax(q k^T / sqrt(head size), keys up to the query) v
 *   mlp           y = gelu(x w1^T + b1) w2^T + b2, four times as wide inside
 *
 * All arrays are row-major. Precision is the dim `type`: fp32 (every product and sum in
 * fp32), tf32 (fp32 in memory, tensor cores), bf16 and fp16 (so in memory, tensor cores,
 * sums in fp32).
 */
#pragma once

#include <math.h>
#include <string.h>

#include "assay.h"
#include "kernels/half.h"

enum gpt_precision { GPT_FP32, GPT_TF32, GPT_BF16, GPT_FP16 };

/* Unit roundoffs. Tensor cores truncate when they align the terms of a sum. */
#define GPT_UNIT_FP32   0x1p-24
#define GPT_UNIT_TENSOR 0x1p-23
#define GPT_UNIT_TF32   0x1p-10 /* an operand truncated to 11 bits */
#define GPT_UNIT_BF16   0x1p-8  /* an operand or a result rounded to 8 bits */
#define GPT_UNIT_FP16   0x1p-11 /* to 11 bits */

/* NULL, or the reason why a variant that is made for `only` refuses another precision. */
static inline const char *gpt_only(enum gpt_precision only, int64_t precision)
{
    static const char *const reasons[] = {"fp32 only", "tf32 only", "bf16 only", "fp16 only"};
    return precision == (int64_t)only ? NULL : reasons[only];
}

#define GPT_LAYERNORM_EPSILON 1e-5f
#define GPT_LOG2_E            1.4426950408889634f /* exp(x) is 2^(x log2 e) */
#define GPT_GELU_SCALE        0.7978845608028654f /* sqrt(2 / pi) */
#define GPT_GELU_CUBE         0.044715f

enum layernorm_dim { LAYERNORM_ROWS, LAYERNORM_COLUMNS, LAYERNORM_DATA, LAYERNORM_RESIDUAL };
enum layernorm_data { LAYERNORM_PLAIN, LAYERNORM_SHIFTED };
enum layernorm_residual { LAYERNORM_ALONE, LAYERNORM_ADD };
/* The last two exist only with a residual. */
enum layernorm_buffer {
    LAYERNORM_X,
    LAYERNORM_WEIGHT,
    LAYERNORM_BIAS,
    LAYERNORM_Y,
    LAYERNORM_R,
    LAYERNORM_SUM
};

enum gelu_dim { GELU_N };
enum gelu_buffer { GELU_X, GELU_Y };

enum residual_dim { RESIDUAL_N };
enum residual_buffer { RESIDUAL_A, RESIDUAL_B, RESIDUAL_Y };

enum embedding_dim { EMBEDDING_BATCH, EMBEDDING_TOKENS, EMBEDDING_CHANNELS, EMBEDDING_VOCABULARY };
enum embedding_buffer { EMBEDDING_IDS, EMBEDDING_WTE, EMBEDDING_WPE, EMBEDDING_Y };

enum linear_dim { LINEAR_M, LINEAR_N, LINEAR_K, LINEAR_PRECISION, LINEAR_WEIGHT, LINEAR_BIAS };
enum linear_weight { LINEAR_PER_CALL, LINEAR_CACHED, LINEAR_DIRECT };
enum linear_bias { LINEAR_NO_BIAS, LINEAR_SEPARATE, LINEAR_FUSED };
enum linear_buffer { LINEAR_X, LINEAR_W, LINEAR_Y, LINEAR_B }; /* no B without a bias */

enum attention_dim {
    ATTENTION_BATCH,
    ATTENTION_HEADS,
    ATTENTION_TOKENS,
    ATTENTION_HEAD_SIZE,
    ATTENTION_PRECISION
};
/* QKV is [batch, tokens, 3, heads, head size], as the previous layer writes it; Y is
 * [batch, tokens, heads, head size], as the next layer reads it. */
enum attention_buffer { ATTENTION_QKV, ATTENTION_Y };

enum mlp_dim { MLP_M, MLP_C, MLP_PRECISION };
enum mlp_buffer { MLP_X, MLP_W1, MLP_B1, MLP_W2, MLP_B2, MLP_Y };

/* The type of an element in memory at a precision. */
static inline enum assay_type gpt_type(int64_t precision)
{
    return precision == GPT_BF16 ? ASSAY_BF16 : precision == GPT_FP16 ? ASSAY_F16 : ASSAY_F32;
}

static inline int64_t gpt_bytes(int64_t precision)
{
    return precision == GPT_BF16 || precision == GPT_FP16 ? 2 : 4;
}

static inline enum assay_arithmetic gpt_arithmetic(int64_t precision)
{
    static const enum assay_arithmetic arithmetics[] = {ASSAY_FP32, ASSAY_TF32, ASSAY_BF16_OPS,
                                                        ASSAY_FP16_OPS};
    return arithmetics[precision];
}

/* A bf16 is the upper half of an fp32. */
static inline float gpt_widen(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* To the nearest bf16, ties to even; not for NaN. */
static inline uint16_t gpt_narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* tf32 has 11 bits and fp32's exponents; ties to even; for numbers. */
static inline float gpt_nearest_tf32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float gpt_load(const void *base, int64_t precision, int64_t index)
{
    if (precision == GPT_BF16) return gpt_widen(((const uint16_t *)base)[index]);
    if (precision == GPT_FP16) return half_widen(((const uint16_t *)base)[index]);
    return ((const float *)base)[index];
}

static inline void gpt_store(void *base, int64_t precision, int64_t index, float value)
{
    if (precision == GPT_BF16)
        ((uint16_t *)base)[index] = gpt_narrow(value);
    else if (precision == GPT_FP16)
        assay_store(ASSAY_F16, base, index, (double)value);
    else
        ((float *)base)[index] = value;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Choices of the dim `type`, ended by NULL: all, and all but fp16. */
extern const char *const gpt_types[];

/* gelu in double. */
double gpt_gelu(double x);

/* 0, or an error that names the first id outside [0, vocabulary). */
int gpt_check_ids(const int32_t *ids, int64_t count, int64_t vocabulary);

/* The same for the ids of `embedding` on the host: setup of its host variants. */
int gpt_check_host_ids(struct assay_call *call);

#ifdef __cplusplus
}
#endif
