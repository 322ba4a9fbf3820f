/*
 * weight_only_mma.cu - weight_only_linear on tensor cores by mma.sync, for codes of E8 with q = 4
 * and one or two levels (2 and 4 bits per weight). Weights are decoded in registers, where the
 * instruction wants them: columns of C are its 16 rows, up to 32 rows of X its columns, 8 at a
 * time.
 *
 * Setup numbers the codewords anew (weight_code.h) and lays the codes out in the order in which
 * lanes read them (weight_tiles.h); the bytes stay as many. K is cut into slices whose X fits
 * shared memory beside the table of codewords, 128 KiB. The warps of a slice divide its columns
 * times K evenly, so a warp's share may begin and end within 32 columns; the warp that finishes
 * some last adds up the sums of all (weight_add_parts). Warps meet only there.
 *
 * Bytes: M / 4 per weight, once for each 32 rows of X; X from L2 once per thread block; 8 per
 * element of C and part. Operations: 2 * rows * K * columns in bf16.
 *
 * What bounds it, by count, for 8192 x 28672 on an H200, where a quarter of an SM has 1740 numbers
 * (of 16 bits, M per block of 8 weights) to decode in each lane:
 *
 *   issue             Machine code for sm_90 has 17.6 instructions per number for up to 8 rows
 *                     (1129 for 64; 18.2 with M = 2): 17 and 36 us at 1.78 GHz.
 *   shifts and logic  8.5 of them, whose pipe takes one every other cycle: 17 and 33 us.
 *   shared memory     A lookup is at an address as good as random: 3.5 cycles for 32 lanes, 14
 *                     and 27 us. 8 rows of X take 4 us, 32 rows 16 us.
 *   device memory     58.7 MB per level take 12.5 us at 4.70 TB/s.
 *
 * The table's way to shared memory comes first, about 3 us.
 *
 * `mma_cached` leaves the table in device memory, for cards whose blocks have less than the table
 * in shared memory (99 KiB on sm_86, sm_89 and sm_120): those have 128 KiB for L1 and shared
 * memory together, so that L1 holds the half or more of the table that X leaves it, and L2 the
 * rest. Lookups bind it: L1 takes a cycle for nearly each of the 32 lines that a warp asks for
 * where shared memory takes 3.5 for all, 55 to 130 us in the example above.
 *
 * Measured on an H200 (23 November 2026): 35.1 us with one row, 42.4 with 16 and 68.2 with 32 for M
 * = 1; 56.4, 69.5 and 95.7 us for M = 2, whose numbers took 19 instructions then. Warps wait for
 * busy pipes, none of which is busy for more than 67 % of the time. 24 warps with one tile each are
 * as fast as 16. An mma.sync more per number takes about ten cycles more, so levels are not
 * multiplied apart. Steps are whole: at 5120 x 13824 each warp has 2.05 of them, and some take 3.
 */
#include <cuda_pipeline.h>

#include "weight.cuh"
#include "weight_mma.cuh"

enum { TILES = 2 }; /* of 16 columns, per warp */

/* Start copying the table to shared memory: blocks begin at different places, so that they do not
 * all ask one part of L2 at a time. */
static __device__ __forceinline__ void load_table(const struct weight_args &args, uint4 *shared)
{
    const unsigned pieces = WEIGHT_TABLE_BYTES / 16;
    for (unsigned i = threadIdx.x; i < pieces; i += blockDim.x) {
        unsigned at = (i + blockIdx.x * blockDim.x) % pieces;
        __pipeline_memcpy_async(shared + at, args.table + at, 16);
    }
    __pipeline_commit();
}

/* Eight entries of a row of X from k on. */
static __device__ __forceinline__ uint4 load_x(const weight_args &args, int64_t row, int64_t k)
{
    return weight_load_x(args.x + row * args.k + k, args.k - k, args.k % 8 == 0);
}

/* Entries 2 j and 2 j + 1 of a block as `a` and `b` have them, to pairs of both blocks. */
static __device__ __forceinline__ uint2 pair_up(uint32_t a, uint32_t b)
{
    return make_uint2(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
}

/* Part `at`, 16 entries of a row, of the copy of `chunks` chunks of X to shared memory. */
static __device__ __forceinline__ void stage_part(const struct weight_args &args, int64_t first_row,
                                                  int rows, int64_t k, int chunks, int at, uint4 *x)
{
    int t = at % 4, chunk = at / 4 % chunks, row = at / 4 / chunks;
    int64_t from = k + chunk * WEIGHT_CHUNK + t * 16;
    uint4 a = load_x(args, first_row + row, from), b = load_x(args, first_row + row, from + 8);
    uint2 p0 = pair_up(a.x, b.x), p1 = pair_up(a.y, b.y);
    uint2 p2 = pair_up(a.z, b.z), p3 = pair_up(a.w, b.w);
    x += row * weight_x_row(chunks);
    x[weight_x_piece(chunk, 0, t)] = make_uint4(p0.x, p0.y, p1.x, p1.y);
    x[weight_x_piece(chunk, 1, t)] = make_uint4(p2.x, p2.y, p3.x, p3.y);
}

/* All of the block: rows of X from entry k on to shared memory. */
static __device__ __forceinline__ void stage(const struct weight_args &args, int64_t first_row,
                                             int rows, int64_t k, int chunks, uint4 *x)
{
#pragma unroll 4
    for (int at = threadIdx.x; at < rows * chunks * 4; at += blockDim.x)
        stage_part(args, first_row, rows, k, chunks, at, x);
}

/* The sums of a warp: TILES tiles of 16 columns times NT times 8 rows of X. */
template <int M, int NT> struct warp_sums {
    float sum[TILES * NT * 4];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < TILES * NT * 4; i++)
            sum[i] = 0;
    }

    /* A unit; its pieces of X begin `at` pieces behind those of `rows`, a lane's row per n. */
    template <typename TABLE>
    __device__ __forceinline__ void add(const struct weight_args &args, TABLE table,
                                        const uint4 codes[TILES], const uint4 *const rows[NT],
                                        int at)
    {
#pragma unroll
        for (int chunk = 0; chunk < 2 / M; chunk++) {
            uint32_t entries[TILES][4], upper[TILES][8], lower[TILES][8];
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
                weight_look_up<M>(args.constants, table, codes[tile], chunk, entries[tile]);
#pragma unroll
            for (int tile = 0; tile < TILES; tile++) {
                weight_decode<M>(args.constants, codes[tile], entries[tile], chunk, 0, upper[tile]);
                weight_decode<M>(args.constants, codes[tile], entries[tile], chunk, 1, lower[tile]);
            }
#pragma unroll
            for (int n = 0; n < NT; n++)
                add_rows(upper, lower, rows[n] + at + weight_x_piece(chunk, 0, 0), n);
        }
    }

    /* Eight rows of X times a chunk. */
    __device__ __forceinline__ void add_rows(const uint32_t upper[TILES][8],
                                             const uint32_t lower[TILES][8], const uint4 *x, int n)
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint4 b = x[weight_x_piece(0, half, 0)];
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
                weight_multiply(sum + (tile * NT + n) * 4, upper[tile] + 4 * half,
                                lower[tile] + 4 * half, b.x, b.y);
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
                weight_multiply(sum + (tile * NT + n) * 4, upper[tile] + 4 * half + 2,
                                lower[tile] + 4 * half + 2, b.z, b.w);
        }
    }

    __device__ __forceinline__ void store(const struct weight_args &args, int64_t first_row,
                                          int rows, int64_t group)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < TILES * NT * 4; i++) {
            int row = i / 4 % NT * 8 + lane % 4 * 2 + i % 2;
            int64_t tile = group * TILES + i / (NT * 4);
            int64_t column = tile * WEIGHT_TILE + lane / 4 + 8 * (i / 2 % 2);
            if (row < rows && column < args.columns)
                weight_store(args, first_row + row, column, sum[i]);
        }
    }
};

/* ------------------------------------------------------------------- walk -- */

/* How the warps of a slice share it: WEIGHT_AHEAD units of a group are a step, groups' steps lie
 * one after the other, and each warp has as many in a row as any other, or one more; at least one.
 * Further warps have none. */
struct share {
    int64_t steps, warps;
    int of_group; /* steps */
};

static __device__ __forceinline__ int64_t share_begin(const struct share &share, int64_t warp)
{
    return share.steps * warp / share.warps;
}

static __device__ __forceinline__ int64_t share_owner(const struct share &share, int64_t step)
{
    return ((step + 1) * share.warps - 1) / share.steps;
}

/* Add up what other warps have of this group, and write C. */
template <int M, int NT>
static __device__ __forceinline__ void finish(const struct weight_args &args,
                                              const struct share &share, int64_t group,
                                              int64_t warp, int64_t first_row, int rows,
                                              warp_sums<M, NT> &sums)
{
    int64_t first = share_owner(share, group * share.of_group);
    int cuts = (int)(share_owner(share, (group + 1) * share.of_group - 1) - first) + 1;
    int part = (int)(blockIdx.x % args.slices) * cuts + (int)(warp - first);
    if (weight_add_parts(args, blockIdx.y * args.groups + group, part, args.slices * cuts,
                         sums.sum))
        sums.store(args, first_row, rows, group);
}

/* `x` is shared memory, behind the table if that is not cached. */
template <int M, int NT, bool CACHED, typename TABLE>
static __device__ __forceinline__ void walk(const struct weight_args &args, TABLE table, uint4 *x)
{
    const int slice = blockIdx.x % args.slices, warps = blockDim.x / 32;
    const int of_group = args.slice_units / WEIGHT_AHEAD;
    const struct share share = {
        args.groups * of_group,
        min((int64_t)gridDim.x / args.slices * warps, args.groups * of_group), of_group};
    const int64_t warp = (int64_t)(blockIdx.x / args.slices) * warps + threadIdx.x / 32;
    const int64_t first_row = (int64_t)blockIdx.y * 8 * NT;
    const int rows = (int)min((int64_t)8 * NT, args.rows - first_row);
    const int chunks = args.slice_units * (2 / M);
    int64_t step = share_begin(share, warp);
    int64_t end = warp < share.warps ? share_begin(share, warp + 1) : step;
    const uint4 *from =
        args.codes + (slice * share.steps + step) * (WEIGHT_AHEAD * TILES * 32) + threadIdx.x % 32;
    uint4 codes[WEIGHT_AHEAD][TILES];
    const uint4 *lane_rows[NT];
#pragma unroll
    for (int n = 0; n < NT; n++) /* behind the last row it again; such sums are never written */
        lane_rows[n] = x + min(n * 8 + threadIdx.x % 32 / 4, rows - 1) * weight_x_row(chunks) +
                       weight_x_piece(0, 0, threadIdx.x % 4);
    if (!CACHED) load_table(args, x - WEIGHT_TABLE_BYTES / 16);
#pragma unroll
    for (int i = 0; i < WEIGHT_AHEAD * TILES; i++)
        if (step < end) codes[i / TILES][i % TILES] = __ldcs(from + i * 32);
    stage(args, first_row, rows, (int64_t)slice * chunks * WEIGHT_CHUNK, chunks, x);
    __pipeline_wait_prior(0);
    __syncthreads();

    while (step < end) {
        int64_t group = step / share.of_group;
        int first = (int)(step % share.of_group);
        int last = (int)min((int64_t)share.of_group, first + end - step);
        warp_sums<M, NT> sums;
        sums.clear();
        for (int at = first; at < last; at++, step++) {
            from += WEIGHT_AHEAD * TILES * 32;
#pragma unroll
            for (int ahead = 0; ahead < WEIGHT_AHEAD; ahead++) {
                sums.add(args, table, codes[ahead], lane_rows,
                         weight_x_piece((at * WEIGHT_AHEAD + ahead) * (2 / M), 0, 0));
#pragma unroll
                for (int tile = 0; tile < TILES; tile++)
                    if (step + 1 < end)
                        codes[ahead][tile] = __ldcs(from + (ahead * TILES + tile) * 32);
            }
        }
        finish<M, NT>(args, share, group, warp, first_row, rows, sums);
    }
}

template <int M, int NT, int WARPS, bool CACHED>
static __global__ void __launch_bounds__(32 * WARPS, 1) weight_only_mma(struct weight_args args)
{
    extern __shared__ uint4 shared[];
    if (CACHED)
        walk<M, NT, CACHED>(args, (const uint16_t *)args.table, shared);
    else
        walk<M, NT, CACHED>(args, (uint32_t)__cvta_generic_to_shared(shared),
                            shared + WEIGHT_TABLE_BYTES / 16);
}

/* --------------------------------------------------------------- variant -- */

template <int M, int NT, int WARPS, bool CACHED = false>
static constexpr struct weight_kernel kernel_with()
{
    return {weight_only_mma<M, NT, WARPS, CACHED>, NT, WARPS, 32, TILES, 0, NULL, 0, CACHED};
}

/* A block's registers are shared by its warps: more rows, fewer warps. */
static const struct weight_kernel *kernels(int levels)
{
    static const struct weight_kernel table[2][WEIGHT_KERNELS] = {
        {kernel_with<1, 1, 16>(), kernel_with<1, 2, 16>(), kernel_with<1, 4, 12>()},
        {kernel_with<2, 1, 16>(), kernel_with<2, 2, 16>(), kernel_with<2, 4, 12>()}};
    return table[levels - 1];
}

static const struct weight_kernel *cached_kernels(int levels)
{
    static const struct weight_kernel table[2][WEIGHT_KERNELS] = {
        {kernel_with<1, 1, 12, true>(), kernel_with<1, 4, 8, true>()},
        {kernel_with<2, 1, 12, true>(), kernel_with<2, 4, 8, true>()}};
    return table[levels - 1];
}

template <weight_kernels *KERNELS> static int64_t shared_bytes(const struct assay_shape *shape)
{
    return weight_shared_bytes(shape, KERNELS);
}

template <weight_kernels *KERNELS> static int setup(struct assay_call *call)
{
    return weight_setup(call, KERNELS);
}

template <weight_kernels *KERNELS> static int launch(struct assay_call *call)
{
    return weight_launch(call, KERNELS);
}

static const struct assay_variant mma = {
    .operation = "weight_only_linear",
    .name = "mma",
    .summary = "codes decoded in registers, mma.sync in bf16; weights packed in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = weight_unsupported,
    .shared_bytes = shared_bytes<kernels>,
    .setup = setup<kernels>,
    .launch = launch<kernels>,
    .teardown = weight_teardown,
};
ASSAY_REGISTER_VARIANT(mma);

static const struct assay_variant mma_cached = {
    .operation = "weight_only_linear",
    .name = "mma_cached",
    .summary = "as mma, with the table of codewords in L1: for little shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = weight_unsupported,
    .shared_bytes = shared_bytes<cached_kernels>,
    .setup = setup<cached_kernels>,
    .launch = launch<cached_kernels>,
    .teardown = weight_teardown,
};
ASSAY_REGISTER_VARIANT(mma_cached);
