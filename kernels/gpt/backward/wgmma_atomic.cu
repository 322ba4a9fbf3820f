/*
 * wgmma_atomic.cu - attention_backward on Hopper's tensor cores with five products, after Dao,
 * "FlashAttention-2" (ICLR 2024, section 3.1.2) and Shah and others, "FlashAttention-3" (NeurIPS
 * 2024, section 3): the pass of keys of wgmma.cuh, which also adds ds k to dq.
 *
 * dq is summed in fp32 in memory, by atomics of four floats, and then rounded. The order of these
 * sums, and so the last bits of dq, differ from launch to launch. The sums of a tile lie in the
 * order of the registers that they come from, so that a warp adds 512 bytes in one piece.
 *
 * For the fifth product ds has its columns as rows: each thread writes its ds to shared memory as
 * [keys][queries] in bf16, in the swizzle of TMA, and the tensor cores read it across. Both
 * warpgroups need all of it, each for half of the numbers of dq, so they meet at a barrier in each
 * tile; the buffer is double, so that once is enough.
 *
 * Beside the products of the two warpgroups run: the exponentials, beside dp; ds, beside the sums
 * of dv; the atomics, beside the sums of dk.
 *
 * Operations: 10 d per pair in bf16, and an exponential. Bytes: those of a pass of keys; 4 d per
 * query and 128 keys added through L2; dq cleared, read and rounded, 10 bytes per number.
 *
 * Predicted for an H200 at head size 128: 2560 cycles of products for a tile of 128 keys and 64
 * queries, and about 400 in which none run: 790 TFLOP/s of counted operations at 1.7 GHz, which
 * power will not allow; 600 at 16k tokens, and less than wgmma at 512. Nobody has measured it yet.
 */
#include "wgmma_prepare.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"

enum {
    COLUMNS = 64, /* queries of a tile */
    MEETING = 1,  /* named barrier of the warpgroups that compute */
    COMPUTING = GROUPS * WGMMA_THREADS,
};

/* ------------------------------------------------------------------ kernels -- */

/* Its sums of dq are [line][tile of queries][warpgroup][d / 16][thread][4]. */
template <int SIZE> using atomic_pass = backward_pass<SIZE, COLUMNS, true, BACKWARD_ATOMIC>;

#ifdef HOPPER_CODE

/* A thread's ds to shared memory: its words are queries 8 j + lane % 4 * 2 and the next one, of the
 * keys lane / 4 and that plus 8. */
template <int COUNT>
static __device__ __forceinline__ void put_ds(uint32_t to, const uint32_t (&ds)[COUNT], int row,
                                              int lane)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        hopper_put(to + (row + i % 2 * 8) * WGMMA_ROW_BYTES + (i / 2 ^ lane / 4) * 16 +
                       lane % 4 * 4,
                   (int)ds[i]);
    }
}

template <int COUNT>
static __device__ __forceinline__ void add_sums(float *to, const float (&sum)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + i * WGMMA_THREADS),
                     "f"(sum[i]), "f"(sum[i + 1]), "f"(sum[i + 2]), "f"(sum[i + 3])
                     : "memory");
}

template <int SIZE>
static __device__ __forceinline__ void consume(const struct backward_plan &plan,
                                               const backward_memory<atomic_pass<SIZE>> memory,
                                               const struct backward_work &work, int group)
{
    typedef atomic_pass<SIZE> PASS;
    const int lane = threadIdx.x % 32;
    const int first = work.own + group * BOX, warp_row = threadIdx.x / 32 % 4 * 16 + lane / 4;
    const int panel = OWN * WGMMA_ROW_BYTES; /* of own operands, and of ds */
    const uint32_t own0 = memory.own(0) + group * BOX * WGMMA_ROW_BYTES;
    const uint32_t own1 = memory.own(1) + group * BOX * WGMMA_ROW_BYTES;
    /* Half of the numbers of the keys: a panel, or 64 bytes of the only one. */
    const uint64_t keys =
        wgmma_tile_across(memory.own(0) + group * (SIZE == 128 ? panel : SIZE), panel);
    float s[COLUMNS / 2], dp[COLUMNS / 2], dk[SIZE / 2], dv[SIZE / 2], dq[SIZE / 4];
    uint32_t p[COLUMNS / 4], ds[COLUMNS / 4];
    backward_column<PASS> lse = {}, delta = {};
#pragma unroll
    for (int i = 0; i < SIZE / 2; i++)
        dk[i] = dv[i] = 0.0f;

    for (int n = 0; n < work.tiles; n++) {
        int tile = work.tile + n;
        lse.at = memory.lse(n), delta.at = memory.delta(n);
        hopper_barrier_wait(memory.there(n), memory.phase(n));
        wgmma_pin(s);
        wgmma_pin(dp);
        wgmma_begin();
        backward_scores<SIZE>(s, own0, memory.tile(n, 0));
        backward_scores<SIZE>(dp, own1, memory.tile(n, 1));
        wgmma_wait<1>();
        wgmma_pin(s);
        backward_weigh(s, lse, plan.scale, first, tile * COLUMNS);
        backward_pack(p, s);
        backward_add<SIZE>(dv, p, memory.tile(n, 1));
        wgmma_wait<1>();
        wgmma_pin(dp);
        backward_differ<PASS>(dp, s, delta);
        backward_pack(ds, dp);
        put_ds(memory.ds(n), ds, group * BOX + warp_row, lane);
        hopper_store_fence();
        hopper_turn_wait(MEETING, COMPUTING);

        uint64_t a = wgmma_tile_across(memory.ds(n), panel);
        wgmma_pin(dq);
        wgmma_begin();
#pragma unroll
        for (int step = 0; step < OWN / 16; step++)
            wgmma_step(wgmma_bf16_both_across(), dq, wgmma_down(a, step), wgmma_down(keys, step),
                       step > 0);
        wgmma_commit();
        backward_add<SIZE>(dk, ds, memory.tile(n, 0));
        wgmma_wait<1>();
        wgmma_pin(dq);
        add_sums(plan.sums +
                     (((int64_t)work.line * (plan.padded / COLUMNS) + tile) * GROUPS + group) *
                         atomic_pass<SIZE>::sums +
                     threadIdx.x % WGMMA_THREADS * 4,
                 dq);
        wgmma_wait<0>();
        wgmma_pin(dk);
        wgmma_pin(dv);
        if (n + 1 < work.tiles && lane == 0) hopper_barrier_arrive(memory.free(n));
    }
    backward_release(memory, work.tiles - 1);
    backward_store(plan, work.line, 1, 0, first + warp_row, dk, rsqrtf((float)SIZE));
    backward_store(plan, work.line, 2, 0, first + warp_row, dv, 1.0f);
}

#endif

/* Skipped where there is no code for sm_90a, so the trap is never met. */
template <int SIZE>
static __global__ void __launch_bounds__(BLOCK_THREADS, 1)
    all_products(const __grid_constant__ struct backward_plan plan)
{
#ifdef HOPPER_CODE
    typedef atomic_pass<SIZE> PASS;
    extern __shared__ unsigned char backward_shared[];
    const uint32_t base =
        (hopper_shared(backward_shared) + PASS::align - 1) / PASS::align * PASS::align;
    backward_block([&]() { backward_barriers<PASS>(base); },
                   [&]() { backward_produce<PASS>(plan, base, blockIdx.x, 0, plan.order.works); },
                   [&](int group) {
                       backward_works<PASS>(plan, base,
                                            [&](auto memory, const struct backward_work &work) {
                                                consume<SIZE>(plan, memory, work, group);
                                            });
                   });
#else
    __trap();
#endif
}

/* One block per tile of queries and warpgroup: its sums to dq. */
template <int SIZE>
static __global__ void __launch_bounds__(WGMMA_THREADS) round_dq(const struct backward_plan plan)
{
    int tiles = plan.padded / COLUMNS, group = blockIdx.x % GROUPS;
    int tile = blockIdx.x / GROUPS % tiles, line = blockIdx.x / GROUPS / tiles;
    int row = tile * COLUMNS + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    const float4 *from =
        (const float4 *)(plan.sums + (int64_t)blockIdx.x * atomic_pass<SIZE>::sums) + threadIdx.x;
    float sum[SIZE / 4];
#pragma unroll
    for (int i = 0; i < SIZE / 16; i++) {
        float4 v = __ldcs(from + i * WGMMA_THREADS);
        sum[4 * i] = v.x, sum[4 * i + 1] = v.y, sum[4 * i + 2] = v.z, sum[4 * i + 3] = v.w;
    }
    backward_store(plan, line, 0, group * (SIZE / GROUPS), row, sum, rsqrtf((float)SIZE));
}

/* ---------------------------------------------------------------- host side -- */

static int64_t sum_bytes(const struct assay_shape *shape)
{
    return backward_lines(shape) * backward_padded(shape) * shape->value[ATTENTION_HEAD_SIZE] *
           (int64_t)sizeof(float);
}

static int setup(struct assay_call *call)
{
    bool wide = call->shape->value[ATTENTION_HEAD_SIZE] == 128;
    if (wide ? cuda_allow_shared((const void *)all_products<128>, atomic_pass<128>::bytes)
             : cuda_allow_shared((const void *)all_products<64>, atomic_pass<64>::bytes))
        return -1;
    return device_memory(call, &call->state,
                         sum_bytes(call->shape) + backward_row_bytes(call->shape),
                         "sums of dq, lse and delta");
}

template <int SIZE> static int enqueue(const struct assay_call *call)
{
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t bytes = sum_bytes(call->shape);
    unsigned parts = (unsigned)(bytes / (atomic_pass<SIZE>::sums * (int64_t)sizeof(float)));
    struct backward_plan plan;
    if (backward_prepare<SIZE>(call, &plan, (char *)call->state + bytes, (float *)call->state))
        return -1;
    all_products<SIZE>
        <<<backward_grid(plan.order.works), BLOCK_THREADS, atomic_pass<SIZE>::bytes, stream>>>(
            plan);
    round_dq<SIZE><<<parts, WGMMA_THREADS, 0, stream>>>(plan);
    return assay_launched();
}

static int launch(struct assay_call *call)
{
    return call->shape->value[ATTENTION_HEAD_SIZE] == 128 ? enqueue<128>(call) : enqueue<64>(call);
}

static const struct assay_variant variant = {
    .operation = "attention_backward",
    .name = "wgmma_atomic",
    .summary = "a pass of keys on Hopper's tensor cores, dq by atomics",
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
