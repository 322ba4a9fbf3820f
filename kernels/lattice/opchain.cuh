/*
 * opchain.cuh - the closest point as a chain of kernels, one per elementary step, each from memory
 * to memory, for the opchain variants of encoding and decoding.
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

    /* f[0] = Q(v), and v = from / q: their kernels are in opchain.cu. */
    template <int LATTICE> void closest() const;
    void divide(const float *from, float q) const;

  private:
    template <int LATTICE> void coset(int which) const;
};

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
