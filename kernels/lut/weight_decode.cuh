/*
 * weight_decode.cuh - codewords of E8 with q = 4 decoded in registers, two at a time to pairs of
 * bf16 (weight_code.h).
 */
#pragma once

#include "kernels/cuda/ampere.cuh"
#include "weight_code.h"

/* In setup: the table of entries, and the number of each codeword, of WEIGHT_TABLE_BYTES each in
 * device memory (weight.cu). A codebook of NULL is an error, too. 0, or -1 with assay_error. */
int weight_upload(const struct codebook *codebook, void *table, uint16_t *numbers);

/* a b + c in both halves. */
static __device__ __forceinline__ uint32_t weight_fma(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef AMPERE_CODE
    uint32_t d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
#else
    __trap();
#endif
}

static __device__ __forceinline__ uint32_t weight_add(uint32_t a, uint32_t b)
{
    return weight_fma(a, 0x3f803f80u, b);
}

/* An entry; `table` is its address in shared memory, or a pointer to device memory. */
static __device__ __forceinline__ uint32_t weight_entry_of(const struct weight_constants &constants,
                                                           uint32_t table, uint32_t number)
{
    uint32_t entry;
    asm volatile("ld.shared.u16 %0, [%1];" : "=r"(entry) : "r"(number * constants.two + table));
    return entry;
}

static __device__ __forceinline__ uint32_t weight_entry_of(const struct weight_constants &,
                                                           const uint16_t *table, uint32_t number)
{
    return __ldg(table + number);
}

/* The table's entries of the two numbers of a word. */
template <typename TABLE>
static __device__ __forceinline__ uint32_t
weight_entries_of(const struct weight_constants &constants, TABLE table, uint32_t numbers)
{
    uint32_t low = weight_entry_of(constants, table, numbers & 0xffff);
    uint32_t high = weight_entry_of(constants, table, numbers >> 16);
    return high * constants.upper + low;
}

/* Those of a chunk of a lane's piece. */
template <int M, typename TABLE>
static __device__ __forceinline__ void weight_look_up(const struct weight_constants &constants,
                                                      TABLE table, uint4 piece, int chunk,
                                                      uint32_t entries[4])
{
    const uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 2 * M * chunk; i < 2 * M * (chunk + 1); i++)
        entries[i] = weight_entries_of(constants, table, words[i]);
}

/* Two codewords as fields, and what is to be added to them: `high` where i is even, else `low`. */
struct weight_codewords {
    uint32_t field[8], high, low;
};

static __device__ __forceinline__ struct weight_codewords weight_open(
    const struct weight_constants &constants, uint32_t numbers, uint32_t entries)
{
    struct weight_codewords two;
    two.high = weight_offset(&constants, numbers);
    two.low = weight_add(two.high, 0x42e042e0u); /* 112 */
    weight_fields(&constants, numbers, entries, two.field);
    return two;
}

/* The eight pairs of column g (below = 0) or g + 8 of a chunk. With two levels z + 4 z'. Where a
 * field of z' is 16 + z' + 6 + o, four of it and both offsets, -110 to -115, take one rounding. */
template <int M>
static __device__ __forceinline__ void weight_decode(const struct weight_constants &constants,
                                                     uint4 piece, const uint32_t entries[4],
                                                     int chunk, int below, uint32_t out[8])
{
    const uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w}, four = 0x40804080u;
    const int at = M == 1 ? 2 * chunk + below : 2 * below;
    struct weight_codewords fine = weight_open(constants, words[at], entries[at]);
    if (M == 2) {
        struct weight_codewords coarse = weight_open(constants, words[at + 1], entries[at + 1]);
        uint32_t low = weight_fma(coarse.low, four, fine.low);
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            out[i] = weight_fma(weight_add(coarse.field[i], coarse.high), four, fine.high);
            out[i + 1] = weight_fma(coarse.field[i + 1], four, low);
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] = weight_add(fine.field[i], M == 2 ? out[i] : i % 2 ? fine.low : fine.high);
}
