/*
 * embedding_plain.cu - one element per thread.
 *
 *   fused  one kernel. Bytes per element: 4 read from each table (wpe's rows come from L2), 4
 *          written
 *   split  two gathers and an addition, each from memory to memory, as the published model does it:
 *          16 bytes for the gathers and 12 for the addition. Deliberately slow. The two gathered
 *          arrays are in memory of this variant's own
 */
#include "embedding.cuh"
#include "kernels/cuda/device_memory.h"

enum { THREADS = 256 };

/* ------------------------------------------------------------------ fused -- */

static __global__ void __launch_bounds__(THREADS) fused(struct embedding args)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.rows * args.channels) return;
    int64_t row = i / args.channels, channel = i % args.channels;
    args.y[i] = __ldg(args.wte + (int64_t)__ldg(args.ids + row) * args.channels + channel) +
                __ldg(args.wpe + row % args.tokens * args.channels + channel);
}

static int setup_fused(struct assay_call *call)
{
    return embedding_check(call);
}

static int launch_fused(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    fused<<<gpt_blocks(args.rows * args.channels, THREADS), THREADS, 0,
            (cudaStream_t)call->stream>>>(args);
    return assay_launched();
}

static const struct assay_variant one_kernel = {
    .operation = "embedding",
    .name = "fused",
    .summary = "one kernel, one element per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup_fused,
    .launch = launch_fused,
};
ASSAY_REGISTER_VARIANT(one_kernel);

/* ------------------------------------------------------------------ split -- */

/* out[row] = table[ids[row]]; with `ids` NULL, table[position of the row in its sequence]. */
static __global__ void __launch_bounds__(THREADS)
    gather(struct embedding args, const float *__restrict__ table, const int32_t *__restrict__ ids,
           float *__restrict__ out)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.rows * args.channels) return;
    int64_t row = i / args.channels, channel = i % args.channels;
    int64_t from = ids ? ids[row] : row % args.tokens;
    out[i] = table[from * args.channels + channel];
}

static __global__ void __launch_bounds__(THREADS)
    add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y, int64_t n)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}

static int setup_split(struct assay_call *call)
{
    if (embedding_check(call) < 0) return -1;
    struct embedding args = embedding_args(call);
    int64_t bytes = 2 * (int64_t)sizeof(float) * args.rows * args.channels;
    return device_memory(call, &call->state, bytes, "the gathered rows");
}

static int launch_split(struct assay_call *call)
{
    struct embedding args = embedding_args(call);
    int64_t n = args.rows * args.channels;
    float *of_token = (float *)call->state, *of_position = of_token + n;
    unsigned blocks = gpt_blocks(n, THREADS);
    cudaStream_t stream = (cudaStream_t)call->stream;
    gather<<<blocks, THREADS, 0, stream>>>(args, args.wte, args.ids, of_token);
    gather<<<blocks, THREADS, 0, stream>>>(args, args.wpe, NULL, of_position);
    add<<<blocks, THREADS, 0, stream>>>(of_token, of_position, args.y, n);
    return assay_launched();
}

static const struct assay_variant split = {
    .operation = "embedding",
    .name = "split",
    .summary = "three kernels through memory: gather, gather, add",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup_split,
    .launch = launch_split,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(split);
