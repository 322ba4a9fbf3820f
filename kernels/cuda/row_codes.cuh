/*
 * row_codes.cuh - codes of one byte for rows of any length and alignment, in one pass: a row's
 * largest magnitude gives its scale, and its elements stay in registers until their codes are
 * computed. row_codes_launch.cuh divides the rows.
 *
 * A row begins wherever the one before it ended. It is read in pieces of 16 bytes that are aligned
 * in memory; their codes are words of 4 or 8 bytes, aligned too. What lies before the first and
 * behind the last whole piece are at most two times WIDTH - 1 elements, the edge, which are read
 * and written one by one, each by a lane of its own. So nothing outside of a row is touched.
 *
 * Who has a row:
 *   team      up to 32 lanes of a warp, found by shuffles: short rows, several per warp
 *   block     a block, one barrier
 *   cluster   the blocks of a cluster, for rows of which a block could keep only one per
 *             multiprocessor: then nothing would be read while codes are written (Hopper)
 *   stream    a block, for any length: reads twice
 *
 * An operation OP is the kernels' last argument:
 *   columns                    of a row
 *   element, code              the types of x and y: of 2 or 4 bytes, and of one
 *   size(x)                    a magnitude, as an integer that orders like it; 0 for 0
 *   fold(most, piece)          the largest of `most` and the sizes of a piece
 *   block_max(most, warps)     the largest over the block, as a word per warp is enough for
 *   scale(most), multiplier(most)
 *   put(y, at, piece, multiplier)   writes the codes of piece `at` behind y
 *   one(x, multiplier)         the code of one element
 */
#pragma once

#include "kernels/cuda/hopper.cuh"

enum {
    ROW_CODES_THREADS = 1024, /* of a block, at most: each has 64 registers */
    ROW_CODES_TEAM = 256,     /* threads of a block of teams, at most */
    ROW_CODES_EDGE = 4,       /* elements of the edge per lane of a team, at most */
    ROW_CODES_CLUSTER = 8,    /* blocks of a cluster, at most */
};

/* Where the pieces of a row are. */
template <typename T> struct row_codes_place {
    enum { WIDTH = 16 / sizeof(T) };
    int64_t begin;          /* its first element */
    int head, pieces, edge; /* elements before the first piece; pieces; elements in none */

    /* WHOLE: rows are whole pieces. Without PIECES all elements are edge. */
    template <bool WHOLE, bool PIECES>
    __device__ __forceinline__ void find(int64_t row, int columns)
    {
        begin = row * columns;
        head = WHOLE ? 0 : PIECES ? min((int)(-begin & (WIDTH - 1)), columns) : columns;
        pieces = (columns - head) / WIDTH;
        edge = WHOLE ? 0 : columns - pieces * WIDTH;
    }
    /* The column of edge element i. */
    __device__ __forceinline__ int edge_column(int i) const
    {
        return i < head ? i : i + pieces * WIDTH;
    }
};

/* What a thread has of a row: pieces first, first + stride, ..., and so of the edge. */
template <int COUNT, int EDGES, class OP> struct row_codes_hold {
    typedef typename OP::element T;
    row_codes_place<T> place;
    int first, stride;
    uint4 piece[COUNT > 0 ? COUNT : 1];
    T single[EDGES > 0 ? EDGES : 1];

    /* Call f(k, at) with each piece that there is. */
    template <class F> __device__ __forceinline__ void pieces_do(F f)
    {
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            if (first + k * stride < place.pieces) f(k, first + k * stride);
    }
    template <class F> __device__ __forceinline__ void edge_do(F f)
    {
#pragma unroll
        for (int k = 0; k < EDGES; k++)
            if (first + k * stride < place.edge) f(k, place.edge_column(first + k * stride));
    }
    __device__ __forceinline__ void load(const T *__restrict__ x)
    {
        const uint4 *in = (const uint4 *)(x + place.begin + place.head);
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            piece[k] = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < EDGES; k++)
            single[k] = T();
        pieces_do([&](int k, int at) { piece[k] = in[at]; });
        edge_do([&](int k, int column) { single[k] = (x + place.begin)[column]; });
    }
    __device__ __forceinline__ uint32_t most(const OP &op)
    {
        uint32_t most = 0;
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            most = op.fold(most, piece[k]);
#pragma unroll
        for (int k = 0; k < EDGES; k++)
            most = max(most, op.size(single[k]));
        return most;
    }
    __device__ __forceinline__ void put(const OP &op, typename OP::code *__restrict__ y,
                                        float multiplier)
    {
        typename OP::code *out = y + place.begin + place.head;
        pieces_do([&](int k, int at) { op.put(out, at, piece[k], multiplier); });
        edge_do(
            [&](int k, int column) { (y + place.begin)[column] = op.one(single[k], multiplier); });
    }
};

/* Each group of LANES lanes has a row. Without COUNT all its elements are edge. */
template <int LANES, int COUNT, class OP>
static __global__ void __launch_bounds__(ROW_CODES_TEAM, 4)
    row_codes_team(const typename OP::element *__restrict__ x, typename OP::code *__restrict__ y,
                   float *__restrict__ scales, int64_t rows, const OP op)
{
    enum {
        EDGE = COUNT > 0 ? 2 * (16 / sizeof(typename OP::element) - 1) : ROW_CODES_EDGE * LANES
    };
    const int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    row_codes_hold<COUNT, (EDGE + LANES - 1) / LANES, OP> hold;
    hold.place.template find<false, (COUNT > 0)>(row, row < rows ? op.columns : 0);
    hold.first = (int)threadIdx.x % LANES;
    hold.stride = LANES;
    hold.load(x);
    uint32_t most = hold.most(op);
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        most = max(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (hold.first == 0 && row < rows) scales[row] = op.scale(most);
    hold.put(op, y, op.multiplier(most));
}

template <bool WHOLE, int COUNT, class OP>
static __global__ void __launch_bounds__(ROW_CODES_THREADS)
    row_codes_block(const typename OP::element *__restrict__ x, typename OP::code *__restrict__ y,
                    float *__restrict__ scales, const OP op)
{
    __shared__ uint32_t warps[ROW_CODES_THREADS / 32];
    row_codes_hold<COUNT, !WHOLE, OP> hold;
    hold.place.template find<WHOLE, true>(blockIdx.x, op.columns);
    hold.first = (int)threadIdx.x;
    hold.stride = (int)blockDim.x;
    hold.load(x);
    const uint32_t most = op.block_max(hold.most(op), warps);
    if (threadIdx.x == 0) scales[blockIdx.x] = op.scale(most);
    hold.put(op, y, op.multiplier(most));
}

template <bool WHOLE, int COUNT, class OP>
static __global__ void __launch_bounds__(ROW_CODES_THREADS)
    row_codes_cluster(const typename OP::element *__restrict__ x, typename OP::code *__restrict__ y,
                      float *__restrict__ scales, int cluster, const OP op)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ uint32_t warps[ROW_CODES_THREADS / 32], blocks[ROW_CODES_CLUSTER];
    const int rank = (int)hopper_cluster_rank(), row = (int)blockIdx.x / cluster;
    hopper_cluster_arrive();
    row_codes_hold<COUNT, !WHOLE, OP> hold;
    hold.place.template find<WHOLE, true>(row, op.columns);
    hold.first = rank * (int)blockDim.x + (int)threadIdx.x;
    hold.stride = cluster * (int)blockDim.x;
    hold.load(x);
    uint32_t most = op.block_max(hold.most(op), warps);
    hopper_cluster_wait(); /* all blocks have begun: their shared memory may be written */
    if ((int)threadIdx.x < cluster) hopper_put_to(hopper_shared(&blocks[rank]), threadIdx.x, most);
    hopper_cluster_sync();
    for (int i = 0; i < cluster; i++)
        most = max(most, blocks[i]);
    if (hold.first == 0) scales[row] = op.scale(most);
    hold.put(op, y, op.multiplier(most));
#endif
}

template <class OP>
static __global__ void __launch_bounds__(ROW_CODES_THREADS)
    row_codes_stream(const typename OP::element *__restrict__ x, typename OP::code *__restrict__ y,
                     float *__restrict__ scales, const OP op)
{
    __shared__ uint32_t warps[ROW_CODES_THREADS / 32];
    row_codes_hold<0, 1, OP> edge;
    edge.place.template find<false, true>(blockIdx.x, op.columns);
    edge.first = (int)threadIdx.x;
    edge.stride = (int)blockDim.x;
    edge.load(x);
    const uint4 *in = (const uint4 *)(x + edge.place.begin + edge.place.head);
    typename OP::code *out = y + edge.place.begin + edge.place.head;
    uint32_t most = edge.most(op);
#pragma unroll 4
    for (int at = edge.first; at < edge.place.pieces; at += edge.stride)
        most = op.fold(most, in[at]);
    most = op.block_max(most, warps);
    if (threadIdx.x == 0) scales[blockIdx.x] = op.scale(most);
    const float multiplier = op.multiplier(most);
#pragma unroll 4
    for (int at = edge.first; at < edge.place.pieces; at += edge.stride)
        op.put(out, at, in[at], multiplier);
    edge.put(op, y, multiplier);
}
