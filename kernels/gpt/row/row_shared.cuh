/* row_shared.cuh - the kernel that keeps a row in shared memory. */
#pragma once

#include "kernels/gpt/row/row_registers.cuh"

/*
 * A block, or a cluster of them, per row. TMA fetches the row, or the block's share of it, once;
 * warps read it from shared memory as often as the operation goes over it.
 *
 * Registers do not hold the row, so two or more blocks are on a multiprocessor where a row takes a
 * hundred KiB: while one waits for its row, for the sums of its warps or for a block to begin, the
 * others work. Blocks begin when one has ended, so that multiprocessors nearer to memory do more of
 * the rows.
 *
 * Where rows are no multiple of 16 bytes, pieces begin with the first whole sector of 32 bytes, so
 * that no sector within a row is written by two warps; the edge is then 22 elements at most.
 *
 * Bytes from memory: one read and one write of each element. From shared memory: softmax reads a
 * row three times, rmsnorm twice.
 */
template <class OP>
static __global__ void __launch_bounds__(32 * ROW_WARPS, 2)
    row_shared(typename OP::args args, struct row_team team)
{
#if __CUDA_ARCH__ >= 900
    typedef typename OP::element T;
    typedef typename OP::part part;
    enum { WIDTH = row_piece<T>::WIDTH, SECTOR = 32 / sizeof(T) };
    extern __shared__ __align__(128) char row_memory[];
    const uint4 *kept = (const uint4 *)(row_memory + ROW_RING_HEAD);
    part *parts = (part *)(row_memory + ROW_RING_HEAD + 16 * team.share);
    const uint32_t arrived = hopper_shared(row_memory);
    const int cluster = 1 << team.log_cluster, rank = (int)blockIdx.x & (cluster - 1);
    const int64_t row = blockIdx.x >> team.log_cluster;
    const row_place<T> place(row, args.columns, args.columns % WIDTH == 0 ? WIDTH : SECTOR);
    const int before = rank * team.share, /* pieces of the row that are those of other blocks */
        pieces = max(0, min(team.share, place.pieces - before));
    const int head = place.head + before * WIDTH; /* column of the first piece */
    if (threadIdx.x == 0) {
        hopper_barrier_init(arrived, 1);
        hopper_barrier_publish();
        hopper_barrier_expect(arrived, 16 * (uint32_t)pieces);
        if (pieces > 0)
            hopper_load_bytes(hopper_shared(kept), args.x + place.begin + head,
                              16 * (uint32_t)pieces, arrived);
    }
    if (cluster > 1) hopper_cluster_arrive();
    const int edge =
        rank == 0 && (int)threadIdx.x < place.edge ? place.edge_column(threadIdx.x) : -1;
    const float edge_value = edge < 0 ? 0.0f : row_load_one<OP>(args, place.begin + edge);
    const typename OP::state state = OP::open(args, row, OP::hints(args, row));
    auto pieces_do = [&](auto f) {
#pragma unroll 4
        for (int at = (int)threadIdx.x; at < pieces; at += 32 * team.warps)
            f(at, kept[at]);
    };

    __syncthreads(); /* the barrier is there */
    hopper_barrier_wait(arrived, 0);
    part whole = OP::template measure<32>([&](auto f) {
        pieces_do([&](int, const uint4 &piece) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                f(row_get(piece, i, T()));
        });
        if (edge >= 0) f(edge_value);
    });
    const int member = rank * team.warps + (int)threadIdx.x / 32;
    whole = row_meet<OP>(whole, parts, cluster, member, cluster * team.warps);
    const typename OP::closed closed =
        OP::close(args, row, state, whole, rank == 0 && threadIdx.x == 0);
    if constexpr (OP::WRITES) {
        uint4 *y = (uint4 *)(args.y + place.begin + head);
        pieces_do([&](int at, const uint4 &piece) {
            const int column = head + at * WIDTH;
            float out[WIDTH];
            row_outputs<OP>(out, closed, OP::gains(args, column, WIDTH, place.head == 0), column,
                            [&](int i) { return row_get(piece, i, T()); });
            y[at] = row_pack(out, T());
        });
        if (edge >= 0) row_write_edge<OP>(args, closed, place.begin, edge, edge_value);
    }
#endif
}
