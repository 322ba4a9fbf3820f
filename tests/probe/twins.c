/*
 * twins.c - one more host variant of every operation: it does what a host variant that is
 * there does. A test that counts an operation's variants, or lists them, fails with it.
 */
#include <string.h>

#include "case/registry.h"

static int launch(struct assay_call *call);

/* The variant that takes the shape and is doubled: not a library where there is a choice. */
static const struct assay_variant *original(const struct assay_shape *shape)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS], *found = NULL;
    int count = registry_variants(shape->operation->name, list, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++) {
        if (list[i]->place != ASSAY_HOST || list[i]->apart || list[i]->launch == launch) continue;
        if (list[i]->supports && list[i]->supports(shape)) continue;
        if (!found || list[i]->kind != ASSAY_BASELINE) found = list[i];
    }
    return found;
}

static const char *supports(const struct assay_shape *shape)
{
    return original(shape) ? NULL : "no variant to be the twin of";
}

static int setup(struct assay_call *call)
{
    const struct assay_variant *variant = original(call->shape);
    return variant->setup ? variant->setup(call) : 0;
}

static int launch(struct assay_call *call)
{
    return original(call->shape)->launch(call);
}

static void teardown(struct assay_call *call)
{
    const struct assay_variant *variant = original(call->shape);
    if (variant->teardown) variant->teardown(call);
}

static int check(struct assay_call *call)
{
    const struct assay_variant *variant = original(call->shape);
    return variant->check ? variant->check(call) : 0;
}

#define TWIN(of, check_function)                                                                   \
    static const struct assay_variant twin_##of = {                                                \
        .operation = #of,                                                                          \
        .name = "host_twin",                                                                       \
        .summary = "what another variant does",                                                    \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_HOST,                                                                       \
        .clock = ASSAY_CLOCK_WALL,                                                                 \
        .supports = supports,                                                                      \
        .setup = setup,                                                                            \
        .launch = launch,                                                                          \
        .teardown = teardown,                                                                      \
        .check = check_function,                                                                   \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(twin_##of)

TWIN(arithmetic, NULL);
TWIN(attention, NULL);
TWIN(channel_attention, NULL);
TWIN(codec_decode, NULL);
TWIN(codec_decode_batch, check);
TWIN(codec_encode, NULL);
TWIN(codec_encode_batch, check);
TWIN(conv3d, NULL);
TWIN(embedding, NULL);
TWIN(empty, NULL);
TWIN(gelu, NULL);
TWIN(gemm, NULL);
TWIN(gpt_block, NULL);
TWIN(gpt_decode, NULL);
TWIN(gpt_forward, NULL);
TWIN(group_norm_relu, NULL);
TWIN(int8_quantize, NULL);
TWIN(int8_quantize_token, NULL);
TWIN(lattice_decode, NULL);
TWIN(lattice_encode, NULL);
TWIN(lattice_encode_adaptive, NULL);
TWIN(lattice_roundtrip, NULL);
TWIN(launch_overhead, NULL);
TWIN(layernorm, NULL);
TWIN(linear, NULL);
TWIN(link, check);
TWIN(lut_matmul, NULL);
TWIN(lut_matmul_onesided, NULL);
TWIN(memory, NULL);
TWIN(memory_alloc, check);
TWIN(mlp, NULL);
TWIN(pixel_shuffle, NULL);
TWIN(quantized_linear, NULL);
TWIN(quantized_mlp, NULL);
TWIN(residual_add, NULL);
TWIN(sigmoid, NULL);
TWIN(transfer, check);
TWIN(vq_gather, NULL);
TWIN(vq_search, NULL);
TWIN(weight_only_linear, NULL);
