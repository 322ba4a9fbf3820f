/*
 * opchain.cu - one kernel an elementary step, each from memory to memory, as an eager
 * framework runs the formulas as they are written: round, find the worst error, repair
 * the parity, sum the squares, choose, multiply by G^-1, take the remainder. Deliberately slow.
 *
 * Launches at M levels: E8 20 M + 1, A2 12 M + 1, D4 10 M + 1, Z2 6 M + 1. Bytes of an entry
 * and level, read and written: about 160 for E8, 95 for A2, 75 for D4, 45 for Z2. All
 * levels are in fp32, where a tie is decided by the dither against an error of
 * some 1e-6: sound for coordinates below about 64, so not for extreme data, and not
 * the models' bits but those of the reference, near ties apart.
 *
 * A2 is kept in coordinates (x_0, x_1 / sqrt(3)), the second counting three times.
 */
#include "lattice.cuh"

/* Arrays of one float an entry of a block, padding included; then one a block. */
struct chain {
    float *v, *w, *f[2], *work;
    float *parity, *place, *distance[2];
    int64_t blocks, entries;
};

static __device__ __forceinline__ int64_t chain_index(void)
{
    return (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x;
}

/* 1: v = x r, rows filled up. */
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

/* 2: w = v + dither. */
template <int LATTICE> static __global__ void dither(const float *v, float *w, int64_t n)
{
    int64_t i = chain_index();
    if (i >= n) return;
    float e = lattice_dither(LATTICE, (int)(i % lattice_d(LATTICE)));
    bool rescale = LATTICE == LATTICE_A2 && i % 2 == 1;
    w[i] = __fadd_rn(v[i], rescale ? __fmul_rn(e, 0x1.279a74p-1f) : e);
}

/* 3: f = floor(w - shift + 1/2) + shift. */
static __global__ void round_up(const float *w, float *f, float shift, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) f[i] = floorf(w[i] - shift + 0.5f) + shift;
}

/* 4: |w - f|. */
static __global__ void error(const float *w, const float *f, float *out, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) out[i] = fabsf(w[i] - f[i]);
}

/* 5: the sum of a block's f - shift, mod 2. */
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

/* 6: where a block's error is largest. */
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

/* 7: that coordinate the other way, where the parity is odd. */
template <int D>
static __global__ void repair(const float *w, float *f, const float *parity, const float *place,
                              int64_t n)
{
    int64_t i = chain_index();
    if (i >= n || parity[i / D] == 0.0f || place[i / D] != (float)(i % D)) return;
    f[i] += w[i] > f[i] ? 1.0f : -1.0f;
}

/* 8: (w - f)^2, A2's second times 3. */
template <int LATTICE>
static __global__ void square(const float *w, const float *f, float *out, int64_t n)
{
    int64_t i = chain_index();
    if (i >= n) return;
    float off = __fsub_rn(w[i], f[i]), squared = __fmul_rn(off, off);
    out[i] = LATTICE == LATTICE_A2 && i % 2 == 1 ? __fmul_rn(3.0f, squared) : squared;
}

/* 9: its sum over a block. */
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

/* 10: the nearer coset, into the first. */
template <int D>
static __global__ void choose(float *f, const float *other, const float *to_f,
                              const float *to_other, int64_t n)
{
    int64_t i = chain_index();
    if (i < n && to_other[i / D] < to_f[i / D]) f[i] = other[i];
}

/* 11: G^-1 f, each coordinate from the whole block. */
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

/* 12: mod q. */
static __global__ void remainder(float *k, float q, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) k[i] -= q * floorf(k[i] / q);
}

/* 13: as the type of the codes; packed: these digits or-ed (q = 3: added, weighted) to
 * those of the levels below. A thread a block. */
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

/* 14: the next level's v = f / q. */
static __global__ void divide(const float *f, float *v, float q, int64_t n)
{
    int64_t i = chain_index();
    if (i < n) v[i] = __fdiv_rn(f[i], q);
}

/* ------------------------------------------------------------------ host -- */

struct opchain {
    struct lattice_args args;
    struct chain c;
    cudaStream_t stream;

    unsigned each() const
    {
        return lattice_grid(c.entries, LATTICE_THREADS);
    }

    unsigned each_block() const
    {
        return lattice_grid(c.blocks, LATTICE_THREADS);
    }

    /* The nearest point of one coset into f[which], its distance where it is needed. */
    template <int LATTICE> void coset(int which) const
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

    template <int LATTICE, int Q> int run() const
    {
        constexpr int D = lattice_d(LATTICE), T = LATTICE_THREADS;
        scale<LATTICE><<<each(), T, 0, stream>>>(args, c.v, c.entries);
        for (int level = 0; level < args.levels; level++) {
            dither<LATTICE><<<each(), T, 0, stream>>>(c.v, c.w, c.entries);
            coset<LATTICE>(0);
            if (LATTICE == LATTICE_A2 || LATTICE == LATTICE_E8) {
                coset<LATTICE>(1);
                choose<D><<<each(), T, 0, stream>>>(c.f[0], c.f[1], c.distance[0], c.distance[1],
                                                    c.entries);
            }
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

/* Floats of an array, up to whole 256 bytes. */
static int64_t padded(int64_t n)
{
    return (n + 63) / 64 * 64;
}

static int setup(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    int64_t floats = 5 * padded(job.blocks * job.d) + 4 * padded(job.blocks);
    call->workspace_bytes += floats * (int64_t)sizeof(float);
    return assay_cuda(cudaMalloc(&call->state, (size_t)floats * sizeof(float)), "cudaMalloc");
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct opchain chain = {};
    chain.args = lattice_make_args(call, &job);
    chain.stream = (cudaStream_t)call->stream;
    struct chain *c = &chain.c;
    c->blocks = job.blocks;
    c->entries = job.blocks * job.d;
    float *at = (float *)call->state;
    float **const arrays[] = {&c->v,      &c->w,     &c->f[0],        &c->f[1],       &c->work,
                              &c->parity, &c->place, &c->distance[0], &c->distance[1]};
    for (int i = 0; i < 9; i++) {
        *arrays[i] = at;
        at += padded(i < 5 ? c->entries : c->blocks);
    }
    return lattice_instance(&job, chain);
}

static void teardown(struct assay_call *call)
{
    cudaFree(call->state);
}

static const struct assay_variant variant = {
    .operation = "lattice_encode",
    .name = "opchain",
    .summary = "a kernel an elementary step, through memory, as eager code runs",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
