/*
 * model_whole.cuh - y = residual + act(norm(x) w^T + bias) in bf16 or fp16 on Hopper's tensor
 * cores, for tiles whose operands fit in shared memory whole: the layers of a model of up to 256
 * channels at 1024 rows, where no other kernel does the norm and no stage waits for another.
 *
 * Operations: 2 m n k. Bytes: 2 k (64 + COLUMNS) per tile, from L2: for 1024 x 256 x 1024 96 KiB,
 * 1500 cycles at 64 bytes per cycle, of which the two thirds that are w come before x is there. The
 * products take 1024 cycles, and the norm 1300: 640 instructions of each of eight warps. Each block
 * of columns repeats it for its 64 rows, which costs less than another kernel (2.4 us on an H200).
 *
 * A block has one tile of 64 rows. All of w is requested before the wait for the kernel before
 * (dependent_launch.cuh), all of x after it, by one lane of each warp (linear_swapped.cuh says what
 * that gains). Boxes of 128 bytes of k are swizzled as wgmma reads them; what is outside x or w is
 * zeros. Two warpgroups normalise the rows in place (model_ring_norm.cuh), then each multiplies
 * them by half of the tile's columns. Without a norm, products start when the first box has come.
 * Bias, gelu and residual meet the sums in registers; outputs go through shared memory, so that
 * they are stored 16 bytes at a time. Gelu takes nearly as long as the products, three special
 * functions for two outputs at 16 per cycle. So with it the warpgroups multiply one after the
 * other: 64 columns keep the tensor cores busy, and the gelu of the first is done beside the
 * products of the second.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "kernels/cuda/dependent_launch.cuh"
#include "kernels/gpt/mma_layout.h"
#include "model_ring_norm.cuh"

enum {
    WHOLE_ROWS = WGMMA_ROWS,
    WHOLE_GROUPS = 2,
    WHOLE_THREADS = WHOLE_GROUPS * WGMMA_THREADS,
    WHOLE_BOX = 64,                              /* of k */
    WHOLE_BOXES = 16,                            /* of k, at most */
    WHOLE_X_BYTES = WHOLE_ROWS * RING_ROW_BYTES, /* of a box */
    WHOLE_ALIGN = RING_ALIGN,
    WHOLE_SHARED_MAX = 226 << 10,
    /* Named barriers: the second warpgroup may multiply; the first of one for each group. */
    WHOLE_TURN = 1,
    WHOLE_READ = 2
};
static_assert((int)WHOLE_THREADS == (int)RING_LANES, "those that normalise");

struct whole_args {
    CUtensorMap x, w;
    const void *bias, *scale, *shift, *residual;
    void *y;
    int64_t ldr, ldy;
    int m, n, k;
    int gelu; /* no bytes without a value: a gate compares arguments whole */
};

template <typename T, int COLUMNS_> struct whole_config {
    using type = T;
    static constexpr int COLUMNS = COLUMNS_, W_BYTES = COLUMNS * RING_ROW_BYTES;
    /* A warpgroup's columns, and units of eight of them. */
    static constexpr int SHARE = COLUMNS / WHOLE_GROUPS, UNITS = SHARE / 8;
    /* From row to row of a warp's outputs in shared memory: an odd number of 16 bytes, so that
     * eight rows use different banks. */
    static constexpr int PITCH = (UNITS | 1) * 16;
    static_assert(UNITS * 8 * WHOLE_GROUPS == COLUMNS);
    static_assert(2 * 16 * PITCH <= SHARE * RING_ROW_BYTES,
                  "outputs of two warps take the place of their warpgroup's w of a box");
};

#ifdef HOPPER_CODE

/* Where a block's operands are in shared memory: all boxes of x, of w, then scale and shift. */
struct whole_memory {
    unsigned char *base;
    uint32_t x, w, full; /* full: a barrier for each box of both */
    int boxes;
};

/* Each warp: its share of the barriers, and the boxes of w. */
template <class CONFIG>
static __device__ __forceinline__ void whole_begin(const struct whole_args &args,
                                                   const whole_memory &memory)
{
    if (threadIdx.x % 32 != 0) return;
#pragma unroll 1
    for (int box = threadIdx.x / 32; box < memory.boxes; box += WHOLE_THREADS / 32) {
        const uint32_t full = memory.full + 8 * box;
        hopper_barrier_init(full, 1);
        hopper_barrier_publish();
        hopper_barrier_expect(full, WHOLE_X_BYTES + CONFIG::W_BYTES);
        hopper_load(memory.w + box * CONFIG::W_BYTES, &args.w, box * WHOLE_BOX,
                    blockIdx.y * CONFIG::COLUMNS, full);
    }
}

/* The same warps: the boxes of x. */
static __device__ __forceinline__ void whole_load_x(const struct whole_args &args,
                                                    const whole_memory &memory)
{
    if (threadIdx.x % 32 != 0) return;
#pragma unroll 1
    for (int box = threadIdx.x / 32; box < memory.boxes; box += WHOLE_THREADS / 32)
        hopper_load(memory.x + box * WHOLE_X_BYTES, &args.x, box * WHOLE_BOX,
                    blockIdx.x * WHOLE_ROWS, memory.full + 8 * box);
}

/* A warpgroup's sums. Afterwards nothing reads its part of w any more. */
template <class CONFIG>
static __device__ __forceinline__ void whole_multiply(float (&sum)[CONFIG::SHARE / 2],
                                                      const whole_memory &memory, int group,
                                                      bool turns)
{
    constexpr int STEPS = WGMMA_ROW_BYTES / WGMMA_STEP_BYTES;
    const uint64_t a = wgmma_tile(memory.x),
                   b = wgmma_tile(memory.w + group * CONFIG::SHARE * RING_ROW_BYTES);
    if (turns && group == 1) hopper_turn_wait(WHOLE_TURN, WHOLE_THREADS);
    for (int box = 0; box < memory.boxes; box++) {
        hopper_barrier_wait(memory.full + 8 * box, 0);
        wgmma_begin();
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            wgmma_step(typename CONFIG::type(), sum,
                       wgmma_ahead(a, i + box * (WHOLE_X_BYTES / WGMMA_STEP_BYTES)),
                       wgmma_ahead(b, i + box * (CONFIG::W_BYTES / WGMMA_STEP_BYTES)),
                       box > 0 || i > 0);
        wgmma_commit();
    }
    wgmma_wait<0>();
    wgmma_pin(sum);
    if (turns && group == 0) hopper_turn_pass(WHOLE_TURN, WHOLE_THREADS);
    hopper_turn_wait(WHOLE_READ + group, WGMMA_THREADS);
}

/* What a lane's sums meet: pairs of neighbouring columns, as the sums lie. Zeros outside of y. */
template <class CONFIG> struct whole_ends {
    using T = typename CONFIG::type;
    uint32_t bias[CONFIG::UNITS] = {}, residual[2][CONFIG::UNITS] = {};

    /* Before the wait for the kernel before. */
    __device__ __forceinline__ void load_bias(const struct whole_args &args, int column)
    {
        if (!args.bias) return;
        const uint32_t *from = (const uint32_t *)((const T *)args.bias + column);
#pragma unroll
        for (int i = 0; i < CONFIG::UNITS; i++)
            if (column + 8 * i < args.n) bias[i] = __ldg(from + 4 * i);
    }

    /* Before the products, so that nothing waits for it. */
    __device__ __forceinline__ void load_residual(const struct whole_args &args, int row,
                                                  int column)
    {
        if (!args.residual) return;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int64_t line = row + 8 * half;
            if (line >= args.m) break;
            const uint32_t *from =
                (const uint32_t *)((const T *)args.residual + line * args.ldr + column);
#pragma unroll
            for (int i = 0; i < CONFIG::UNITS; i++)
                if (column + 8 * i < args.n) residual[half][i] = from[4 * i];
        }
    }

    /* The sums become outputs. */
    __device__ __forceinline__ void finish(float (&sum)[CONFIG::SHARE / 2], bool gelu) const
    {
#pragma unroll
        for (int i = 0; i < CONFIG::SHARE / 2; i++) {
            const float2 add = gpt_unpack(T(), bias[i / 4]);
            sum[i] += i % 2 ? add.y : add.x;
        }
        if (gelu) {
#pragma unroll
            for (int i = 0; i < CONFIG::SHARE / 2; i += 2)
                gpt_gelu_two(sum[i], sum[i + 1]);
        }
#pragma unroll
        for (int i = 0; i < CONFIG::SHARE / 2; i++) {
            const float2 add = gpt_unpack(T(), residual[i % 4 / 2][i / 4]);
            sum[i] += i % 2 ? add.y : add.x;
        }
    }
};

/* A warp's 16 rows of outputs to y, through its own part of shared memory. */
template <class CONFIG>
static __device__ __forceinline__ void whole_store(const struct whole_args &args,
                                                   const float (&sum)[CONFIG::SHARE / 2],
                                                   unsigned char *own, int row, int column,
                                                   int lane)
{
    using T = typename CONFIG::type;
    constexpr int ROWS = 16, COUNT = ROWS * CONFIG::UNITS;
#pragma unroll
    for (int i = 0; i < CONFIG::SHARE / 2; i += 2)
        *(uint32_t *)(own + mma_row(lane, i % 4) * CONFIG::PITCH + 16 * (i / 4) +
                      2 * mma_column(lane, 0)) = gpt_pack(T(), sum[i], sum[i + 1]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < COUNT; i += 32) {
        const int line = (i + lane) / CONFIG::UNITS, unit = (i + lane) % CONFIG::UNITS;
        if (line < ROWS && row + line < args.m && column + 8 * unit < args.n)
            *(uint4 *)((T *)args.y + (row + line) * args.ldy + column + 8 * unit) =
                *(const uint4 *)(own + line * CONFIG::PITCH + 16 * unit);
    }
}

/* All threads: the rows, once they are there. */
template <typename T>
static __device__ __forceinline__ void whole_normalise(const whole_memory &memory, int k,
                                                       const T *scale, const T *shift)
{
    for (int box = 0; box < memory.boxes; box++)
        hopper_barrier_wait(memory.full + 8 * box, 0);
    const int whole = k / WHOLE_BOX;
    if (whole >= 4)
        ring_normalise<WHOLE_ROWS, 4>(memory.base, k, scale, shift);
    else if (whole == 3)
        ring_normalise<WHOLE_ROWS, 3>(memory.base, k, scale, shift);
    else if (whole == 2)
        ring_normalise<WHOLE_ROWS, 2>(memory.base, k, scale, shift);
    else
        ring_normalise<WHOLE_ROWS>(memory.base, k, scale, shift);
    hopper_store_fence(); /* wgmma reads what this thread has written */
    __syncthreads();
}

#endif

/* model_whole_refused excludes devices for which there is no body, so the trap is never reached. */
template <class CONFIG>
static __global__ void __launch_bounds__(WHOLE_THREADS, 2)
    whole_kernel(const __grid_constant__ struct whole_args args)
{
#ifdef HOPPER_CODE
    using T = typename CONFIG::type;
    extern __shared__ unsigned char whole_shared[];
    __shared__ uint64_t barriers[WHOLE_BOXES];
    whole_memory memory;
    memory.base = whole_shared + (-hopper_shared(whole_shared) & (uint32_t)(WHOLE_ALIGN - 1));
    memory.boxes = (args.k + WHOLE_BOX - 1) / WHOLE_BOX;
    memory.x = hopper_shared(memory.base);
    memory.w = memory.x + memory.boxes * WHOLE_X_BYTES;
    memory.full = hopper_shared(barriers);
    whole_begin<CONFIG>(args, memory);
    dependent_release();
    uint4 *scale = (uint4 *)(memory.base + memory.boxes * (WHOLE_X_BYTES + CONFIG::W_BYTES));
    uint4 *shift = scale + args.k / 8;
    for (int i = threadIdx.x; args.scale && i < args.k / 8; i += WHOLE_THREADS) {
        scale[i] = __ldg((const uint4 *)args.scale + i);
        shift[i] = __ldg((const uint4 *)args.shift + i);
    }
    const int warp = threadIdx.x / 32, group = warp / 4, lane = threadIdx.x % 32;
    const int row = blockIdx.x * WHOLE_ROWS + warp % 4 * 16,
              column = blockIdx.y * CONFIG::COLUMNS + group * CONFIG::SHARE;
    whole_ends<CONFIG> ends;
    ends.load_bias(args, column + mma_column(lane, 0));
    dependent_wait();
    whole_load_x(args, memory);
    __syncthreads(); /* the barriers are there, and the norm's weights */
    if (args.scale) whole_normalise(memory, args.k, (const T *)scale, (const T *)shift);
    ends.load_residual(args, row + mma_row(lane, 0), column + mma_column(lane, 0));
    float sum[CONFIG::SHARE / 2];
    whole_multiply<CONFIG>(sum, memory, group, args.gelu);
    ends.finish(sum, args.gelu);
    /* Two warps take a warpgroup's part of one box of w, the others that of the next. */
    const int place = memory.boxes * WHOLE_X_BYTES + warp % 4 / 2 * CONFIG::W_BYTES +
                      group * CONFIG::SHARE * RING_ROW_BYTES + warp % 2 * 16 * CONFIG::PITCH;
    whole_store<CONFIG>(args, sum, memory.base + place, row, column, lane);
#else
    __trap();
#endif
}
