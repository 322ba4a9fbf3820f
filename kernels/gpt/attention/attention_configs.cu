/*
 * attention_configs.cu - see attention_configs.cuh.
 */
#include <stdio.h>

#include "attention_configs.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/dependent_launch.cuh"

enum { CONFIGS_MAX = 16 };

static bool fits(const struct attention_config *config, int64_t size)
{
    return config->size == size ? config->heads != ATTENTION_HEADS_NARROWER
                                : config->size > size && config->heads != ATTENTION_HEADS_WHOLE;
}

bool attention_config_takes(struct attention_configs configs, const struct attention_config *config,
                            int64_t size)
{
    const struct attention_config *least = configs.list, *end = configs.list + configs.count;
    while (least < end && !fits(least, size))
        least++;
    return size % configs.step == 0 && fits(config, size) && config->size == least->size;
}

const struct attention_config *attention_config_default(struct attention_configs configs,
                                                        const struct attention *args)
{
    const struct attention_config *fit[CONFIGS_MAX];
    const int64_t most = assay_card()->shared_bytes;
    int queries[CONFIGS_MAX], count = 0;
    for (int i = 0; i < configs.count && count < CONFIGS_MAX; i++)
        if (configs.list[i].bytes <= most &&
            attention_config_takes(configs, &configs.list[i], args->size)) {
            fit[count] = &configs.list[i];
            queries[count++] = configs.list[i].queries;
        }
    if (count == 0) return NULL;
    int64_t lines = (int64_t)args->batch * args->heads;
    return fit[attention_division(queries, count, lines, args->tokens)];
}

int attention_config_allow(const struct attention_config *config)
{
    return cuda_allow_shared((const void *)config->kernel, config->bytes);
}

int attention_config_launch(const struct attention_config *config, const struct attention *args,
                            bool early, void *stream)
{
    float scale = attention_scale(args->size);
    dim3 grid((unsigned)(args->batch * args->heads), gpt_blocks(args->tokens, config->queries));
    if (early)
        return dependent_launch(config->kernel, grid, config->threads, (size_t)config->bytes,
                                stream, *args, scale);
    config->kernel<<<grid, config->threads, config->bytes, (cudaStream_t)stream>>>(*args, scale);
    return assay_launched();
}

struct attention_configs attention_configs_of(int64_t precision)
{
    if (precision == GPT_FP32) return attention_configs_fp32();
    if (precision == GPT_FP16) return attention_configs_fp16();
    return precision == GPT_TF32 ? attention_configs_tf32() : attention_configs_bf16();
}

static const struct attention_config *config_of(const struct assay_call *call,
                                                const struct attention *args)
{
    return attention_config_default(attention_configs_of(call->shape->value[ATTENTION_PRECISION]),
                                    args);
}

int attention_configs_setup(struct assay_call *call)
{
    struct attention args = attention_args(call);
    const struct attention_config *config = config_of(call, &args);
    if (!config) return assay_error("no kernel for head size %d", args.size);
    (void)snprintf(call->note, sizeof call->note, "%s", config->name);
    return attention_config_allow(config);
}

int64_t attention_configs_shared_bytes(const struct assay_shape *shape)
{
    struct attention_configs configs = attention_configs_of(shape->value[ATTENTION_PRECISION]);
    int64_t least = INT64_MAX, size = shape->value[ATTENTION_HEAD_SIZE];
    for (int i = 0; i < configs.count; i++)
        if (configs.list[i].bytes < least &&
            attention_config_takes(configs, &configs.list[i], size))
            least = configs.list[i].bytes;
    return least;
}

int attention_configs_launch(struct assay_call *call)
{
    struct attention args = attention_args(call);
    return attention_config_launch(config_of(call, &args), &args, false, call->stream);
}
