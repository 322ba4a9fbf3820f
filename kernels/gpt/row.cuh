/*
 * row.cuh - what kernels for operations on rows share: the pieces of 16 bytes in which a row is
 * moved, the sums over lanes, and the kernel that keeps a row in the registers of a warp, a block
 * or a cluster of blocks, so that it is read once.
 *
 * An operation is a struct OP of types and static functions:
 *
 *   element            float, or uint16_t for bf16
 *   args               the kernel's argument: x, y, rows, columns and what else it needs
 *   part               what is known of some of a row's elements (a sum; a largest element)
 *   state              what each thread knows of the row before its part: a target; may be empty
 *   gain               what comes with the elements of a piece: weights; may be empty
 *   ADDS, WRITES       whether r is added to x first and the sum written; whether there is a y
 *   nothing()          the part of no elements
 *   join(a, b)         the part of a's and b's elements
 *   measure(each)      the part of the warp's elements, in every lane; each(f) calls f(value) for
 *                      those of this lane
 *   open(args, row)    the state
 *   gains(args, column, count)   for elements from `column` on; `count` is 1 or all of a piece,
 * then `column` is a multiple of it where rows are aligned close(args, row, state, part, leader)
 * what `out` needs; one thread, the leader, may write out(closed, gain, i, value, column)     the
 * output for element i of the piece
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

/* `count` floats at `from`, which is aligned to 16 bytes where count is all of a piece. */
template <typename T>
static __device__ __forceinline__ void row_floats(float (&to)[row_piece<T>::WIDTH], const T *from,
                                                  int count, bool aligned)
{
    enum { WIDTH = row_piece<T>::WIDTH };
    if (count == 1) {
        to[0] = gpt_float(__ldg(from));
    } else if (aligned) {
        uint4 piece = __ldg((const uint4 *)from);
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            to[i] = row_get(piece, i, T());
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

static __device__ __forceinline__ float row_warp_max(float value)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
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

/* exp(x - most) for x <= most, or x minus infinity and `most` finite. */
static __device__ __forceinline__ float row_power(float x, float most)
{
    return __expf(x - most);
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

/* --------------------------------------------------------- row in registers -- */

enum {
    ROW_PIECES = 8,      /* of a thread, at most */
    ROW_WARPS = 32,      /* of a block, at most */
    ROW_LOG_CLUSTER = 4, /* 16 blocks of a cluster, at most */
    ROW_TEAM_WARPS = 8,  /* of a block in which each warp has a row, at most */
};

/* How a row is divided. Without a cluster and with one warp per row, a block has `rows` rows. */
struct row_team {
    int log_cluster; /* 1 << log_cluster blocks per row */
    int warps;       /* per row and block */
    int rows;        /* per block; above 1 only with one warp and no cluster */
};

/*
 * Each warp of the row loads PIECES pieces per lane, measures them, and tells its part to all other
 * warps of the row through shared memory (of all blocks of the cluster). There is one barrier
 * between reading and writing, and none where a warp has a row.
 */
template <class OP, int PIECES>
static __global__ void __launch_bounds__(32 * ROW_WARPS)
    row_registers(typename OP::args args, struct row_team team)
{
    typedef typename OP::element T;
    typedef typename OP::part part;
    enum { WIDTH = row_piece<T>::WIDTH };
    extern __shared__ __align__(16) char row_shared[];
    part *parts = (part *)row_shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int cluster = 1 << team.log_cluster, rank = (int)blockIdx.x & (cluster - 1);
#if __CUDA_ARCH__ >= 900
    /* All blocks have begun before one writes into another's memory. */
    if (cluster > 1) asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
    const bool alone = team.rows > 1;
    const int64_t row = (int64_t)(blockIdx.x >> team.log_cluster) * team.rows + (alone ? warp : 0);
    if (row >= args.rows) return; /* whole warps, and none with a barrier */
    const int member = rank * team.warps + (alone ? 0 : warp), members = cluster * team.warps;
    const row_place<T> place(row, args.columns);
    const bool aligned = place.head == 0;
    const int first = member * 32 + lane;
    const unsigned stride = (unsigned)members * 32;
    const int64_t body = place.begin + place.head; /* where the pieces begin */
    /* Whether this lane has a k-th piece. */
    auto has = [&](int k) { return first + k * (int)stride < place.pieces; };

    uint4 piece[PIECES];
#pragma unroll
    for (int k = 0; k < PIECES; k++)
        if (has(k)) piece[k] = row_load<OP>(args, body, first + k * stride);
    const int edge = first < place.edge ? place.edge_column(first) : -1;
    float edge_value = edge < 0 ? 0.0f : row_load_one<OP>(args, place.begin + edge);
    typename OP::state state = OP::open(args, row);
    /* Few pieces leave registers for their weights: these are read beside x, not after it. */
    enum { EARLY = PIECES <= 2 };
    typename OP::gain gain[EARLY ? PIECES : 1];
    if (EARLY) {
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            if (has(k))
                gain[EARLY ? k : 0] =
                    OP::gains(args, place.head + (first + k * (int)stride) * WIDTH, WIDTH, aligned);
    }
    if constexpr (OP::ADDS) {
        uint4 *sum = (uint4 *)(args.sum + body);
#pragma unroll
        for (int k = 0; k < PIECES; k++)
            if (has(k)) sum[first + k * stride] = piece[k];
        if (edge >= 0) gpt_put(args.sum + place.begin + edge, edge_value);
    }

    part whole = OP::measure([&](auto f) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            if (!has(k)) continue;
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                f(row_get(piece[k], i, T()));
        }
        if (edge >= 0) f(edge_value);
    });
    if (members > 1) {
        if (cluster > 1) {
#if __CUDA_ARCH__ >= 900
            asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
            if (lane < cluster) *row_peer(parts + member, lane) = whole;
            hopper_cluster_sync();
#endif
        } else {
            if (lane == 0) parts[warp] = whole;
            __syncthreads();
        }
        whole = OP::nothing();
        for (int i = lane; i < members; i += 32)
            whole = OP::join(whole, parts[i]);
        whole = row_join<OP>(whole);
    }

    typename OP::closed closed = OP::close(args, row, state, whole, member == 0 && lane == 0);
    if constexpr (OP::WRITES) {
        uint4 *y = (uint4 *)(args.y + body);
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            const int column = place.head + (first + k * (int)stride) * WIDTH;
            if (!has(k)) continue;
            if (!EARLY) gain[0] = OP::gains(args, column, WIDTH, aligned);
            float out[WIDTH];
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                out[i] =
                    OP::out(closed, gain[EARLY ? k : 0], i, row_get(piece[k], i, T()), column + i);
            y[first + k * stride] = row_pack(out, T());
        }
        if (edge >= 0)
            gpt_put(args.y + place.begin + edge,
                    OP::out(closed, OP::gains(args, edge, 1, false), 0, edge_value, edge));
    }
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
    typename OP::state state = OP::open(args, row);
    part whole = OP::measure([&](auto f) {
        if (edge >= 0) f(edge_value);
    });
    for (int base = 0; base < place.pieces; base += STEP) {
        uint4 piece[ROW_STREAM_PIECES];
#pragma unroll
        for (int k = 0; k < ROW_STREAM_PIECES; k++) {
            int at = base + k * ROW_STREAM_THREADS + threadIdx.x;
            if (at < place.pieces) piece[k] = row_load<OP>(args, body, at);
        }
        part more = OP::measure([&](auto f) {
#pragma unroll
            for (int k = 0; k < ROW_STREAM_PIECES; k++) {
                if (base + k * ROW_STREAM_THREADS + (int)threadIdx.x >= place.pieces) continue;
#pragma unroll
                for (int i = 0; i < WIDTH; i++)
                    f(row_get(piece[k], i, T()));
            }
        });
        whole = OP::join(whole, more);
    }
    if (lane == 0) parts[warp] = whole;
    __syncthreads();
    whole = row_join<OP>(lane < ROW_STREAM_THREADS / 32 ? parts[lane] : OP::nothing());
    typename OP::closed closed = OP::close(args, row, state, whole, threadIdx.x == 0);
    if constexpr (OP::WRITES) {
        uint4 *y = (uint4 *)(args.y + body);
        for (int at = threadIdx.x; at < place.pieces; at += ROW_STREAM_THREADS) {
            const int column = place.head + at * WIDTH;
            uint4 piece = row_load<OP>(args, body, at);
            if constexpr (OP::ADDS) ((uint4 *)(args.sum + body))[at] = piece;
            typename OP::gain gain = OP::gains(args, column, WIDTH, aligned);
            float out[WIDTH];
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                out[i] = OP::out(closed, gain, i, row_get(piece, i, T()), column + i);
            y[at] = row_pack(out, T());
        }
        if constexpr (OP::ADDS)
            if (edge >= 0) gpt_put(args.sum + place.begin + edge, edge_value);
        if (edge >= 0)
            gpt_put(args.y + place.begin + edge,
                    OP::out(closed, OP::gains(args, edge, 1, false), 0, edge_value, edge));
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
    typename OP::closed closed = OP::close(args, row, OP::open(args, row), whole, true);
    if constexpr (OP::WRITES)
        for (int i = 0; i < args.columns; i++)
            gpt_put(args.y + begin + i, OP::out(closed, OP::gains(args, i, 1, false), 0,
                                                gpt_float(args.x[begin + i]), i));
}
