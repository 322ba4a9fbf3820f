/*
 * model_attend.cu - the attention of the models by the kernels of attention_ways.cuh, straight
 * from the buffer that the qkv product wrote: no copies, no scores in memory.
 */
#include "kernels/gpt/attention/attention_ways.cuh"
#include "model_attend.cuh"

static struct attention_ways ways_of(int64_t precision)
{
    if (precision == GPT_FP32) return attention_ways_fp32();
    return precision == GPT_TF32 ? attention_ways_tf32() : attention_ways_bf16();
}

int model_attend_ways(int64_t precision)
{
    return ways_of(precision).count;
}

const char *model_attend_name(int64_t precision, int way)
{
    return ways_of(precision).list[way].name;
}

const char *model_attend_refused(const struct model_attend *attend, int way)
{
    if (attend->last) return "one query a sequence";
    return ways_of(attend->precision).list[way].size == attend->size ? NULL : "another head size";
}

static int launch(const struct attention_way *way, const struct attention *args, void *stream)
{
    if (attention_way_allow(way)) return -1;
    return attention_way_launch(way, args, true, stream);
}

int model_attend_by(const struct model_attend *attend, int way, void *stream)
{
    struct attention args = attention_of(attend);
    return launch(&ways_of(attend->precision).list[way], &args, stream);
}

int model_attend_own(const struct model_attend *attend, void *stream)
{
    struct attention args = attention_of(attend);
    const struct attention_way *way = attention_way_default(ways_of(attend->precision), &args);
    return way && !attend->last ? launch(way, &args, stream) : model_attend_any(attend, stream);
}
