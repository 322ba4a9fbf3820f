/*
 * opchain.cu - one kernel per elementary step, each from memory to memory, as an eager framework
 * runs the formulas: round, find the worst error, repair the parity, sum the squares, choose,
 * multiply by G^-1, take the remainder. Deliberately slow: it shows what fusing saves.
 *
 * Launches at M levels: E8 20 M + 1, A2 12 M + 1, D4 10 M + 1, Z2 6 M + 1. Bytes per entry and
 * level, read and written: about 160 for E8, 95 for A2, 75 for D4, 45 for Z2. All levels are in
 * fp32, where the dither must decide ties against an error of about 1e-6. That works for
 * coordinates below about 64, so not for extreme data. Its bits are the reference's, except for
 * near ties, and not those of the models.
 */
#include "opchain.cuh"

enum { ARRAYS = 5 };

/* v = x r, rows filled up. */
template <int LATTICE>
static __global__ void scale(const struct lattice_args a, float *v, int64_t n)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t i = chain_index(), offset;
    if (i >= n) return;
    int here = lattice_span<D>(a, i / D, &offset), lane = (int)(i % D);
    float x = lane < here ? ((const float *)a.in)[offset + lane] * a.r : 0.0f;
    v[i] = LATTICE == LATTICE_A2 && lane == 1 ? x * 0x1.279a74p-1f : x;
}

/* G^-1 f, each coordinate from the whole block. */
template <int LATTICE> static __global__ void basis(const float *f, float *k, int64_t blocks)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t b = chain_index();
    if (b >= blocks) return;
    int z[D], coordinate[D];
#pragma unroll
    for (int j = 0; j < D; j++)
        z[j] = (int)(2.0f * f[b * D + j]);
    lattice_coordinates(LATTICE, z, coordinate);
#pragma unroll
    for (int j = 0; j < D; j++)
        k[b * D + j] = (float)coordinate[j];
}

/* mod q. */
static __global__ void remainder(float *k, float q, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) k[i] -= q * floorf(k[i] / q);
}

/* Digits in the type of the codes; packed: or-ed (q = 3: added, weighted) to those of the levels
 * below. One thread per block. */
template <int LATTICE, int Q>
static __global__ void cast(const struct lattice_args a, const float *k, int level)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t b = chain_index();
    if (b >= a.count) return;
    int64_t at = b * a.block_elements;
    if (a.type == TYPE_PACKED) {
        const uint8_t *below = (const uint8_t *)a.out + at;
        uint64_t digits = 0;
        if (level > 0)
            digits = lattice_unpack(Q, D * level, lattice_load_bytes(below, a.block_elements));
        for (int j = 0; j < D; j++)
            digits |= (uint64_t)k[b * D + j] << (2 * (level * D + j));
        lattice_store_bytes((uint8_t *)a.out + at, a.block_elements,
                            lattice_pack(Q, D * (level + 1), digits));
        return;
    }
    for (int j = 0; j < D; j++) {
        int digit = (int)k[b * D + j];
        if (a.type == TYPE_INT8) ((int8_t *)a.out)[at + level * D + j] = (int8_t)digit;
        if (a.type == TYPE_INT32) ((int32_t *)a.out)[at + level * D + j] = digit;
        if (a.type == TYPE_FP32) ((float *)a.out)[at + level * D + j] = (float)digit;
    }
}

/* ------------------------------------------------------------------ host -- */

struct opchain_encode : chain_launch {
    template <int LATTICE, int Q> int run() const
    {
        constexpr int T = LATTICE_THREADS;
        scale<LATTICE><<<each(), T, 0, stream>>>(args, c.v, c.entries);
        for (int level = 0; level < args.levels; level++) {
            closest<LATTICE>();
            basis<LATTICE><<<each_block(), T, 0, stream>>>(c.f[0], c.work, c.blocks);
            remainder<<<each(), T, 0, stream>>>(c.work, (float)Q, c.entries);
            cast<LATTICE, Q><<<each_block(), T, 0, stream>>>(args, c.work, level);
            divide<<<each(), T, 0, stream>>>(c.f[0], c.v, (float)Q, c.entries);
        }
        return assay_launched();
    }
};

static const char *supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.overload != OVERLOAD_OFF) return "without overload protection";
    if (job.data == DATA_EXTREME) return "levels in fp32 need coordinates below about 64";
    return NULL;
}

static int setup(struct assay_call *call)
{
    return chain_setup(call, ARRAYS);
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct opchain_encode chain = {};
    chain_init(&chain, call, &job, ARRAYS);
    return lattice_instance(&job, chain);
}

static const struct assay_variant variant = {
    .operation = "lattice_encode",
    .name = "opchain",
    .summary = "one kernel per elementary step, through memory, as eager code runs",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(variant);
