/*
 * model_attend.cu - the attention of the models by the kernels of attention_configs.cuh, straight
 * from the buffer that the qkv product wrote: no copies, no scores in memory.
 */
#include "kernels/gpt/attention/attention_configs.cuh"
#include "model_attend.cuh"

int model_attend_configs(int64_t precision)
{
    return attention_configs_of(precision).count;
}

const char *model_attend_name(int64_t precision, int config)
{
    return attention_configs_of(precision).list[config].name;
}

const char *model_attend_refused(const struct model_attend *attend, int config)
{
    if (attend->last) return "one query per sequence";
    const struct attention_config *is = &attention_configs_of(attend->precision).list[config];
    if (is->bytes > assay_card()->shared_bytes) return "not so much shared memory here";
    return is->size == attend->size ? NULL : "another head size";
}

static int launch(const struct attention_config *config, const struct attention *args, void *stream)
{
    if (attention_config_allow(config)) return -1;
    return attention_config_launch(config, args, true, stream);
}

int model_attend_by(const struct model_attend *attend, int config, void *stream)
{
    struct attention args = attention_of(attend);
    return launch(&attention_configs_of(attend->precision).list[config], &args, stream);
}

int model_attend_own(const struct model_attend *attend, void *stream)
{
    struct attention args = attention_of(attend);
    const struct attention_config *config =
        attention_config_default(attention_configs_of(attend->precision), &args);
    return config && !attend->last ? launch(config, &args, stream)
                                   : model_attend_any(attend, stream);
}
