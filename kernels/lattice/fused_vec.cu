/*
 * fused_vec.cu - eight entries per thread, encoded or decoded as defined, and one packed store.
 *
 *   fused_vec  a thread loads its entries itself, 16 bytes at a time
 *   tiled      entries go through shared memory: a tile of 2048 is loaded in whole lines, and each
 *              thread finds its eight there. The groups of eight are nine words apart, so the 32
 *              lanes of a warp, one word each, use 32 banks. fused_vec is as fast or faster
 *
 * Bytes per entry: those of the operation. The closest point of E8 follows the definition at every
 * level, in fp32 and then in whole numbers: about 600 instructions for 8 entries at q4m2, twice
 * what memory leaves time for on an H200 (335 us for 2^27 entries, copy_encode 138).
 * lookup_encode.cu has a cheaper formula.
 */
#include "lattice_vec.cuh"

/* Whether a code is one of the two published ones. What was slower than other kernels with these
 * is not compiled for the others. */
static constexpr bool vec_is_published(int code)
{
    return code == CODE_Q2M1 || code == CODE_Q4M2;
}

/* Packed codes of the eight entries of `x`; T of block b at t[b]. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ uint64_t vec_encode(const struct lattice_args &a,
                                                      const float x[8], int t[])
{
    constexpr int D = lattice_d(LATTICE), Q = code_q(CODE), LEVELS = code_levels(CODE);
    const int bytes = vec_bytes<LATTICE, CODE>() * D / 8;
    uint64_t word = 0;
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        uint64_t digits = lattice_encode_block(LATTICE, Q, LEVELS, x + b * D, a.r,
                                               a.overload == OVERLOAD_BLOCK, &t[b]);
        word |= lattice_pack(Q, D * LEVELS, digits) << (8 * bytes * b);
    }
    return word;
}

/* Its inverse: eight entries of the packed codes `word`. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ void vec_decode(const struct lattice_args &a, uint64_t word,
                                                  const int t[], float x[8])
{
    constexpr int D = lattice_d(LATTICE), Q = code_q(CODE), LEVELS = code_levels(CODE);
    constexpr int BITS = 8 * points_block_bytes(LATTICE, CODE);
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        /* Radix 3 reads the whole number: the next block's bytes must not be in it. */
        uint64_t packed = word >> (BITS * b);
        if (D < 8) packed &= ((uint64_t)1 << BITS) - 1;
        uint64_t digits = lattice_unpack(Q, D * LEVELS, packed);
        lattice_decode_block(LATTICE, Q, LEVELS, digits, a.half, t[b], x + b * D);
    }
}

/* The codes of a group, and T of its blocks where they have one. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ void vec_put(const struct lattice_args &a, int64_t group,
                                               uint64_t word, const int t[])
{
    constexpr int BLOCKS = VEC_ENTRIES / lattice_d(LATTICE), BYTES = vec_bytes<LATTICE, CODE>();
    lattice_store_bytes((uint8_t *)a.out + group * BYTES, BYTES, word);
    if (a.overload != OVERLOAD_BLOCK) return;
#pragma unroll
    for (int b = 0; b < BLOCKS; b++)
        a.t[group * BLOCKS + b] = (uint8_t)t[b];
}

/* ----------------------------------------------------------------- fused_vec -- */

template <int TASK, int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    fused_vec(const struct lattice_args a, int64_t groups)
{
    constexpr int D = lattice_d(LATTICE), BLOCKS = VEC_ENTRIES / D;
    constexpr int BYTES = vec_bytes<LATTICE, CODE>();
    int64_t group = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x;
    if (group >= groups) return;
    float x[8];
    int t[BLOCKS];
    uint64_t word;
    if (TASK == TASK_DECODE) {
        word = lattice_load_bytes((const uint8_t *)a.in + group * BYTES, BYTES);
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
            t[b] = lattice_get_t(a, group * BLOCKS + b);
    } else {
        vec_load((const float *)a.in + group * VEC_ENTRIES, x);
        word = vec_encode<LATTICE, CODE>(a, x, t);
    }
    if constexpr (TASK == TASK_ENCODE) {
        vec_put<LATTICE, CODE>(a, group, word, t);
    } else {
        vec_decode<LATTICE, CODE>(a, word, t, x);
        vec_store((float *)a.out + group * VEC_ENTRIES, x);
    }
}

struct fused_vec_launch {
    enum lattice_task task;
    struct lattice_args args;
    int64_t groups;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        unsigned grid = lattice_grid(groups, LATTICE_THREADS);
        if (task == TASK_ENCODE)
            fused_vec<TASK_ENCODE, LATTICE, CODE>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args, groups);
        else if (task == TASK_DECODE)
            fused_vec<TASK_DECODE, LATTICE, CODE>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args, groups);
        else if constexpr (vec_is_published(CODE))
            fused_vec<TASK_ROUNDTRIP, LATTICE, CODE>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args, groups);
        return assay_launched();
    }
};

static int vec_enqueue(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct fused_vec_launch kernel = {job.task, lattice_make_args(call, &job), vec_groups(&job),
                                      (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

static const char *vec_supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.task == TASK_ROUNDTRIP && !vec_is_published(job.code))
        return "round trips with the codes q2m1 and q4m2";
    return lattice_vec_supports(shape);
}

LATTICE_VARIANTS(fused_vec, "eight entries per thread, 16-byte loads, one packed store",
                 .supports = vec_supports, .launch = vec_enqueue);

/* ------------------------------------------------------------------- tiled -- */

enum { PITCH = VEC_ENTRIES + 1 };

/* Where quad number `quad` of the tile stands. */
static __device__ __forceinline__ float *tile_quad(float *tile, int quad)
{
    return tile + (quad >> 1) * PITCH + (quad & 1) * 4;
}

/* The tile's `quads` from x, four per thread and step. */
static __device__ __forceinline__ void tile_load(float *tile, const float4 *x, int quads)
{
#pragma unroll
    for (int k = 0; k < VEC_ENTRIES / 4; k++) {
        int quad = k * LATTICE_THREADS + (int)threadIdx.x;
        if (quad >= quads) break;
        float4 v = x[quad];
        float *to = tile_quad(tile, quad);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
}

/* The thread's group, number `group` of all, from the tile to its codes. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ void tile_group(const struct lattice_args &a, const float *tile,
                                                  int64_t group)
{
    const float *mine = tile + threadIdx.x * PITCH;
    float x[VEC_ENTRIES];
    int t[VEC_ENTRIES / lattice_d(LATTICE)];
#pragma unroll
    for (int i = 0; i < VEC_ENTRIES; i++)
        x[i] = mine[i];
    uint64_t word = vec_encode<LATTICE, CODE>(a, x, t);
    vec_put<LATTICE, CODE>(a, group, word, t);
}

template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    tiled(const struct lattice_args a, int64_t groups)
{
    __shared__ float tile[LATTICE_THREADS * PITCH];
    const int64_t first = (int64_t)blockIdx.x * LATTICE_THREADS;
    const int here = (int)min((int64_t)LATTICE_THREADS, groups - first);
    tile_load(tile, (const float4 *)a.in + 2 * first, 2 * here);
    __syncthreads();
    if ((int)threadIdx.x < here) tile_group<LATTICE, CODE>(a, tile, first + threadIdx.x);
}

struct tiled_launch {
    struct lattice_args args;
    int64_t groups;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        if constexpr (vec_is_published(CODE))
            tiled<LATTICE, CODE>
                <<<lattice_grid(groups, LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(args,
                                                                                        groups);
        return assay_launched();
    }
};

static const char *tiled_supports(const struct assay_shape *shape)
{
    const char *refused = lattice_vec_supports(shape);
    if (refused) return refused;
    return vec_is_published(lattice_job(shape).code) ? NULL : "for the codes q2m1 and q4m2";
}

static int tiled_enqueue(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct tiled_launch kernel = {lattice_make_args(call, &job), vec_groups(&job),
                                  (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

LATTICE_VARIANT(encode, tiled, "a tile of 2048 entries through shared memory",
                .supports = tiled_supports, .launch = tiled_enqueue);
