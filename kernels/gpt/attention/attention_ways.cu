/*
 * attention_ways.cu - see attention_ways.cuh.
 */
#include <stdio.h>

#include "attention_ways.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/gpt/model_launch.cuh"

enum { WAYS_MAX = 16 };

const struct attention_way *attention_way_default(struct attention_ways ways,
                                                  const struct attention *args)
{
    const struct attention_way *fit[WAYS_MAX];
    int queries[WAYS_MAX], count = 0;
    for (int i = 0; i < ways.count && count < WAYS_MAX; i++)
        if (ways.list[i].size == args->size) {
            fit[count] = &ways.list[i];
            queries[count++] = ways.list[i].queries;
        }
    if (count == 0) return NULL;
    int64_t lines = (int64_t)args->batch * args->heads;
    return fit[attention_division(queries, count, lines, args->tokens)];
}

int attention_way_allow(const struct attention_way *way)
{
    return cuda_allow_shared((const void *)way->kernel, way->bytes);
}

int attention_way_launch(const struct attention_way *way, const struct attention *args, bool early,
                         void *stream)
{
    float scale = attention_scale(args->size);
    dim3 grid((unsigned)(args->batch * args->heads), gpt_blocks(args->tokens, way->queries));
    if (early)
        return model_launch(way->kernel, grid, way->threads, (size_t)way->bytes, stream, *args,
                            scale);
    way->kernel<<<grid, way->threads, way->bytes, (cudaStream_t)stream>>>(*args, scale);
    return assay_launched();
}

int attention_ways_setup(struct attention_ways ways, struct assay_call *call)
{
    struct attention args = attention_args(call);
    const struct attention_way *way = attention_way_default(ways, &args);
    if (!way) return assay_error("no kernel for head size %d", args.size);
    (void)snprintf(call->note, sizeof call->note, "%s", way->name);
    return attention_way_allow(way);
}

int attention_ways_launch(struct attention_ways ways, struct assay_call *call)
{
    struct attention args = attention_args(call);
    return attention_way_launch(attention_way_default(ways, &args), &args, false, call->stream);
}
