/*
 * table_lookup.cu - one thread per element of C, one lookup per pair of indices. The table is in
 * device memory (global), or in shared memory as fp32, int16 or int8.
 *
 * Operations: M^2 lookups per pair of blocks. Bytes: the codes, read by each thread as it needs
 * them; the table, once per block where it is in shared memory.
 *
 * Why it is slow. Shared memory serves at best 32 lookups per cycle, and about 9 with the bank
 * conflicts of random indices. By that count 38 TFLOP/s of equivalent rate are possible (E8, M =
 * 1, 1.98 GHz), which no large product can win with. An H200 reaches 3.2 at 1024^3 (smem_i8,
 * packed indices), because each lookup reads its two indices first; tiled.cu reaches 20.8. Blocks
 * are persistent and walk over tiles of 32 x 32, so that the table is loaded once per SM.
 */
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "table.cuh"

enum { SIDE = 32, THREADS = SIDE * SIDE };

/* One table entry, wherever the table stands. */
template <typename Entry> struct lookup_in {
    const Entry *table;
    int64_t count;

    __device__ __forceinline__ int operator()(uint32_t left, uint32_t right) const
    {
        return (int)table[left * count + right];
    }
};

template <typename Entry, bool SHARED>
static __global__ void __launch_bounds__(THREADS)
    table_lookup(struct table_args args, const Entry *__restrict__ table)
{
    extern __shared__ __align__(16) char shared[];
    lookup_in<Entry> lookup = {table, args.geometry.count};
    if (SHARED) {
        int64_t entries = args.geometry.count * args.geometry.count;
        for (int64_t i = threadIdx.x; i < entries; i += THREADS)
            ((Entry *)shared)[i] = table[i];
        __syncthreads();
        lookup.table = (const Entry *)shared;
    }
    int64_t across = (args.geometry.columns + SIDE - 1) / SIDE;
    int64_t tiles = across * ((args.geometry.rows + SIDE - 1) / SIDE);
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int64_t row = tile / across * SIDE + threadIdx.x / SIDE;
        int64_t column = tile % across * SIDE + threadIdx.x % SIDE;
        if (row < args.geometry.rows && column < args.geometry.columns)
            element(args, row, column, lookup);
    }
}

/* ------------------------------------------------------------- variants -- */

template <typename Entry> static int64_t table_bytes(const struct assay_shape *shape)
{
    int64_t count = lut_geometry(shape).count;
    return count * count * (int64_t)sizeof(Entry);
}

template <typename Entry, bool SHARED> static int setup(struct assay_call *call)
{
    if (SHARED && cuda_allow_shared((const void *)table_lookup<Entry, SHARED>,
                                    table_bytes<Entry>(call->shape)))
        return -1;
    return table_upload(call, (Entry **)&call->state);
}

template <typename Entry, bool SHARED> static int launch(struct assay_call *call)
{
    struct table_args args = table_args_of(call);
    int64_t bytes = SHARED ? table_bytes<Entry>(call->shape) : 0;
    int64_t tiles =
        (args.geometry.columns + SIDE - 1) / SIDE * ((args.geometry.rows + SIDE - 1) / SIDE);
    const struct assay_card *card = assay_card();
    int64_t resident = card->multiprocessors * (bytes > card->shared_bytes / 2 ? 1 : 2);
    table_lookup<Entry, SHARED>
        <<<(unsigned)(tiles < resident ? tiles : resident), THREADS, (size_t)bytes,
           (cudaStream_t)call->stream>>>(args, (const Entry *)call->state);
    return assay_launched();
}

template <typename Entry, bool SHARED>
static constexpr struct assay_variant named(const char *name, const char *summary)
{
    return {
        .operation = "lut_matmul",
        .name = name,
        .summary = summary,
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .supports = lut_table_unsupported,
        .shared_bytes = SHARED ? table_bytes<Entry> : NULL,
        .setup = setup<Entry, SHARED>,
        .launch = launch<Entry, SHARED>,
        .teardown = device_memory_free,
        .model = lut_model,
    };
}

static constexpr struct assay_variant global_f32 =
    named<float, false>("global", "one lookup per pair of indices, fp32 table in device memory");
ASSAY_REGISTER_VARIANT(global_f32);

static constexpr struct assay_variant smem_f32 =
    named<float, true>("smem_f32", "fp32 table in shared memory");
ASSAY_REGISTER_VARIANT(smem_f32);

static constexpr struct assay_variant smem_i16 =
    named<int16_t, true>("smem_i16", "int16 table in shared memory");
ASSAY_REGISTER_VARIANT(smem_i16);

extern const struct assay_variant lut_smem_i8 =
    named<int8_t, true>("smem_i8", "int8 table in shared memory");
ASSAY_REGISTER_VARIANT(lut_smem_i8);
