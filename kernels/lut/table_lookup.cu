/*
 * table_lookup.cu - one thread per element of C, one lookup per pair of indices.
 *
 *   global         the table is in device memory
 *   smem_*         the table is in shared memory, as fp32, int16 or int8
 *   smem_i8_fresh  smem_i8 with its table made anew in each call, from the codewords: what keeping
 *                  a table saves
 *   seq            the published variant "original": a loop on the host over elements and blocks,
 *                  with one launch of one thread each, and the host waits for every one. Its time
 *                  is rows columns K / d times that of a launch and a synchronisation, so it is
 *                  timed by the wall clock. It takes the published sizes only. Deliberately slow
 *
 * Operations: M^2 lookups per pair of blocks; smem_i8_fresh: d multiply-adds per entry of the table
 * more, one thread each. Bytes: the codes, read by each thread as it needs them; the table, once
 * per block where it is in shared memory; to make it, 2 d read, from L1, and 1 written per entry.
 *
 * Why it is slow. Shared memory serves at best 32 lookups per cycle, and about 9 with the bank
 * conflicts of random indices. By that count 38 TFLOP/s of equivalent rate are possible (E8, M =
 * 1, 1.98 GHz), which no large product can win with. An H200 reaches 3.2 at 1024^3 (smem_i8,
 * packed indices), because each lookup reads its two indices first; tiled.cu reaches 20.8. Blocks
 * are persistent and walk over tiles of 32 x 32, so that the table is loaded once per SM.
 */
#include <stdlib.h>

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

/* ------------------------------------------------------- a table per call -- */

enum { MAKE_THREADS = 256, POISON = 0x55 };

struct fresh {
    struct lut_points points;
    int8_t *table;
};

/* Dot products of points are multiples of 2^shift. */
static __global__ void __launch_bounds__(MAKE_THREADS)
    make_table(const int8_t *__restrict__ left, const int8_t *__restrict__ right, int count, int d,
               int shift, int8_t *__restrict__ table)
{
    int at = (int)(blockIdx.x * MAKE_THREADS + threadIdx.x);
    if (at >= count * count) return;
    int sum = 0;
    for (int i = 0; i < d; i++)
        sum += left[at / count * d + i] * right[at % count * d + i];
    table[at] = (int8_t)(sum >> shift);
}

static int fresh_setup(struct assay_call *call)
{
    struct fresh *fresh = (struct fresh *)calloc(1, sizeof *fresh);
    struct assay_call inner = *call;
    if (fresh == NULL) return assay_error("out of host memory");
    call->state = fresh;
    inner.state = NULL;
    int status = setup<int8_t, true>(&inner);
    fresh->table = (int8_t *)inner.state;
    call->workspace_bytes = inner.workspace_bytes;
    if (status || lut_points_upload(call->shape, &fresh->points)) return -1;
    call->workspace_bytes += fresh->points.bytes;
    /* The table that setup made must not be the one that is used. */
    int64_t count = lut_geometry(call->shape).count;
    return assay_cuda(cudaMemset(fresh->table, POISON, (size_t)(count * count)), "table");
}

static int fresh_launch(struct assay_call *call)
{
    const struct fresh *fresh = (const struct fresh *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    int count = (int)geometry.count;
    struct assay_call inner = *call;
    inner.state = fresh->table;
    make_table<<<(unsigned)(count * count + MAKE_THREADS - 1) / MAKE_THREADS, MAKE_THREADS, 0,
                 (cudaStream_t)call->stream>>>(fresh->points.left, fresh->points.right, count,
                                               geometry.d, lut_shift(geometry.divisor),
                                               fresh->table);
    if (assay_launched()) return -1;
    return launch<int8_t, true>(&inner);
}

static void fresh_teardown(struct assay_call *call)
{
    struct fresh *fresh = (struct fresh *)call->state;
    if (fresh == NULL) return;
    lut_points_release(&fresh->points);
    cudaFree(fresh->table);
    free(fresh);
}

static const struct assay_variant smem_i8_fresh = {
    .operation = "lut_matmul",
    .name = "smem_i8_fresh",
    .summary = "smem_i8, with the table made anew in each call",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = lut_table_unsupported,
    .shared_bytes = table_bytes<int8_t>,
    .setup = fresh_setup,
    .launch = fresh_launch,
    .teardown = fresh_teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(smem_i8_fresh);

/* --------------------------------------------------------------------- seq -- */

enum { LAUNCHES_MAX = 1 << 17 }; /* 32 x 256 x 128, the largest published: a second */

/* Adds one block to one element; the launch of the last block also multiplies by the unit. */
static __global__ void seq(struct table_args args, const float *table, int64_t row, int64_t column,
                           int64_t block)
{
    lookup_in<float> lookup = {table, args.geometry.count};
    float *c = &args.c[row * args.geometry.columns + column];
    float sum = (float)block_sum(args, row, column, block, lookup);
    float scale = args.geometry.scaled ? block_scale(args, row, column, block) : 1.0f;
    float total = __fmaf_rn(scale, sum, block > 0 ? *c : 0.0f);
    *c = block == args.geometry.blocks - 1 ? total * args.geometry.unit : total;
}

static const char *seq_supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const char *why = lut_table_unsupported(shape);
    if (why) return why;
    if (geometry.rows > LAUNCHES_MAX || geometry.columns > LAUNCHES_MAX ||
        geometry.rows * geometry.columns * geometry.blocks > LAUNCHES_MAX)
        return "more than 131072 launches, each waited for";
    return NULL;
}

static int seq_setup(struct assay_call *call)
{
    return table_upload(call, (float **)&call->state);
}

static int seq_launch(struct assay_call *call)
{
    struct table_args args = table_args_of(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    for (int64_t column = 0; column < args.geometry.columns; column++)
        for (int64_t row = 0; row < args.geometry.rows; row++)
            for (int64_t block = 0; block < args.geometry.blocks; block++) {
                seq<<<1, 1, 0, stream>>>(args, (const float *)call->state, row, column, block);
                if (assay_launched()) return -1;
                if (assay_cuda(cudaStreamSynchronize(stream), "waiting for a block")) return -1;
            }
    return 0;
}

static const struct assay_variant sequential = {
    .operation = "lut_matmul",
    .name = "seq",
    .summary = "a launch and a wait per block of an element, as the seed's loop",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .supports = seq_supports,
    .setup = seq_setup,
    .launch = seq_launch,
    .teardown = device_memory_free,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(sequential);
