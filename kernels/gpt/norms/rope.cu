/*
 * rope.cu - by pairs of channels, and by 16 bytes of the same channels of several heads per thread.
 *
 *   scalar                   one pair of channels per thread, in accesses of 2 or 4 bytes.
 *                            Deliberately plain
 *   heads1, heads2, heads4   16 bytes of so many heads per thread: cos and sin are loaded once for
 *                            all of them, and all pieces of x before the first is used
 *
 * Bytes per element: one read and one written, the minimum; cos and sin mostly from L1 and L2, 8
 * per pair and thread.
 */
#include "kernels/gpt/row/row.cuh"
#include "rope.cuh"

enum { THREADS = 256, KERNELS = 3 };

/* COUNT floats, two or a multiple of four, aligned to as many bytes or to 16. */
template <int COUNT>
static __device__ __forceinline__ void load(float (&to)[COUNT], const float *at)
{
    if constexpr (COUNT == 2) {
        float2 pair = __ldg((const float2 *)at);
        to[0] = pair.x;
        to[1] = pair.y;
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            float4 four = __ldg((const float4 *)(at + i));
            to[i] = four.x;
            to[i + 1] = four.y;
            to[i + 2] = four.z;
            to[i + 3] = four.w;
        }
    }
}

/* `spans` pieces of a head are turned by a thread each: with halves each piece of the first half
 * and its counterpart in the second, else a piece alone. A thread takes heads set, set + sets, ...
 */
template <typename T, bool NEIGHBOURS, int HEADS>
static __global__ void __launch_bounds__(THREADS) turn(struct rope<T> args, int spans, int sets)
{
    enum { WIDTH = row_piece<T>::WIDTH, PAIRS = NEIGHBOURS ? WIDTH / 2 : WIDTH };
    int64_t group = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (group >= args.groups) return;
    int64_t token = group % args.tokens;
    const int head_pieces = 2 * args.half / WIDTH;
    for (int i = threadIdx.x; i < spans * sets; i += blockDim.x) {
        const int span = i % spans, set = i / spans;
        const int64_t at = group * args.heads * head_pieces + span;
        uint4 first[HEADS], second[HEADS];
#pragma unroll
        for (int k = 0; k < HEADS; k++) {
            int head = set + k * sets;
            if (head >= args.heads) continue;
            first[k] = __ldg((const uint4 *)args.x + at + head * head_pieces);
            if (!NEIGHBOURS)
                second[k] = __ldg((const uint4 *)args.x + at + head * head_pieces + spans);
        }
        float cosine[PAIRS], sine[PAIRS];
        load(cosine, args.cosine + token * args.half + span * PAIRS);
        load(sine, args.sine + token * args.half + span * PAIRS);
#pragma unroll
        for (int k = 0; k < HEADS; k++) {
            int head = set + k * sets;
            if (head >= args.heads) continue;
            uint4 *y = (uint4 *)args.y + at + head * head_pieces;
            float low[WIDTH], high[WIDTH];
#pragma unroll
            for (int p = 0; p < PAIRS; p++) {
                float a = row_get(first[k], NEIGHBOURS ? 2 * p : p, T());
                float b =
                    NEIGHBOURS ? row_get(first[k], 2 * p + 1, T()) : row_get(second[k], p, T());
                float turned = a * cosine[p] - b * sine[p];
                float other = a * sine[p] + b * cosine[p];
                low[NEIGHBOURS ? 2 * p : p] = turned;
                (NEIGHBOURS ? low : high)[NEIGHBOURS ? 2 * p + 1 : p] = other;
            }
            *y = row_pack(low, T());
            if (!NEIGHBOURS) y[spans] = row_pack(high, T());
        }
    }
}

template <typename T, bool NEIGHBOURS, int HEADS>
static int launch_of(const struct assay_call *call)
{
    struct rope<T> args = rope_args<T>(call);
    const int width = row_piece<T>::WIDTH;
    int spans = (NEIGHBOURS ? 2 : 1) * args.half / width, sets = (args.heads + HEADS - 1) / HEADS;
    int wide = spans * sets < THREADS ? spans * sets : THREADS;
    dim3 threads((unsigned)wide, (unsigned)(THREADS / wide));
    turn<T, NEIGHBOURS, HEADS>
        <<<gpt_blocks(args.groups, threads.y), threads, 0, (cudaStream_t)call->stream>>>(
            args, spans, sets);
    return assay_launched();
}

/* With 1 << log_heads heads per thread. */
static int launch_heads(const struct assay_call *call, int log_heads)
{
    typedef int launcher(const struct assay_call *call);
    static launcher *const launchers[][2][KERNELS] = {
        {{launch_of<float, false, 1>, launch_of<float, false, 2>, launch_of<float, false, 4>},
         {launch_of<float, true, 1>, launch_of<float, true, 2>, launch_of<float, true, 4>}},
        {{launch_of<uint16_t, false, 1>, launch_of<uint16_t, false, 2>,
          launch_of<uint16_t, false, 4>},
         {launch_of<uint16_t, true, 1>, launch_of<uint16_t, true, 2>,
          launch_of<uint16_t, true, 4>}},
        {{launch_of<fp16_t, false, 1>, launch_of<fp16_t, false, 2>, launch_of<fp16_t, false, 4>},
         {launch_of<fp16_t, true, 1>, launch_of<fp16_t, true, 2>, launch_of<fp16_t, true, 4>}}};
    const int64_t *value = call->shape->value;
    return launchers[value[ROPE_TYPE]][value[ROPE_PAIRS]][log_heads](call);
}

static const char *supports(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    int64_t width = value[ROPE_TYPE] == NORMS_FP32 ? 4 : 8;
    if (value[ROPE_PAIRS] == ROPE_HALVES) width *= 2;
    return value[ROPE_SIZE] % width ? "channels of a head are no whole pieces of 16 bytes" : NULL;
}

template <int LOG_HEADS> static int launch(struct assay_call *call)
{
    return launch_heads(call, LOG_HEADS);
}

/* --------------------------------------------------------------- variants -- */

static constexpr struct assay_variant named(const char *name, const char *summary,
                                            int (*launch)(struct assay_call *))
{
    return {
        .operation = "rope",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .supports = supports,
        .launch = launch,
    };
}

static constexpr struct assay_variant heads1 =
    named("heads1", "16 bytes of a head per thread", launch<0>);
static constexpr struct assay_variant heads2 =
    named("heads2", "16 bytes of two heads per thread", launch<1>);
static constexpr struct assay_variant heads4 =
    named("heads4", "16 bytes of four heads per thread", launch<2>);

ASSAY_REGISTER_VARIANT(heads1);
ASSAY_REGISTER_VARIANT(heads2);
ASSAY_REGISTER_VARIANT(heads4);

/* --------------------------------------------------------------------- scalar -- */

template <typename T>
static __global__ void __launch_bounds__(THREADS) turn_pair(struct rope<T> args, int64_t pairs)
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

template <typename T> static int scalar_launch_of(const struct assay_call *call)
{
    struct rope<T> args = rope_args<T>(call);
    int64_t pairs = args.groups * args.heads * args.half;
    turn_pair<T>
        <<<gpt_blocks(pairs, THREADS), THREADS, 0, (cudaStream_t)call->stream>>>(args, pairs);
    return assay_launched();
}

static int scalar_launch(struct assay_call *call)
{
    static int (*const launchers[])(const struct assay_call *) = {
        scalar_launch_of<float>, scalar_launch_of<uint16_t>, scalar_launch_of<fp16_t>};
    return launchers[call->shape->value[ROPE_TYPE]](call);
}

static const struct assay_variant scalar = {
    .operation = "rope",
    .name = "scalar",
    .summary = "one pair of channels per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = scalar_launch,
};
ASSAY_REGISTER_VARIANT(scalar);
