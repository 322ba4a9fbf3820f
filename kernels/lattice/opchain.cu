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

/* ----------------------------------------------- steps of both directions -- */

/* w = v + dither. */
template <int LATTICE> static __global__ void dither(const float *v, float *w, int64_t n)
{
    int64_t i = chain_index();
    if (i >= n) return;
    float e = lattice_dither(LATTICE, (int)(i % lattice_d(LATTICE)));
    bool rescale = LATTICE == LATTICE_A2 && i % 2 == 1;
    w[i] = __fadd_rn(v[i], rescale ? __fmul_rn(e, 0x1.279a74p-1f) : e);
}

/* f = floor(w - shift + 1/2) + shift. */
static __global__ void round_up(const float *w, float *f, float shift, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) f[i] = floorf(w[i] - shift + 0.5f) + shift;
}

/* |w - f|. */
static __global__ void error(const float *w, const float *f, float *out, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) out[i] = fabsf(w[i] - f[i]);
}

/* the sum of a block's f - shift, mod 2. */
template <int D>
static __global__ void find_parity(const float *f, float *parity, float shift, int64_t blocks)
{
    int64_t b = chain_index();
    if (b >= blocks) return;
    int sum = 0;
    for (int j = 0; j < D; j++)
        sum += (int)(f[b * D + j] - shift);
    parity[b] = (float)(sum & 1);
}

/* where a block's error is largest. */
template <int D>
static __global__ void find_place(const float *errors, float *place, int64_t blocks)
{
    int64_t b = chain_index();
    if (b >= blocks) return;
    int worst = 0;
    for (int j = 1; j < D; j++)
        if (errors[b * D + j] > errors[b * D + worst]) worst = j;
    place[b] = (float)worst;
}

/* that coordinate the other way, where the parity is odd. */
template <int D>
static __global__ void repair(const float *w, float *f, const float *parity, const float *place,
                              int64_t n)
{
    int64_t i = chain_index();
    if (i >= n || parity[i / D] == 0.0f || place[i / D] != (float)(i % D)) return;
    f[i] += w[i] > f[i] ? 1.0f : -1.0f;
}

/* (w - f)^2, A2's second times 3. */
template <int LATTICE>
static __global__ void square(const float *w, const float *f, float *out, int64_t n)
{
    int64_t i = chain_index();
    if (i >= n) return;
    float off = __fsub_rn(w[i], f[i]), squared = __fmul_rn(off, off);
    out[i] = LATTICE == LATTICE_A2 && i % 2 == 1 ? __fmul_rn(3.0f, squared) : squared;
}

/* its sum over a block. */
template <int D>
static __global__ void add_up(const float *squares, float *distance, int64_t blocks)
{
    int64_t b = chain_index();
    if (b >= blocks) return;
    float sum = 0.0f;
    for (int j = 0; j < D; j++)
        sum = __fadd_rn(sum, squares[b * D + j]);
    distance[b] = sum;
}

/* the nearer coset, into the first. */
template <int D>
static __global__ void choose(float *f, const float *other, const float *to_f,
                              const float *to_other, int64_t n)
{
    int64_t i = chain_index();
    if (i < n && to_other[i / D] < to_f[i / D]) f[i] = other[i];
}

/* v = f / q. */
static __global__ void quotient(const float *f, float *v, float q, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) v[i] = __fdiv_rn(f[i], q);
}

/* The nearest point of one coset into f[which], its distance where it is needed. */
template <int LATTICE> void chain_launch::coset(int which) const
{
    constexpr int D = lattice_d(LATTICE);
    const int T = LATTICE_THREADS;
    float shift = 0.5f * (float)which, *f = c.f[which];
    round_up<<<each(), T, 0, stream>>>(c.w, f, shift, c.entries);
    if (LATTICE == LATTICE_D4 || LATTICE == LATTICE_E8) {
        error<<<each(), T, 0, stream>>>(c.w, f, c.work, c.entries);
        find_parity<D><<<each_block(), T, 0, stream>>>(f, c.parity, shift, c.blocks);
        find_place<D><<<each_block(), T, 0, stream>>>(c.work, c.place, c.blocks);
        repair<D><<<each(), T, 0, stream>>>(c.w, f, c.parity, c.place, c.entries);
    }
    if (LATTICE == LATTICE_Z2 || LATTICE == LATTICE_D4) return;
    square<LATTICE><<<each(), T, 0, stream>>>(c.w, f, c.work, c.entries);
    add_up<D><<<each_block(), T, 0, stream>>>(c.work, c.distance[which], c.blocks);
}

template <int LATTICE> void chain_launch::closest() const
{
    constexpr int D = lattice_d(LATTICE), T = LATTICE_THREADS;
    dither<LATTICE><<<each(), T, 0, stream>>>(c.v, c.w, c.entries);
    coset<LATTICE>(0);
    if (LATTICE == LATTICE_Z2 || LATTICE == LATTICE_D4) return;
    coset<LATTICE>(1);
    choose<D><<<each(), T, 0, stream>>>(c.f[0], c.f[1], c.distance[0], c.distance[1], c.entries);
}

template void chain_launch::closest<LATTICE_Z2>() const;
template void chain_launch::closest<LATTICE_A2>() const;
template void chain_launch::closest<LATTICE_D4>() const;
template void chain_launch::closest<LATTICE_E8>() const;

void chain_launch::divide(const float *from, float q) const
{
    quotient<<<each(), LATTICE_THREADS, 0, stream>>>(from, c.v, q, c.entries);
}

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
            divide(c.f[0], (float)Q);
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
