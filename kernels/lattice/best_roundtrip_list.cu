/*
 * best_roundtrip_list.cu - the round trip of blocks that have their own T, in two parts: the
 * closest points of all blocks at T = 0; then the blocks that may be overloaded, from a list in
 * shared memory, by the definition.
 *
 * Bytes per entry: 4 read, 4 written. At the speed of memory an H200 has time for 62 instructions
 * per entry. The first part takes about 30 for E8, 25 for D4, 22 for A2 and Z2; the second, which
 * encodes and decodes, was estimated at 10 to 20, so memory should be the limit.
 *
 * It is not, for most: docs/kernels.md has the times. A2 is bound by L2, at 95 % of its peak,
 * because each block of the list is read and written a second time, eight bytes that cost L2 as
 * much as a line of 128. The list of A2 holds 18 % of the blocks here, since the quick test is not
 * exact; that of best_list.cu is, and holds 4 %.
 */
#include "best_list.cuh"

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

int best_roundtrip_list(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct round_list_launch kernel = {
        {lattice_make_args(call, &job), vec_groups(&job), FAST_KEY_MASK},
        (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}
