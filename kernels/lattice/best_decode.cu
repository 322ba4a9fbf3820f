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
 * has 49 of them for E8 q4m2, four look-ups among them: 16 different
 * addresses each, in some 3 cycles, 12 of about 28.
 *
 * The table (E8 at q = 4: 192 KB) makes one block a multiprocessor, or as many as fit,
 * stay and walk; the codes of the next four stores are under way while those of
 * the last are worked on. Below 2^22 entries the table is read through L1.
 */
#include <stdlib.h>
#include <type_traits>

#include "lattice_points.h"
#include "lattice_walk.cuh"

enum { ONCE_THREADS = 128, IN_FLIGHT = 4 };

struct decode_state {
    uint8_t *table; /* device memory */
    int walkers;    /* blocks that walk; 0: none do */
};

struct decode_args {
    const uint8_t *codes;
    float4 *y;
    int64_t quads;
    float half;
    const uint8_t *table;
};

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

/* `rounds` times, each block has WALK_THREADS * IN_FLIGHT quads in a row; what is left
 * then is dealt out again, a quad a thread. */
template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(WALK_THREADS, 1)
    decode_walk(const struct decode_args a, int rounds)
{
    using quad = quad_of<LATTICE, CODE>;
    extern __shared__ uint32_t table[];
    constexpr int WORDS = (points_bytes(LATTICE, CODE) + 3) / 4;
    constexpr int CHUNK = WALK_THREADS * IN_FLIGHT;
    const uint8_t *here = (const uint8_t *)table;
    const int half = (int)threadIdx.x & 1;
    const int64_t step = (int64_t)gridDim.x * CHUNK;
    const int64_t first = (int64_t)blockIdx.x * CHUNK + threadIdx.x;
    const uint8_t *codes = a.codes + (first >> quad::SHARE) * quad::BYTES;
    float4 *y = a.y + first;
    typename quad::word next[IN_FLIGHT];
    if (rounds) {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            next[k] = quad::load(codes, k * WALK_THREADS);
    }
    for (int i = threadIdx.x; i < WORDS; i += WALK_THREADS)
        table[i] = ((const uint32_t *)a.table)[i];
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        typename quad::word packed[IN_FLIGHT];
        codes += (step >> quad::SHARE) * quad::BYTES;
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            packed[k] = next[k];
            if (i + 1 < rounds) next[k] = quad::load(codes, k * WALK_THREADS);
        }
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            y[k * WALK_THREADS] = quad::decode(here, packed[k], half, a.half);
        y += step;
    }
    int64_t at = rounds * step + (int64_t)blockIdx.x * WALK_THREADS + threadIdx.x;
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
        const size_t bytes = ((size_t)points_bytes(LATTICE, CODE) + 3) / 4 * 4;
        uint8_t *host = (uint8_t *)calloc(1, bytes);
        if (!host) return assay_error("no memory for the table");
        points_fill(LATTICE, CODE, host);
        int status = walk_upload(call, host, bytes, (void **)&state->table);
        free(host);
        if (status < 0 || !walk) return status;
        return walk_blocks((const void *)decode_walk<LATTICE, CODE>, points_bytes(LATTICE, CODE),
                           &state->walkers);
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
        const int64_t step = (int64_t)walkers * WALK_THREADS * IN_FLIGHT;
        if (walkers)
            decode_walk<LATTICE, CODE>
                <<<walkers, WALK_THREADS, points_bytes(LATTICE, CODE), stream>>>(
                    args, (int)(args.quads / step));
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
                                    state->table},
                                   state->walkers,
                                   (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

static void teardown(struct assay_call *call)
{
    struct decode_state *state = (struct decode_state *)call->state;
    if (!state) return;
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
