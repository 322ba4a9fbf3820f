/*
 * wgmma.cu - attention_backward on Hopper's tensor cores, after Dao, "FlashAttention-2" (ICLR 2024,
 * section 3.1.2) and Shah and others, "FlashAttention-3" (NeurIPS 2024, section 3).
 *
 * Three launches. The first has delta = dy . y of each query, beside its lse in powers of 2, and
 * clears the sums of dq. In the second each block has 128 keys and goes over the queries from these
 * on: five products, of which four are for dk and dv (wgmma.cuh), and ds k is added to dq in fp32
 * in memory, by atomics of four floats. The third rounds dq. The order of the sums, and so the last
 * bits of dq, differ from launch to launch. The sums of a tile lie in the order of the registers
 * that they come from, so that a warp adds 512 bytes in one piece.
 *
 * For the fifth product ds has its columns as rows: each thread writes its ds to shared memory as
 * [keys][queries] in bf16, in the swizzle of TMA, and the tensor cores read it across. Both
 * warpgroups need all of it, each for half of the numbers of dq, so they meet at a barrier in each
 * tile; the buffer is double, so that once is enough.
 *
 * Beside the products of the two warpgroups run: the exponentials, beside dp; ds, beside the sums
 * of dv; the atomics, beside the sums of dk. Blocks stay, as in attention_online_wgmma.cu: a thread
 * of a further warpgroup fetches by TMA, and the next keys arrive while dk and dv are stored. Works
 * are handed out as blocks become free, those with the most tiles first, and as many heads together
 * as fit L2 with their sums (attention_order.h). Blocks of the second and third launch are placed
 * while the one before ends (dependent_launch.cuh), but not with heads of 64 and 128 numbers, whose
 * kernels have no such wait: 1 x 16 x 16k x 128 took 5 % longer by it, 8 x 12 x 128 x 64 7 % less.
 *
 * Head sizes. 32, 48, 64, 80, 96, 128, 192 or 256 numbers are computed: the first that are not
 * fewer. Tiles have panels of 64 numbers, which TMA fills with zeros behind the head. Each
 * warpgroup has 32 numbers of dq, above 64 a panel, because a product does not begin in the middle
 * of one and end in the next: at 80 and 96 the second warpgroup computes zeros too, which are not
 * added. Above 128 a block has 64 keys (wgmma_wide.cuh).
 *
 * Operations: 10 d per pair in bf16, and an exponential. Bytes: q and dy once per 128 keys, and as
 * many floats of dq added, through L2; sums cleared, read and rounded, 10 bytes per number of dq.
 *
 * Predicted for an H200 at head size 128: 2560 cycles of products for a tile of 128 keys and 64
 * queries, and 400 in which none run, so that power is the limit: 600 TFLOP/s at 16k tokens. In
 * the same way a tile takes 2450 cycles at 96, 2190 at 80, 1680 at 64, 1420 at 48, 1170 at 32.
 * Measured on an H200, cold, batch times tokens 16k, 16 heads: at head size 128 577 TFLOP/s for
 * 16k tokens, 522 for 4k, 447 for 2k, 342 for 1k, 225 for 512; at 64 466 for 16k, 413 for 4k, 274
 * for 1k. Short sequences are limited by what is moved beside the products: at 512 tokens of 128
 * numbers the first and the third launch move 470 MB, which takes 110 of 383 us at the bandwidth of
 * memory. Two passes in place of atomics (dq by blocks of queries: seven products, and the same
 * bits each time) were slower from 512 tokens on, by a fifth at 16k.
 */
#include <limits.h>

#include "wgmma_wide.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/tensor_map.h"
#include "kernels/cuda/dependent_launch.cuh"

enum { ROW_THREADS = 256, PADDED = 128 /* tokens of a sequence, to a multiple of these */ };

/* ------------------------------------------------------------------ kernels -- */

/* lse and delta of each query, and of the room behind the last: eight numbers of a row per lane,
 * and LANES, a power of two, of a row.
 * The sums of dq are cleared, whatever their order. Rows in the order of memory: sequence, token,
 * head. */
template <int LANES>
static __global__ void __launch_bounds__(ROW_THREADS)
    prepare(const struct backward_plan plan, int64_t count)
{
    dependent_release();
    if (blockIdx.x == 0 && threadIdx.x == 0) *plan.taken = 0;
    const int at = threadIdx.x % LANES * 8, padded = plan.padded;
    const struct attention &forward = plan.args.forward;
    const bool has = at < forward.size;
    int64_t index = ((int64_t)blockIdx.x * ROW_THREADS + threadIdx.x) / LANES;
    int64_t token = index / forward.heads % padded, batch = index / forward.heads / padded;
    int64_t line = batch * forward.heads + index % forward.heads;
    bool is_query = index < count && token < forward.tokens;
    float delta = 0.0f;
    if (is_query && has) {
        int64_t from = (batch * forward.tokens + token) * forward.stride_y +
                       index % forward.heads * forward.size + at;
        uint4 y = __ldg((const uint4 *)((const uint16_t *)forward.y + from));
        uint4 dy = __ldg((const uint4 *)((const uint16_t *)plan.args.dy + from));
        const uint32_t a[] = {y.x, y.y, y.z, y.w}, b[] = {dy.x, dy.y, dy.z, dy.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            delta = fmaf(gpt_float((uint16_t)a[i]), gpt_float((uint16_t)b[i]), delta);
            delta =
                fmaf(gpt_float((uint16_t)(a[i] >> 16)), gpt_float((uint16_t)(b[i] >> 16)), delta);
        }
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        delta += __shfl_xor_sync(0xffffffffu, delta, step);
    if (index >= count || !has) return;
    float4 *sums = (float4 *)(plan.sums + index * forward.size + at);
    sums[0] = sums[1] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (at > 0) return;
    float lse = is_query ? plan.args.lse[line * forward.tokens + token] : INFINITY;
    plan.lse[line * padded + token] = lse * GPT_LOG2_E;
    plan.delta[line * padded + token] = delta;
}

#ifdef HOPPER_CODE
/* A block: one thread fetches, GROUPS warpgroups compute each work that it announces. */
template <int SIZE, bool FULL>
static __device__ __forceinline__ void backward_block(const struct backward_plan &plan,
                                                      uint32_t base)
{
    backward_memory<SIZE> memory = {base, 0, 0};
    if (threadIdx.x == 0) {
        hopper_barrier_init(memory.own_there(), 1);
        hopper_barrier_init(memory.own_free(), 4 * GROUPS);
        for (int stage = 0; stage < backward_layout<SIZE>::STAGES; stage++) {
            hopper_barrier_init(memory.there(stage), 1);
            hopper_barrier_init(memory.free(stage), 4 * GROUPS);
        }
        hopper_barrier_publish();
    }
    if (!FULL) {
        dependent_release();
        dependent_wait();
    }
    __syncthreads();
    int group = __shfl_sync(0xffffffffu, threadIdx.x / WGMMA_THREADS, 0);
    if (group == GROUPS) {
        hopper_registers_give<PRODUCER_REGISTERS>();
        if (threadIdx.x % WGMMA_THREADS == 0) backward_produce<SIZE>(plan, base);
        return;
    }
    hopper_registers_take<CONSUMER_REGISTERS>();
    for (;; memory.works++) {
        hopper_barrier_wait(memory.own_there(), memory.works % 2);
        /* By the lane that releases it, because nothing else orders reads of others before the next
         * one is written there. */
        int index = threadIdx.x % 32 == 0 ? hopper_get(memory.index()) : 0;
        index = __shfl_sync(0xffffffffu, index, 0);
        if (index < 0) break;
        const struct backward_work work = backward_work_at<SIZE>(plan, index);
        if constexpr (SIZE <= 128)
            backward_consume<SIZE, FULL>(plan, memory, work, group);
        else
            backward_wide_consume<SIZE>(plan, memory, work, group);
        memory.tiles += work.tiles;
    }
}
#endif

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <int SIZE, bool FULL>
static __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    differentiate(const __grid_constant__ struct backward_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char backward_shared[];
    const int align = backward_layout<SIZE>::align;
    backward_block<SIZE, FULL>(plan, (hopper_shared(backward_shared) + align - 1) / align * align);
#else
    __trap();
#endif
}

/* One block per tile of queries and warpgroup, which has HALF numbers: its sums to dq. */
template <int HALF>
static __global__ void __launch_bounds__(WGMMA_THREADS) round_dq(const struct backward_plan plan)
{
    const int tiles = plan.padded / COLUMNS, column = blockIdx.x % GROUPS * HALF;
    const int tile = blockIdx.x / GROUPS % tiles, line = blockIdx.x / GROUPS / tiles;
    const int row = tile * COLUMNS + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    const int size = plan.args.forward.size;
    const float4 *from = (const float4 *)backward_sums(plan, line, tile, column, size);
    float sum[HALF / 2] = {};
    dependent_wait();
#pragma unroll
    for (int i = 0; i < HALF / 8; i++) {
        if (column + 8 * i >= size) continue;
        float4 v = __ldcs(from + i * WGMMA_THREADS);
        sum[4 * i] = v.x, sum[4 * i + 1] = v.y, sum[4 * i + 2] = v.z, sum[4 * i + 3] = v.w;
    }
    backward_store<false>(plan, line, 0, column, row, sum, rsqrtf((float)size));
}

/* ---------------------------------------------------------------- host side -- */

static int64_t padded_of(const struct assay_shape *shape)
{
    return (shape->value[ATTENTION_TOKENS] + PADDED - 1) / PADDED * PADDED;
}

static int64_t rows_of(const struct assay_shape *shape)
{
    return shape->value[ATTENTION_BATCH] * shape->value[ATTENTION_HEADS] * padded_of(shape);
}

static const char *supports(const struct assay_shape *shape)
{
    if (backward_precision(shape) != GPT_BF16) return "bf16 only";
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    if (size % 8) return "made for head sizes in multiples of 8";
    return rows_of(shape) > INT_MAX / 16 ? "more than 134217727 tokens of heads" : NULL;
}

typedef void backward_kernel(const struct backward_plan plan);

struct choice {
    int size; /* numbers of a head, at most */
    int own, bytes;
    bool early; /* its blocks, and those of round_dq, are placed while the launch before ends */
    backward_kernel *differentiate, *round_dq;
};

template <int SIZE, bool FULL = false> static constexpr struct choice choice_of(int size = SIZE)
{
    typedef backward_layout<SIZE> layout;
    return {
        size, layout::own, layout::bytes, !FULL, differentiate<SIZE, FULL>, round_dq<layout::half>};
}

static const struct choice choices[] = {
    choice_of<32>(),  choice_of<48>(),  choice_of<64>(56),   choice_of<64, true>(),
    choice_of<80>(),  choice_of<96>(),  choice_of<128>(120), choice_of<128, true>(),
    choice_of<192>(), choice_of<256>(),
};

/* The first that is not smaller. */
static const struct choice *choice_for(int64_t size)
{
    const struct choice *choice = choices;
    while (choice->size < size)
        choice++;
    return choice;
}

static int setup(struct assay_call *call)
{
    int64_t size = call->shape->value[ATTENTION_HEAD_SIZE], rows = rows_of(call->shape);
    const struct choice *choice = choice_for(size);
    if (cuda_allow_shared((const void *)choice->differentiate, choice->bytes)) return -1;
    int64_t floats = rows * (size + 2) + 1; /* sums, lse, delta, taken */
    return device_memory(call, &call->state, floats * (int64_t)sizeof(float), "sums of dq");
}

static int plan_make(struct backward_plan *plan, const struct assay_call *call, int own)
{
    int64_t rows = rows_of(call->shape);
    memset(plan, 0, sizeof *plan);
    const struct attention &forward = (plan->args = backward_args(call)).forward;
    plan->sums = (float *)call->state;
    plan->lse = plan->sums + rows * forward.size;
    plan->delta = plan->lse + rows;
    plan->taken = (int *)(plan->delta + rows);
    plan->padded = (int)padded_of(call->shape);
    plan->scale = attention_scale(forward.size);
    plan->order = attention_order_of(forward.batch * forward.heads, forward.tokens,
                                     8 * forward.size /* q, dy and sums */, own);
    struct tensor_map_heads heads = {forward.qkv,
                                     forward.batch,
                                     forward.tokens,
                                     3 * forward.heads,
                                     forward.size,
                                     forward.stride,
                                     2};
    if (tensor_map_init_heads(&plan->qkv, &heads, BOX)) return -1;
    heads.base = plan->args.dy, heads.heads = forward.heads, heads.stride = forward.stride_y;
    return tensor_map_init_heads(&plan->dy, &heads, BOX);
}

static int launch(struct assay_call *call)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t rows = rows_of(call->shape), size = call->shape->value[ATTENTION_HEAD_SIZE];
    const struct choice *choice = choice_for(size);
    const int lanes = size > 128 ? 32 : size > 64 ? 16 : 8;
    struct backward_plan plan;
    if (plan_make(&plan, call, choice->own)) return -1;
    int blocks = assay_card()->multiprocessors;
    if (blocks > plan.order.works) blocks = plan.order.works;
    auto *first = lanes == 32 ? prepare<32> : lanes == 16 ? prepare<16> : prepare<8>;
    first<<<gpt_blocks(rows, ROW_THREADS / lanes), ROW_THREADS, 0, stream>>>(plan, rows);
    if (assay_launched()) return -1;
    const unsigned last = gpt_blocks(rows, COLUMNS / GROUPS);
    if (!choice->early) {
        choice->differentiate<<<blocks, BLOCK_THREADS, choice->bytes, stream>>>(plan);
        choice->round_dq<<<last, WGMMA_THREADS, 0, stream>>>(plan);
        return assay_launched();
    }
    if (dependent_launch(choice->differentiate, (unsigned)blocks, BLOCK_THREADS,
                         (size_t)choice->bytes, stream, plan))
        return -1;
    return dependent_launch(choice->round_dq, last, WGMMA_THREADS, 0, stream, plan);
}

static const struct assay_variant variant = {
    .operation = "attention_backward",
    .name = "wgmma",
    .summary = "five products on Hopper's tensor cores, dq by atomics",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
