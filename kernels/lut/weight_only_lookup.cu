/*
 * weight_only_lookup.cu - weight_only_linear on tensor cores by mma.sync for every code: codewords
 * are looked up in a table of bf16 (lookup_mma.cuh). A block of eight weights of one level costs
 * four instructions, where weight_only_mma.cu has 17.
 *
 * Setup puts the codes into the order in which lanes read them, 8 bits per index for q = 2 and
 * else 16. With q = 2 the table is in shared memory eight times, 32 KiB, one for each of the eight
 * lanes that read 16 bytes at a time, so that lookups have no bank conflicts; with q = 3 once, 103
 * KiB. `lookup_mma_cached` reads it through L1 and L2 (1 MiB for q = 4): no block waits for its
 * copy, but each lookup is a sector of 32 bytes.
 *
 * Bytes: 1 or 2 per index, once for each 64 rows of X, where eight weights are M indices; X from L2
 * for each group of columns; 2 per element of C. Operations: 2 * rows * K * columns in bf16.
 */
#include "lookup_mma.cuh"
#include "lookup_variant.cuh"

template <int M, int BITS, int COPIES> static constexpr struct lookup_code code_with(int q)
{
    return {q,
            M,
            BITS,
            COPIES,
            {{lookup_mma<false, M, BITS, COPIES, 1, 1>, 1, 1},
             {lookup_mma<false, M, BITS, COPIES, 2, 1>, 2, 1},
             {lookup_mma<false, M, BITS, COPIES, 2, 4>, 2, 4},
             {lookup_mma<false, M, BITS, COPIES, 2, 8>, 2, 8}}};
}

static constexpr struct lookup_codes shared_codes = {
    false,
    "q = 2 and 3 only",
    {code_with<1, 8, 8>(2), code_with<2, 8, 8>(2), code_with<4, 8, 8>(2), code_with<2, 16, 1>(3)}};
static constexpr struct lookup_codes cached_codes = {
    false,
    "q = 3 and 4 only",
    {code_with<2, 16, 0>(3), code_with<1, 16, 0>(4), code_with<2, 16, 0>(4),
     code_with<3, 16, 0>(4)}};

static constexpr struct assay_variant in_shared = lookup_variant<&shared_codes>(
    "weight_only_linear", "lookup_mma",
    "codewords looked up as bf16 in shared memory, mma.sync; weights packed in setup");
ASSAY_REGISTER_VARIANT(in_shared);

static constexpr struct assay_variant cached =
    lookup_variant<&cached_codes>("weight_only_linear", "lookup_mma_cached",
                                  "as lookup_mma, with the table of codewords in L1 and L2");
ASSAY_REGISTER_VARIANT(cached);
