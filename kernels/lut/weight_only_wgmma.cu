/*
 * weight_only_wgmma.cu - weight_only_linear on Hopper's tensor cores by wgmma: codes of E8 with q =
 * 4 and one or two levels, decoded in registers, from where the products take them; X comes from
 * shared memory without passing through registers. weight_only_mma.cu is the same by mma.sync, and
 * weight.cuh has what both share.
 *
 * A warpgroup owns 64 columns of C, the rows of m64nNk16; N = 8 to 64 rows of X are its columns.
 * Products are asynchronous: while those of a chunk of 64 entries run, the next chunk is decoded
 * into other registers. X lies in rows of 128 bytes as TMA's 128-byte swizzle has them, a chunk
 * each, but in the order of the codes: piece i of a row, 16 bytes, is entry i of the chunk's eight
 * blocks, and product q takes pieces 2 q and 2 q + 1. TMA cannot gather that, so a kernel before
 * arranges X in memory as shared memory will have it.
 *
 * Codes and X come through a ring of stages, which one thread of a further warpgroup fills by TMA
 * (warp specialization). All warpgroups read the same X, each its own codes.
 *
 * Warpgroups take whole groups of columns as long as each block has one more; what is left over is
 * cut along K, and a piece is done in the stages that pass for the others.
 *
 * Bytes: those of weight_only_mma.cu, and X once for each block and round of its groups, from L2.
 * Operations: as there.
 *
 * What bounds it, by count as there, in cycles per chunk of 64 columns and 64 rows; an SM has 434
 * chunks at 8192 x 28672:
 *
 *   tensor cores      128, at their full rate
 *   shared memory     120 (M = 1) and 176: X 64, lookups 56 per level
 *   issue             about 110 (M = 1) and 210
 *
 * Blocks start where those that arrange X have ended, load the table, and wait for all of X only
 * before they ask for it (dependent_launch.cuh).
 *
 * Measured on an H200 with 8192 x 28672 (1 December 2026): 37.1, 39.9, 45.1 and 58.6 us with 1, 16,
 * 32 and 64 rows for M = 1; 62.8, 64.8, 70.4 and 85.0 us for M = 2. When each lane loaded its own
 * codes and readers filled the ring, it took 41.6, 42.8, 46.4 and 60.2 us, and 73.3, 74.8, 82.1 and
 * 88.7 us: the four loads that a lane had ahead shared a scoreboard, so that the first was waited
 * for as long as the last, and a number took 26.9 instructions where it takes 21.5. Codes of
 * several stages that are asked for before the table has come delay it by 1 us; a table that two
 * blocks of a cluster load for each other saves 0.3 us; lookups a chunk ahead of their use cost up
 * to 2 us, a stage of one unit in place of two up to 7 us.
 */
#include "weight_ring.cuh"

/* ------------------------------------------------------------- activations -- */

/* Entries k and k + 1 of a row of X, k even; zeros beyond its end or the last row. */
static __device__ __forceinline__ uint32_t load_pair(const struct weight_args &args, int64_t row,
                                                     int64_t k)
{
    const uint16_t *from = args.x + row * args.k + k;
    if (row >= args.rows || k >= args.k) return 0;
    if (args.k % 2 == 0) return *(const uint32_t *)from;
    return from[0] | (k + 1 < args.k ? (uint32_t)from[1] << 16 : 0);
}

/* A piece of X: the lower or upper halves of eight words. */
template <uint32_t HALF> static __device__ __forceinline__ uint4 gather(const uint32_t word[8])
{
    return make_uint4(__byte_perm(word[0], word[1], HALF), __byte_perm(word[2], word[3], HALF),
                      __byte_perm(word[4], word[5], HALF), __byte_perm(word[6], word[7], HALF));
}

/* X in the order of the stages: [block of rows][chunk][row][piece, swizzled]. */
template <int NT>
static __global__ void __launch_bounds__(256)
    arrange_x(struct weight_args args, int64_t threads, int64_t chunks)
{
    dependent_release(); /* for the table of the blocks that follow */
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < threads;
         at += (int64_t)gridDim.x * blockDim.x) {
        int pair = (int)(at % 4), row = (int)(at / 4 % (8 * NT));
        int64_t tile = at / (4 * 8 * NT), first_row = tile / chunks * (8 * NT);
        uint4 *out = args.arranged + (tile * (8 * NT) + row) * (CHUNK_BYTES / 16);
        uint32_t word[8];
#pragma unroll
        for (int block = 0; block < 8; block++)
            word[block] = load_pair(args, first_row + row,
                                    tile % chunks * WEIGHT_CHUNK + block * 8 + 2 * pair);
        out[2 * pair ^ row % 8] = gather<0x5410>(word);
        out[(2 * pair + 1) ^ row % 8] = gather<0x7632>(word);
    }
}

/* ---------------------------------------------------------------- products -- */

#ifdef HOPPER_CODE

/* Sums of NT tiles of 8 columns += A in four registers times B's rows; `b` is the lower half of
 * their descriptor, whose upper half is the same for all. */
#define PRODUCT(NT, N, SUMS, OUT, A0, A1, A2, A3, B)                                               \
    static __device__ __forceinline__ void product(float(&d)[4 * NT], const uint32_t *a,           \
                                                   uint32_t b)                                     \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     " .reg .pred p;\n"                                                            \
                     " .reg .b64 rows;\n"                                                          \
                     " mov.b64 rows, {" B ", 0x40000040};\n"                                       \
                     " setp.eq.b32 p, 0, 0;\n"                                                     \
                     " wgmma.mma_async.sync.aligned.m64n" N "k16.f32.bf16.bf16 {" SUMS "}, {" A0   \
                     ", " A1 ", " A2 ", " A3 "}, rows, p, 1, 1, 0;\n"                              \
                     "}"                                                                           \
                     : OUT                                                                         \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b)                          \
                     : "memory");                                                                  \
    }

#define SUMS_4  "%0, %1, %2, %3"
#define SUMS_8  SUMS_4 ", %4, %5, %6, %7"
#define SUMS_16 SUMS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define OUT_8   WGMMA_SUM_4(0), WGMMA_SUM_4(4)
PRODUCT(1, "8", SUMS_4, WGMMA_SUM_4(0), "%4", "%5", "%6", "%7", "%8")
PRODUCT(2, "16", SUMS_8, OUT_8, "%8", "%9", "%10", "%11", "%12")
PRODUCT(4, "32", SUMS_16, WGMMA_SUM_16(0), "%16", "%17", "%18", "%19", "%20")
PRODUCT(8, "64", WGMMA_UP_TO_32, WGMMA_SUM_32(0), "%32", "%33", "%34", "%35", "%36")

/* A warpgroup: 64 columns times 8 NT rows of X. */
template <int M, int NT> struct warpgroup_sums {
    float sum[4 * NT];
    uint32_t a[2][16]; /* operands of the products that run, and of the next */

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < 4 * NT; i++)
            sum[i] = 0;
    }

    /* The operands of a chunk's four products. */
    __device__ __forceinline__ void decode(const struct weight_args &args, uint4 codes,
                                           const uint32_t entries[4], int chunk,
                                           uint32_t (&out)[16])
    {
        uint32_t upper[8], lower[8];
        weight_decode<M>(args.constants, codes, entries, chunk, 0, upper);
        weight_decode<M>(args.constants, codes, entries, chunk, 1, lower);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            out[2 * i] = upper[i];
            out[2 * i + 1] = lower[i];
        }
    }

    /* A chunk whose X has the tile `x`; its products run on, and those before have ended. */
    __device__ __forceinline__ void multiply(uint32_t (&now)[16], uint32_t (&before)[16],
                                             uint32_t x)
    {
        wgmma_pin(now);
        wgmma_begin();
#pragma unroll
        for (int q = 0; q < 4; q++)
            product(sum, now + 4 * q, (uint32_t)wgmma_ahead(x, q));
        wgmma_commit();
        wgmma_wait<1>();
        wgmma_pin(before);
    }

    /* A stage, with X from the tile `x` on. `first` is called when the products of the stage before
     * have ended. */
    template <typename FIRST>
    __device__ __forceinline__ void add(const struct weight_args &args, uint32_t table,
                                        const uint4 *codes, uint32_t x, FIRST first)
    {
        constexpr int CHUNKS = 2 / M;
        uint4 piece;
        uint32_t entries[4];
#pragma unroll
        for (int at = 0; at < STAGE_UNITS<M, NT> * CHUNKS; at++) {
            const int chunk = at % CHUNKS;
            if (chunk == 0) piece = codes[at / CHUNKS * PIECE];
            weight_look_up<M>(args.constants, table, piece, chunk, entries);
            decode(args, piece, entries, chunk, a[at % 2]);
            multiply(a[at % 2], a[1 - at % 2], x + at * (8 * NT * CHUNK_BYTES / 16));
            if (at == 0) first();
        }
    }

    __device__ __forceinline__ void drain()
    {
        wgmma_wait<0>();
        wgmma_pin(a[0]);
        wgmma_pin(a[1]);
        wgmma_pin(sum);
    }

    __device__ __forceinline__ void store(const struct weight_args &args, int64_t tile)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < 4 * NT; i++) {
            int64_t row = (int64_t)blockIdx.y * 8 * NT + i / 4 * 8 + lane % 4 * 2 + i % 2;
            int64_t column = tile * WEIGHT_TILE + lane / 4 + 8 * (i / 2 % 2);
            if (row < args.rows && column < args.columns) weight_store(args, row, column, sum[i]);
        }
    }
};

/* Warpgroup `team`. */
template <int M, int NT>
static __device__ __forceinline__ void consume(const struct weight_args &args, int team,
                                               uint32_t table, struct weight_ring<M, NT> &ring)
{
    const int stage_pieces = sizeof ring.stage[0] / 16, warp = threadIdx.x / 32 % TILES;
    const uint32_t x = (uint32_t)wgmma_tile(hopper_shared(ring.stage[0].x));
    const uint4 *codes = ring.stage[0].codes[team][0] + threadIdx.x % PIECE;
    struct reader<M, NT> at;
    at.slot = at.parity = 0;
    at.full = hopper_shared(ring.full);
    at.empty = hopper_shared(ring.empty);
    const int rounds = rounds_of(args);
    for (int round = 0; round < rounds; round++) {
        const struct task task = task_of(args, round * TEAMS + team);
        warpgroup_sums<M, NT> sums;
        sums.clear();
        at.pass(task.begin);
        for (int unit = task.begin; unit < task.end; unit += STAGE_UNITS<M, NT>) {
            at.await();
            sums.add(args, table, codes + at.slot * stage_pieces, x + at.slot * stage_pieces,
                     [&] { at.release_last(unit > task.begin); });
            at.advance();
        }
        sums.drain();
        at.release_last(task.begin < task.end);
        at.pass(args.slice_units - task.end);
        int64_t tile = task.group * TILES + warp;
        if (task.begin < task.end && weight_add_parts(args, blockIdx.y * args.groups * TILES + tile,
                                                      task.part, task.parts, sums.sum))
            sums.store(args, tile);
    }
}

template <int M, int NT>
static __device__ __forceinline__ void run(const struct weight_args &args, uint4 *shared)
{
    struct weight_ring<M, NT> &ring =
        *(struct weight_ring<M, NT> *)(shared + WEIGHT_TABLE_BYTES / 16);
    const int warp = hopper_warp(), team = warp * 32 / WGMMA_THREADS;
    const uint32_t table = hopper_shared(shared);
    const bool producer = team == TEAMS && warp % TILES == 0 && hopper_elect();
    if (producer) open<M, NT>(args, table, ring);
    __syncthreads();
    if (team == TEAMS) {
        hopper_registers_give<PRODUCER_REGISTERS>();
        if (producer) produce<M, NT>(args, ring);
        return;
    }
    hopper_registers_take<READER_REGISTERS>();
    hopper_barrier_wait_all(hopper_shared(&ring.table), 0);
    consume<M, NT>(args, team, table, ring);
}

#endif

/* Other machine code has an empty kernel, which nobody launches: the variant is arch_specific. */
template <int M, int NT>
static __global__ void __launch_bounds__(THREADS, 1) weight_only_wgmma(struct weight_args args)
{
    extern __shared__ __align__(1024) uint4 swizzled[];
#ifdef HOPPER_CODE
    run<M, NT>(args, swizzled);
#endif
}

/* --------------------------------------------------------------- variant -- */

template <int M, int NT> static constexpr struct weight_kernel kernel_with()
{
    return {weight_only_wgmma<M, NT>,
            NT,
            TEAMS,
            WGMMA_THREADS,
            TILES,
            WGMMA_THREADS,
            arrange_x<NT>,
            sizeof(struct weight_ring<M, NT>)};
}

static const struct weight_kernel *kernels(int levels)
{
    static const struct weight_kernel table[2][WEIGHT_KERNELS] = {
        {kernel_with<1, 1>(), kernel_with<1, 2>(), kernel_with<1, 4>(), kernel_with<1, 8>()},
        {kernel_with<2, 1>(), kernel_with<2, 2>(), kernel_with<2, 4>(), kernel_with<2, 8>()}};
    return table[levels - 1];
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    return weight_shared_bytes(shape, kernels);
}

static int setup(struct assay_call *call)
{
    return weight_setup(call, kernels);
}

static int launch(struct assay_call *call)
{
    return weight_launch(call, kernels);
}

static const struct assay_variant wgmma = {
    .operation = "weight_only_linear",
    .name = "wgmma",
    .summary = "codes decoded in registers, wgmma in bf16; weights packed in setup",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .max_sm = 90,
    .arch_specific = true,
    .supports = weight_unsupported,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = weight_teardown,
};
ASSAY_REGISTER_VARIANT(wgmma);
