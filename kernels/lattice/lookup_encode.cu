/*
 * lookup_encode.cu - the encoder at the speed of memory: packed codes, q a power of two, one or two
 * levels. All other shapes go to overload_list.cu. Where every block of E8 or D4 has its own T, a
 * first pass here tries all blocks with T = 0, and overload_again handles those that may be
 * overloaded.
 *
 * Bytes per entry: 4 read, M log2 q / 8 written (q4m2: 4.5 in all).
 *
 * Why it is fast. At 4.3 TB/s an H200 has time for about 35 instructions per entry of 4.5 bytes.
 * The definition needs more (fused_vec); the formulas of lattice_fast.h need about 23, so memory
 * is the limit. docs/kernels.md has the count by kind of instruction. D4 and A2 find both levels
 * by one look-up for four entries (lattice_lookup.h).
 *
 * The table takes 128 KB: c(b) over the digits of the first level for E8, codes for D4 and A2. It
 * is in shared memory, which leaves space for one block of 1024 threads per multiprocessor. These
 * blocks are persistent and walk the tensor with a stride (lattice_walk.cuh). Each thread loads
 * its next two groups while it computes one, which is 96 KB in flight per multiprocessor; by
 * Little's law 23 KB would do. A random look-up by 32 lanes has about three lanes in the fullest
 * bank. To fill the table, each multiprocessor reads 128 KB from L2, about 4 us: that is most of
 * the time by which the kernel is slower than a copy.
 *
 * Small tensors. Below 2^22 entries blocks are short-lived: E8's table stays in global memory and
 * is read through L1, and each block copies c(b) of the other lattices (256 or 16 entries). Below
 * 2^17 entries it takes longer to fetch E8's table from memory than to compute its entries, so E8
 * follows the definition (8 x 64 on an H200: 1.76 us by table in the run of 2026-11-21, 1.54 us
 * since).
 */
#include <stdlib.h>
#include <type_traits>

#include "overload_list.cuh"
#include "lattice_lookup.h"
#include "lattice_round.h"
#include "lattice_walk.cuh"

enum { WALK_DEPTH = 2, WALK_BYTES = LOOKUP_ENTRIES * (int)sizeof(uint16_t) };

static const int64_t TABLE_FROM = (int64_t)1 << 17; /* entries; E8's in global memory */
static const int64_t WALK_MOST = (int64_t)1 << 40;  /* groups; rounds are an int */

/* Entries of c, for one level's digits at q = 4. */
static __host__ __device__ constexpr int carry_entries(int lattice)
{
    return 1 << (2 * lattice_d(lattice));
}

enum lookup_method { BY_LIST, ONCE, WALK };

struct lookup_state {
    enum lookup_method method;
    uint16_t *table; /* device memory: c(b), for the walk the walk's; NULL: none */
    int *most;       /* device memory: the tensor's T; NULL if it has none */
    uint8_t *points; /* device memory: for overload_list; NULL: none */
    int walkers;     /* blocks that walk */
};

template <int LATTICE, int CODE>
static __device__ __forceinline__ void lookup_group(const float x[8], float r, uint8_t *out,
                                                    int64_t group, const uint16_t *carry,
                                                    uint32_t mask)
{
    constexpr int D = lattice_d(LATTICE), BYTES = vec_bytes<LATTICE, CODE>();
    uint32_t word = 0;
    if constexpr (LATTICE == LATTICE_E8) {
        word = fast_encode_e8(CODE, x, r, carry, mask);
    } else if constexpr (LATTICE == LATTICE_D4) {
        word = fast_encode_d4(CODE, x, r, carry, mask);
    } else {
#pragma unroll
        for (int b = 0; b < 8 / D; b++)
            word |= fast_encode(LATTICE, CODE, x + b * D, r, carry) << (BYTES * D * b);
    }
    lattice_store_bytes(out + group * BYTES, BYTES, word);
}

/* Streaming: what was read is not needed again, unlike the table. */
template <typename I>
static __device__ __forceinline__ void load_group(const float4 *x, I group, float out[8])
{
    float4 low = __ldcs(x + 2 * group), high = __ldcs(x + 2 * group + 1);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

/* One thread per group of eight entries. */
template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    lookup_once(const float4 *__restrict__ x, uint8_t *__restrict__ out, int64_t groups, float r,
                const uint16_t *__restrict__ carry, uint32_t mask)
{
    constexpr bool SMALL = CODE == CODE_Q4M2 && LATTICE != LATTICE_E8;
    __shared__ uint16_t table[SMALL ? carry_entries(LATTICE) : 1];
    int64_t group = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x;
    float mine[8];
    if (group < groups) load_group(x, group, mine);
    if constexpr (SMALL) {
        if (threadIdx.x < carry_entries(LATTICE)) table[threadIdx.x] = carry[threadIdx.x];
        __syncthreads();
    }
    if (group < groups)
        lookup_group<LATTICE, CODE>(mine, r, out, group, SMALL ? table : carry, mask);
}

template <int LATTICE>
static __device__ __forceinline__ uint32_t walk_encode(const float x[8], float r,
                                                       const uint16_t *table, uint32_t mask)
{
    if constexpr (LATTICE == LATTICE_E8) return fast_encode_e8(CODE_Q4M2, x, r, table, mask);
    return lookup_encode(LATTICE, x, r, table, mask);
}

/* T of a group's blocks, a byte each: E8 one, D4 two. */
template <int LATTICE> using group_t = std::conditional_t<LATTICE == LATTICE_E8, uint8_t, uint16_t>;

/* 0 for a block that surely fits, else T_AGAIN. */
template <int LATTICE>
static __device__ __forceinline__ group_t<LATTICE> walk_t(const float x[8], float r)
{
    constexpr int D = lattice_d(LATTICE);
    uint32_t all = 0;
#pragma unroll
    for (int b = 0; b < VEC_ENTRIES / D; b++) {
        float v[D];
        bool sound = lattice_scale(LATTICE, x + b * D, r, v);
        bool fits = round_fits(LATTICE, 4, 2, v);
        all |= sound && fits ? 0 : (uint32_t)T_AGAIN << (8 * b);
    }
    return (group_t<LATTICE>)all;
}

/* One block per multiprocessor, the table in its shared memory. Every thread of the grid
 * has `rounds` groups; the first `rest` threads have one more. HAS_T: one T per block. */
template <int LATTICE, bool HAS_T>
static __global__ void __launch_bounds__(WALK_THREADS, 1)
    lookup_walk(const float4 *__restrict__ x, uint32_t *__restrict__ out, int rounds, int rest,
                float r, const uint4 *__restrict__ from, uint32_t mask,
                group_t<LATTICE> *__restrict__ t)
{
    extern __shared__ uint4 table[];
    constexpr int QUADS = WALK_BYTES / (int)sizeof(uint4);
    const uint16_t *here = (const uint16_t *)table;
    const int step = (int)gridDim.x * WALK_THREADS;
    const int thread = (int)blockIdx.x * WALK_THREADS + (int)threadIdx.x;
    float mine[WALK_DEPTH + 1][8];
    x += 2 * thread;
    out += thread;
    if (HAS_T) t += thread;
#pragma unroll
    for (int k = 0; k < WALK_DEPTH; k++)
        if (k < rounds) load_group(x, (int64_t)k * step, mine[k]);
    for (int i = threadIdx.x; i < QUADS; i += WALK_THREADS)
        table[i] = from[i];
    __syncthreads();
    for (int i = 0; i < rounds;) {
#pragma unroll
        for (int k = 0; k <= WALK_DEPTH; k++) {
            if (i + WALK_DEPTH < rounds)
                load_group(x, WALK_DEPTH * step, mine[(k + WALK_DEPTH) % (WALK_DEPTH + 1)]);
            *out = walk_encode<LATTICE>(mine[k], r, here, mask);
            if (HAS_T) *t = walk_t<LATTICE>(mine[k], r);
            x += 2 * step;
            out += step;
            if (HAS_T) t += step;
            if (++i == rounds) break;
        }
    }
    if (thread >= rest) return;
    load_group(x, 0, mine[0]);
    *out = walk_encode<LATTICE>(mine[0], r, here, mask);
    if (HAS_T) *t = walk_t<LATTICE>(mine[0], r);
}

/* ------------------------------------------------------------------ host -- */

static const char *supports(const struct assay_shape *shape)
{
    return shape->value[DIM_COLUMNS] % VEC_ENTRIES ? "columns must be a multiple of 8" : NULL;
}

static bool is_for_walk(const struct lattice_job *job)
{
    int64_t groups = vec_groups(job);
    bool has_kernel = job->overload == OVERLOAD_OFF ? job->lattice != LATTICE_Z2
                                                    : job->overload == OVERLOAD_BLOCK && job->d > 2;
    return has_kernel && job->code == CODE_Q4M2 && job->type == TYPE_PACKED &&
           groups * VEC_ENTRIES >= WALK_FROM && groups <= WALK_MOST;
}

/* False where a table would have to come from memory first. */
static bool has_carry(const struct lattice_job *job)
{
    return job->code == CODE_Q4M2 &&
           (job->lattice != LATTICE_E8 || vec_groups(job) * VEC_ENTRIES >= TABLE_FROM);
}

static bool is_for_once(const struct lattice_job *job)
{
    return job->overload == OVERLOAD_OFF && job->type == TYPE_PACKED &&
           (job->code < CODE_Q4M2 || has_carry(job));
}

static const void *walk_kernel(const struct lattice_job *job)
{
    if (job->overload == OVERLOAD_BLOCK)
        return job->lattice == LATTICE_D4 ? (const void *)lookup_walk<LATTICE_D4, true>
                                          : (const void *)lookup_walk<LATTICE_E8, true>;
    return job->lattice == LATTICE_A2   ? (const void *)lookup_walk<LATTICE_A2, false>
           : job->lattice == LATTICE_D4 ? (const void *)lookup_walk<LATTICE_D4, false>
                                        : (const void *)lookup_walk<LATTICE_E8, false>;
}

static void fill_table(int lattice, bool walk, uint16_t *table)
{
    if (walk && lattice != LATTICE_E8) {
        lattice == LATTICE_D4 ? lookup_fill(LATTICE_D4, table) : lookup_fill(LATTICE_A2, table);
        return;
    }
    for (int i = 0; i < carry_entries(lattice); i++)
        table[i] = (uint16_t)(lattice == LATTICE_Z2   ? fast_carry(LATTICE_Z2, i)
                              : lattice == LATTICE_A2 ? fast_carry(LATTICE_A2, i)
                              : lattice == LATTICE_D4 ? fast_carry(LATTICE_D4, i)
                                                      : fast_carry(LATTICE_E8, i));
}

static int make_table(struct assay_call *call, struct lookup_state *state, int lattice)
{
    const bool walk = state->method == WALK;
    const size_t bytes =
        (size_t)(walk ? LOOKUP_ENTRIES : carry_entries(lattice)) * sizeof(uint16_t);
    uint16_t *host = (uint16_t *)malloc(bytes);
    if (!host) return assay_error("no memory for the table");
    fill_table(lattice, walk, host);
    int status = walk_upload(call, host, bytes, (void **)&state->table);
    free(host);
    return status;
}

/* What A2's packed bytes stand for, where overload_list needs it. */
static int make_points(struct assay_call *call, struct lookup_state *state,
                       const struct lattice_job *job)
{
    enum { BYTES = 512 };
    uint8_t host[BYTES];
    if (job->lattice != LATTICE_A2 || job->overload == OVERLOAD_OFF || job->code == CODE_Q4M3)
        return 0;
    points_fill(LATTICE_A2, job->code, host);
    return walk_upload(call, host, BYTES, (void **)&state->points);
}

static int setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct lookup_state *state = (struct lookup_state *)calloc(1, sizeof *state);
    if (!state) return assay_error("no memory");
    call->state = state;
    state->method = is_for_once(&job) ? ONCE : BY_LIST;
    if (is_for_walk(&job)) {
        if (walk_blocks(walk_kernel(&job), WALK_BYTES, &state->walkers) < 0) return -1;
        if (state->walkers) state->method = WALK;
    }
    if (job.overload == OVERLOAD_TENSOR) {
        call->workspace_bytes += sizeof(int);
        if (assay_cuda(cudaMalloc(&state->most, sizeof(int)), "cudaMalloc") < 0) return -1;
    }
    if (make_points(call, state, &job) < 0) return -1;
    return has_carry(&job) ? make_table(call, state, job.lattice) : 0;
}

struct once_launch {
    const float4 *x;
    uint8_t *out;
    int64_t groups;
    float r;
    const struct lookup_state *state;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        if constexpr (CODE > CODE_Q4M2) {
            return assay_error("no such instance");
        } else {
            lookup_once<LATTICE, CODE>
                <<<lattice_grid(groups, LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(
                    x, out, groups, r, state->table, FAST_KEY_MASK);
            return assay_launched();
        }
    }
};

template <int LATTICE, bool HAS_T>
static int launch_walk(const struct lattice_args *a, int64_t groups,
                       const struct lookup_state *state, cudaStream_t stream)
{
    const int64_t step = (int64_t)state->walkers * WALK_THREADS;
    lookup_walk<LATTICE, HAS_T><<<state->walkers, WALK_THREADS, WALK_BYTES, stream>>>(
        (const float4 *)a->in, (uint32_t *)a->out, (int)(groups / step), (int)(groups % step), a->r,
        (const uint4 *)state->table, FAST_KEY_MASK, (group_t<LATTICE> *)a->t);
    return assay_launched();
}

/* With a T per block: first all, then those that are marked. */
static int walk_all(const struct lattice_job *job, const struct lattice_args *a,
                    const struct lookup_state *state, cudaStream_t stream)
{
    const int64_t groups = vec_groups(job);
    if (job->overload == OVERLOAD_BLOCK) {
        int status = job->lattice == LATTICE_D4
                         ? launch_walk<LATTICE_D4, true>(a, groups, state, stream)
                         : launch_walk<LATTICE_E8, true>(a, groups, state, stream);
        return status < 0 ? status : overload_again(job, a, stream);
    }
    return job->lattice == LATTICE_A2   ? launch_walk<LATTICE_A2, false>(a, groups, state, stream)
           : job->lattice == LATTICE_D4 ? launch_walk<LATTICE_D4, false>(a, groups, state, stream)
                                        : launch_walk<LATTICE_E8, false>(a, groups, state, stream);
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    const struct lattice_args a = lattice_make_args(call, &job);
    const struct lookup_state *state = (const struct lookup_state *)call->state;
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (state->method == WALK) return walk_all(&job, &a, state, stream);
    if (state->method == BY_LIST) {
        struct overload_list_args list = {
            a,           vec_groups(&job), state->table, (const uint16_t *)state->points,
            state->most, FAST_KEY_MASK};
        return overload_list(&job, &list, stream);
    }
    struct once_launch once = {
        (const float4 *)a.in, (uint8_t *)a.out, vec_groups(&job), job.r, state, stream};
    return vec_instance(&job, once);
}

static void teardown(struct assay_call *call)
{
    struct lookup_state *state = (struct lookup_state *)call->state;
    if (!state) return;
    cudaFree(state->points);
    cudaFree(state->most);
    cudaFree(state->table);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "lattice_encode",
    .name = "lookup",
    .summary = "bytes of coordinates in words, the levels by a table in shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lattice_model_encode,
};
ASSAY_REGISTER_VARIANT(variant);
