/*
 * embedding_fused.cu - one kernel, one element per thread.
 *
 * Bytes per element: 4 read from each table (wpe's rows come from L2), 4 written.
 */
#include "embedding.cuh"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS) embed(struct embedding args)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.rows * args.channels) return;
    int64_t row = i / args.channels, channel = i % args.channels;
    args.y[i] = __ldg(args.wte + (int64_t)__ldg(args.ids + row) * args.channels + channel) +
                __ldg(args.wpe + row % args.tokens * args.channels + channel);
}

static int setup(struct assay_call *call)
{
    return embedding_check(call);
}

static int launch(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    embed<<<gpt_blocks(args.rows * args.channels, THREADS), THREADS, 0,
            (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "embedding",
    .name = "fused",
    .summary = "one kernel, one element per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
