/*
 * row.cuh - what kernels for operations on rows share: the pieces of 16 bytes in which a row is
 * moved, and the sums over lanes, warps and blocks.
 *
 * An operation is a struct OP of types and static functions:
 *
 *   element            float, uint16_t for bf16, or fp16_t
 *   args               the kernel's argument: x, y, rows, columns and what else it needs
 *   part               what is known of some of a row's elements (a sum; a largest element)
 *   hint, state        what each thread reads of the row before its part, in two steps, since the
 *                      second may need the first: a target, and its element; may be empty
 *   gain               what comes with the elements of a piece: weights; may be empty
 *   ADDS, WRITES       whether r is added to x first and the sum written; whether there is a y
 *   RING               whether it has the kernels of row_ring.cuh and row_shared.cuh
 *   nothing()          the part of no elements
 *   single(x)          the part of one
 *   join(a, b)         the part of a's and b's elements
 *   measure<L>(each)   the part of the elements of L neighbouring lanes, in each of them; each(f)
 *                      calls f(value) for those of this lane
 *   hints(args, row), open(args, row, hint)   hint and state
 *   gains(args, column, count, aligned)       for elements from `column` on; `count` is 1 or all of
 *                      a piece, whose columns are multiples of it if `aligned`
 *   GAINS, gain_array(args, g), gain_of(pieces)   with a ring: how many arrays of T that is, the
 *                      array g, and the gain from a piece of each
 *   close(args, row, state, whole, leader)   what `out` needs, where the row is `whole`; one
 * thread, the leader, may write out(closed, gain, i, value)        the output for element i of the
 * piece finish(closed, out, column)        a last change to the outputs of a piece
 *
 * A row begins wherever the one before it ended. What lies before its first and behind its last
 * whole piece of 16 bytes, aligned in memory, are at most two times WIDTH - 1 elements, its edge:
 * lanes of the first warp take one each.
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "kernels/gpt/gpt.cuh"

/* An operation begins with what is here and replaces what it has: no hint, no state and no
 * last change. */
struct row_plain {
    struct hint {
    };
    struct state {
    };
    template <class Args> static __device__ __forceinline__ hint hints(const Args &, int64_t)
    {
        return {};
    }
    template <class Args> static __device__ __forceinline__ state open(const Args &, int64_t, hint)
    {
        return {};
    }
    template <class Closed, int COUNT>
    static __device__ __forceinline__ void finish(Closed, float (&)[COUNT], int)
    {
    }
};

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

template <typename T>
static __device__ __forceinline__ float row_get(const uint4 &piece, int i, T type)
{
    const uint32_t word[] = {piece.x, piece.y, piece.z, piece.w};
    const float2 pair = gpt_unpack(type, word[i / 2]);
    return i % 2 ? pair.y : pair.x;
}

static __device__ __forceinline__ uint4 row_pack(const float (&v)[4], float)
{
    return make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
                      __float_as_uint(v[3]));
}

template <typename T> static __device__ __forceinline__ uint4 row_pack(const float (&v)[8], T type)
{
    return make_uint4(gpt_pack(type, v[0], v[1]), gpt_pack(type, v[2], v[3]),
                      gpt_pack(type, v[4], v[5]), gpt_pack(type, v[6], v[7]));
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

    /* The first piece begins with a multiple of `unit` elements in memory, a power of two. */
    __device__ __forceinline__ row_place(int64_t row, int columns, int unit = WIDTH)
        : begin(row * columns)
    {
        head = (int)(-begin & (unit - 1));
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
    return gpt_exp2((x - most) * GPT_LOG2_E);
}

/* The same place in the shared memory of block `rank` of the cluster. */
template <typename P> static __device__ __forceinline__ P *row_peer(P *place, unsigned rank)
{
    P *peer = place;
#if __CUDA_ARCH__ >= 900
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(place), "r"(rank));
#else
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
