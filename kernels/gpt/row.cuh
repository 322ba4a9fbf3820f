/*
 * row.cuh - what kernels for operations on rows share: the pieces of 16 bytes in which a row is
 * moved, the sums over lanes, and the kernels that keep a row in the registers of a warp, a block
 * or a cluster of blocks, so that it is read once.
 *
 * An operation is a struct OP of types and static functions:
 *
 *   element            float, or uint16_t for bf16
 *   args               the kernel's argument: x, y, rows, columns and what else it needs
 *   part               what is known of some of a row's elements (a sum; a largest element)
 *   hint, state        what each thread reads of the row before its part, in two steps, since the
 *                      second may need the first: a target, and its element; may be empty
 *   gain               what comes with the elements of a piece: weights; may be empty
 *   ADDS, WRITES       whether r is added to x first and the sum written; whether there is a y
 *   KEEPS              whether `measure` leaves something else in place of x: an exponential
 *   kept(x, part)      what it leaves, where `part` was measured
 *   nothing()          the part of no elements
 *   single(x)          the part of one
 *   join(a, b)         the part of a's and b's elements
 *   measure<L>(each)   the part of the elements of L neighbouring lanes, in each of them; each(f)
 *                      calls f(value) for those of this lane, and f may change them if KEEPS
 *   hints(args, row), open(args, row, hint)   hint and state
 *   gains(args, column, count, aligned)       for elements from `column` on; `count` is 1 or all of
 *                      a piece, whose columns are multiples of it if `aligned`
 *   GAINS, gain_array(args, g), gain_of(pieces)   how many arrays of T that is, the array g, and
 *                      the gain from a piece of each
 *   close(args, row, state, own, whole, leader)   what `out` needs, where the lanes measured `own`
 *                      and the row is `whole`; one thread, the leader, may write
 *   out(closed, gain, i, value)        the output for element i of the piece
 *   finish(closed, out, column)        a last change to the outputs of a piece
 *
 * A row begins wherever the one before it ended. What lies before its first and behind its last
 * whole piece of 16 bytes, aligned in memory, are at most two times WIDTH - 1 elements, its edge:
 * lanes of the first warp take one each.
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "kernels/gpt/gpt.cuh"

/* ------------------------------------------------------------------ pieces -- */

template <typename T> struct row_piece {
    enum { WIDTH = 16 / sizeof(T) };
};

/* Element i of a piece. */
static __device__ __forceinline__ float row_get(const uint4 &piece, int i, float)
{
    const uint32_t word[] = {piece.x, piece.y, piece.z, piece.w};
    return __uint_as_float(word[i]);
}

static __device__ __forceinline__ float row_get(const uint4 &piece, int i, uint16_t)
{
    const uint32_t word[] = {piece.x, piece.y, piece.z, piece.w};
    return __uint_as_float(i % 2 ? word[i / 2] & 0xffff0000u : word[i / 2] << 16);
}

static __device__ __forceinline__ uint4 row_pack(const float (&v)[4], float)
{
    return make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
                      __float_as_uint(v[3]));
}

static __device__ __forceinline__ uint4 row_pack(const float (&v)[8], uint16_t)
{
    return make_uint4(gpt_pack(v[0], v[1]), gpt_pack(v[2], v[3]), gpt_pack(v[4], v[5]),
                      gpt_pack(v[6], v[7]));
}

template <typename T>
static __device__ __forceinline__ void row_unpack(float (&to)[row_piece<T>::WIDTH],
                                                  const uint4 &piece)
{
#pragma unroll
    for (int i = 0; i < row_piece<T>::WIDTH; i++)
        to[i] = row_get(piece, i, T());
}

/* `count` floats at `from`, which is aligned to 16 bytes where count is all of a piece. */
template <typename T>
static __device__ __forceinline__ void row_floats(float (&to)[row_piece<T>::WIDTH], const T *from,
                                                  int count, bool aligned)
{
    enum { WIDTH = row_piece<T>::WIDTH };
    if (count == 1) {
        to[0] = gpt_float(__ldg(from));
    } else if (aligned) {
        row_unpack<T>(to, __ldg((const uint4 *)from));
    } else {
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            to[i] = gpt_float(__ldg(from + i));
    }
}

/* Where the pieces of a row are. */
template <typename T> struct row_place {
    enum { WIDTH = row_piece<T>::WIDTH };
    int64_t begin;          /* its first element */
    int head, pieces, edge; /* elements before the first piece; pieces; elements in none */

    __device__ __forceinline__ row_place(int64_t row, int columns) : begin(row * columns)
    {
        head = (int)(-begin & (WIDTH - 1));
        if (head > columns) head = columns;
        pieces = (columns - head) / WIDTH;
        edge = columns - pieces * WIDTH;
    }
    /* The column of edge element i. */
    __device__ __forceinline__ int edge_column(int i) const
    {
        return i < head ? i : i + pieces * WIDTH;
    }
};

/* Piece `at` behind element `body`, and element `at`; with r added if the operation does. */
template <class OP>
static __device__ __forceinline__ uint4 row_load(const typename OP::args &args, int64_t body,
                                                 unsigned at)
{
    typedef typename OP::element T;
    uint4 piece = __ldg((const uint4 *)(args.x + body) + at);
    if constexpr (OP::ADDS) {
        uint4 other = __ldg((const uint4 *)(args.r + body) + at);
        float sum[row_piece<T>::WIDTH];
#pragma unroll
        for (int i = 0; i < row_piece<T>::WIDTH; i++)
            sum[i] = row_get(piece, i, T()) + row_get(other, i, T());
        piece = row_pack(sum, T());
    }
    return piece;
}

template <class OP>
static __device__ __forceinline__ float row_load_one(const typename OP::args &args, int64_t at)
{
    float x = gpt_float(__ldg(args.x + at));
    if constexpr (OP::ADDS) x += gpt_float(__ldg(args.r + at));
    return x;
}

/* -------------------------------------------------------------------- sums -- */

/* The largest value and the sum of LANES neighbouring lanes, in each of them. */
template <int LANES = 32> static __device__ __forceinline__ float row_max(float value)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
    return value;
}

template <int LANES = 32> static __device__ __forceinline__ float row_sum(float value)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

/* The part of lanes 0 to 31, in every lane. */
template <class OP>
static __device__ __forceinline__ typename OP::part row_join(typename OP::part p)
{
    typedef typename OP::part part;
    enum { WORDS = sizeof(part) / sizeof(float) };
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        part other;
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            ((float *)&other)[i] = __shfl_xor_sync(0xffffffffu, ((float *)&p)[i], step);
        p = OP::join(p, other);
    }
    return p;
}

/* exp(x - most) for x <= most, or x minus infinity and `most` finite. What is below FLT_MIN is 0:
 * without that, __expf takes four instructions more, and rows in bf16 are limited by them. */
static __device__ __forceinline__ float row_power(float x, float most)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"((x - most) * 1.4426950408889634f));
    return power;
}

/* The same place in the shared memory of block `rank` of the cluster. */
template <typename P> static __device__ __forceinline__ P *row_peer(P *place, unsigned rank)
{
    P *peer = place;
#if __CUDA_ARCH__ >= 900
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(place), "r"(rank));
#else
    (void)rank;
#endif
    return peer;
}

/* The part of the row of which `parts` has those of its `members` warps. */
template <class OP>
static __device__ __forceinline__ typename OP::part row_gather(const typename OP::part *parts,
                                                               int members)
{
    typename OP::part whole = OP::nothing();
    for (int i = threadIdx.x % 32; i < members; i += 32)
        whole = OP::join(whole, parts[i]);
    return row_join<OP>(whole);
}

/* --------------------------------------------------------- row in registers -- */

enum {
    ROW_PIECES = 8,      /* of a thread, at most */
    ROW_WARPS = 32,      /* of a block, at most */
    ROW_LOG_CLUSTER = 4, /* 16 blocks of a cluster, at most */
    ROW_TEAM_WARPS = 8,  /* of a block in which each warp has rows of its own, at most */
};

/* How a row is divided. With one warp or less per row and no cluster, a block has `rows` rows. */
struct row_team {
    int log_cluster; /* 1 << log_cluster blocks per row */
    int warps;       /* per row and block */
    int rows;        /* per block; above 1 only with one warp or less and no cluster */
    int slots;       /* of a ring: rows, or a block's shares of them, in shared memory */
    int share;       /* of a ring: pieces of a row that a block has, at most */
};

/* Warps of a block, at most: each thread has 64 registers then, or 128. */
template <class OP, int PIECES> static constexpr int row_most_warps(void)
{
    return OP::KEEPS && PIECES * row_piece<typename OP::element>::WIDTH > 32 ? ROW_WARPS / 2
                                                                             : ROW_WARPS;
}

/* What a thread holds of a row: pieces first, first + stride, ... below `pieces`, and one element
 * of the edge, or none (edge < 0). */
template <class OP, int PIECES> struct row_hold {
    typedef typename OP::element T;
    enum { WIDTH = row_piece<T>::WIDTH };
    int first, stride, pieces, edge;
    uint4 piece[PIECES];
    float value[OP::KEEPS ? PIECES : 1][WIDTH];
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
                float x = at(k, i);
                f(x);
                if constexpr (OP::KEEPS) value[k][i] = x;
            }
        });
        if (edge >= 0) f(edge_value);
    }
    __device__ __forceinline__ float at(int k, int i) const
    {
        if constexpr (OP::KEEPS) return value[k][i];
        return row_get(piece[k], i, T());
    }
    /* The part of LANES lanes. */
    template <int LANES> __device__ __forceinline__ typename OP::part measure(void)
    {
        if constexpr (OP::KEEPS) pieces_do([&](int k, int) { row_unpack<T>(value[k], piece[k]); });
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

/*
 * Each warp of the row loads PIECES pieces per lane, measures them, and tells its part to all other
 * warps of the row through shared memory (of all blocks of the cluster). There is one barrier
 * between reading and writing, and none where LANES lanes of a warp have a row.
 */
template <class OP, int PIECES, int LANES>
static __global__ void __launch_bounds__(32 * row_most_warps<OP, PIECES>())
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
    if (cluster > 1) asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
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

    part own = hold.template measure<LANES>(), whole = own;
    if (members > 1) {
        if (cluster > 1) {
#if __CUDA_ARCH__ >= 900
            asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
            if (lane < cluster) *row_peer(parts + member, lane) = own;
            hopper_cluster_sync();
#endif
        } else {
            if (lane == 0) parts[warp] = own;
            __syncthreads();
        }
        whole = row_gather<OP>(parts, members);
    }

    typename OP::closed closed =
        OP::close(args, row, state, own, whole, real && member == 0 && lane == 0);
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

/* ---------------------------------------------------------------- row in a ring -- */

/* A barrier per slot, in front of the slots. */
enum { ROW_SLOTS = 4, ROW_RING_HEAD = 128 };

/*
 * Blocks that stay, or clusters of them: while a row is in registers, TMA fetches the next ones, or
 * the block's share of them, into a ring of slots in shared memory, so that loads go on while sums
 * are exchanged and outputs stored. A slot is fetched again when all warps have told their parts.
 */
template <class OP, int PIECES>
static __global__ void __launch_bounds__(32 * row_most_warps<OP, PIECES>())
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
            OP::close(args, row, now, own, whole, rank == 0 && threadIdx.x == 0);
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

/* --------------------------------------------------------------- row streamed -- */

enum { ROW_STREAM_THREADS = 512, ROW_STREAM_PIECES = 4 };

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
        float x = edge_value;
        if (edge >= 0) f(x);
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
    typename OP::closed closed = OP::close(args, row, state, whole, whole, threadIdx.x == 0);
    if constexpr (OP::WRITES) {
        for (int at = threadIdx.x; at < place.pieces; at += ROW_STREAM_THREADS) {
            const int column = place.head + at * WIDTH;
            uint4 piece = row_load<OP>(args, body, at);
            if constexpr (OP::ADDS) ((uint4 *)(args.sum + body))[at] = piece;
            float out[WIDTH];
            row_outputs<OP>(out, closed, OP::gains(args, column, WIDTH, aligned), column,
                            [&](int i) { return OP::kept(row_get(piece, i, T()), whole); });
            ((uint4 *)(args.y + body))[at] = row_pack(out, T());
        }
        if constexpr (OP::ADDS)
            if (edge >= 0) gpt_put(args.sum + place.begin + edge, edge_value);
        if (edge >= 0)
            row_write_edge<OP>(args, closed, place.begin, edge, OP::kept(edge_value, whole));
    }
}

/* ----------------------------------------------------------------- row alone -- */

enum { ROW_NAIVE_THREADS = 128 };

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
        OP::close(args, row, OP::open(args, row, OP::hints(args, row)), whole, whole, true);
    if constexpr (OP::WRITES)
        for (int i = 0; i < args.columns; i++)
            row_write_edge<OP>(args, closed, begin, i,
                               OP::kept(gpt_float(args.x[begin + i]), whole));
}
