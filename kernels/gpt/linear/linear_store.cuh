/*
 * linear_store.cuh - stores a warp's sums, from the registers in which wgmma leaves them to a
 * row-major y: through shared memory, 16 rows of 128 bytes at a time, and from there by TMA.
 *
 * TMA needs rows of y that start on 16 bytes. Where they do not (a vocabulary of 50257), the warp
 * stores words itself, in pieces of each row that are as long as the buffers allow. Long pieces
 * matter: with 128 bytes at a time, each with its own address and half words at both ends, the
 * instructions took the time (1024 x 50257 x 768 in bf16: 235 us, now 143 to 150). Aligned stores
 * of 16 bytes, each put together from two by shuffles and selections, were no better (159 us):
 * they took three times the instructions.
 */
#pragma once

#include "linear.cuh"
#include "kernels/gpt/mma_layout.h"
#include "kernels/cuda/tensor_map.h"
#include "kernels/cuda/wgmma.cuh"

static constexpr int LINEAR_STORE_ROWS = 16;   /* a warp's */
static constexpr int LINEAR_STORE_BUFFERS = 2; /* at least */
template <typename T>
static constexpr int LINEAR_STORE_WIDTH = WGMMA_ROW_BYTES / (int)sizeof(T); /* columns a buffer */
/* One of a warp's buffers, in shared memory, aligned to 1024. */
static constexpr int LINEAR_STORE_BYTES = LINEAR_STORE_ROWS * WGMMA_ROW_BYTES;

/* Where the outputs go. */
struct linear_store {
    CUtensorMap map;
    void *base;
    int64_t m, n;
    bool by_engine;
};

/* Whether rows of y start on 16 bytes, as TMA wants them. */
static inline bool linear_store_by_engine(const struct linear_operands *operands, int bytes)
{
    return operands->n * bytes % 16 == 0;
}

/* On the host. 0, or -1. */
template <typename T>
static int linear_store_init(struct linear_store *store, const struct linear_operands *operands)
{
    const int bytes = sizeof(T);
    struct tensor_map_matrix y = {operands->y, operands->m, operands->n, bytes};
    store->base = operands->y;
    store->m = operands->m;
    store->n = operands->n;
    store->by_engine = linear_store_by_engine(operands, bytes);
    return store->by_engine ? tensor_map_init(&store->map, &y, LINEAR_STORE_ROWS) : 0;
}

#ifdef HOPPER_CODE

/*
 * Load a lane's share of the biases of COLUMNS columns before the products, so that nothing waits
 * for them. They are not converted here, because that would wait for each of them, and there is no
 * condition, because the next load would wait behind it. Columns outside y load a bias that is
 * never used; without biases nothing is loaded.
 */
template <typename T, int COLUMNS>
static __device__ __forceinline__ void linear_bias_load(const struct linear_operands &operands,
                                                        T (&share)[COLUMNS / 32], int column0,
                                                        int lane)
{
    const T *bias = (const T *)operands.bias;
    if (!bias) return;
#pragma unroll
    for (int i = 0; i < COLUMNS / 32; i++)
        share[i] = __ldg(bias + min(column0 + 32 * i + lane, (int)operands.n - 1));
}

/* Bias and epilogue of a warp's sums, in registers. Lanes exchange the biases through `out`, 4
 * bytes per column. */
template <typename T, int COLUMNS>
static __device__ __forceinline__ void linear_sums_finish(const struct linear_operands &operands,
                                                          enum linear_finish finish,
                                                          float (&sum)[COLUMNS / 2],
                                                          const T (&share)[COLUMNS / 32],
                                                          unsigned char *out, int lane)
{
    float *bias = (float *)out;
    if (operands.bias) {
#pragma unroll
        for (int i = 0; i < COLUMNS / 32; i++)
            bias[32 * i + lane] = gpt_float(share[i]);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < COLUMNS / 4; i++) {
            float2 add = *(const float2 *)(bias + i / 2 * 8 + mma_column(lane, 0));
            sum[2 * i] += add.x;
            sum[2 * i + 1] += add.y;
        }
        __syncwarp();
    }
    if (finish == LINEAR_GELU) {
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i += 2)
            gpt_gelu_two(sum[i], sum[i + 1]);
    }
}

/* Where byte `byte` of row `row` lies in a buffer for TMA. */
static __device__ __forceinline__ unsigned char *linear_store_place(unsigned char *buffer, int row,
                                                                    int byte)
{
    return buffer + row * WGMMA_ROW_BYTES + mma_swizzle(row, byte / 16) * 16 + byte % 16;
}

/* 64 numbers of 16 bits, or COLUMNS of them, of each of a warp's rows into a buffer, as TMA reads
 * them: eight rows of 16 bytes at a time, of which lane l says where row l % 16 of the warp lies,
 * and which 16 bytes. */
template <typename T, int COLUMNS = WGMMA_ROW_BYTES / 2>
static __device__ __forceinline__ void linear_store_matrices(uint32_t buffer, const float *sum,
                                                             int lane)
{
    const int row = lane % 16;
    buffer += row * WGMMA_ROW_BYTES + mma_swizzle(row, lane / 16) * 16;
#pragma unroll
    for (int i = 0; i < COLUMNS / 16; i++) {
        uint32_t word[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            word[j] = gpt_pack(T(), sum[8 * i + 2 * j], sum[8 * i + 2 * j + 1]);
        hopper_matrices_put(buffer ^ i * 32, word);
    }
}

/* 128 bytes of each of a warp's rows into a buffer, as TMA reads them. */
template <typename T>
static __device__ __forceinline__ void linear_store_put(unsigned char *buffer, const float *sum,
                                                        int lane)
{
    if constexpr (sizeof(T) == 2) {
        linear_store_matrices<T>(hopper_shared(buffer), sum, lane);
    } else {
#pragma unroll
        for (int i = 0; i < LINEAR_STORE_WIDTH<T> / 4; i++) {
            int byte = (i / 2 * 8 + mma_column(lane, 0)) * (int)sizeof(T);
            linear_put_pair((T *)linear_store_place(buffer, mma_row(lane, i % 2 * 2), byte),
                            make_float2(sum[2 * i], sum[2 * i + 1]));
        }
    }
}

/* By TMA: one buffer is written while the others are read. */
template <typename T, int COLUMNS, int BUFFERS>
static __device__ __forceinline__ void linear_store_boxes(const struct linear_store &y,
                                                          const float (&sum)[COLUMNS / 2], int row0,
                                                          int column0, unsigned char *out, int lane)
{
#pragma unroll
    for (int part = 0; part < COLUMNS / LINEAR_STORE_WIDTH<T>; part++) {
        int column = column0 + part * LINEAR_STORE_WIDTH<T>;
        if (column >= y.n) break;
        unsigned char *buffer = out + part % BUFFERS * LINEAR_STORE_BYTES;
        if (lane == 0) hopper_store_wait<BUFFERS - 1>();
        __syncwarp();
        linear_store_put<T>(buffer, sum + part * (LINEAR_STORE_WIDTH<T> / 2), lane);
        hopper_store_fence();
        __syncwarp();
        if (lane == 0) hopper_store(&y.map, hopper_shared(buffer), column, row0);
    }
}

/*
 * Store `count` elements of a row to y, from PARTS buffers, in words of y. Where the row starts on
 * an odd element, each is made of two words of the buffers. Elements at both ends that share a word
 * with another tile or row are stored one by one.
 */
template <typename T, int PARTS>
static __device__ __forceinline__ void linear_store_row(T *to, unsigned char *out, int row,
                                                        int count, int lane)
{
    const int odd = sizeof(T) == 2 ? (int)((uintptr_t)to / 2 % 2) : 0;
    uint32_t *words = (uint32_t *)(to - odd);
    auto place = [&](int byte) { return linear_store_place(out, row, byte); };
    const unsigned char *own = place(4 * lane), *before = place(4 * lane - 4);
    if (lane == 0) before = place(WGMMA_ROW_BYTES - 4) - LINEAR_STORE_BYTES;
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        uint32_t word = *(const uint32_t *)(own + part * LINEAR_STORE_BYTES);
        if (sizeof(T) == 2) {
            bool none = part == 0 && lane == 0;
            const unsigned char *last = none ? own : before + part * LINEAR_STORE_BYTES;
            word = __funnelshift_rc(*(const uint32_t *)last, word, odd ? 16 : 32);
        }
        int at = part * 32 + lane, first = at * (4 / (int)sizeof(T)) - odd;
        if (first >= 0 && first + 4 / (int)sizeof(T) <= count) words[at] = word;
    }
    if (sizeof(T) == 2 && (lane == 0 ? odd : lane == 1 && (count + odd) % 2)) {
        int end = lane == 0 ? 0 : 2 * (count - 1);
        to[end / 2] =
            *(const T *)(place(end % WGMMA_ROW_BYTES) + end / WGMMA_ROW_BYTES * LINEAR_STORE_BYTES);
    }
}

/* How many parts of 128 bytes at a time, so that nothing is left over. */
static constexpr __host__ __device__ int linear_store_together(int parts, int buffers)
{
    int together = parts < buffers ? parts : buffers;
    while (parts % together)
        together--;
    return together;
}

/* By the warp, as many buffers at a time as there are. */
template <typename T, int COLUMNS, int BUFFERS>
static __device__ __forceinline__ void linear_store_runs(const struct linear_store &y,
                                                         const float (&sum)[COLUMNS / 2], int row0,
                                                         int column0, unsigned char *out, int lane)
{
    constexpr int parts = COLUMNS / LINEAR_STORE_WIDTH<T>;
    constexpr int together = linear_store_together(parts, BUFFERS);
    const int rows = min((int)(y.m - row0), LINEAR_STORE_ROWS);
#pragma unroll
    for (int part = 0; part < parts; part += together) {
        int column = column0 + part * LINEAR_STORE_WIDTH<T>;
        if (column >= y.n) break;
        __syncwarp(); /* all have read what was there */
#pragma unroll
        for (int i = 0; i < together; i++)
            linear_store_put<T>(out + i * LINEAR_STORE_BYTES,
                                sum + (part + i) * (LINEAR_STORE_WIDTH<T> / 2), lane);
        __syncwarp();
        T *to = (T *)y.base + row0 * y.n + column;
        int count = min((int)(y.n - column), together * LINEAR_STORE_WIDTH<T>);
#pragma unroll 8
        for (int row = 0; row < rows; row++, to += y.n)
            linear_store_row<T, together>(to, out, row, count, lane);
    }
}

/* Store a warp's 16 rows through BUFFERS buffers. The caller waits for the stores of TMA before it
 * writes to `out` again or ends. */
template <typename T, int COLUMNS, int BUFFERS>
static __device__ __forceinline__ void linear_store_rows(const struct linear_store &y,
                                                         const float (&sum)[COLUMNS / 2], int row0,
                                                         int column0, unsigned char *out, int lane)
{
    if (row0 >= y.m) return;
    if (y.by_engine)
        linear_store_boxes<T, COLUMNS, BUFFERS>(y, sum, row0, column0, out, lane);
    else
        linear_store_runs<T, COLUMNS, BUFFERS>(y, sum, row0, column0, out, lane);
}

#endif
