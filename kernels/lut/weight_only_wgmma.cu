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
 * arranges X in memory as shared memory will have it. Its way from there is a ring of stages that
 * TMA fills while products read others.
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
 * before they ask for it (dependent_launch.cuh). 8192 x 28672 with 64 rows takes 60.3 us on an H200
 * (M = 1), where it took 65.0 before 2026-11-30. Lookups a unit ahead of their use took 65.3: the
 * codes then have one unit in place of two to come from memory. To look at the count of a stage's
 * readers a unit after it was asked for, which hides its latency, took 63.4 (on another card).
 */
#include "kernels/cuda/dependent_launch.cuh"
#include "kernels/cuda/wgmma.cuh"
#include "weight.cuh"

enum {
    CHUNK_BYTES = 2 * WEIGHT_CHUNK, /* of a row of X */
    STAGES = 4,                     /* of the ring */
    TEAMS = 4,                      /* warpgroups of a block */
    TILES = 4,                      /* of 16 columns, per warpgroup */
};

/* ------------------------------------------------------------- activations -- */

template <int M, int NT> constexpr int UNIT_BYTES = 2 / M * 8 * NT *CHUNK_BYTES;

/* Units of a stage, a divisor of WEIGHT_AHEAD. */
template <int M, int NT> constexpr int STAGE_UNITS = M == 1 && NT == 8 ? 1 : 2;

/* Behind the table in shared memory. */
template <int M, int NT> struct x_ring {
    char stage[STAGES][STAGE_UNITS<M, NT> * UNIT_BYTES<M, NT>];
    uint64_t full[STAGES]; /* barriers */
    int read[STAGES];      /* warps that have read it */
};

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

    /* A unit, whose X has the tile `x`; the products of its last chunk run on. `decoded` is called
     * when codes and entries are used up: the registers are free for the next codes. */
    template <typename DECODED>
    __device__ __forceinline__ void add(const struct weight_args &args, const uint4 &codes,
                                        const uint32_t (&entries)[4], uint32_t x, int ahead,
                                        DECODED decoded)
    {
#pragma unroll
        for (int chunk = 0; chunk < 2 / M; chunk++) {
            const int here = (ahead * (2 / M) + chunk) % 2;
            uint32_t rows = x + chunk * (8 * NT * CHUNK_BYTES / 16);
            decode(args, codes, entries, chunk, a[here]);
            wgmma_pin(a[here]);
            if (chunk == 2 / M - 1) decoded();
            wgmma_begin();
#pragma unroll
            for (int q = 0; q < 4; q++)
                product(sum, a[here] + 4 * q, (uint32_t)wgmma_ahead(rows, q));
            wgmma_commit();
            wgmma_wait<1>(); /* for those before */
            wgmma_pin(a[1 - here]);
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

/* -------------------------------------------------------------------- ring -- */

/* Start filling stage number `number`; X at `from` has `of_slice`, and is read again after them.
 * One thread. */
template <class Ring>
static __device__ __forceinline__ void fill(Ring &ring, const char *from, int number, int of_slice)
{
    const int bytes = sizeof ring.stage[0];
    uint32_t full = hopper_shared(ring.full + number % STAGES);
    hopper_barrier_expect(full, bytes);
    hopper_load_bytes(hopper_shared(ring.stage[number % STAGES]),
                      from + (int64_t)(number % of_slice) * bytes, bytes, full);
}

template <class Ring> static __device__ __forceinline__ void await(Ring &ring, int number)
{
    hopper_barrier_wait(hopper_shared(ring.full + number % STAGES), number / STAGES % 2);
}

/* A warp's products have read a stage: the last warp to say so starts its next filling. */
template <class Ring>
static __device__ __forceinline__ void release(Ring &ring, const char *from, int number,
                                               int of_slice, int stages)
{
    __syncwarp(); /* no lane still waits for a stage that this lets others fill */
    int *read = ring.read + number % STAGES;
    if (number < 0 || number + STAGES >= stages || !hopper_elect()) return;
    if (atomicAdd(read, 1) + 1 < TEAMS * 4) return;
    *read = 0;
    fill(ring, from, number + STAGES, of_slice);
}

/* A stage that this warp does not read; its products have read the one before. */
template <class Ring>
static __device__ __forceinline__ void pass(Ring &ring, const char *from, int number, int of_slice,
                                            int stages)
{
    await(ring, number);
    release(ring, from, number - 1, of_slice, stages);
}

/* ------------------------------------------------------------------- walk -- */

/* What a team does in a round: units [begin, end) of the slice for a group of columns. */
struct task {
    int64_t group;
    int begin, end, part, parts;
};

/* Each block has as many whole groups; what is left over is cut along K, so that every block can
 * have a piece. */
static __device__ __forceinline__ struct task task_of(const struct weight_args &args, int slot)
{
    const int slice = blockIdx.x % args.slices, mine = blockIdx.x / args.slices;
    const int others = gridDim.x / args.slices, steps = args.slice_units / WEIGHT_AHEAD;
    const int whole = (int)(args.groups / others), rest = (int)(args.groups % others);
    struct task task = {mine + (int64_t)others * slot, 0, args.slice_units, slice, args.slices};
    if (slot < whole) return task;
    const int pieces = rest > 0 ? min(others / rest, steps) : 0;
    if (slot > whole || mine >= rest * pieces) return {0, 0, 0, 0, 0};
    const int piece = mine / rest;
    task.group = (int64_t)others * whole + mine % rest;
    task.begin = steps * piece / pieces * WEIGHT_AHEAD;
    task.end = steps * (piece + 1) / pieces * WEIGHT_AHEAD;
    task.part = slice * pieces + piece;
    task.parts = args.slices * pieces;
    return task;
}

template <int M, int NT>
static __device__ __forceinline__ void walk(const struct weight_args &args, uint4 *shared)
{
    const int HELD = NT > 2 ? 2 : 4; /* units of codes; more do not fit the registers */
    const int of_stage = STAGE_UNITS<M, NT>, of_slice = args.slice_units / of_stage;
    const int others = gridDim.x / args.slices, warp = threadIdx.x / 32 % TILES;
    const int team = __shfl_sync(0xffffffffu, (int)threadIdx.x / WGMMA_THREADS, 0);
    const int slice = blockIdx.x % args.slices;
    const uint32_t table = hopper_shared(shared);
    struct x_ring<M, NT> &ring = *(struct x_ring<M, NT> *)(shared + WEIGHT_TABLE_BYTES / 16);
    const char *from = (const char *)args.arranged + (blockIdx.y * args.slices + slice) *
                                                         (int64_t)args.slice_units *
                                                         UNIT_BYTES<M, NT>;
    const int rounds = (int)((args.groups + others - 1) / others + TEAMS - 1) / TEAMS;
    const int stages = rounds * of_slice;
    const uint32_t first = (uint32_t)wgmma_tile(hopper_shared(ring.stage[0]));

    weight_load_table(args, shared);
    if (threadIdx.x < 32 && hopper_elect()) {
        dependent_wait(); /* X is arranged */
        for (int i = 0; i < STAGES; i++) {
            hopper_barrier_init(hopper_shared(ring.full + i), 1);
            ring.read[i] = 0;
        }
        hopper_barrier_publish();
        for (int i = 0; i < min(stages, (int)STAGES); i++)
            fill(ring, from, i, of_slice);
    }
    __pipeline_wait_prior(0);
    __syncthreads();

    for (int stage = 0, round = 0; round < rounds; round++) {
        const struct task task = task_of(args, round * TEAMS + team);
        const uint4 *next =
            args.codes + threadIdx.x % 32 +
            (((slice * args.groups + task.group) * args.slice_units + task.begin) * TILES + warp) *
                32;
        uint4 codes[HELD] = {};
        uint32_t entries[4];
        warpgroup_sums<M, NT> sums;
        sums.clear();
#pragma unroll
        for (int i = 0; i < HELD; i++, next += TILES * 32)
            if (task.begin < task.end) codes[i] = __ldcs(next);
        for (int unit = 0; unit < task.begin; unit += of_stage, stage++)
            pass(ring, from, stage, of_slice, stages);
        for (int unit = task.begin; unit < task.end; unit += WEIGHT_AHEAD)
#pragma unroll
            for (int ahead = 0; ahead < WEIGHT_AHEAD; ahead++, next += TILES * 32) {
                weight_look_up(args.constants, table, codes[ahead % HELD], entries);
                if (ahead % of_stage == 0) await(ring, stage);
                sums.add(args, codes[ahead % HELD], entries,
                         first + stage % STAGES * (sizeof ring.stage[0] / 16) +
                             ahead % of_stage * (UNIT_BYTES<M, NT> / 16),
                         ahead, [&] {
                             if (unit + ahead + HELD < task.end) codes[ahead % HELD] = __ldcs(next);
                         });
                if (ahead % of_stage == 0) release(ring, from, stage - 1, of_slice, stages);
                if (ahead % of_stage == of_stage - 1) stage++;
            }
        sums.drain();
        for (int unit = task.end; unit < args.slice_units; unit += of_stage, stage++)
            pass(ring, from, stage, of_slice, stages);
        int64_t tile = task.group * TILES + warp;
        if (task.begin < task.end && weight_add_parts(args, blockIdx.y * args.groups * TILES + tile,
                                                      task.part, task.parts, sums.sum))
            sums.store(args, tile);
    }
}

#endif

/* Other machine code has an empty kernel, which nobody launches: the variant is arch_specific. */
template <int M, int NT>
static __global__ void __launch_bounds__(WGMMA_THREADS *TEAMS, 1)
    weight_only_wgmma(struct weight_args args)
{
    extern __shared__ __align__(1024) uint4 swizzled[];
#ifdef HOPPER_CODE
    walk<M, NT>(args, swizzled);
#endif
}

/* --------------------------------------------------------------- variant -- */

template <int M, int NT> static constexpr struct weight_kernel kernel_with()
{
    return {weight_only_wgmma<M, NT>,    NT, TEAMS, WGMMA_THREADS, TILES, arrange_x<NT>,
            sizeof(struct x_ring<M, NT>)};
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
