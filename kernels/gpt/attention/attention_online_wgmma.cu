/*
 * attention_online_wgmma.cu - one kernel on Hopper's tensor cores, after Shah and others,
 * "FlashAttention-3" (NeurIPS 2024): warps that only fetch (section 3.1), warpgroups that take
 * turns on the tensor cores (3.1), and weights of a tile computed while the products of its
 * neighbours run (3.2, algorithm 2).
 *
 * Fetching. A block has 64 queries for each warpgroup that computes. One thread of a further
 * warpgroup fetches tiles of 80 to 128 keys and as many values by TMA into a ring of stages; one
 * mbarrier says that a tile has arrived, another that its stage is free. The tensor map describes
 * q, k and v as they are in memory, so rows behind the last token of a sequence arrive as zeros,
 * and so do numbers behind a head that is narrower than its tile.
 *
 * Computing. Scores are a product with both operands in shared memory. Their accumulators, as
 * weights in pairs, serve as the left operand of the second product without being moved. A
 * warpgroup issues the scores of one tile and the sums of the tile before, waits for the scores
 * alone, and computes their weights while the sums run.
 *
 * Order. Keys are taken backwards, so that the tile on the diagonal, the only one that is masked,
 * comes first: 64 queries never straddle a tile of 128 keys, and smaller tiles mask a second one
 * where they do. The sums are scaled only where a row of the warp met a larger score, which gets
 * rare after some tiles; elsewhere the factor is exactly 1. Where queries are few, a block has
 * fewer warpgroups, so that more multiprocessors have one. Blocks are persistent: the queries and
 * first keys of the next unit of work arrive while this one is finished. One warpgroup alone takes
 * the kernel of two, without their turns.
 *
 * Operations: 4 d per pair in bf16, and an exponential; the tile on the diagonal is computed
 * whole, which adds one part in tokens / 127. Bytes: q and y once; k and v once per block of
 * queries, from L2: 64 KiB for 128 x 128 pairs of 128 numbers, 5 TB/s at 640 TFLOP/s.
 *
 * Predicted for 132 multiprocessors at 1.7 GHz: at head size 128 a tile's products take 2048
 * cycles and its exponentials 1024, at 16 per cycle, so side by side the products are the limit:
 * at 80 % of their rate about 700 TFLOP/s. At head size 64 both take 1024 cycles, and the other
 * instructions of a score take as long again, so half of that.
 *
 * Head sizes. Between 64 and 96 a lane has 160 registers, enough for the sums, the scores and the
 * weights of 112 keys; with 128 the compiler would let no products overlap. At 256 the sums alone
 * take 128 registers and a tile 512 bytes per key, so 80 keys, and no room for the next queries.
 * The scores of 64 queries and 80 keys read 115 bytes of shared memory per cycle, nearly all that
 * it gives: predicted 550 TFLOP/s at 256 and 450 at 80 and 96, measured more (below).
 *
 * Measured on an H200, cold, causal, batch times tokens 16k, heads times d 2048: at 128 712
 * TFLOP/s for 16k tokens, 581 for 2k and 356 for 512; at 64 589 for 16k and 444 for 2k. With 16
 * heads and 16k tokens at 80, 96 and 256 593, 656 and 789; cuDNN 422, 493 and 694. Three warpgroups
 * hide more than predicted. Short sequences are limited by the beginning and end of each unit of
 * work, where nothing runs beside the exponentials.
 */
#include <stdio.h>
#include <stdlib.h>

#include "attention_wgmma.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/tensor_map.h"

/* ------------------------------------------------------------------- kernel -- */

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <typename layout>
static __global__ void __launch_bounds__(layout::threads, 1)
    online(const __grid_constant__ CUtensorMap queries, const __grid_constant__ CUtensorMap tiles,
           const __grid_constant__ struct attention args,
           const __grid_constant__ struct attention_order order, int *taken, float scale)
{
#ifdef HOPPER_CODE
    const int groups = layout::groups == 2 ? (int)blockDim.x / GROUP_THREADS - 1 : layout::groups;
    extern __shared__ unsigned char attention_memory[];
    uint32_t start = (uint32_t)__cvta_generic_to_shared(attention_memory);
    online_memory<layout> memory = {(start + layout::slack - 1) / layout::slack * layout::slack};
    if (threadIdx.x == 0) {
        hopper_prefetch(&queries);
        hopper_prefetch(&tiles);
        memory.begin(groups);
    }
    __syncthreads();
    int group = __shfl_sync(0xffffffffu, threadIdx.x / GROUP_THREADS, 0);
    if (group == groups) {
        hopper_registers_give<layout::groups == 2 ? 24 : 32>();
        if (threadIdx.x % GROUP_THREADS == 0)
            online_produce<layout>(memory, queries, tiles, args, order, taken);
    } else {
        hopper_registers_take<layout::groups == 2 ? 240 : 160>();
        online_consume<layout>(memory, args, order, scale, group, groups);
    }
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- host side -- */

typedef void online_kernel(const CUtensorMap queries, const CUtensorMap tiles,
                           const struct attention args, const struct attention_order order,
                           int *taken, float scale);

struct choice {
    online_kernel *kernel;
    int size, groups, keys, bytes;
};

template <typename layout> static constexpr struct choice choice_of(int groups)
{
    return {online<layout>, layout::size, groups, layout::keys, layout::bytes};
}

/* About how long all takes: a tile of three warpgroups takes 1.4 times as long as one of one (on an
 * H200, at head size 64), and so long as the longest unit of work is the least. */
static double time_of(const struct choice &choice, const struct attention *args)
{
    const int queries = ROWS * choice.groups;
    double tiles = 0, longest = 0;
    for (int first = 0; first < args->tokens; first += queries) {
        int last = first + queries < args->tokens ? first + queries : args->tokens;
        tiles += longest = (last + choice.keys - 1) / choice.keys;
    }
    double share = tiles * args->batch * args->heads / assay_card()->multiprocessors;
    return (4 + choice.groups) * choice.keys * fmax(longest, share);
}

static const struct choice bf16_choices[] = {
    choice_of<online_layout<uint16_t, 64, 128, 3, 4>>(3),
    choice_of<online_layout<uint16_t, 64, 128, 2, 4>>(2),
    choice_of<online_layout<uint16_t, 64, 128, 2, 4>>(1),
    choice_of<online_layout<uint16_t, 80, 112, 3, 2>>(3),
    choice_of<online_layout<uint16_t, 80, 128, 2, 2>>(2),
    choice_of<online_layout<uint16_t, 80, 128, 2, 2>>(1),
    choice_of<online_layout<uint16_t, 96, 112, 3, 2>>(3),
    choice_of<online_layout<uint16_t, 96, 128, 2, 2>>(2),
    choice_of<online_layout<uint16_t, 96, 128, 2, 2>>(1),
    choice_of<online_layout<uint16_t, 128, 128, 2, 2>>(2),
    choice_of<online_layout<uint16_t, 128, 128, 2, 2>>(1),
    choice_of<online_layout<uint16_t, 256, 80, 2, 2>>(2),
    choice_of<online_layout<uint16_t, 256, 80, 2, 2>>(1),
};

/* None of their own for sizes between 64 and 128, where no table has fp16: each kernel costs half a
 * second of compilation. */
static const struct choice fp16_choices[] = {
    choice_of<online_layout<fp16_t, 64, 128, 3, 4>>(3),
    choice_of<online_layout<fp16_t, 64, 128, 2, 4>>(2),
    choice_of<online_layout<fp16_t, 64, 128, 2, 4>>(1),
    choice_of<online_layout<fp16_t, 128, 128, 2, 2>>(2),
    choice_of<online_layout<fp16_t, 128, 128, 2, 2>>(1),
    choice_of<online_layout<fp16_t, 256, 80, 2, 2>>(2),
    choice_of<online_layout<fp16_t, 256, 80, 2, 2>>(1),
};

/* The fastest of the first size that is not smaller. */
template <int COUNT>
static struct choice choice_for(const struct choice (&choices)[COUNT], const struct attention *args)
{
    const struct choice *best = choices, *end = choices + COUNT;
    while (best->size < args->size)
        best++;
    for (const struct choice *next = best + 1; next < end && next->size == best->size; next++)
        if (time_of(*next, args) < time_of(*best, args)) best = next;
    return *best;
}

struct plan {
    struct choice choice;
    struct attention_order order;
    int *taken; /* on the device: works taken beside the first ones; 0 between launches */
    int grid;
};

static const char *supports(const struct assay_shape *shape)
{
    if (gpt_bytes(shape->value[ATTENTION_PRECISION]) != 2) return "bf16 and fp16 only";
    return shape->value[ATTENTION_HEAD_SIZE] % 8 ? "made for head sizes in multiples of 8" : NULL;
}

static int prepare(struct plan *plan, const struct attention *args, int64_t precision)
{
    plan->choice =
        precision == GPT_FP16 ? choice_for(fp16_choices, args) : choice_for(bf16_choices, args);
    plan->order = attention_order_of(args->batch * args->heads, args->tokens, 4 * args->size,
                                     ROWS * plan->choice.groups);
    if (cuda_allow_shared((const void *)plan->choice.kernel, plan->choice.bytes)) return -1;
    int processors = assay_card()->multiprocessors;
    plan->grid = plan->order.works < processors ? plan->order.works : processors;
    return 0;
}

static int setup(struct assay_call *call)
{
    struct attention args = attention_args(call);
    struct plan *plan = (struct plan *)calloc(1, sizeof *plan);
    if (!plan) return assay_error("out of memory");
    call->state = plan;
    if (prepare(plan, &args, call->shape->value[ATTENTION_PRECISION])) return -1;
    (void)snprintf(call->note, sizeof call->note, "%dx%d", ROWS * plan->choice.groups,
                   plan->choice.keys);
    call->workspace_bytes += sizeof *plan->taken;
    if (assay_cuda(cudaMalloc((void **)&plan->taken, sizeof *plan->taken), "cudaMalloc")) return -1;
    return assay_cuda(cudaMemset(plan->taken, 0, sizeof *plan->taken), "cudaMemset");
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    struct attention args = attention_args(call);
    float scale = attention_scale(args.size);
    /* Heads of q, then of k, then of v. */
    const struct tensor_map_heads heads = {
        args.qkv, args.batch, args.tokens, 3 * args.heads, args.size, args.stride, 2};
    CUtensorMap queries, tiles;
    if (tensor_map_init_heads(&queries, &heads, ROWS)) return -1;
    if (tensor_map_init_heads(&tiles, &heads, plan->choice.keys)) return -1;
    const int threads = GROUP_THREADS * (plan->choice.groups + 1);
    plan->choice.kernel<<<plan->grid, threads, plan->choice.bytes, (cudaStream_t)call->stream>>>(
        queries, tiles, args, plan->order, plan->taken, scale);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct plan *plan = (struct plan *)call->state;
    if (plan) (void)cudaFree(plan->taken);
    free(plan);
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "online_wgmma",
    .summary = "one kernel on Hopper's tensor cores, tiles by TMA",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
