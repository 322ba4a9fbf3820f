/* row_registers.cuh - the kernel that keeps a row in the registers of a warp, a block or a cluster.
 */
#pragma once

#include "kernels/gpt/row/row.cuh"
#include "kernels/gpt/row/row_plan.h"

/* What a thread holds of a row: pieces first, first + stride, ... below `pieces`, and one element
 * of the edge, or none (edge < 0). */
template <class OP, int PIECES> struct row_hold {
    typedef typename OP::element T;
    enum { WIDTH = row_piece<T>::WIDTH };
    int first, stride, pieces, edge;
    uint4 piece[PIECES];
    float edge_value;

    __device__ __forceinline__ bool has(int k) const
    {
        return first + k * stride < pieces;
    }
    /* Call f(k, i) with the index of each piece that there is. */
    template <class F> __device__ __forceinline__ void pieces_do(F f)
    {
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            if (has(k)) f(k, first + k * stride);
    }
    template <class F> __device__ __forceinline__ void each(F f)
    {
        pieces_do([&](int k, int) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                f(at(k, i));
            }
        });
        if (edge >= 0) f(edge_value);
    }
    __device__ __forceinline__ float at(int k, int i) const
    {
        return row_get(piece[k], i, T());
    }
    /* The part of LANES lanes. */
    template <int LANES> __device__ __forceinline__ typename OP::part measure(void)
    {
        return OP::template measure<LANES>([&](auto f) { each(f); });
    }
};

/* Write the outputs of one piece or, with COUNT 1, of one element. */
template <class OP, int COUNT, class VALUE>
static __device__ __forceinline__ void row_outputs(float (&out)[COUNT],
                                                   const typename OP::closed &closed,
                                                   const typename OP::gain &gain, int column,
                                                   VALUE value)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        out[i] = OP::out(closed, gain, i, value(i));
    OP::finish(closed, out, column);
}

template <class OP>
static __device__ __forceinline__ void row_write_edge(const typename OP::args &args,
                                                      const typename OP::closed &closed,
                                                      int64_t begin, int edge, float value)
{
    float out[1];
    row_outputs<OP>(out, closed, OP::gains(args, edge, 1, false), edge, [&](int) { return value; });
    gpt_put(args.y + begin + edge, out[0]);
}

/* The part of a row from those of its warps, of which this warp is number `member`: in `parts` of
 * each block. Blocks of a cluster have arrived at its barrier before, to say that they run. */
template <class OP>
static __device__ __forceinline__ typename OP::part row_meet(typename OP::part own,
                                                             typename OP::part *parts, int cluster,
                                                             int member, int members)
{
    const int lane = threadIdx.x % 32;
    if (cluster > 1) {
#if __CUDA_ARCH__ >= 900
        hopper_cluster_wait();
        if (lane < cluster) *row_peer(parts + member, lane) = own;
        hopper_cluster_sync();
#endif
    } else {
        if (lane == 0) parts[member] = own;
        __syncthreads();
    }
    return row_gather<OP>(parts, members);
}

/*
 * Each warp of the row loads PIECES pieces per lane, measures them, and tells its part to all other
 * warps of the row through shared memory (of all blocks of the cluster). There is one barrier
 * between reading and writing, and none where LANES lanes of a warp have a row.
 */
template <class OP, int PIECES, int LANES>
static __global__ void __launch_bounds__(32 * ROW_WARPS)
    row_registers(typename OP::args args, struct row_team team)
{
    typedef typename OP::element T;
    typedef typename OP::part part;
    enum { WIDTH = row_piece<T>::WIDTH };
    extern __shared__ __align__(128) char row_shared[];
    part *parts = (part *)row_shared;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int cluster = 1 << team.log_cluster, rank = (int)blockIdx.x & (cluster - 1);
#if __CUDA_ARCH__ >= 900
    /* All blocks have begun before one writes into another's memory. */
    if (cluster > 1) hopper_cluster_arrive();
#endif
    const bool alone = LANES < 32 || team.rows > 1;
    int64_t row = (int64_t)(blockIdx.x >> team.log_cluster) * team.rows + (alone ? warp : 0);
    const bool real = row < args.rows;
    if (LANES == 32 && !real) return; /* whole warps, and none with a barrier */
    if (!real) row = args.rows - 1;   /* the warp's other lanes have a row */
    const int member = rank * team.warps + (alone ? 0 : warp), members = cluster * team.warps;
    const row_place<T> place(row, args.columns);
    const bool aligned = place.head == 0;
    const int64_t body = place.begin + place.head; /* where the pieces begin */
    row_hold<OP, PIECES> hold;
    hold.first = member * LANES + lane;
    hold.stride = members * LANES;
    hold.pieces = real ? place.pieces : 0;
    hold.pieces_do([&](int k, int at) { hold.piece[k] = row_load<OP>(args, body, at); });
    hold.edge = real && hold.first < place.edge ? place.edge_column(hold.first) : -1;
    hold.edge_value = hold.edge < 0 ? 0.0f : row_load_one<OP>(args, place.begin + hold.edge);
    typename OP::state state = OP::open(args, row, OP::hints(args, row));
    /* Few pieces leave registers for their weights: these are read beside x, not after it. */
    enum { EARLY = PIECES <= 2 };
    typename OP::gain gain[EARLY ? PIECES : 1];
    if (EARLY)
        hold.pieces_do([&](int k, int at) {
            gain[EARLY ? k : 0] = OP::gains(args, place.head + at * WIDTH, WIDTH, aligned);
        });
    if constexpr (OP::ADDS) {
        hold.pieces_do([&](int k, int at) { ((uint4 *)(args.sum + body))[at] = hold.piece[k]; });
        if (hold.edge >= 0) gpt_put(args.sum + place.begin + hold.edge, hold.edge_value);
    }

    part whole = hold.template measure<LANES>();
    if (members > 1) whole = row_meet<OP>(whole, parts, cluster, member, members);

    typename OP::closed closed =
        OP::close(args, row, state, whole, real && member == 0 && lane == 0);
    if constexpr (OP::WRITES) {
        hold.pieces_do([&](int k, int at) {
            const int column = place.head + at * WIDTH;
            if (!EARLY) gain[0] = OP::gains(args, column, WIDTH, aligned);
            float out[WIDTH];
            row_outputs<OP>(out, closed, gain[EARLY ? k : 0], column,
                            [&](int i) { return hold.at(k, i); });
            ((uint4 *)(args.y + body))[at] = row_pack(out, T());
        });
        if (hold.edge >= 0)
            row_write_edge<OP>(args, closed, place.begin, hold.edge, hold.edge_value);
    }
}
