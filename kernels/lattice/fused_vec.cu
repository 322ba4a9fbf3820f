/*
 * fused_vec.cu - eight entries per thread, loaded 16 bytes at a time, with one packed store.
 *
 * Bytes per entry: those of the operation. The closest point of E8 follows the definition at every
 * level, in fp32 and then in whole numbers: about 600 instructions for 8 entries at q4m2, twice
 * what memory leaves time for on an H200 (335 us for 2^27 entries, copy_encode 138). best.cu has a
 * cheaper formula.
 */
#include "lattice_vec.cuh"

template <int TASK, int LATTICE, int CODE>
static __global__ void __launch_bounds__(LATTICE_THREADS)
    fused_vec(const struct lattice_args a, int64_t groups)
{
    constexpr int D = lattice_d(LATTICE), BLOCKS = VEC_ENTRIES / D;
    constexpr int BYTES = vec_bytes<LATTICE, CODE>();
    int64_t group = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x;
    if (group >= groups) return;
    float x[8];
    int t[BLOCKS];
    uint64_t word;
    if (TASK == TASK_DECODE) {
        word = lattice_load_bytes((const uint8_t *)a.in + group * BYTES, BYTES);
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
            t[b] = lattice_get_t(a, group * BLOCKS + b);
    } else {
        vec_load((const float *)a.in + group * VEC_ENTRIES, x);
        word = vec_encode<LATTICE, CODE>(a, x, t);
    }
    if constexpr (TASK == TASK_ENCODE) {
        lattice_store_bytes((uint8_t *)a.out + group * BYTES, BYTES, word);
        if (a.overload != OVERLOAD_BLOCK) return;
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
            a.t[group * BLOCKS + b] = (uint8_t)t[b];
    } else {
        vec_decode<LATTICE, CODE>(a, word, t, x);
        vec_store((float *)a.out + group * VEC_ENTRIES, x);
    }
}

struct fused_vec_launch {
    enum lattice_task task;
    struct lattice_args args;
    int64_t groups;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        unsigned grid = lattice_grid(groups, LATTICE_THREADS);
        if (task == TASK_ENCODE)
            fused_vec<TASK_ENCODE, LATTICE, CODE>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args, groups);
        else if (task == TASK_DECODE)
            fused_vec<TASK_DECODE, LATTICE, CODE>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args, groups);
        else if constexpr (vec_is_published(CODE))
            fused_vec<TASK_ROUNDTRIP, LATTICE, CODE>
                <<<grid, LATTICE_THREADS, 0, stream>>>(args, groups);
        return assay_launched();
    }
};

int lattice_fused_vec(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct fused_vec_launch kernel = {job.task, lattice_make_args(call, &job), vec_groups(&job),
                                      (cudaStream_t)call->stream};
    return vec_instance(&job, kernel);
}

static const char *supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.task == TASK_ROUNDTRIP && !vec_is_published(job.code))
        return "round trips with the codes q2m1 and q4m2";
    return lattice_vec_supports(shape);
}

LATTICE_VARIANTS("fused_vec", "eight entries per thread, 16-byte loads, one packed store",
                 .supports = supports, .launch = lattice_fused_vec);
