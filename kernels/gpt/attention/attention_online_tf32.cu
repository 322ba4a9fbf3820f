/*
 * attention_online_tf32.cu - one kernel, causal attention in tf32: attention_tf32.cuh in the
 * divisions below, for the variant and for the models.
 */
#include "attention_tf32.cuh"
#include "attention_configs.cuh"

/* NAME: queries of a block x keys of a tile. */
#define CONFIG(NAME, SIZE, ROWS, COLUMNS, WARPS_Q, WARPS_K, BLOCKS)                                \
    {                                                                                              \
        NAME, SIZE, attention_tf32<SIZE, ROWS, COLUMNS, WARPS_Q, WARPS_K, BLOCKS>,                 \
            tf32_layout<SIZE, ROWS, COLUMNS, WARPS_Q, WARPS_K>::threads,                           \
            tf32_layout<SIZE, ROWS, COLUMNS, WARPS_Q, WARPS_K>::queries,                           \
            tf32_layout<SIZE, ROWS, COLUMNS, WARPS_Q, WARPS_K>::bytes                              \
    }

static const struct attention_config configs[] = {
    CONFIG("16x128", 16, 1, 2, 1, 8, 1),  CONFIG("32x128", 16, 1, 4, 2, 4, 1),
    CONFIG("128x64", 16, 2, 8, 4, 1, 2),  CONFIG("16x128", 32, 1, 2, 1, 8, 1),
    CONFIG("32x128", 32, 1, 4, 2, 4, 1),  CONFIG("128x64", 32, 2, 8, 4, 1, 2),
    CONFIG("16x128", 64, 1, 4, 1, 4, 1),  CONFIG("32x64", 64, 1, 4, 2, 2, 1),
    CONFIG("64x64", 64, 1, 8, 4, 1, 3),   CONFIG("128x64", 64, 2, 8, 4, 1, 2),
    CONFIG("32x64", 128, 1, 4, 2, 2, 1),  CONFIG("64x64", 128, 1, 8, 4, 1, 1),
    CONFIG("128x32", 128, 2, 4, 4, 1, 1),
};

struct attention_configs attention_configs_tf32(void)
{
    return (struct attention_configs){configs, sizeof configs / sizeof *configs};
}

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_PRECISION] != GPT_TF32) return "tf32 only";
    return attention_size_refused(shape);
}

static int setup(struct assay_call *call)
{
    return attention_configs_setup(attention_configs_tf32(), call);
}

static int launch(struct assay_call *call)
{
    return attention_configs_launch(attention_configs_tf32(), call);
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "online_tf32",
    .summary = "one kernel on the tensor cores, softmax as keys come, fp32 in memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
