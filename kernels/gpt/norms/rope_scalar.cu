/*
 * rope_scalar.cu - one pair of channels per thread.
 *
 * Bytes per element: one read and one written, in accesses of 2 or 4 bytes; 8 per pair for cos and
 * sin, mostly from L1 and L2. Deliberately plain.
 */
#include "rope.cuh"

enum { THREADS = 256 };

template <typename T>
static __global__ void __launch_bounds__(THREADS) turn(struct rope<T> args, int64_t pairs)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= pairs) return;
    int64_t head = i / args.half, token = head / args.heads % args.tokens;
    int j = (int)(i % args.half);
    int64_t first = head * 2 * args.half + (args.neighbours ? 2 * j : j);
    int64_t second = first + (args.neighbours ? 1 : args.half);
    float cosine = __ldg(args.cosine + token * args.half + j);
    float sine = __ldg(args.sine + token * args.half + j);
    float a = gpt_float(args.x[first]), b = gpt_float(args.x[second]);
    gpt_put(args.y + first, a * cosine - b * sine);
    gpt_put(args.y + second, a * sine + b * cosine);
}

template <typename T> static int launch_of(const struct assay_call *call)
{
    struct rope<T> args = rope_args<T>(call);
    int64_t pairs = args.groups * args.heads * args.half;
    turn<T><<<gpt_blocks(pairs, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(args, pairs);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    return call->shape->value[ROPE_TYPE] == NORMS_BF16 ? launch_of<uint16_t>(call)
                                                       : launch_of<float>(call);
}

static const struct assay_variant variant = {
    .operation = "rope",
    .name = "scalar",
    .summary = "one pair of channels per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
