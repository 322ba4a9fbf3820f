/* row_stream.cuh - the kernels that read a row twice: a block per row, and a thread per row. */
#pragma once

#include "kernels/gpt/row/row_registers.cuh"

enum { ROW_STREAM_PIECES = 4 };

/* A block per row of any length, which it reads twice: for its part, and again, from L2 if it is
 * still there, to write. */
template <class OP>
static __global__ void __launch_bounds__(ROW_STREAM_THREADS) row_stream(typename OP::args args)
{
    typedef typename OP::element T;
    typedef typename OP::part part;
    enum { WIDTH = row_piece<T>::WIDTH, STEP = ROW_STREAM_THREADS * ROW_STREAM_PIECES };
    __shared__ part parts[ROW_STREAM_THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t row = blockIdx.x;
    const row_place<T> place(row, args.columns);
    const bool aligned = place.head == 0;
    const int64_t body = place.begin + place.head;
    const int edge = (int)threadIdx.x < place.edge ? place.edge_column(threadIdx.x) : -1;
    float edge_value = edge < 0 ? 0.0f : row_load_one<OP>(args, place.begin + edge);
    typename OP::state state = OP::open(args, row, OP::hints(args, row));
    part whole = OP::template measure<32>([&](auto f) {
        if (edge >= 0) f(edge_value);
    });
    for (int base = 0; base < place.pieces; base += STEP) {
        row_hold<OP, ROW_STREAM_PIECES> hold;
        hold.first = base + (int)threadIdx.x;
        hold.stride = ROW_STREAM_THREADS;
        hold.pieces = place.pieces;
        hold.edge = -1;
        hold.pieces_do([&](int k, int at) { hold.piece[k] = row_load<OP>(args, body, at); });
        whole = OP::join(whole, hold.template measure<32>());
    }
    if (lane == 0) parts[warp] = whole;
    __syncthreads();
    whole = row_gather<OP>(parts, ROW_STREAM_THREADS / 32);
    typename OP::closed closed = OP::close(args, row, state, whole, threadIdx.x == 0);
    if constexpr (OP::WRITES) {
        for (int at = threadIdx.x; at < place.pieces; at += ROW_STREAM_THREADS) {
            const int column = place.head + at * WIDTH;
            uint4 piece = row_load<OP>(args, body, at);
            if constexpr (OP::ADDS) ((uint4 *)(args.sum + body))[at] = piece;
            float out[WIDTH];
            row_outputs<OP>(out, closed, OP::gains(args, column, WIDTH, aligned), column,
                            [&](int i) { return row_get(piece, i, T()); });
            ((uint4 *)(args.y + body))[at] = row_pack(out, T());
        }
        if constexpr (OP::ADDS)
            if (edge >= 0) gpt_put(args.sum + place.begin + edge, edge_value);
        if (edge >= 0) row_write_edge<OP>(args, closed, place.begin, edge, edge_value);
    }
}

/* ----------------------------------------------------------------- row alone -- */

/* A thread per row, element by element, two passes; threads of a warp read a row apart.
 * Deliberately slow. */
template <class OP>
static __global__ void __launch_bounds__(ROW_NAIVE_THREADS) row_naive(typename OP::args args)
{
    int64_t row = (int64_t)blockIdx.x * ROW_NAIVE_THREADS + threadIdx.x;
    if (row >= args.rows) return;
    const int64_t begin = row * args.columns;
    typename OP::part whole = OP::nothing();
    for (int i = 0; i < args.columns; i++)
        whole = OP::join(whole, OP::single(gpt_float(args.x[begin + i])));
    typename OP::closed closed =
        OP::close(args, row, OP::open(args, row, OP::hints(args, row)), whole, true);
    if constexpr (OP::WRITES)
        for (int i = 0; i < args.columns; i++)
            row_write_edge<OP>(args, closed, begin, i, gpt_float(args.x[begin + i]));
}
