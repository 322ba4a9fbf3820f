/*
 * decode_lookup.cu - lut_matmul of few rows by mma.sync in bf16, for every code of E8: both
 * operands are looked up in a table of bf16 (lookup_mma.cuh). Products and their sums are whole
 * numbers below 2^24, exact in fp32.
 *
 * Setup puts B's codes into the order in which lanes read them, 8 bits per index for q = 2 and else
 * 16; A's are read as they are, by each warp that needs them. The table is in shared memory, or for
 * `lookup_mma_cached` in L1 and L2, as weight_only_lookup.cu says.
 *
 * Bytes: 1 or 2 per index of B; A's codes from L2 for each group of columns; 4 per element of C.
 * Operations: 2 * rows * K * columns in bf16.
 */
#include "lookup_mma.cuh"
#include "lookup_variant.cuh"
#include "lut_cuda.h"

template <int M, int BITS, int COPIES> static constexpr struct lookup_code code_with(int q)
{
    return {q,
            M,
            BITS,
            COPIES,
            {{lookup_mma<true, M, BITS, COPIES, 1, 1>, 1, 1},
             {lookup_mma<true, M, BITS, COPIES, 2, 1>, 2, 1},
             {lookup_mma<true, M, BITS, COPIES, 2, 4>, 2, 4},
             {lookup_mma<true, M, BITS, COPIES, 2, 8>, 2, 8}}};
}

static constexpr struct lookup_codes shared_codes = {
    true,
    "q = 2 and 3 only",
    {code_with<1, 8, 8>(2), code_with<2, 8, 8>(2), code_with<4, 8, 8>(2), code_with<2, 16, 1>(3)}};
static constexpr struct lookup_codes cached_codes = {
    true,
    "q = 3 and 4 only",
    {code_with<2, 16, 0>(3), code_with<1, 16, 0>(4), code_with<2, 16, 0>(4),
     code_with<3, 16, 0>(4)}};

extern const struct assay_variant lut_lookup_mma = lookup_variant<&shared_codes>(
    "lut_matmul", "lookup_mma",
    "few rows: codewords looked up as bf16 in shared memory, tensor cores");
ASSAY_REGISTER_VARIANT(lut_lookup_mma);

extern const struct assay_variant lut_lookup_mma_cached = lookup_variant<&cached_codes>(
    "lut_matmul", "lookup_mma_cached", "as lookup_mma, with the table of codewords in L1 and L2");
ASSAY_REGISTER_VARIANT(lut_lookup_mma_cached);
