/*
 * model_persistent_codes.cuh - in which format weights come through the ring, and in which order
 * words stand beside them: as numbers of the model's type, or as codes (model_codes.h).
 *
 * Codes have numbers that decode with one lookup (kernels/lut/weight_code.h), in a table of 128 KiB
 * in shared memory. A word holds the numbers of blocks 2 t and 2 t + 1 of one level, so that a
 * row's chunk of 64 weights is four pairs of words, one for each lane t = lane % 4: level 0,
 * level 1. What a lane makes of its pair is in eight words: coordinate i of both blocks. Two of
 * them are what it has of a unit of 16, so that a chunk is four units, u = 0 .. 3, of which lane t
 * has
 *
 *   weights 16 t + 2 u, 16 t + 2 u + 8, 16 t + 2 u + 1, 16 t + 2 u + 9 of the chunk
 *
 * Words of activations and the scales of norms stand in this order, so that all else is as with
 * numbers.
 */
#pragma once

#include "kernels/lut/weight_decode.cuh"
#include "model_persistent_words.cuh"

/* What a format keeps in shared memory. */
struct persistent_nothing {
    __device__ __forceinline__ void begin(void)
    {
    }

    __device__ __forceinline__ void fetch(const struct persistent_args &, uint32_t)
    {
    }

    __device__ __forceinline__ void wait(void)
    {
    }

    __device__ __forceinline__ void bring(int, float)
    {
    }

    __device__ __forceinline__ float factor(int) const
    {
        return 1.0f;
    }
};

/* Weights as they are. */
template <typename T> struct persistent_numbers {
    typedef T element;
    typedef persistent_nothing memory;
    /* Weights of an element; units that are read together. */
    static const int WEIGHTS = 1, TOGETHER = 1;

    /* The first unit of part `part` of so many, of `all` units. */
    static __device__ __forceinline__ int part(int all, int part, int parts)
    {
        return all * part / parts;
    }

    static __host__ __device__ constexpr int units(int count)
    {
        return count;
    }

    /* Where a lane's first weight is, of a slot: an element of it. */
    static __device__ __forceinline__ int place(int weight)
    {
        return weight;
    }

    /* Where the word of element i is, among the words of a row; also of several rows. */
    static __device__ __forceinline__ int order(int i)
    {
        return i;
    }

    static __device__ __forceinline__ float factor(const struct persistent_args &, int)
    {
        return 1.0f;
    }

    static __device__ __forceinline__ float times(float sum, float)
    {
        return sum;
    }
};

enum { PERSISTENT_TABLE_PARTS = 8 }; /* in which the table comes */

struct persistent_code_memory {
    float factors[2];     /* of two steps by turns, of which sums are multiples */
    uint64_t table_there; /* a barrier */

    __device__ __forceinline__ void begin(void)
    {
        hopper_barrier_init(hopper_shared(&table_there), 1);
    }

    /* Blocks begin at different parts, so that they do not all ask one part of L2 at a time. */
    __device__ __forceinline__ void fetch(const struct persistent_args &args, uint32_t table)
    {
        const uint32_t bytes = WEIGHT_TABLE_BYTES / PERSISTENT_TABLE_PARTS;
        uint32_t barrier = hopper_shared(&table_there);
        hopper_barrier_expect(barrier, WEIGHT_TABLE_BYTES);
        for (uint32_t i = 0; i < PERSISTENT_TABLE_PARTS; i++) {
            uint32_t at = (i + blockIdx.x) % PERSISTENT_TABLE_PARTS * bytes;
            hopper_load_bytes(table + at, (const char *)args.table + at, bytes, barrier);
        }
    }

    __device__ __forceinline__ void wait(void)
    {
        hopper_barrier_wait(hopper_shared(&table_there), 0);
    }

    __device__ __forceinline__ void bring(int odd, float factor)
    {
        factors[odd] = factor;
    }

    __device__ __forceinline__ float factor(int odd) const
    {
        return factors[odd];
    }
};

/* Weights as codes: two to an element. Rows are whole chunks of 64. */
struct persistent_codes {
    typedef uint8_t element;
    typedef persistent_code_memory memory;
    static const int WEIGHTS = 2, TOGETHER = 4;

    static __device__ __forceinline__ int part(int all, int part, int parts)
    {
        return all / TOGETHER * part / parts * TOGETHER;
    }

    static __host__ __device__ constexpr int units(int count)
    {
        return count / TOGETHER * TOGETHER;
    }

    /* A lane's pair of words is twice as long as its weights of a unit would be. */
    static __device__ __forceinline__ int place(int weight)
    {
        return weight / PERSISTENT_UNIT * 8 + weight % PERSISTENT_UNIT * 2;
    }

    /* Bits of an element's place in its chunk: t (2), which block, u (2), which of two; of its
     * word's: u, t, which of two, which block. */
    static __host__ __device__ __forceinline__ int order(int i)
    {
        return (i & ~63) | (i << 3 & 48) | (i >> 2 & 12) | (i << 1 & 2) | (i >> 3 & 1);
    }

    /* Of step i of all. */
    static __device__ __forceinline__ float factor(const struct persistent_args &args, int i)
    {
        return __ldg(args.factor + i);
    }

    static __device__ __forceinline__ float times(float sum, float factor)
    {
        return sum * factor;
    }

    /* The chunk that begins with unit i, of a row: what sums take of its units. */
    template <typename SUMS, int UNITS, int GROUPS>
    static __device__ __forceinline__ void take(const struct weight_constants &constants,
                                                uint32_t table, int i,
                                                const element *const (&from)[GROUPS],
                                                typename SUMS::weight (&w)[UNITS][GROUPS])
    {
#pragma unroll
        for (int r = 0; r < GROUPS; r++) {
            const uint2 codes = *(const uint2 *)(from[r] + i * (PERSISTENT_UNIT / WEIGHTS));
            uint32_t entries[4] = {weight_entries_of(constants, table, codes.x),
                                   weight_entries_of(constants, table, codes.y)};
            uint32_t pairs[8];
            weight_decode<2>(constants, make_uint4(codes.x, codes.y, 0, 0), entries, 0, 0, pairs);
#pragma unroll
            for (int u = 0; u < TOGETHER; u++)
                w[i + u][r] = SUMS::of({make_uint2(pairs[2 * u], pairs[2 * u + 1])});
        }
    }
};
