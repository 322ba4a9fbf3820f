/*
 * vq_gather_scalar.cu - the gather in its simplest form: one thread per number.
 *
 * Bytes per vector: 1 read (widened: 8 or 4), 512 written, 4 at a time.
 */
#include "vq_gather.cuh"

template <typename C>
static __global__ void __launch_bounds__(GATHER_THREADS)
    scalar(const C *__restrict__ codes, const float *__restrict__ codebook, float *__restrict__ out)
{
    int64_t i = (int64_t)blockIdx.x * GATHER_THREADS + threadIdx.x;
    int code = (int)codes[i / CODEWORD_LENGTH];
    out[i] = codebook[code * CODEWORD_LENGTH + i % CODEWORD_LENGTH];
}

struct gather_scalar {
    template <typename C> static void enqueue(const struct assay_call *, gather_job<C> job)
    {
        /* A leaf is 64 * 128 numbers, a multiple of the block. */
        unsigned blocks = gather_blocks(job.vectors * CODEWORD_LENGTH, GATHER_THREADS);
        scalar<<<blocks, GATHER_THREADS, 0, job.stream>>>(job.codes, (const float *)job.codebook,
                                                          (float *)job.out);
    }
};

static const struct assay_variant variant = {
    .operation = "vq_gather",
    .name = "scalar",
    .summary = "one number per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .launch = gather_launch<gather_scalar>,
};
ASSAY_REGISTER_VARIANT(variant);
