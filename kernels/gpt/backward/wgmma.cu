/*
 * wgmma.cu - attention_backward on Hopper's tensor cores, after Dao, "FlashAttention-2" (ICLR
 * 2024, section 3.1.2) and Shah and others, "FlashAttention-3" (NeurIPS 2024), without atomics.
 *
 * Two launches. The first has delta = dy . y of each query, beside its lse in powers of 2. In the
 * second, half of the blocks have 128 keys each and go over the queries from these on, for dk and
 * dv; the other half have 128 queries and go over the keys up to these, for dq. Scores and weights
 * of a pair are thus computed twice: seven products in place of five. In return no sum goes through
 * memory, every launch gives the same bits, nothing has to be cleared before nor converted after,
 * and nothing is written to shared memory but by TMA. Papers have dq added to memory by atomics
 * (section 3.1.2): a float per query, number and tile of keys.
 *
 * One thread of a further warpgroup fetches the block's own rows and the tiles of the others by
 * TMA into a ring of stages, as in attention_online_wgmma.cu. Of two warpgroups one computes
 * weights while the other's products run. Blocks with the most tiles come first, and as many heads
 * together as fit L2 (attention_order.h).
 *
 * Operations: 14 d per pair in bf16, of which 10 d count, and two exponentials. Bytes: both rows
 * of each token once per block of 128, from L2.
 *
 * Predicted for an H200, head size 128: a tile of 64 x 64 takes a warpgroup 1024 cycles of products
 * in the pass of keys and 768 in that of queries; at 80 % of the tensor cores' 4096 operations per
 * cycle and 1.7 GHz that is 735 TFLOP/s of products, 525 of counted operations. Nobody has measured
 * it yet.
 */
#include "wgmma_prepare.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <typename KEY_PASS, typename QUERY_PASS>
static __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    both_passes(const __grid_constant__ struct backward_plan plan)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char backward_shared[];
    const int align = KEY_PASS::align, works = plan.order.works;
    const uint32_t base = (hopper_shared(backward_shared) + align - 1) / align * align;
    auto init = [&]() {
        backward_barriers<KEY_PASS>(base);
        backward_barriers<QUERY_PASS>(base);
    };
    auto produce = [&]() {
        int index = backward_produce<KEY_PASS>(plan, base, blockIdx.x, 0, works);
        backward_produce<QUERY_PASS>(plan, base, index, works, 2 * works);
    };
    auto consume = [&](int group) {
        backward_works<KEY_PASS>(plan, base, [&](auto memory, const struct backward_work &work) {
            backward_consume<KEY_PASS>(plan, memory, work, group);
        });
        backward_works<QUERY_PASS>(plan, base, [&](auto memory, const struct backward_work &work) {
            backward_consume<QUERY_PASS>(plan, memory, work, group);
        });
    };
    backward_block(init, produce, consume);
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- host side -- */

typedef void both_kernel(const struct backward_plan plan);

struct choice {
    both_kernel *kernel;
    int bytes;
};

template <typename KEY_PASS, typename QUERY_PASS> static struct choice choice_of(void)
{
    return (struct choice){both_passes<KEY_PASS, QUERY_PASS>, KEY_PASS::bytes > QUERY_PASS::bytes
                                                                  ? KEY_PASS::bytes
                                                                  : QUERY_PASS::bytes};
}

/* The largest tiles for which registers suffice. */
static struct choice choose(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_HEAD_SIZE] == 64)
        return choice_of<backward_pass<64, 64, true, BACKWARD_AHEAD>,
                         backward_pass<64, 128, false, BACKWARD_AHEAD>>();
    return choice_of<backward_pass<128, 64, true, BACKWARD_LATE>,
                     backward_pass<128, 128, false, BACKWARD_LATE>>();
}

static int setup(struct assay_call *call)
{
    struct choice choice = choose(call->shape);
    if (cuda_allow_shared((const void *)choice.kernel, choice.bytes)) return -1;
    return device_memory(call, &call->state, backward_row_bytes(call->shape), "lse and delta");
}

template <int SIZE> static int enqueue(const struct assay_call *call)
{
    struct backward_plan plan;
    if (backward_prepare<SIZE>(call, &plan, call->state, NULL)) return -1;
    struct choice choice = choose(call->shape);
    choice.kernel<<<backward_grid(2 * plan.order.works), BLOCK_THREADS, choice.bytes,
                    (cudaStream_t)call->stream>>>(plan);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    return call->shape->value[ATTENTION_HEAD_SIZE] == 128 ? enqueue<128>(call) : enqueue<64>(call);
}

static const struct assay_variant variant = {
    .operation = "attention_backward",
    .name = "wgmma",
    .summary = "keys and queries in passes of their own, on Hopper's tensor cores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = backward_wgmma_supports,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
