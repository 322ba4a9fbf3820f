/*
 * linear_store.cuh - sums that a warp has in registers as wgmma leaves them, out to a row-major
 * y: through shared memory, 16 rows of 128 bytes at a time, and from there by the copy engine, or
 * by the warp where a row of y does not start on 16 bytes.
 */
#ifndef LINEAR_STORE_CUH
#define LINEAR_STORE_CUH

#include "linear.cuh"
#include "mma_layout.h"
#include "kernels/cuda/tensor_map.h"
#include "wgmma.cuh"

static constexpr int LINEAR_STORE_ROWS = 16;   /* a warp's */
static constexpr int LINEAR_STORE_BUFFERS = 2; /* at least */
/* One of a warp's buffers, in shared memory, aligned to 1024. */
static constexpr int LINEAR_STORE_BYTES = LINEAR_STORE_ROWS * WGMMA_ROW_BYTES;

/* Where the outputs go. */
struct linear_store {
    CUtensorMap map;
    void *base;
    int64_t m, n;
    bool by_engine; /* rows start on 16 bytes */
};

/* On the host. 0, or -1. */
template <typename T>
static int linear_store_init(struct linear_store *store, const struct linear_operands *operands)
{
    const int bytes = sizeof(T);
    struct tensor_map_matrix y = {operands->y, operands->m, operands->n, bytes};
    store->base = operands->y;
    store->m = operands->m;
    store->n = operands->n;
    store->by_engine = operands->n * bytes % 16 == 0;
    return store->by_engine ? tensor_map_init(&store->map, &y, LINEAR_STORE_ROWS) : 0;
}

#ifdef HOPPER_CODE

/*
 * A lane's share of the biases of COLUMNS columns, loaded before the products so that nothing
 * waits for them: as they lie in memory, since to convert one is to wait for it, and without a
 * condition, since behind each of those the next would wait. Columns outside y get one that is
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

/* What follows a warp's sums, in registers; the biases change lanes through `out`, 4 bytes a
 * column. */
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
        for (int i = 0; i < COLUMNS / 2; i++)
            sum[i] = gpt_gelu_fast(sum[i]);
    }
}

/* Where byte `byte` of row `row` lies in a buffer for the engine. */
static __device__ __forceinline__ unsigned char *linear_store_place(unsigned char *buffer, int row,
                                                                    int byte)
{
    return buffer + row * WGMMA_ROW_BYTES + mma_swizzle(row, byte / 16) * 16 + byte % 16;
}

/* One row of a buffer to y: a row that starts on an odd element is out of step with pairs. */
static __device__ __forceinline__ void linear_store_row(uint16_t *out, unsigned char *buffer,
                                                        int row, int count, int lane)
{
    auto element = [&](int i) { return *(const uint16_t *)linear_store_place(buffer, row, 2 * i); };
    int odd = (uintptr_t)out / 2 % 2, first = 2 * lane - odd;
    if (first >= 0 && first + 1 < count)
        *(uint32_t *)(out + first) = element(first) | (uint32_t)element(first + 1) << 16;
    else if (first >= 0 && first < count)
        out[first] = element(first);
    if (odd && lane == 0) out[0] = element(0);
    if (odd && lane == 0 && count == 64) out[63] = element(63); /* behind the last lane's pair */
}

static __device__ __forceinline__ void linear_store_row(float *out, unsigned char *buffer, int row,
                                                        int count, int lane)
{
    if (lane < count) out[lane] = *(const float *)linear_store_place(buffer, row, 4 * lane);
}

/* A buffer to y without the engine, for any n. */
template <typename T>
static __device__ __forceinline__ void linear_store_copy(const struct linear_store &y,
                                                         unsigned char *buffer, int row0,
                                                         int column0, int lane)
{
    int rows = min((int)y.m - row0, (int)LINEAR_STORE_ROWS);
    int count = min((int)y.n - column0, WGMMA_ROW_BYTES / (int)sizeof(T));
    for (int row = 0; row < rows; row++)
        linear_store_row((T *)y.base + (row0 + row) * y.n + column0, buffer, row, count, lane);
}

/* A warp's 16 rows out, 128 bytes of each at a time: one buffer of `out` is written while the
 * others are read. The caller waits for the stores, before it writes to `out` again or ends. */
template <typename T, int COLUMNS, int BUFFERS>
static __device__ __forceinline__ void linear_store_rows(const struct linear_store &y,
                                                         const float (&sum)[COLUMNS / 2], int row0,
                                                         int column0, unsigned char *out, int lane)
{
    const int width = WGMMA_ROW_BYTES / sizeof(T);
    if (row0 >= y.m) return;
#pragma unroll
    for (int part = 0; part < COLUMNS / width; part++) {
        int column = column0 + part * width;
        if (column >= y.n) break;
        unsigned char *buffer = out + part % BUFFERS * LINEAR_STORE_BYTES;
        if (lane == 0) hopper_store_wait<BUFFERS - 1>();
        __syncwarp();
#pragma unroll
        for (int i = 0; i < width / 4; i++) {
            const float *two = sum + 2 * (part * (width / 4) + i);
            int byte = (i / 2 * 8 + mma_column(lane, 0)) * (int)sizeof(T);
            linear_put_pair((T *)linear_store_place(buffer, mma_row(lane, i % 2 * 2), byte),
                            make_float2(two[0], two[1]));
        }
        if (y.by_engine) hopper_store_fence();
        __syncwarp();
        if (!y.by_engine)
            linear_store_copy<T>(y, buffer, row0, column, lane);
        else if (lane == 0)
            hopper_store(&y.map, hopper_shared(buffer), column, row0);
    }
}

#endif

#endif
