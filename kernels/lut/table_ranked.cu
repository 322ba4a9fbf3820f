/*
 * table_ranked.cu - the table compressed by frequency: two bits for its three commonest values, a
 * byte more for the others.
 *
 * The entries of a row stand in words of 16, two bits each: the rank of a common value, or 3. The
 * bytes of the other values follow one another in the order of the table; where those of a word
 * begin is stored, and those before an entry of the word are counted in it (popc). So an entry is
 * found in constant time, unlike a Huffman code's. (Rank by population counts: Jacobson,
 * Space-efficient static trees and graphs, FOCS 1989, section 2.)
 *
 * E8 with q = 2 has 85 % common values (1, 0 and 2): 16 KiB of ranks, 8 of places and 9.3 of bytes,
 * in place of 64 KiB of int8.
 *
 * Operations: M^2 lookups per pair of blocks, two loads each and four for a rare value, all from
 * shared memory. Bytes: the codes, read by each thread as it needs them; the table, once per thread
 * block.
 */
#include "table.cuh"
#include "kernels/cuda/device_memory.h"

enum { SIDE = 32, THREADS = SIDE * SIDE, PER_WORD = 16, COMMON = 3, MOST_BYTES = 48 << 10 };

/* The table in device memory as one piece: words, then places, then rare values. */
struct ranked {
    uint32_t *data;
    int row_words, words, rare; /* rare: their number, filled up to a multiple of 4 */
    int8_t common[COMMON];
};

static __host__ __device__ int ranked_bytes(const struct ranked *ranked)
{
    return ranked->words * (int)(sizeof(uint32_t) + sizeof(uint16_t)) + ranked->rare;
}

struct lookup_ranked {
    const uint32_t *words;
    const uint16_t *places;
    const int8_t *rare;
    int row_words;
    int8_t common[COMMON];

    __device__ __forceinline__ int operator()(uint32_t left, uint32_t right) const
    {
        int word = (int)left * row_words + (int)(right / PER_WORD);
        uint32_t ranks = words[word], shift = right % PER_WORD * 2;
        uint32_t rank = ranks >> shift & 3;
        if (rank < COMMON) return rank == 0 ? common[0] : rank == 1 ? common[1] : common[2];
        uint32_t others = ranks & ranks >> 1 & 0x55555555u;
        return rare[places[word] + __popc(others & ((1u << shift) - 1))];
    }
};

static __global__ void __launch_bounds__(THREADS)
    table_ranked(struct table_args args, struct ranked ranked)
{
    extern __shared__ __align__(16) uint32_t shared[];
    for (int i = threadIdx.x; i < ranked_bytes(&ranked) / 4; i += THREADS)
        shared[i] = ranked.data[i];
    __syncthreads();
    const uint16_t *places = (const uint16_t *)(shared + ranked.words);
    lookup_ranked lookup = {shared,
                            places,
                            (const int8_t *)(places + ranked.words),
                            ranked.row_words,
                            {ranked.common[0], ranked.common[1], ranked.common[2]}};
    int64_t across = (args.geometry.columns + SIDE - 1) / SIDE;
    int64_t tiles = across * ((args.geometry.rows + SIDE - 1) / SIDE);
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int64_t row = tile / across * SIDE + threadIdx.x / SIDE;
        int64_t column = tile % across * SIDE + threadIdx.x % SIDE;
        if (row < args.geometry.rows && column < args.geometry.columns)
            element(args, row, column, lookup);
    }
}

/* ---------------------------------------------------------- compression -- */

/* The three commonest values, and the sizes that follow. */
static void measure(struct ranked *ranked, const struct codebook *codebook)
{
    int64_t seen[256] = {0}, entries = codebook->count * codebook->count;
    for (int64_t at = 0; at < entries; at++)
        seen[128 + codebook_entry(codebook, at / codebook->count, at % codebook->count)]++;
    ranked->row_words = (int)((codebook->count + PER_WORD - 1) / PER_WORD);
    /* Even, so that the places fill whole words of 32 bits. */
    ranked->words = (ranked->row_words * (int)codebook->count + 1) / 2 * 2;
    for (int rank = 0; rank < COMMON; rank++) {
        int most = 0;
        for (int value = 1; value < 256; value++)
            if (seen[value] > seen[most]) most = value;
        ranked->common[rank] = (int8_t)(most - 128);
        entries -= seen[most];
        seen[most] = 0;
    }
    ranked->rare = (int)((entries + 3) / 4 * 4);
}

/* The table in host memory of ranked_bytes zeros. */
static void compress(const struct ranked *ranked, const struct codebook *codebook, uint32_t *data)
{
    uint16_t *places = (uint16_t *)(data + ranked->words);
    int8_t *rare = (int8_t *)(places + ranked->words);
    int next = 0;
    for (int64_t left = 0; left < codebook->count; left++)
        for (int64_t right = 0; right < codebook->count; right++) {
            int64_t word = left * ranked->row_words + right / PER_WORD;
            int entry = codebook_entry(codebook, left, right), rank = 0;
            if (right % PER_WORD == 0) places[word] = (uint16_t)next;
            while (rank < COMMON && ranked->common[rank] != entry)
                rank++;
            data[word] |= (uint32_t)rank << (right % PER_WORD * 2);
            if (rank == COMMON) rare[next++] = (int8_t)entry;
        }
}

/* ------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    struct ranked ranked = {};
    if (lut_geometry(shape).count > 256) return "of more than 256 codewords, places need 32 bits";
    const struct codebook *codebook = lut_codebook(shape);
    if (codebook == NULL) return "out of host memory for a codebook";
    measure(&ranked, codebook);
    return ranked_bytes(&ranked) > MOST_BYTES
               ? "too many rare values: compressed, the table does not fit 48 KiB"
               : NULL;
}

static int setup(struct assay_call *call)
{
    const struct codebook *codebook = lut_codebook(call->shape);
    struct ranked *ranked = (struct ranked *)calloc(1, sizeof *ranked);
    if (ranked == NULL) return assay_error("out of host memory");
    call->state = ranked;
    if (codebook == NULL) return -1;
    measure(ranked, codebook);
    size_t bytes = (size_t)ranked_bytes(ranked);
    uint32_t *data = (uint32_t *)calloc(1, bytes);
    if (data == NULL) return assay_error("out of host memory for the table");
    compress(ranked, codebook, data);
    int status = assay_cuda(cudaMalloc((void **)&ranked->data, bytes), "table");
    if (status == 0) status = device_upload(ranked->data, data, bytes, "table");
    call->workspace_bytes += (int64_t)bytes;
    free(data);
    return status;
}

static int launch(struct assay_call *call)
{
    const struct ranked *ranked = (const struct ranked *)call->state;
    struct table_args args = table_args_of(call);
    int64_t tiles =
        (args.geometry.columns + SIDE - 1) / SIDE * ((args.geometry.rows + SIDE - 1) / SIDE);
    int64_t resident = 2 * (int64_t)assay_card()->multiprocessors;
    table_ranked<<<(unsigned)(tiles < resident ? tiles : resident), THREADS,
                   (size_t)ranked_bytes(ranked), (cudaStream_t)call->stream>>>(args, *ranked);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct ranked *ranked = (struct ranked *)call->state;
    if (ranked == NULL) return;
    cudaFree(ranked->data);
    free(ranked);
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "ranked",
    .summary = "the table in shared memory, two bits for each common value",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
