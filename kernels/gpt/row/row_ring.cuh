/* row_ring.cuh - the kernel of blocks that stay, with rows fetched ahead by TMA. */
#pragma once

#include "kernels/gpt/row/row_registers.cuh"

/*
 * Blocks that stay, or clusters of them: while a row is in registers, TMA fetches the next ones, or
 * the block's share of them, into a ring of slots in shared memory, so that loads go on while sums
 * are exchanged and outputs stored. A slot is fetched again when all warps have told their parts.
 */
template <class OP, int PIECES>
static __global__ void __launch_bounds__(32 * ROW_WARPS)
    row_ring(typename OP::args args, struct row_team team)
{
#if __CUDA_ARCH__ >= 900
    typedef typename OP::element T;
    typedef typename OP::part part;
    enum { WIDTH = row_piece<T>::WIDTH };
    extern __shared__ __align__(128) char row_shared[];
    /* Blocks that stay read their weights once, if rows begin with a piece. */
    const bool staged = OP::GAINS > 0 && args.columns % WIDTH == 0;
    uint4 *ring = (uint4 *)(row_shared + ROW_RING_HEAD), *gains = ring + team.slots * team.share;
    part *parts = (part *)(gains + (staged ? OP::GAINS * team.share : 0));
    const uint32_t full = hopper_shared(row_shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int cluster = 1 << team.log_cluster, rank = (int)blockIdx.x & (cluster - 1);
    const int member = rank * team.warps + warp, members = cluster * team.warps;
    const int64_t step = gridDim.x >> team.log_cluster, last = args.rows - 1;
    int64_t row = blockIdx.x >> team.log_cluster;

    /* Pieces of a row that this block has. */
    auto share = [&](const row_place<T> &place) {
        return max(0, min(team.share, place.pieces - rank * team.share));
    };
    auto fetch = [&](int64_t which, int slot) {
        if (which > last) return;
        const row_place<T> place(which, args.columns);
        const uint32_t bytes = (uint32_t)share(place) * 16;
        hopper_barrier_expect(full + 8 * slot, bytes);
        if (bytes > 0)
            hopper_load_bytes(hopper_shared(ring + slot * team.share),
                              (const uint4 *)(args.x + place.begin + place.head) +
                                  rank * team.share,
                              bytes, full + 8 * slot);
    };
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < team.slots; slot++)
            hopper_barrier_init(full + 8 * slot, 1);
        hopper_barrier_publish();
        for (int slot = 0; slot < team.slots; slot++)
            fetch(row + slot * step, slot);
    }
    const int columns = min(team.share, args.columns / WIDTH - rank * team.share); /* in pieces */
    for (int at = (int)threadIdx.x; staged && at < columns; at += 32 * team.warps)
#pragma unroll
        for (int g = 0; g < OP::GAINS; g++)
            gains[g * team.share + at] =
                __ldg((const uint4 *)OP::gain_array(args, g) + rank * team.share + at);
    /* All barriers are there, and all blocks have begun before one writes into another's memory. */
    if (cluster > 1)
        hopper_cluster_sync();
    else
        __syncthreads();

    /* What is not in the ring is read a row ahead. */
    row_hold<OP, PIECES> hold;
    auto edge_of = [&](const row_place<T> &place) {
        int at = (int)threadIdx.x;
        return rank == 0 && at < place.edge ? place.edge_column(at) : -1;
    };
    auto edge_value_of = [&](int64_t which) {
        const row_place<T> place(min(which, last), args.columns);
        int edge = edge_of(place);
        return edge < 0 ? 0.0f : row_load_one<OP>(args, place.begin + edge);
    };
    float edge_value = edge_value_of(row);
    typename OP::hint hint = OP::hints(args, min(row, last));
    typename OP::state state = OP::open(args, min(row, last), hint);
    hint = OP::hints(args, min(row + step, last));

    int slot = 0, phase = 0, turn = 0;
    for (; row <= last; row += step, turn ^= members) {
        const row_place<T> place(row, args.columns);
        const uint4 *from = ring + slot * team.share;
        const int64_t body = place.begin + place.head + (int64_t)rank * team.share * WIDTH;
        const int head = place.head + rank * team.share * WIDTH; /* column of the first piece */
        hold.first = (int)threadIdx.x;
        hold.stride = 32 * team.warps;
        hold.pieces = share(place);
        hold.edge = edge_of(place);
        hold.edge_value = edge_value;
        const typename OP::state now = state;
        const int64_t next = min(row + step, last);
        edge_value = edge_value_of(next);
        state = OP::open(args, next, hint);
        hint = OP::hints(args, min(next + step, last));

        hopper_barrier_wait(full + 8 * slot, phase);
        hold.pieces_do([&](int k, int at) { hold.piece[k] = from[at]; });
        part own = hold.template measure<32>();
        if (cluster > 1) {
            if (lane < cluster) *row_peer(parts + turn + member, lane) = own;
            hopper_cluster_sync();
        } else {
            if (lane == 0) parts[turn + warp] = own;
            __syncthreads();
        }
        if (threadIdx.x == 0) fetch(row + team.slots * step, slot);
        if (++slot == team.slots) {
            slot = 0;
            phase ^= 1;
        }
        part whole = row_gather<OP>(parts + turn, members);
        typename OP::closed closed =
            OP::close(args, row, now, whole, rank == 0 && threadIdx.x == 0);
        if constexpr (OP::WRITES) {
            hold.pieces_do([&](int k, int at) {
                const int column = head + at * WIDTH;
                uint4 pieces[OP::GAINS + 1];
                float out[WIDTH];
#pragma unroll
                for (int g = 0; staged && g < OP::GAINS; g++)
                    pieces[g] = gains[g * team.share + at];
                row_outputs<OP>(out, closed,
                                staged ? OP::gain_of(pieces)
                                       : OP::gains(args, column, WIDTH, place.head == 0),
                                column, [&](int i) { return hold.at(k, i); });
                ((uint4 *)(args.y + body))[at] = row_pack(out, T());
            });
            if (hold.edge >= 0)
                row_write_edge<OP>(args, closed, place.begin, hold.edge, hold.edge_value);
        }
    }
#endif
}
