/*
 * opchain_decode.cu - decoding with one kernel per elementary step, each from memory to memory, as
 * an eager framework runs the formula: the digits of a level, their point, that point divided by
 * q, its closest point, the remainder, the weighted sum, beta. Deliberately slow: it shows what
 * fusing saves.
 *
 * Launches at M levels: E8 21 M + 1, A2 13 M + 1, D4 11 M + 1, Z2 7 M + 1. Points of digits have
 * coordinates below 16, so fp32 decides their ties as the definition does, and the bits are those
 * of the model.
 */
#include "opchain.cuh"

enum { ARRAYS = 7 };

/* The digits of one level. One thread per block. */
template <int LATTICE, int Q>
static __global__ void read_level(const struct lattice_args a, float *k, int level)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t b = chain_index();
    if (b >= a.count) return;
    uint64_t digits = lattice_get_digits<LATTICE, Q>(a, b);
    for (int j = 0; j < D; j++)
        k[b * D + j] = (float)(digits >> (2 * (level * D + j)) & 3);
}

/* G k, each coordinate from the whole block. */
template <int LATTICE> static __global__ void point_of(const float *k, float *point, int64_t blocks)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t b = chain_index();
    if (b >= blocks) return;
    int digit[D], z[D];
#pragma unroll
    for (int j = 0; j < D; j++)
        digit[j] = (int)k[b * D + j];
    lattice_point(LATTICE, digit, z);
#pragma unroll
    for (int j = 0; j < D; j++)
        point[b * D + j] = 0.5f * (float)z[j];
}

/* point - q f. */
static __global__ void residue(float *point, const float *f, float q, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) point[i] = __fsub_rn(point[i], __fmul_rn(q, f[i]));
}

/* sum + weight point, at level 0 the point. */
static __global__ void accumulate(float *sum, const float *point, float weight, int64_t n)
{
    int64_t i = chain_index();
    if (i >= n) return;
    float more = __fmul_rn(weight, point[i]);
    sum[i] = weight == 1.0f ? more : __fadd_rn(sum[i], more);
}

/* y = beta 2^T sum, without what rows were filled up with. */
template <int LATTICE>
static __global__ void scale_back(const struct lattice_args a, const float *sum, int64_t n)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t i = chain_index(), offset;
    if (i >= n) return;
    int lane = (int)(i % D);
    if (lane >= lattice_span<D>(a, i / D, &offset)) return;
    float half = lattice_half(a.half, lattice_get_t(a, i / D));
    if (LATTICE == LATTICE_A2 && lane == 1) half = lattice_mul(half, 0x1.bb67aep0f);
    ((float *)a.out)[offset + lane] = lattice_mul(2.0f * sum[i], half);
}

/* ------------------------------------------------------------------ host -- */

struct opchain_decode : chain_launch {
    template <int LATTICE, int Q> int run() const
    {
        const int T = LATTICE_THREADS;
        float weight = 1.0f;
        for (int level = 0; level < args.levels; level++, weight *= (float)Q) {
            read_level<LATTICE, Q><<<each_block(), T, 0, stream>>>(args, c.work, level);
            point_of<LATTICE><<<each_block(), T, 0, stream>>>(c.work, c.point, c.blocks);
            divide(c.point, (float)Q);
            closest<LATTICE>();
            residue<<<each(), T, 0, stream>>>(c.point, c.f[0], (float)Q, c.entries);
            accumulate<<<each(), T, 0, stream>>>(c.sum, c.point, weight, c.entries);
        }
        scale_back<LATTICE><<<each(), T, 0, stream>>>(args, c.sum, c.entries);
        return assay_launched();
    }
};

static int setup(struct assay_call *call)
{
    return chain_setup(call, ARRAYS);
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct opchain_decode chain = {};
    chain_init(&chain, call, &job, ARRAYS);
    return lattice_instance(&job, chain);
}

static const struct assay_variant variant = {
    .operation = "lattice_decode",
    .name = "opchain",
    .summary = "one kernel per elementary step, through memory, as eager code runs",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
    .model = lattice_model_decode,
};
ASSAY_REGISTER_VARIANT(variant);
