/*
 * lookup_decode.cu - decoding at the speed of writing: packed codes, four entries per thread and
 * store, points from a table in shared memory (lattice_points.h).
 *
 * Bytes per entry: M log2 q / 8 read, 4 written (q4m2: 4.5 in all). A store of a warp covers 512
 * bytes in a row. The two threads that share a block of E8 look up the same words.
 *
 * Why it is fast. At 4.69 TB/s of writing, an H200 has time for 129 instructions per warp and
 * store of 128 entries; the loop for E8 at q4m2 has 63, four of them look-ups. Measured times are
 * within 2 % of copy_decode, which moves the same bytes (docs/kernels.md).
 *
 * Where each block has its own T, a quad of four entries reads one byte of T for D4, two quads
 * share one for E8, and a quad reads two for Z2 and A2; they are loaded with the codes. Scaling by
 * 2^T takes four instructions per block. One T for the whole tensor only changes beta.
 *
 * The table (192 KB for E8 at q = 4) leaves space for one block per multiprocessor, or a few for
 * smaller tables. Blocks are persistent and take 64 KB of y at a time (lattice_walk.cuh); they
 * load the codes of the next piece while they decode this one. Below 2^22 entries the table is
 * read through L1. Below 2^17 entries fetching it takes longer than computing the points by the
 * definition (fused_vec: 8 x 64 on an H200 took 1.50 us, and 1.76 us by table).
 */
#include <stdlib.h>
#include <type_traits>

#include "lattice_points.h"
#include "lattice_walk.cuh"

enum { ONCE_THREADS = 128, IN_FLIGHT = 4 };

struct decode_state {
    uint8_t *table;           /* device memory */
    struct walk_turns *turns; /* device memory; NULL without a walk */
    int walkers;              /* blocks that walk; 0: none do */
};

struct decode_args {
    const uint8_t *codes;
    float4 *y;
    int64_t quads;
    float half;
    const uint8_t *table;
    struct walk_turns *turns;
    const uint8_t *t;        /* a byte per block, or NULL */
    const uint8_t *shared_t; /* a byte for all, or NULL */
};

static __device__ __forceinline__ float decode_half(const struct decode_args &a)
{
    return a.shared_t ? lattice_half(a.half, *a.shared_t) : a.half;
}

/* Blocks of Z2 and A2 are looked up by their bytes, so codes with as many share a kernel. */
static constexpr int kernel_code(int lattice, int code)
{
    return lattice_d(lattice) == 2 && code != CODE_Q4M3 ? CODE_Q4M2 : code;
}

/* As it stands in memory: 16 bytes are copied at a time. */
static __host__ __device__ constexpr int table_bytes(int lattice, int code)
{
    return (points_bytes(lattice, code) + 15) / 16 * 16;
}

template <int LATTICE, int CODE, bool HAS_T> struct quad_of {
    static constexpr int BYTES = points_quad_bytes(LATTICE, CODE);
    static constexpr int SHARE = LATTICE == LATTICE_E8; /* two quads, one block */
    static constexpr int BLOCKS = lattice_d(LATTICE) == 2 ? 2 : 1;
    using word_t = std::conditional_t<(BYTES > 4), uint64_t, uint32_t>;

    word_t packed;
    uint32_t t; /* a byte per block */

    /* Quad number `quad`. */
    __device__ __forceinline__ void load(const struct decode_args &a, int64_t quad)
    {
        packed = (word_t)lattice_load_bytes(a.codes + (quad >> SHARE) * BYTES, BYTES);
        if (HAS_T) t = (uint32_t)lattice_load_bytes(a.t + (quad >> SHARE) * BLOCKS, BLOCKS);
    }

    /* `odd`: the second half of its block. */
    __device__ __forceinline__ float4 decode(const uint8_t *table, int odd, float half) const
    {
        int z[4];
        float y[4], own[] = {half, half};
        points_quad(LATTICE, CODE, table, packed, odd, z);
        if (HAS_T) own[0] = lattice_half(half, (int)(t & 255));
        if (HAS_T && BLOCKS == 2) own[1] = lattice_half(half, (int)(t >> 8));
        points_scale_each(LATTICE, z, own, y);
        return make_float4(y[0], y[1], y[2], y[3]);
    }
};

template <int LATTICE, int CODE, bool HAS_T>
static __global__ void __launch_bounds__(ONCE_THREADS) decode_once(const struct decode_args a)
{
    int64_t at = (int64_t)blockIdx.x * ONCE_THREADS + threadIdx.x;
    if (at >= a.quads) return;
    quad_of<LATTICE, CODE, HAS_T> quad;
    quad.load(a, at);
    a.y[at] = quad.decode(a.table, (int)(at & 1), decode_half(a));
}

/* With three levels a barrier after every chunk costs too much (E8: 186 us for 2^27 entries,
 * copy_decode 161), so blocks take their chunks with a stride. */
static __host__ __device__ constexpr bool is_in_turn(int code)
{
    return code != CODE_Q4M3;
}

/* Chunks of WALK_THREADS * IN_FLIGHT quads; the quads that are left are taken one per thread. */
template <int LATTICE, int CODE, bool HAS_T>
static __global__ void __launch_bounds__(WALK_THREADS, 1) decode_walk(const struct decode_args a)
{
    using quad = quad_of<LATTICE, CODE, HAS_T>;
    extern __shared__ uint4 table[];
    __shared__ unsigned slot[2];
    constexpr int CHUNK = WALK_THREADS * IN_FLIGHT;
    const unsigned chunks = (unsigned)(a.quads / CHUNK);
    const uint8_t *here = (const uint8_t *)table;
    const int odd = (int)threadIdx.x & 1;
    const float half = decode_half(a);
    quad next[IN_FLIGHT];
    auto load = [&](unsigned chunk, int k) {
        next[k].load(a, (int64_t)chunk * CHUNK + k * WALK_THREADS + threadIdx.x);
    };
    walk<is_in_turn(CODE)> walk(a.turns, slot);
    if (walk.now < chunks) {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            load(walk.now, k);
    }
    walk_fill(table, a.table, table_bytes(LATTICE, CODE));
    walk.enter();
    while (walk.now < chunks) {
        quad now[IN_FLIGHT];
        float4 *y = a.y + (int64_t)walk.now * CHUNK + threadIdx.x;
        walk.ask();
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            now[k] = next[k];
            if (walk.next < chunks) load(walk.next, k);
        }
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            y[k * WALK_THREADS] = now[k].decode(here, odd, half);
        walk.go_on();
    }
    walk.leave();
    int64_t at = (int64_t)chunks * CHUNK + (int64_t)blockIdx.x * WALK_THREADS + threadIdx.x;
    for (; at < a.quads; at += (int64_t)gridDim.x * WALK_THREADS) {
        next[0].load(a, at);
        a.y[at] = next[0].decode(here, odd, half);
    }
}

/* ------------------------------------------------------------------ host -- */

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[DIM_COLUMNS] % VEC_ENTRIES) return "columns must be a multiple of 8";
    return shape->value[DIM_TYPE] == TYPE_PACKED ? NULL : "packed codes only";
}

/* With code and lattice as values: as template arguments they would be compiled twenty times. */
static int make_table(struct assay_call *call, const struct lattice_job *job, uint8_t **table)
{
    const size_t bytes = (size_t)table_bytes(job->lattice, job->code);
    uint8_t *host = (uint8_t *)calloc(1, bytes);
    if (!host) return assay_error("no memory for the table");
    points_fill(job->lattice, job->code, host);
    int status = walk_upload(call, host, bytes, (void **)table);
    free(host);
    return status;
}

struct decode_walkers {
    bool has_t;
    int *walkers;

    template <int LATTICE, int CODE> int run() const
    {
        constexpr int KERNEL = kernel_code(LATTICE, CODE);
        return walk_blocks(has_t ? (const void *)decode_walk<LATTICE, KERNEL, true>
                                 : (const void *)decode_walk<LATTICE, KERNEL, false>,
                           table_bytes(LATTICE, CODE), walkers);
    }
};

static int setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct decode_state *state = (struct decode_state *)calloc(1, sizeof *state);
    if (!state) return assay_error("no memory");
    call->state = state;
    if (make_table(call, &job, &state->table) < 0) return -1;
    if (job.rows * job.columns < WALK_FROM) return 0;
    if (walk_make_turns(&state->turns) < 0) return -1;
    struct decode_walkers kernel = {job.overload == OVERLOAD_BLOCK, &state->walkers};
    return vec_instance(&job, kernel);
}

struct decode_launch {
    struct decode_args args;
    int walkers;
    cudaStream_t stream;

    template <int LATTICE, int CODE, bool HAS_T> int enqueue() const
    {
        if (walkers)
            decode_walk<LATTICE, CODE, HAS_T>
                <<<walkers, WALK_THREADS, table_bytes(LATTICE, CODE), stream>>>(args);
        else
            decode_once<LATTICE, CODE, HAS_T>
                <<<lattice_grid(args.quads, ONCE_THREADS), ONCE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }

    template <int LATTICE, int CODE> int run() const
    {
        constexpr int KERNEL = kernel_code(LATTICE, CODE);
        return args.t ? enqueue<LATTICE, KERNEL, true>() : enqueue<LATTICE, KERNEL, false>();
    }
};

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    const struct decode_state *state = (const struct decode_state *)call->state;
    struct decode_launch kernel = {{(const uint8_t *)call->buffer[BUF_IN],
                                    (float4 *)call->buffer[BUF_OUT], 2 * vec_groups(&job), job.half,
                                    state->table, state->turns, NULL, NULL},
                                   state->walkers,
                                   (cudaStream_t)call->stream};
    const uint8_t *t = (const uint8_t *)call->buffer[BUF_T];
    if (job.overload == OVERLOAD_BLOCK) kernel.args.t = t;
    if (job.overload == OVERLOAD_TENSOR) kernel.args.shared_t = t;
    return vec_instance(&job, kernel);
}

static void teardown(struct assay_call *call)
{
    struct decode_state *state = (struct decode_state *)call->state;
    if (!state) return;
    cudaFree(state->turns);
    cudaFree(state->table);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "lattice_decode",
    .name = "lookup",
    .summary = "points by a table in shared memory, four entries per thread and store",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lattice_model_decode,
};
ASSAY_REGISTER_VARIANT(variant);
