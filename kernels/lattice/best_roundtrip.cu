/*
 * best_roundtrip.cu - quantising in place of x at the speed of copying: no digits, only
 * the closest point and the test that its block is not overloaded (lattice_round.h).
 *
 * Bytes of an entry: 4 read, 4 written. A thread has two quads of four entries. Z2, A2
 * and D4 have whole blocks in a quad, and the two stand a block's width apart; for E8
 * they are one block: of two neighbours, the even has one of the warp's first 16 and
 * the odd the same one of its last 16. It is read as it stands (the second load finds its
 * sectors in L1); then the two swap halves, and a store covers 512 bytes in a row.
 *
 * An H200 that copies at 4.3 TB/s takes 250 us for 2^27 entries, which is 55
 * instructions an entry at most. E8 q4m2 has 31; the definition, where one of a warp's
 * 32 blocks may be overloaded, 60 more (one warp in fourteen, normal entries). The other
 * lattices' common cases are cheaper (D4 29, A2 23, Z2 16) and their rare ones more
 * common: a D4 warp meets one in two times, those of Z2 and A2 always.
 */
#include "lattice_round.h"
#include "lattice_vec.cuh"

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

struct roundtrip_launch {
    struct round_args args;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        best_roundtrip<LATTICE, CODE>
            <<<lattice_grid(args.quads, 2 * LATTICE_THREADS), LATTICE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

static const char *supports(const struct assay_shape *shape)
{
    if (lattice_job(shape).overload != OVERLOAD_OFF) return "without overload protection";
    return lattice_vec_supports(shape);
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct roundtrip_launch kernel = {{(const float4 *)call->buffer[BUF_IN],
                                       (float4 *)call->buffer[BUF_OUT], 2 * vec_groups(&job), job.r,
                                       job.half, FAST_KEY_MASK},
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
    .launch = launch,
    .model = lattice_model_roundtrip,
};
ASSAY_REGISTER_VARIANT(variant);
