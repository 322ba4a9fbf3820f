/*
 * attention_online_fp32.cu - one kernel, causal attention in fp32: attention_fp32.cuh in the
 * configurations below, for the variant and for the models.
 */
#include "attention_fp32.cuh"
#include "attention_configs.cuh"

/* NAME: queries of a block x keys of a tile. BLOCKS: at least so many per multiprocessor. The rest
 * are the arguments of the layout. */
#define CONFIG(NAME, BLOCKS, ...)                                                                  \
    attention_config_of<fp32_layout<__VA_ARGS__>>(NAME, attention_fp32<__VA_ARGS__, BLOCKS>)

static const struct attention_config configs[] = {
    CONFIG("16x128", 1, 16, 4, 2, 1, 8),  CONFIG("32x128", 1, 16, 4, 4, 2, 4),
    CONFIG("64x64", 1, 16, 4, 4, 4, 2),   CONFIG("128x64", 2, 16, 8, 8, 4, 1),
    CONFIG("16x128", 1, 32, 4, 2, 1, 8),  CONFIG("32x128", 1, 32, 4, 4, 2, 4),
    CONFIG("64x64", 1, 32, 4, 4, 4, 2),   CONFIG("128x64", 2, 32, 8, 8, 4, 1),
    CONFIG("16x128", 1, 64, 4, 4, 1, 4),  CONFIG("32x64", 1, 64, 4, 4, 2, 2),
    CONFIG("64x64", 3, 64, 4, 8, 4, 1),   CONFIG("128x64", 2, 64, 8, 8, 4, 1),
    CONFIG("32x64", 1, 96, 4, 4, 2, 2),   CONFIG("64x64", 2, 96, 4, 8, 4, 1),
    CONFIG("32x64", 1, 128, 4, 4, 2, 2),  CONFIG("64x32", 2, 128, 4, 4, 4, 1),
    CONFIG("128x64", 1, 128, 4, 8, 8, 1), CONFIG("16x32", 1, 192, 4, 2, 1, 2),
    CONFIG("32x32", 2, 192, 4, 2, 2, 2),  CONFIG("64x32", 2, 192, 4, 4, 4, 1),
    CONFIG("16x32", 1, 256, 4, 2, 1, 2),  CONFIG("32x32", 2, 256, 4, 2, 2, 2),
    CONFIG("64x64", 1, 256, 4, 4, 4, 2),
};

struct attention_configs attention_configs_fp32(void)
{
    return (struct attention_configs){configs, sizeof configs / sizeof *configs, 1};
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "online_fp32",
    .summary = "one kernel in register tiles, softmax as keys come, fp32 on CUDA cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = attention_only<GPT_FP32>,
    .shared_bytes = attention_configs_shared_bytes,
    .setup = attention_configs_setup,
    .launch = attention_configs_launch,
};
ASSAY_REGISTER_VARIANT(variant);
