/*
 * tiled.cu - entries go through shared memory: a tile of 2048 is loaded in whole lines, and each
 * thread finds its eight entries there. fused_vec, whose threads load their own, is as fast or
 * faster.
 *
 * Bytes per entry: those of the operation. The groups of eight are nine words apart in shared
 * memory, so the 32 lanes of a warp, one word each, use 32 banks.
 */
#include "lattice_vec.cuh"

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
    constexpr int BLOCKS = VEC_ENTRIES / lattice_d(LATTICE), BYTES = vec_bytes<LATTICE, CODE>();
    const float *mine = tile + threadIdx.x * PITCH;
    float x[VEC_ENTRIES];
    int t[BLOCKS];
#pragma unroll
    for (int i = 0; i < VEC_ENTRIES; i++)
        x[i] = mine[i];
    uint64_t word = vec_encode<LATTICE, CODE>(a, x, t);
    lattice_store_bytes((uint8_t *)a.out + group * BYTES, BYTES, word);
    if (a.overload != OVERLOAD_BLOCK) return;
#pragma unroll
    for (int b = 0; b < BLOCKS; b++)
        a.t[group * BLOCKS + b] = (uint8_t)t[b];
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

static const char *supports(const struct assay_shape *shape)
{
    const char *refused = lattice_vec_supports(shape);
    if (refused) return refused;
    return vec_is_published(lattice_job(shape).code) ? NULL : "for the codes q2m1 and q4m2";
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct tiled_launch kernel = {lattice_make_args(call, &job), vec_groups(&job),
                                  (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

LATTICE_VARIANT(encode, "tiled", "a tile of 2048 entries through shared memory",
                .supports = supports, .launch = launch);
