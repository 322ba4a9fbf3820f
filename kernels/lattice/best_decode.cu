/*
 * best_decode.cu - decoding at the speed of writing: packed codes, four entries a
 * thread and store, the points from a table in shared memory (lattice_points.h).
 *
 * Bytes of an entry: M log2 q / 8 read, 4 written (q4m2: 4.5 in all). A warp's store
 * covers 512 bytes in one piece; the two threads that share a block of E8 look up the
 * same words.
 *
 * An H200 that writes 4.69 TB/s takes 129 us for 2^27 entries at q4m2, in which a
 * multiprocessor issues at most 114 instructions for a warp and store of 128 entries. The loop
 * has 66 of them for E8 q4m2, four look-ups among them: 16 different
 * addresses each, in some 3 cycles, 12 of about 28. Seen: 156 us; moving the bytes alone
 * (copy_decode) takes 153, for reads come between the writes.
 *
 * The table (E8 at q = 4: 192 KB) makes one block a multiprocessor, or as many as fit,
 * stay and take 64 KB of y in turn (lattice_walk.cuh); the codes of the next turn are
 * under way while those of the last are worked on. Below 2^22 entries the table is read
 * through L1.
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
};

/* As it stands in memory: 16 bytes are copied at a time. */
template <int LATTICE, int CODE> static __host__ __device__ constexpr int table_bytes()
{
    return (points_bytes(LATTICE, CODE) + 15) / 16 * 16;
}

template <int LATTICE, int CODE> struct quad_of {
    static constexpr int BYTES = points_quad_bytes(LATTICE, CODE);
    static constexpr int SHARE = LATTICE == LATTICE_E8; /* two quads, one block */
    using word = std::conditional_t<(BYTES > 4), uint64_t, uint32_t>;

    /* Of quad number `quad` from `codes` on, which belong to an even one. */
    static __device__ __forceinline__ word load(const uint8_t *codes, int64_t quad)
    {
        return (word)lattice_load_bytes(codes + (quad >> SHARE) * BYTES, BYTES);
    }

    static __device__ __forceinline__ float4 decode(const uint8_t *table, word packed, int half,
                                                    float scale)
    {
        int z[4];
        float y[4];
        points_quad(LATTICE, CODE, table, packed, half, z);
        points_scale(LATTICE, z, scale, y);
        return make_float4(y[0], y[1], y[2], y[3]);
    }
};

template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(ONCE_THREADS) decode_once(const struct decode_args a)
{
    using quad = quad_of<LATTICE, CODE>;
    int64_t at = (int64_t)blockIdx.x * ONCE_THREADS + threadIdx.x;
    if (at < a.quads)
        a.y[at] = quad::decode(a.table, quad::load(a.codes, at), (int)(at & 1), a.half);
}

/* Three levels are too much work to meet behind. */
static __host__ __device__ constexpr bool is_in_turn(int code)
{
    return code != CODE_Q4M3;
}

/* Chunks of WALK_THREADS * IN_FLIGHT quads; what is left then is dealt out, a quad
 * a thread. */
template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(WALK_THREADS, 1) decode_walk(const struct decode_args a)
{
    using quad = quad_of<LATTICE, CODE>;
    extern __shared__ uint4 table[];
    __shared__ unsigned slot[2];
    constexpr int CHUNK = WALK_THREADS * IN_FLIGHT;
    const unsigned chunks = (unsigned)(a.quads / CHUNK);
    const uint8_t *here = (const uint8_t *)table;
    const int half = (int)threadIdx.x & 1;
    typename quad::word next[IN_FLIGHT];
    auto load = [&](unsigned chunk, int k) {
        return quad::load(a.codes, (int64_t)chunk * CHUNK + k * WALK_THREADS + threadIdx.x);
    };
    walk<is_in_turn(CODE)> walk(a.turns, slot);
    if (walk.now < chunks) {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            next[k] = load(walk.now, k);
    }
    walk_fill(table, a.table, table_bytes<LATTICE, CODE>());
    walk.enter();
    while (walk.now < chunks) {
        typename quad::word packed[IN_FLIGHT];
        float4 *y = a.y + (int64_t)walk.now * CHUNK + threadIdx.x;
        walk.ask();
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            packed[k] = next[k];
            if (walk.next < chunks) next[k] = load(walk.next, k);
        }
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            y[k * WALK_THREADS] = quad::decode(here, packed[k], half, a.half);
        walk.go_on();
    }
    walk.leave();
    int64_t at = (int64_t)chunks * CHUNK + (int64_t)blockIdx.x * WALK_THREADS + threadIdx.x;
    for (; at < a.quads; at += (int64_t)gridDim.x * WALK_THREADS)
        a.y[at] = quad::decode(here, quad::load(a.codes, at), half, a.half);
}

/* ------------------------------------------------------------------ host -- */

static const char *supports(const struct assay_shape *shape)
{
    if (lattice_job(shape).overload != OVERLOAD_OFF) return "without overload protection";
    return lattice_vec_supports(shape);
}

struct decode_setup {
    struct assay_call *call;
    struct decode_state *state;
    bool walk;

    template <int LATTICE, int CODE> int run() const
    {
        const size_t bytes = table_bytes<LATTICE, CODE>();
        uint8_t *host = (uint8_t *)calloc(1, bytes);
        if (!host) return assay_error("no memory for the table");
        points_fill(LATTICE, CODE, host);
        int status = walk_upload(call, host, bytes, (void **)&state->table);
        free(host);
        if (status < 0 || !walk) return status;
        if (walk_make_turns(&state->turns) < 0) return -1;
        return walk_blocks((const void *)decode_walk<LATTICE, CODE>, (int)bytes, &state->walkers);
    }
};

static int setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct decode_state *state = (struct decode_state *)calloc(1, sizeof *state);
    if (!state) return assay_error("no memory");
    call->state = state;
    struct decode_setup make = {call, state, job.rows * job.columns >= WALK_FROM};
    return vec_instance(&job, make);
}

struct decode_launch {
    struct decode_args args;
    int walkers;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        if (walkers)
            decode_walk<LATTICE, CODE>
                <<<walkers, WALK_THREADS, table_bytes<LATTICE, CODE>(), stream>>>(args);
        else
            decode_once<LATTICE, CODE>
                <<<lattice_grid(args.quads, ONCE_THREADS), ONCE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    const struct decode_state *state = (const struct decode_state *)call->state;
    struct decode_launch kernel = {{(const uint8_t *)call->buffer[BUF_IN],
                                    (float4 *)call->buffer[BUF_OUT], 2 * vec_groups(&job), job.half,
                                    state->table, state->turns},
                                   state->walkers,
                                   (cudaStream_t)call->stream};
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
    .name = "best",
    .summary = "points by a table in shared memory, four entries a thread and store",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lattice_model_decode,
};
ASSAY_REGISTER_VARIANT(variant);
