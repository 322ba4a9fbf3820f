/*
 * opchain.cu - one kernel per elementary step, each from memory to memory, as an eager framework
 * runs the formulas. Deliberately slow: it shows what fusing saves. Encoding: the closest point
 * (opchain.cuh), G^-1, the remainder, for each level. Decoding: the digits of a level, their point,
 * that point divided by q, its closest point, the remainder, the weighted sum, beta.
 *
 * Launches at M levels: E8 20 M + 1, A2 12 M + 1, D4 10 M + 1, Z2 6 M + 1 to encode; to decode one
 * more per level. Bytes per entry and level of encoding, read and written: about 160 for E8, 95 for
 * A2, 75 for D4, 45 for Z2. All levels are in fp32, where the dither must decide ties against an
 * error of about 1e-6. Encoding can do that for coordinates below about 64, so not for extreme
 * data; its bits are the reference's, except for near ties, and not those of the models. Points of
 * digits have coordinates below 16, so decoding has the bits of its model.
 */
#include "opchain.cuh"

/* Arrays of entries. */
enum { ENCODE_ARRAYS = 5, DECODE_ARRAYS = 7 };

/* ---------------------------------------------------------------- encoding -- */

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

/* ---------------------------------------------------------------- decoding -- */

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

template <int ARRAYS> static int setup(struct assay_call *call)
{
    return chain_setup(call, ARRAYS);
}

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
            divide(c.f[0], (float)Q);
        }
        return assay_launched();
    }
};

static const char *encode_supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.overload != OVERLOAD_OFF) return "without overload protection";
    if (job.data == DATA_EXTREME) return "levels in fp32 need coordinates below about 64";
    return NULL;
}

static int encode_launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct opchain_encode chain = {};
    chain_init(&chain, call, &job, ENCODE_ARRAYS);
    return lattice_instance(&job, chain);
}

static const struct assay_variant encode = {
    .operation = "lattice_encode",
    .name = "opchain",
    .summary = "one kernel per elementary step, through memory, as eager code runs",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = encode_supports,
    .setup = setup<ENCODE_ARRAYS>,
    .launch = encode_launch,
    .teardown = device_memory_free,
};
ASSAY_REGISTER_VARIANT(encode);

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

static int decode_launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct opchain_decode chain = {};
    chain_init(&chain, call, &job, DECODE_ARRAYS);
    return lattice_instance(&job, chain);
}

static const struct assay_variant decode = {
    .operation = "lattice_decode",
    .name = "opchain",
    .summary = "one kernel per elementary step, through memory, as eager code runs",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .setup = setup<DECODE_ARRAYS>,
    .launch = decode_launch,
    .teardown = device_memory_free,
    .model = lattice_model_decode,
};
ASSAY_REGISTER_VARIANT(decode);
