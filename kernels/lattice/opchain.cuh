/*
 * opchain.cuh - the closest point as a chain of kernels, one per elementary step, each from memory
 * to memory: round, find the worst error, repair the parity, sum the squares, choose.
 *
 * All steps are in fp32, where the dither must decide ties against an error of about 1e-6; that
 * works for coordinates below about 64. A2 is kept in coordinates (x_0, x_1 / sqrt(3)), of which
 * the second has three times the weight in a distance.
 */
#pragma once

#include "kernels/cuda/device_memory.h"
#include "lattice.cuh"

/* Arrays of one float per entry of a block, padding included (point and sum only where
 * digits are decoded); then one per block. */
struct chain {
    float *v, *w, *f[2], *work, *point, *sum;
    float *parity, *place, *distance[2];
    int64_t blocks, entries;
};

static __device__ __forceinline__ int64_t chain_index(void)
{
    return (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x;
}

/* ----------------------------------------------------------------- steps -- */

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

/* ------------------------------------------------------------------ host -- */

struct chain_launch {
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

    /* f[0] = Q(v), and v = from / q. */
    template <int LATTICE> void closest() const;
    void divide(const float *from, float q) const;

  private:
    template <int LATTICE> void coset(int which) const;
};

static constexpr bool has_two_cosets(int lattice)
{
    return lattice == LATTICE_A2 || lattice == LATTICE_E8;
}

/* The nearest point of one coset into f[which], its distance where it is needed. */
template <int LATTICE> void chain_launch::coset(int which) const
{
    constexpr int D = lattice_d(LATTICE);
    const int T = LATTICE_THREADS;
    float shift = 0.5f * (float)which, *f = c.f[which];
    round_up<<<each(), T, 0, stream>>>(c.w, f, shift, c.entries);
    if constexpr (LATTICE == LATTICE_D4 || LATTICE == LATTICE_E8) {
        error<<<each(), T, 0, stream>>>(c.w, f, c.work, c.entries);
        find_parity<D><<<each_block(), T, 0, stream>>>(f, c.parity, shift, c.blocks);
        find_place<D><<<each_block(), T, 0, stream>>>(c.work, c.place, c.blocks);
        repair<D><<<each(), T, 0, stream>>>(c.w, f, c.parity, c.place, c.entries);
    }
    if constexpr (has_two_cosets(LATTICE)) {
        square<LATTICE><<<each(), T, 0, stream>>>(c.w, f, c.work, c.entries);
        add_up<D><<<each_block(), T, 0, stream>>>(c.work, c.distance[which], c.blocks);
    }
}

template <int LATTICE> void chain_launch::closest() const
{
    constexpr int D = lattice_d(LATTICE), T = LATTICE_THREADS;
    dither<LATTICE><<<each(), T, 0, stream>>>(c.v, c.w, c.entries);
    coset<LATTICE>(0);
    if constexpr (has_two_cosets(LATTICE)) {
        coset<LATTICE>(1);
        choose<D>
            <<<each(), T, 0, stream>>>(c.f[0], c.f[1], c.distance[0], c.distance[1], c.entries);
    }
}

inline void chain_launch::divide(const float *from, float q) const
{
    quotient<<<each(), LATTICE_THREADS, 0, stream>>>(from, c.v, q, c.entries);
}

/* Floats of an array, up to whole 256 bytes. */
static inline int64_t padded(int64_t n)
{
    return (n + 63) / 64 * 64;
}

/* Entry arrays of a chain: 5, with point and sum 7. */
static inline int chain_setup(struct assay_call *call, int arrays)
{
    const struct lattice_job job = lattice_job(call->shape);
    int64_t floats = arrays * padded(job.blocks * job.d) + 4 * padded(job.blocks);
    call->workspace_bytes += floats * (int64_t)sizeof(float);
    return assay_cuda(cudaMalloc(&call->state, (size_t)floats * sizeof(float)), "cudaMalloc");
}

static inline void chain_init(struct chain_launch *launch, struct assay_call *call,
                              const struct lattice_job *job, int arrays)
{
    struct chain *c = &launch->c;
    float *at = (float *)call->state;
    float **const each[] = {&c->v,     &c->w,           &c->f[0],       &c->f[1],
                            &c->work,  &c->point,       &c->sum,        &c->parity,
                            &c->place, &c->distance[0], &c->distance[1]};
    launch->args = lattice_make_args(call, job);
    launch->stream = (cudaStream_t)call->stream;
    c->blocks = job->blocks;
    c->entries = job->blocks * job->d;
    for (int i = 0; i < 11; i++) {
        if (i >= arrays && i < 7) continue;
        *each[i] = at;
        at += padded(i < 7 ? c->entries : c->blocks);
    }
}
