/*
 * linear_swapped_store.cuh - the outputs of a tile of linear_swapped.cuh to y, from the registers
 * in which wgmma leaves them: a lane has neighbouring rows of y and every eighth column.
 */
#pragma once

#include "kernels/cuda/wgmma.cuh"
#include "kernels/gpt/mma_layout.h"
#include "linear_parts_finish.cuh"
#include "linear_store.cuh"
#include "linear_swapped.h"

#ifdef HOPPER_CODE

/* A block's tile, and its part of k. */
struct swapped_place {
    int band, column, rank;
};

/* Where its work is. */
struct swapped_work {
    int column, until; /* rows of w: the first, and the one behind the last */
    int row, rows;     /* of x: the first, and how many */
    int begin, end;    /* stages of k */
};

/* Two neighbouring outputs of a row of y, and the one with number `row` of the tile. */
struct swapped_pair {
    uint32_t word;
    int row;
};

/* Of a lane's two sums of neighbouring rows of y and its neighbour's of the next column, those of
 * one row: the lanes of even columns take the first. */
template <typename T>
static __device__ __forceinline__ swapped_pair swapped_turn(T type, float first, float second,
                                                            int row, int lane)
{
    const uint32_t own = gpt_pack(type, first, second), odd = (uint32_t)lane / 4 % 2;
    const uint32_t other = __shfl_xor_sync(0xffffffffu, own, 4);
    return {odd ? __byte_perm(other, own, 0x7632) : __byte_perm(own, other, 0x5410),
            row + (int)odd};
}

/* Outputs of a few rows, from registers to y. */
template <typename CONFIG, typename T>
static __device__ __forceinline__ void swapped_store(T type, const struct linear_operands &of,
                                                     const float (&sum)[CONFIG::X_ROWS / 2],
                                                     const swapped_work &work, int column, int lane)
{
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2; i += 2) {
        const swapped_pair pair =
            swapped_turn(type, sum[i], sum[i + 1], i / 4 * 8 + mma_column(lane, 0), lane);
        const int at = column + lane / 4 / 2 * 2 + i % 4 * 4;
        if (pair.row < work.rows && at < work.until)
            *(uint32_t *)((T *)of.y + (int64_t)(work.row + pair.row) * of.n + at) = pair.word;
    }
}

template <typename CONFIG>
static __device__ __forceinline__ void swapped_store(float, const struct linear_operands &of,
                                                     const float (&sum)[CONFIG::X_ROWS / 2],
                                                     const swapped_work &work, int column, int lane)
{
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2; i++) {
        const int row = i / 4 * 8 + mma_column(lane, i % 4), at = column + mma_row(lane, i % 4);
        if (row < work.rows && at < work.until)
            ((float *)of.y)[(int64_t)(work.row + row) * of.n + at] = sum[i];
    }
}

/* Outputs of a warp, `column` the first of its warpgroup's 64, to the warpgroup's panels. Of 16
 * bits: eight rows of y and eight columns at a time, turned on the way; lane l says where row l % 8
 * of its eight lies, the second eight columns and the second eight rows behind the first. */
template <typename CONFIG, typename T>
static __device__ __forceinline__ void swapped_put(T type, unsigned char *panels,
                                                   const float (&sum)[CONFIG::X_ROWS / 2],
                                                   int column, int lane)
{
    const int row = lane / 16 * 8 + lane % 8, chunk = column / 8 + lane / 8 % 2;
    const uint32_t at =
        hopper_shared(panels) + row * WGMMA_ROW_BYTES + mma_swizzle(row, chunk) * 16;
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS; i += 16) {
        const int from = i + 16 > CONFIG::X_ROWS ? CONFIG::X_ROWS - 16 : i; /* eight rows again */
        uint32_t word[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            word[j] = gpt_pack(type, sum[from / 2 + 2 * j], sum[from / 2 + 2 * j + 1]);
        hopper_matrices_turn(at + from * WGMMA_ROW_BYTES, word);
    }
}

template <typename CONFIG>
static __device__ __forceinline__ void swapped_put(float, unsigned char *panels,
                                                   const float (&sum)[CONFIG::X_ROWS / 2],
                                                   int column, int lane)
{
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2; i++) {
        const int at = column + mma_row(lane, i % 4), panel = at / CONFIG::PANEL;
        *(float *)linear_store_place(panels + panel * CONFIG::X_ROWS * WGMMA_ROW_BYTES,
                                     i / 4 * 8 + mma_column(lane, i % 4),
                                     4 * (at % CONFIG::PANEL)) = sum[i];
    }
}

/* A warpgroup: its panels to y, where the tile leaves out rows of w of it. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_copy_panels(const struct linear_operands &of,
                                                           unsigned char *panels,
                                                           const swapped_work &work, int column)
{
    using T = typename CONFIG::output;
    const int thread = threadIdx.x % WGMMA_THREADS, chunk = thread % 8;
    for (int panel = 0; panel < CONFIG::PANELS; panel++) {
        const int at = column + panel * CONFIG::PANEL + chunk * (16 / (int)sizeof(T));
        if (at >= work.until) return;
        for (int row = thread / 8; row < work.rows; row += WGMMA_THREADS / 8)
            *(uint4 *)((T *)of.y + (int64_t)(work.row + row) * of.n + at) =
                *(const uint4 *)linear_store_place(
                    panels + panel * CONFIG::X_ROWS * WGMMA_ROW_BYTES, row, 16 * chunk);
    }
}

/* A warpgroup's outputs to y through its panels at `own`, whole ones by TMA, which its first thread
 * starts. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_store_panels(const struct linear_swapped_plan &plan,
                                                            unsigned char *own,
                                                            const float (&sum)[CONFIG::X_ROWS / 2],
                                                            const swapped_work &work, int group,
                                                            int warp, int lane)
{
    constexpr int panel_bytes = CONFIG::X_ROWS * WGMMA_ROW_BYTES;
    const int column = work.column + group * WGMMA_ROWS;
    swapped_put<CONFIG>(typename CONFIG::output(), own, sum, warp * 16, lane);
    hopper_store_fence();
    hopper_turn_wait(1 + group, WGMMA_THREADS);
    if (plan.wide < (group + 1) * WGMMA_ROWS) {
        swapped_copy_panels<CONFIG>(plan.operands, own, work, column);
        return;
    }
    if (threadIdx.x % WGMMA_THREADS != 0) return;
    for (int i = 0; i < CONFIG::PANELS * CONFIG::BOXES; i++) {
        const int panel = i / CONFIG::BOXES, at = column + panel * CONFIG::PANEL;
        const int row = i % CONFIG::BOXES * (plan.rows / CONFIG::BOXES);
        if (at < plan.operands.n)
            hopper_store(&plan.y, hopper_shared(own + panel * panel_bytes + row * WGMMA_ROW_BYTES),
                         at, work.row + row);
    }
}

/* The biases of a lane's two columns, asked for before the sums begin, so that nothing waits for
 * them. Where the outputs are sums of parts, other threads add them, and find them nearby. */
template <typename T> struct swapped_bias {
    T upper, lower;
};

template <typename T>
static __device__ __forceinline__ swapped_bias<T> swapped_bias_of(const struct linear_operands &of,
                                                                  int column, int lane)
{
    const T *bias = (const T *)of.bias;
    if (!bias) return {};
    return {__ldg(bias + min(column + mma_row(lane, 0), (int)of.n - 1)),
            __ldg(bias + min(column + mma_row(lane, 2), (int)of.n - 1))};
}

template <typename CONFIG>
static __device__ __forceinline__ void swapped_add_bias(
    const struct linear_operands &of, float (&sum)[CONFIG::X_ROWS / 2],
    const swapped_bias<typename CONFIG::output> &bias)
{
    if (!of.bias) return;
    const float upper = gpt_float(bias.upper), lower = gpt_float(bias.lower);
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2; i++)
        sum[i] += i % 4 < 2 ? upper : lower;
}

/* Bias and epilogue of a lane's sums. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_act(
    const struct linear_operands &of, float (&sum)[CONFIG::X_ROWS / 2],
    const swapped_bias<typename CONFIG::output> &bias)
{
    swapped_add_bias<CONFIG>(of, sum, bias);
    if (CONFIG::FINISH == LINEAR_GELU) {
#pragma unroll
        for (int i = 0; i < CONFIG::X_ROWS / 2; i += 2)
            gpt_gelu_two(sum[i], sum[i + 1]);
    }
}

/* All threads of a block whose warpgroups have these sums; others have none. */
template <typename CONFIG>
static __device__ __forceinline__ void swapped_finish(const struct linear_swapped_plan &plan,
                                                      unsigned char *memory,
                                                      float (&sum)[CONFIG::X_ROWS / 2],
                                                      const swapped_work &work,
                                                      swapped_bias<typename CONFIG::output> bias,
                                                      const swapped_place &place)
{
    const int group = threadIdx.x / WGMMA_THREADS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool consumes = !CONFIG::BY_TMA || group < CONFIG::GROUPS;
    const int column = work.column + 16 * warp;
    if (plan.finish < LINEAR_SWAPPED_SUMS) swapped_act<CONFIG>(plan.operands, sum, bias);
    if (CONFIG::DIRECT && plan.finish == LINEAR_SWAPPED_DIRECT) {
        if (!consumes) return;
        swapped_store<CONFIG>(typename CONFIG::output(), plan.operands, sum, work, column, lane);
        return;
    }
    __syncthreads(); /* every warp's products have read the ring */
    if (!CONFIG::DIRECT && plan.finish == LINEAR_SWAPPED_PANELS) {
        if (!consumes) return;
        swapped_store_panels<CONFIG>(
            plan, memory + group * (CONFIG::PANELS * CONFIG::X_ROWS * WGMMA_ROW_BYTES), sum, work,
            group, warp % 4, lane);
        hopper_store_wait<0>();
        return;
    }
    float *shared = (float *)memory;
#pragma unroll
    for (int i = 0; i < CONFIG::X_ROWS / 2; i++)
        if (consumes)
            shared[(i / 4 * 8 + mma_column(lane, i % 4)) * CONFIG::PITCH + 16 * warp +
                   mma_row(lane, i % 4)] = sum[i];
    if (plan.finish == LINEAR_SWAPPED_APART) {
        const int tile = place.column * plan.bands + place.band;
        parts_finish<CONFIG>(plan.operands, plan.sums, shared,
                             {tile, plan.parts, place.rank, work.row, work.rows, work.column,
                              work.until - work.column});
        return;
    }
    struct linear_operands operands = plan.operands;
    operands.m = min(operands.m, (int64_t)(work.row + work.rows)); /* others are of the next tile */
    skinny_finish<CONFIG>(operands, 1 << plan.log_parts, shared, work.row, work.column, place.rank,
                          plan.wide);
}

#endif
