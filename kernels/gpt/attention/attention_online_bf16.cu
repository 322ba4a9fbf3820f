/*
 * attention_online_bf16.cu - one kernel on the tensor cores, in bf16 and fp16, after Dao,
 * "FlashAttention-2" (ICLR 2024, algorithm 1). A block has some queries, each warp its own rows of
 * them, and goes over the keys; scores, weights and sums stay in registers.
 *
 * Each warp has 16 TILES queries, and PARTS warps share them where there are few: each takes a part
 * of a tile's keys, and the first of them combines their softmaxes at the end. Keys and values are
 * fetched by cp.async in tiles of 64 or 128, the first two together and then the next one while
 * this one is used, swizzled so that ldmatrix has no bank conflicts. The accumulators of the
 * scores, packed in pairs, serve as the left operand of the second product without being moved
 * (mma_layout.h and its test). exp2 replaces exp, and rows are rescaled when a tile brings a larger
 * score. A query sees keys up to itself: tiles behind the last query of a warp are skipped, and
 * only tiles on the diagonal are masked. Blocks are launched longest first.
 *
 * Operations: 4 d per pair in bf16, and an exponential. Bytes: q and y once, k and v once per
 * block of queries, from L2.
 *
 * At head size 128 with 32 queries per warp 255 registers are not enough: 60 bytes are spilt,
 * about ten local accesses per tile beside its 256 products.
 *
 * A batch of 1 with 12 heads of 128 tokens: blocks of 32 queries would be 48 on 132
 * multiprocessors. In four parts of 32 keys there are 96 blocks of 16 queries, and a warp's own
 * work is 16 + 16 products of 16 x 8 at d = 64 in place of 64 + 64. On an H200, cold, in bf16: 3.07
 * us, 5.47 by cuDNN; at d = 256 6.85 and 10.7.
 */
#include "attention_bf16.cuh"
#include "attention_configs.cuh"

/* WHOLE: heads of SIZE numbers; else of a multiple of eight up to it. */
template <typename T, bool WHOLE, int SIZE, int TILE, int TILES, int WARPS, int PARTS>
static __global__ void __launch_bounds__(32 * WARPS * PARTS, 2)
    online(const struct attention args, float scale)
{
    online_block<T, SIZE, TILE, TILES, WARPS, PARTS>(args, scale, 1.0f, true,
                                                     WHOLE ? SIZE : args.size);
}

/* ------------------------------------------------------------- host side -- */

enum { HEAD_STEP = 8 }; /* rows are copied by 16 bytes */

/* NAME: queries of a block x keys of a tile. */
#define CONFIG(NAME, ...)                                                                          \
    attention_config_of<online_layout<__VA_ARGS__>>(NAME, online<T, true, __VA_ARGS__>,            \
                                                    ATTENTION_HEADS_WHOLE)
#define NARROW(NAME, ...)                                                                          \
    attention_config_of<online_layout<__VA_ARGS__>>(NAME, online<T, false, __VA_ARGS__>,           \
                                                    ATTENTION_HEADS_NARROWER)

struct attention_configs attention_configs_bf16(void)
{
    typedef uint16_t T;
    static const struct attention_config configs[] = {
        CONFIG("16x128", 16, 128, 1, 1, 4), CONFIG("32x64", 16, 64, 1, 2, 1),
        CONFIG("64x64", 16, 64, 1, 4, 1),   CONFIG("128x64", 16, 64, 2, 4, 1),
        NARROW("32x64", 16, 64, 1, 2, 1),   CONFIG("16x128", 32, 128, 1, 1, 4),
        CONFIG("32x64", 32, 64, 1, 2, 1),   CONFIG("64x64", 32, 64, 1, 4, 1),
        CONFIG("128x64", 32, 64, 2, 4, 1),  NARROW("16x128", 32, 128, 1, 1, 4),
        NARROW("32x64", 32, 64, 1, 2, 1),   NARROW("64x64", 32, 64, 1, 4, 1),
        CONFIG("16x128", 64, 128, 1, 1, 4), CONFIG("32x64", 64, 64, 1, 2, 1),
        CONFIG("64x64", 64, 64, 1, 4, 1),   CONFIG("128x64", 64, 64, 2, 4, 1),
        NARROW("16x128", 64, 128, 1, 1, 4), NARROW("32x64", 64, 64, 1, 2, 1),
        NARROW("64x64", 64, 64, 1, 4, 1),   CONFIG("16x64", 80, 64, 1, 1, 4),
        CONFIG("32x64", 80, 64, 1, 2, 1),   CONFIG("64x64", 80, 64, 1, 4, 1),
        CONFIG("16x64", 96, 64, 1, 1, 4),   CONFIG("32x64", 96, 64, 1, 2, 1),
        CONFIG("64x64", 96, 64, 1, 4, 1),   NARROW("16x64", 96, 64, 1, 1, 4),
        NARROW("32x64", 96, 64, 1, 2, 1),   NARROW("64x64", 96, 64, 1, 4, 1),
        CONFIG("16x64", 128, 64, 1, 1, 4),  CONFIG("32x64", 128, 64, 1, 2, 1),
        CONFIG("64x64", 128, 64, 1, 4, 1),  CONFIG("128x64", 128, 64, 2, 4, 1),
        NARROW("16x64", 128, 64, 1, 1, 4),  NARROW("32x64", 128, 64, 1, 2, 1),
        NARROW("64x64", 128, 64, 1, 4, 1),  CONFIG("16x64", 256, 64, 1, 1, 4),
        CONFIG("64x64", 256, 64, 1, 4, 1),  NARROW("16x64", 256, 64, 1, 1, 4),
        NARROW("64x64", 256, 64, 1, 4, 1),
    };
    return {configs, sizeof configs / sizeof *configs, HEAD_STEP};
}

/* Each costs a tenth of a second of compilation or more: those that a published shape takes, and
 * one for every other head size. */
struct attention_configs attention_configs_fp16(void)
{
    typedef fp16_t T;
    static const struct attention_config configs[] = {
        CONFIG("32x64", 16, 64, 1, 2, 1),   CONFIG("32x64", 32, 64, 1, 2, 1),
        NARROW("32x64", 32, 64, 1, 2, 1),   CONFIG("32x64", 64, 64, 1, 2, 1),
        CONFIG("64x64", 64, 64, 1, 4, 1),   CONFIG("128x64", 64, 64, 2, 4, 1),
        NARROW("32x64", 64, 64, 1, 2, 1),   CONFIG("64x64", 80, 64, 1, 4, 1),
        CONFIG("64x64", 96, 64, 1, 4, 1),   CONFIG("64x64", 128, 64, 1, 4, 1),
        CONFIG("128x64", 128, 64, 2, 4, 1), NARROW("64x64", 128, 64, 1, 4, 1),
        CONFIG("64x64", 256, 64, 1, 4, 1),  NARROW("64x64", 256, 64, 1, 4, 1),
    };
    return {configs, sizeof configs / sizeof *configs, HEAD_STEP};
}

template <enum gpt_precision PRECISION> static const char *supports(const struct assay_shape *shape)
{
    const char *other = gpt_only(PRECISION, shape->value[ATTENTION_PRECISION]);
    if (other) return other;
    return attention_configs_shared_bytes(shape) < INT64_MAX
               ? NULL
               : "made for head sizes in multiples of 8 up to 256";
}

static const struct assay_variant bf16 = {
    .operation = "attention",
    .name = "online_bf16",
    .summary = "one kernel on the tensor cores, everything but k and v in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports<GPT_BF16>,
    .shared_bytes = attention_configs_shared_bytes,
    .setup = attention_configs_setup,
    .launch = attention_configs_launch,
};
ASSAY_REGISTER_VARIANT(bf16);

static const struct assay_variant fp16 = {
    .operation = "attention",
    .name = "online_fp16",
    .summary = "one kernel on the tensor cores, everything but k and v in registers",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports<GPT_FP16>,
    .shared_bytes = attention_configs_shared_bytes,
    .setup = attention_configs_setup,
    .launch = attention_configs_launch,
};
ASSAY_REGISTER_VARIANT(fp16);
