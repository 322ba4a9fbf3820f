/*
 * best_roundtrip.cu - the round trip at the speed of copying: no digits, only the closest
 * point and the test that its block is not overloaded (lattice_round.h).
 *
 * Bytes of an entry: 4 read, 4 written. A thread has two quads of four entries. Z2, A2
 * and D4 have whole blocks in a quad, and the two stand a block's width apart; for E8
 * they are one block: of two neighbours, the even has one of the warp's first 16 and
 * the odd the same one of its last 16. It is read as it stands (the second load finds its
 * sectors in L1); then the two swap halves, and a store covers 512 bytes in a row.
 *
 * An H200 that copies at 4.3 TB/s takes 250 us for 2^27 entries, which is 62
 * instructions per entry at most (at 1.98 GHz). E8 q4m2 has 31; the definition, where one of
 * a warp's 32 blocks may be overloaded, 60 more (one warp in thirteen, normal entries). The
 * other lattices' common cases are cheaper (D4 29, A2 23, Z2 19 in all) and their rare ones more
 * common: a D4 warp meets one three times in five, those of A2 always. (Z2 has none: a
 * remainder per coordinate is its definition.) So D4 and A2 at q4m2 have both tables in shared
 * memory from 2^22 entries on, that of codes (lattice_lookup.h) and that of points
 * (lattice_points.h): 25 and 21, whatever the data are. Measured at q4m2: E8 255 us, Z2 258,
 * D4 and A2 267, copy_roundtrip 248 to 250. Blocks with a T of their own are in
 * best_roundtrip_list.cu.
 */
#include <stdlib.h>

#include "best_list.cuh"
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
static __global__ void __launch_bounds__(LATTICE_THREADS) best_roundtrip(const struct round_args a)
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

/* Twice WALK_THREADS quads in a row each time, `rounds` times; what is left then is
 * dealt out again, a quad per thread. */
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
        best_roundtrip<LATTICE, CODE>
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
    if (job.overload == OVERLOAD_BLOCK) return best_roundtrip_list(call);
    struct roundtrip_launch kernel = {{(const float4 *)call->buffer[BUF_IN],
                                       (float4 *)call->buffer[BUF_OUT], 2 * vec_groups(&job), job.r,
                                       job.half, FAST_KEY_MASK},
                                      (const struct roundtrip_state *)call->state,
                                      (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

static const struct assay_variant variant = {
    .operation = "lattice_roundtrip",
    .name = "best",
    .summary = "the closest point itself, without digits; overload by its definition",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lattice_model_roundtrip,
};
ASSAY_REGISTER_VARIANT(variant);
