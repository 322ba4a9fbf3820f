/*
 * tiled.cu - the input through shared memory: a tile of 2048 entries arrives in whole
 * lines, then each thread takes its eight from there.
 *
 * Bytes of an entry: as the operation says. Eights stand nine words apart, so that a
 * warp's reads of one word each fall into 32 banks.
 */
#include "lattice_vec.cuh"

enum { PITCH = VEC_ENTRIES + 1 };

template <int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    tiled(const struct lattice_args a, int64_t groups)
{
    __shared__ float tile[LATTICE_THREADS * PITCH];
    constexpr int BLOCKS = VEC_ENTRIES / lattice_d(LATTICE), BYTES = vec_bytes<LATTICE, CODE>();
    int64_t first = (int64_t)blockIdx.x * LATTICE_THREADS;
    const float *x = (const float *)a.in + first * VEC_ENTRIES;
    int here = (int)min((int64_t)LATTICE_THREADS, groups - first);
#pragma unroll
    for (int k = 0; k < VEC_ENTRIES / 4; k++) {
        int quad = k * LATTICE_THREADS + (int)threadIdx.x;
        if (quad >= 2 * here) break;
        float4 v = ((const float4 *)x)[quad];
        float *to = tile + (quad >> 1) * PITCH + (quad & 1) * 4;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
    __syncthreads();
    if ((int)threadIdx.x >= here) return;
    float mine[VEC_ENTRIES];
    int t[BLOCKS];
#pragma unroll
    for (int i = 0; i < VEC_ENTRIES; i++)
        mine[i] = tile[threadIdx.x * PITCH + i];
    uint64_t word = vec_encode<LATTICE, CODE>(a, mine, t);
    int64_t group = first + threadIdx.x;
    lattice_store_bytes((uint8_t *)a.out + group * BYTES, BYTES, word);
    if (a.overload != OVERLOAD_BLOCK) return;
#pragma unroll
    for (int b = 0; b < BLOCKS; b++)
        a.t[group * BLOCKS + b] = (uint8_t)t[b];
}

struct tiled_launch {
    struct lattice_args args;
    int64_t groups;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        tiled<LATTICE, CODE>
            <<<lattice_grid(groups, LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(args, groups);
        return assay_launched();
    }
};

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct tiled_launch kernel = {lattice_make_args(call, &job), vec_groups(&job),
                                  (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

static const struct assay_variant variant = {
    .operation = "lattice_encode",
    .name = "tiled",
    .summary = "a tile of 2048 entries through shared memory",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = lattice_vec_supports,
    .launch = launch,
    .model = lattice_model_encode,
};
ASSAY_REGISTER_VARIANT(variant);
