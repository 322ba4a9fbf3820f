/*
 * closest.cu - the round trip at the speed of copying. It makes no digits: it finds the
 * closest point and tests that the block is not overloaded (lattice_round.h). Blocks that have
 * their own T take two parts: the closest points of all blocks at T = 0; then the blocks that may
 * be overloaded, from a list in shared memory, by the definition.
 *
 * Bytes per entry: 4 read, 4 written.
 *
 * Layout. A thread has two quads of four entries. For Z2, A2 and D4 a quad holds whole blocks, and
 * the two quads are a thread block's width apart. For E8 the two quads are one block, and threads
 * work in pairs: the even thread has a block of the warp's first 16, the odd thread the block at
 * the same place of its last 16. Both load their blocks as they are in memory (the second load
 * hits L1), then exchange halves, so that each store of the warp covers 512 bytes in a row.
 *
 * Why it is fast. At 4.3 TB/s an H200 has time for 62 instructions per entry. E8 at q4m2 takes 31,
 * and 60 more in the few warps that have a block which may be overloaded. Z2 takes 19 and has no
 * such case, because its definition is one remainder per coordinate. For D4 and A2 the rare case
 * is not rare: three of five warps of D4 have one, and every warp of A2. So at q4m2, from 2^22
 * entries on, both use tables in shared memory instead, one of codes (lattice_lookup.h) and one of
 * points (lattice_points.h): 25 and 21 instructions per entry for any data. Measured times are 2
 * to 7 % above copy_roundtrip (docs/kernels.md).
 *
 * With T, the first part takes about 30 for E8, 25 for D4, 22 for A2 and Z2; the second, which
 * encodes and decodes, was estimated at 10 to 20, so memory should be the limit. It is not, for
 * most: docs/kernels.md has the times. A2 is bound by L2, at 95 % of its peak, because each block
 * of the list is read and written a second time, eight bytes that cost L2 as much as a line of 128.
 * The list of A2 holds 18 % of the blocks here, since the quick test is not exact; that of
 * overload_list.cu is, and holds 4 %.
 */
#include <stdlib.h>

#include "overload_list.cuh"
#include "lattice_lookup.h"
#include "lattice_points.h"
#include "lattice_round.h"
#include "lattice_walk.cuh"

struct round_args {
    const float4 *x;
    float4 *y;
    int64_t quads; /* even */
    float r, half;
    uint32_t mask;
};

static __device__ __forceinline__ float4 swap_quad(float4 mine)
{
    return make_float4(
        __shfl_xor_sync(0xffffffff, mine.x, 1), __shfl_xor_sync(0xffffffff, mine.y, 1),
        __shfl_xor_sync(0xffffffff, mine.z, 1), __shfl_xor_sync(0xffffffff, mine.w, 1));
}

template <int LATTICE, int CODE>
static __device__ __forceinline__ void round_eight(const struct round_args &a, float4 quad[2])
{
    constexpr int D = lattice_d(LATTICE);
    const float x[] = {quad[0].x, quad[0].y, quad[0].z, quad[0].w,
                       quad[1].x, quad[1].y, quad[1].z, quad[1].w};
    int z[VEC_ENTRIES];
    float y[VEC_ENTRIES];
#pragma unroll
    for (int b = 0; b < VEC_ENTRIES / D; b++)
        round_block(LATTICE, code_q(CODE), code_levels(CODE), x + b * D, a.r, a.mask, z + b * D);
#pragma unroll
    for (int i = 0; i < VEC_ENTRIES; i++) {
        bool stretched = LATTICE == LATTICE_A2 && i % 2 == 1;
        y[i] = lattice_mul((float)z[i], stretched ? lattice_mul(a.half, 0x1.bb67aep0f) : a.half);
    }
    quad[0] = make_float4(y[0], y[1], y[2], y[3]);
    quad[1] = make_float4(y[4], y[5], y[6], y[7]);
}

template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS) closest_once(const struct round_args a)
{
    const float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const int64_t first = (int64_t)blockIdx.x * LATTICE_THREADS * 2;
    const int64_t warp = first + (threadIdx.x & ~31u) * 2;
    const int lane = (int)threadIdx.x & 31, odd = lane & 1;
    float4 quad[2];
    int64_t at[2];
    if constexpr (LATTICE == LATTICE_E8) {
        at[0] = warp + odd * 32 + lane / 2 * 2;
        at[1] = at[0] + 1;
    } else {
        at[0] = first + threadIdx.x;
        at[1] = at[0] + LATTICE_THREADS;
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
        quad[k] = at[k] < a.quads ? a.x[at[k]] : none;
    round_eight<LATTICE, CODE>(a, quad);
    if constexpr (LATTICE == LATTICE_E8) {
        float4 other = swap_quad(odd ? quad[0] : quad[1]);
        quad[0] = odd ? other : quad[0];
        quad[1] = odd ? quad[1] : other;
        at[0] = warp + lane;
        at[1] = at[0] + 32;
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (at[k] < a.quads) a.y[at[k]] = quad[k];
}

/* ------------------------------------------------------------- the walk -- */

static __host__ __device__ constexpr bool is_walked(int lattice, int code)
{
    return code == CODE_Q4M2 && (lattice == LATTICE_D4 || lattice == LATTICE_A2);
}

enum { CODES_BYTES = LOOKUP_ENTRIES * (int)sizeof(uint16_t) };

static __host__ __device__ constexpr int tables_bytes(int lattice)
{
    return CODES_BYTES + points_bytes(lattice, CODE_Q4M2);
}

template <int LATTICE>
static __device__ __forceinline__ void table_eight(const struct round_args &a,
                                                   const uint8_t *tables, float4 quad[2])
{
    const float x[] = {quad[0].x, quad[0].y, quad[0].z, quad[0].w,
                       quad[1].x, quad[1].y, quad[1].z, quad[1].w};
    uint32_t word = lookup_encode(LATTICE, x, a.r, (const uint16_t *)tables, a.mask);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int z[4];
        float y[4];
        points_quad(LATTICE, CODE_Q4M2, tables + CODES_BYTES, word >> (16 * k) & 0xffff, 0, z);
        points_scale(LATTICE, z, a.half, y);
        quad[k] = make_float4(y[0], y[1], y[2], y[3]);
    }
}

/* `rounds` times, twice WALK_THREADS quads in a row; the quads that are left are taken one per
 * thread. */
template <int LATTICE>
static __global__ void __launch_bounds__(WALK_THREADS, 1)
    roundtrip_walk(const struct round_args a, const uint32_t *__restrict__ from, int rounds)
{
    extern __shared__ uint32_t table[];
    const uint8_t *here = (const uint8_t *)table;
    const int64_t step = (int64_t)gridDim.x * WALK_THREADS * 2;
    const int64_t first = (int64_t)blockIdx.x * WALK_THREADS * 2 + threadIdx.x;
    const float4 *x = a.x + first;
    float4 *y = a.y + first;
    float4 next[2] = {};
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (rounds) next[k] = x[k * WALK_THREADS];
    for (int i = threadIdx.x; i < tables_bytes(LATTICE) / 4; i += WALK_THREADS)
        table[i] = from[i];
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        float4 quad[2] = {next[0], next[1]};
        x += step;
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (i + 1 < rounds) next[k] = x[k * WALK_THREADS];
        table_eight<LATTICE>(a, here, quad);
#pragma unroll
        for (int k = 0; k < 2; k++)
            y[k * WALK_THREADS] = quad[k];
        y += step;
    }
    int64_t at = rounds * step + (int64_t)blockIdx.x * WALK_THREADS + threadIdx.x;
    for (; at < a.quads; at += (int64_t)gridDim.x * WALK_THREADS) {
        float4 quad[2] = {a.x[at], {}};
        table_eight<LATTICE>(a, here, quad);
        a.y[at] = quad[0];
    }
}

/* ------------------------------------------------------- one T per block -- */

struct round_list_args {
    struct lattice_args a;
    int64_t groups;
    uint32_t mask; /* FAST_KEY_MASK */
};

/* y of eight entries that fit. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ void first_points(const struct round_list_args &args,
                                                    const float x[8], float y[8])
{
    constexpr int D = lattice_d(LATTICE);
    int z[VEC_ENTRIES];
#pragma unroll
    for (int b = 0; b < VEC_ENTRIES / D; b++) {
        float v[D];
        lattice_scale(LATTICE, x + b * D, args.a.r, v);
        round_point(LATTICE, code_q(CODE), code_levels(CODE), v, args.mask, z + b * D);
    }
    points_scale(LATTICE, z, args.a.half, y);
    points_scale(LATTICE, z + 4, args.a.half, y + 4);
}

template <int LATTICE, int CODE>
static __device__ __forceinline__ void round_again(const struct lattice_args &a, int64_t block)
{
    constexpr int D = lattice_d(LATTICE), Q = code_q(CODE), LEVELS = code_levels(CODE);
    uint64_t digits;
    float y[D];
    int t = try_again<LATTICE, CODE>(a, block, &digits);
    lattice_decode_block(LATTICE, Q, LEVELS, digits, a.half, t, y);
#pragma unroll
    for (int j = 0; j < D / 2; j++)
        ((float2 *)a.out)[block * (D / 2) + j] = make_float2(y[2 * j], y[2 * j + 1]);
}

template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    roundtrip_list(const struct round_list_args args)
{
    constexpr int BLOCKS = VEC_ENTRIES / lattice_d(LATTICE);
    __shared__ struct again_list<LATTICE_THREADS * BLOCKS> list;
    const struct lattice_args &a = args.a;
    const int64_t first = (int64_t)blockIdx.x * LATTICE_THREADS, group = first + threadIdx.x;
    const bool inside = group < args.groups;
    float x[VEC_ENTRIES], y[VEC_ENTRIES];
    if (inside) vec_load((const float *)a.in + group * VEC_ENTRIES, x);
    if (threadIdx.x == 0) list.count = 0;
    __syncthreads();
    if (inside) {
        first_points<LATTICE, CODE>(args, x, y);
        vec_store((float *)a.out + group * VEC_ENTRIES, y);
        uint32_t again = may_not_fit<LATTICE, CODE>(x, a.r);
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
            if (again >> b & 1) list.add((int)threadIdx.x * BLOCKS + b);
    }
    __syncthreads();
    const int count = (int)list.count;
    for (int i = (int)threadIdx.x; i < count; i += LATTICE_THREADS)
        round_again<LATTICE, CODE>(a, first * BLOCKS + list.block[i]);
}

struct round_list_launch {
    struct round_list_args args;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        unsigned grid = lattice_grid(args.groups, LATTICE_THREADS);
        roundtrip_list<LATTICE, CODE><<<grid, LATTICE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

static int launch_list(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct round_list_launch kernel = {
        {lattice_make_args(call, &job), vec_groups(&job), FAST_KEY_MASK},
        (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

/* ------------------------------------------------------------------ host -- */

struct roundtrip_state {
    uint32_t *tables; /* device memory; NULL without a walk */
    int walkers;
};

struct roundtrip_setup {
    struct assay_call *call;
    struct roundtrip_state *state;

    template <int LATTICE, int CODE> int run() const
    {
        if constexpr (is_walked(LATTICE, CODE)) {
            const int bytes = tables_bytes(LATTICE);
            int status = walk_blocks((const void *)roundtrip_walk<LATTICE>, bytes, &state->walkers);
            if (status < 0 || !state->walkers) return status;
            uint8_t *host = (uint8_t *)malloc((size_t)bytes);
            if (!host) return assay_error("no memory for the tables");
            lookup_fill(LATTICE, (uint16_t *)host);
            points_fill(LATTICE, CODE, host + CODES_BYTES);
            status = walk_upload(call, host, (size_t)bytes, (void **)&state->tables);
            free(host);
            return status;
        }
        return 0;
    }
};

static int setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct roundtrip_state *state = (struct roundtrip_state *)calloc(1, sizeof *state);
    if (!state) return assay_error("no memory");
    call->state = state;
    if (job.overload != OVERLOAD_OFF || job.rows * job.columns < WALK_FROM) return 0;
    struct roundtrip_setup make = {call, state};
    return vec_instance(&job, make);
}

static void teardown(struct assay_call *call)
{
    struct roundtrip_state *state = (struct roundtrip_state *)call->state;
    if (!state) return;
    cudaFree(state->tables);
    free(state);
}

struct roundtrip_launch {
    struct round_args args;
    const struct roundtrip_state *state;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        if constexpr (is_walked(LATTICE, CODE)) {
            const int64_t step = (int64_t)state->walkers * WALK_THREADS * 2;
            if (state->walkers) {
                roundtrip_walk<LATTICE>
                    <<<state->walkers, WALK_THREADS, tables_bytes(LATTICE), stream>>>(
                        args, state->tables, (int)(args.quads / step));
                return assay_launched();
            }
        }
        closest_once<LATTICE, CODE>
            <<<lattice_grid(args.quads, 2 * LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

static const char *supports(const struct assay_shape *shape)
{
    return lattice_vec_supports(shape);
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    if (job.overload == OVERLOAD_BLOCK) return launch_list(call);
    struct roundtrip_launch kernel = {{(const float4 *)call->buffer[BUF_IN],
                                       (float4 *)call->buffer[BUF_OUT], 2 * vec_groups(&job), job.r,
                                       job.half, FAST_KEY_MASK},
                                      (const struct roundtrip_state *)call->state,
                                      (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

static const struct assay_variant variant = {
    .operation = "lattice_roundtrip",
    .name = "closest",
    .summary = "the closest point itself, without digits; overload by its definition",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lattice_model_roundtrip,
};
ASSAY_REGISTER_VARIANT(variant);
