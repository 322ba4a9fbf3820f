/*
 * attention_fp8_mma.cu - `attention_fp8` by mma.sync in bf16, for cards without Hopper's wgmma.
 *
 * A first launch widens q, k and v to bf16, which is exact; a second one is attention as in
 * attention_online_bf16.cu, in blocks of 128 queries, with the scales in fp32: those of q and k in
 * the exponent, that of v in the last factor. Weights are rounded to bf16, 16 times finer than e4m3
 * would be. On sm_89 and later mma.sync takes e4m3 as well; half of the products' time is not worth
 * a second kernel that turns values round (attention_fp8_wgmma.cu).
 *
 * Operations: 4 d per pair in bf16, and an exponential. Bytes: 3 per number of q, k and v for the
 * first launch, 2 for the second, and y; k and v once per 128 queries from L2.
 */
#include "attention_bf16.cuh"
#include "attention_fp8.h"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"

enum { THREADS = 256, PIECE = 8 /* numbers of a thread */ };

struct arguments {
    struct attention of; /* with q, k and v in bf16 */
    const float *scales;
    float scale; /* before those of q and k */
    bool causal;
};

static __global__ void __launch_bounds__(THREADS)
    widen(const uint2 *__restrict__ from, uint4 *__restrict__ to, int64_t pieces)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= pieces) return;
    const uint2 codes = from[at];
    uint32_t pair[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t two = (i < 2 ? codes.x : codes.y) >> i % 2 * 16;
        pair[i] = bf16_pair(e4m3_float((uint8_t)two), e4m3_float((uint8_t)(two >> 8)));
    }
    to[at] = make_uint4(pair[0], pair[1], pair[2], pair[3]);
}

/* SIZE: numbers of a head that are computed. */
template <int SIZE> using layout = online_layout<SIZE, 64, 2, 4, 1>;

template <int SIZE>
static __global__ void __launch_bounds__(layout<SIZE>::threads, 2)
    attention_fp8_mma(const struct arguments args)
{
    const int heads = args.of.heads, head = blockIdx.x % heads;
    const float scale = args.scale * args.scales[head] * args.scales[heads + head];
    online_block<uint16_t, SIZE, 64, 2, 4, 1>(args.of, scale, args.scales[2 * heads + head],
                                              args.causal, args.of.size);
}

static const char *supports(const struct assay_shape *shape)
{
    int64_t size = shape->value[AFP8_HEAD_SIZE];
    return size % PIECE || size > 128 ? "made for head sizes in multiples of 8 up to 128" : NULL;
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return shape->value[AFP8_HEAD_SIZE] > 64 ? layout<128>::bytes : layout<64>::bytes;
}

static int64_t numbers_of(const struct assay_shape *shape)
{
    const int64_t *value = shape->value;
    return 3 * value[AFP8_BATCH] * value[AFP8_TOKENS] * value[AFP8_HEADS] * value[AFP8_HEAD_SIZE];
}

static int setup(struct assay_call *call)
{
    const int64_t bytes = shared_bytes(call->shape);
    const bool wide = bytes == layout<128>::bytes;
    if (cuda_allow_shared(wide ? (const void *)attention_fp8_mma<128>
                               : (const void *)attention_fp8_mma<64>,
                          bytes))
        return -1;
    return device_memory(call, &call->state, 2 * numbers_of(call->shape), "q, k and v in bf16");
}

template <int SIZE> static void enqueue(const struct arguments &args, cudaStream_t stream)
{
    dim3 grid((unsigned)(args.of.batch * args.of.heads),
              gpt_blocks(args.of.tokens, layout<SIZE>::queries));
    attention_fp8_mma<SIZE><<<grid, layout<SIZE>::threads, layout<SIZE>::bytes, stream>>>(args);
}

static int launch(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    const int64_t width = value[AFP8_HEADS] * value[AFP8_HEAD_SIZE];
    const int64_t pieces = numbers_of(call->shape) / PIECE;
    const int size = (int)value[AFP8_HEAD_SIZE];
    cudaStream_t stream = (cudaStream_t)call->stream;
    const struct arguments args = {{call->state, call->buffer[AFP8_Y], 3 * width, width,
                                    (int)value[AFP8_BATCH], (int)value[AFP8_HEADS],
                                    (int)value[AFP8_TOKENS], size},
                                   (const float *)call->buffer[AFP8_SCALES],
                                   attention_scale(size),
                                   value[AFP8_MASK] == AFP8_CAUSAL};
    widen<<<gpt_blocks(pieces, THREADS), THREADS, 0, stream>>>(
        (const uint2 *)call->buffer[AFP8_QKV], (uint4 *)call->state, pieces);
    if (size > 64)
        enqueue<128>(args, stream);
    else
        enqueue<64>(args, stream);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "attention_fp8",
    .name = "mma",
    .summary = "widened to bf16, then one kernel by mma.sync as in attention",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
