/*
 * table_gemv.cu - few rows by lookup alone (E8, q = 2). Every block of A becomes a table of its
 * inner products with the 256 codewords, and B's codes are looked up in these tables as they
 * arrive from memory, 8 entries per lookup. Nothing is decoded.
 *
 * Bytes: B's codes, M / 8 per entry. Operations: one lookup and one addition per byte of codes;
 * 256 products of 8 for each block of A, once per thread block.
 *
 * What bounds it. A byte of codes takes three instructions, each on another pipe: a byte
 * permutation makes the address (ALU), the lookup reads it (LSU), and a dp4a extracts the block's
 * byte from the word and weights it by level (FMA). With loads, addresses and the sum over the
 * lanes, a warp issues 65, 127 and 255 instructions for 4096 entries at M = 1, 2 and 4 (machine
 * code): 0.5, 1.0 and 2.0 per lane and entry. Decoding for the tensor cores takes 2.2 at M = 2,
 * even without loads and loop.
 *
 * No two lanes use the same bank (gemv_table.h), so a warp's 32 lookups take an SM one cycle. One
 * byte per lane is 32 bytes per cycle, 8.4 TB/s over 132 SMs at 1.98 GHz, above memory's 4.70. An
 * H200 reads at 41.1 %, 59.4 % and 73.5 % of its ceiling at M = 1, 2 and 4 (one row, 8192 x
 * 28672): it reaches neither bound.
 *
 * The tables of 8192 entries take 256 KiB. A cluster of two SMs holds half on each. Both walk over
 * the same columns and add up their halves at the end through distributed shared memory. K up to
 * 32,768 takes clusters of up to 8. Making the tables takes about 2.5 us, while memory delivers
 * the first codes. Prefetching more of them to L2, or 512 threads with 8 loads ahead, was 2 to 6 %
 * slower on an H200. (Both were measured when it was written, and are in no published run.)
 */
#include <stdlib.h>

#include "gemv_table.h"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/cuda_limits.h"
#include "lut_cuda.h"

struct table_args {
    const char *a, *b; /* codes */
    const int8_t *points;
    float *c;
    int64_t columns, stride_bytes;
    int blocks, parts;
    int columns_each; /* columns per cluster */
};

/* The tables, the codewords, A decoded, A's codes; then one sum per column. */
struct table_shared {
    char table[GEMV_TABLE_BYTES];
    uint2 points[256];
    uint2 x[GEMV_TABLE_BLOCKS];
    uint4 codes[4 * GEMV_TABLE_CHUNK / 16];
};

enum {
    THREADS = 1024,
    SLOTS = 4,          /* loads of 16 bytes that a lane keeps in flight */
    COLUMNS_MAX = 8192, /* columns of a cluster: 32 KiB of sums */
};

static int64_t shared_bytes(int columns_each)
{
    return (int64_t)sizeof(struct table_shared) + 4 * (int64_t)columns_each;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* ------------------------------------------------------------- prologue -- */

template <int M>
static __device__ __forceinline__ void fetch(const table_args &args, int part, table_shared *shared)
{
    const char *a = args.a + blockIdx.y * args.stride_bytes;
    int64_t first = (int64_t)part * M * GEMV_TABLE_CHUNK;
    static_assert(THREADS >= 128 + M * GEMV_TABLE_CHUNK / 16, "one load per thread");
    int i = threadIdx.x - 128;
    int64_t at = first + i * 16;
    if (i < 0)
        ((uint4 *)shared->points)[threadIdx.x] = ((const uint4 *)args.points)[threadIdx.x];
    else if (i < M * GEMV_TABLE_CHUNK / 16 && at < args.stride_bytes)
        shared->codes[i] = *(const uint4 *)(a + at);
}

/* Decode A's blocks, by Horner's rule over the levels. A block beyond the row's end is the point 0,
 * so its table is all zeros, and B's codes there do not matter. */
template <int M> static __device__ __forceinline__ void decode_x(int blocks, table_shared *shared)
{
    const unsigned char *codes = (const unsigned char *)shared->codes;
    for (int first = 0; first < GEMV_TABLE_BLOCKS; first += THREADS) {
        int block = first + threadIdx.x;
        if (block >= GEMV_TABLE_BLOCKS) break;
        uint2 sum = make_uint2(0, 0);
#pragma unroll
        for (int m = M - 1; m >= 0; m--) {
            uint2 point = shared->points[block < blocks ? codes[block * M + m] : 0];
            sum.x = __vadd4(__vadd4(sum.x, sum.x), point.x);
            sum.y = __vadd4(__vadd4(sum.y, sum.y), point.y);
        }
        shared->x[block] = sum;
    }
}

static __device__ __forceinline__ int product(uint2 x, uint2 y)
{
    return __dp4a((int)x.x, (int)y.x, __dp4a((int)x.y, (int)y.y, 0));
}

/* Each warp makes one word of every lane, for some of the codewords. The four blocks of that word
 * stay in registers, and the 32 stores of a warp go to 32 banks. */
template <int M> static __device__ __forceinline__ void fill_tables(table_shared *shared)
{
    constexpr int STEP = THREADS / 32 / GEMV_TABLE_WORDS;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, word = warp % GEMV_TABLE_WORDS;
    const uint2 *x = shared->x + gemv_table_block(M, word, lane);
    uint2 x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    char *to = shared->table + word / 2 * 65536 + word % 2 * 128 + lane * 4;
#pragma unroll 4
    for (int first = 0; first < 256; first += STEP) {
        int b = first + warp / GEMV_TABLE_WORDS;
        if (256 % STEP != 0 && b >= 256) break;
        uint2 point = shared->points[b];
        *(uint32_t *)(to + b * 256) = gemv_table_word(product(x0, point), product(x1, point),
                                                      product(x2, point), product(x3, point));
    }
}

/* ------------------------------------------------------------ main loop -- */

/* Volatile, so that the compiler issues the first loads before the tables are made. */
static __device__ __forceinline__ uint4 load_codes(const char *from)
{
    uint4 codes;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(codes.x), "=r"(codes.y), "=r"(codes.z), "=r"(codes.w)
                 : "l"(from));
    return codes;
}

static __device__ __forceinline__ uint32_t word_of(uint4 codes, int i)
{
    return i == 0 ? codes.x : i == 1 ? codes.y : i == 2 ? codes.z : codes.w;
}

/* 16 lookups. Two sums, so that an addition need not wait for the one before. */
template <int M>
static __device__ __forceinline__ void look_up(const char *table, uint32_t lane4, int chunk,
                                               uint4 codes, int sum[2])
{
#pragma unroll
    for (int i = 0; i < 16; i++) {
        uint32_t at = __byte_perm(word_of(codes, i / 4), lane4, 0x5504 | i % 4 << 4);
        int word = *(const int *)(table + at + gemv_table_offset(M, chunk, i));
        sum[i % 2] = __dp4a(word, gemv_table_weight(M, i), sum[i % 2]);
    }
}

/* One row of A per blockIdx.y, one part of it per thread block of the cluster. */
template <int M>
static __global__ void __launch_bounds__(THREADS, 1)
    table_gemv(const __grid_constant__ table_args args)
{
    extern __shared__ __align__(128) char memory[];
    constexpr int WARPS = THREADS / 32, AHEAD = SLOTS / M; /* columns that the warp has loaded */
    table_shared *shared = (table_shared *)memory;
    int *sums = (int *)(shared + 1);
    int part = (int)__clusterRelativeBlockRank(), size = (int)__clusterSizeInBlocks();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int64_t first = (int64_t)(blockIdx.x / size) * args.columns_each;
    int columns = (int)min((int64_t)args.columns_each, args.columns - first);
    int mine = part < args.parts ? columns : 0;

    /* Beyond a row's end a lane reads its last bytes: there the tables are 0. */
    uint32_t within[M];
#pragma unroll
    for (int chunk = 0; chunk < M; chunk++)
        within[chunk] = (uint32_t)min((part * M + chunk) * GEMV_TABLE_CHUNK + lane * 16,
                                      (int)args.stride_bytes - 16);
    const char *all = args.b + first * args.stride_bytes;
    const char *row = all + warp * args.stride_bytes; /* the next to load */
    uint4 codes[SLOTS];
#pragma unroll
    for (int i = 0; i < AHEAD; i++, row += WARPS * args.stride_bytes)
#pragma unroll
        for (int chunk = 0; chunk < M; chunk++)
            if (warp + i * WARPS < mine) codes[i * M + chunk] = load_codes(row + within[chunk]);

    fetch<M>(args, part, shared);
    __syncthreads();
    decode_x<M>(args.blocks - part * GEMV_TABLE_BLOCKS, shared);
    __syncthreads();
    fill_tables<M>(shared);
    __syncthreads();

    for (int next = warp; next < mine; next += AHEAD * WARPS) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            int column = next + i * WARPS;
            if (column >= mine) break;
            int sum[2] = {};
#pragma unroll
            for (int chunk = 0; chunk < M; chunk++) {
                uint4 *slot = &codes[i * M + chunk];
                look_up<M>(shared->table, (uint32_t)lane * 4, chunk, *slot, sum);
                if (column + AHEAD * WARPS < mine) *slot = load_codes(row + within[chunk]);
            }
            row += WARPS * args.stride_bytes;
            int total = __reduce_add_sync(0xffffffffu, sum[0] + sum[1]);
            if (lane == 0) sums[column] = total;
        }
    }

    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    for (int i = part * THREADS + threadIdx.x; i < columns; i += size * THREADS) {
        int total = 0;
        for (int other = 0; other < args.parts; other++)
            total += ((const int *)__cluster_map_shared_rank(sums, (unsigned)other))[i];
        args.c[blockIdx.y * args.columns + first + i] = (float)total;
    }
    /* No thread block leaves while another reads its sums. They have been read, each
     * to store its total, so the barrier need not order memory: C's stores go on. */
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
                 "barrier.cluster.wait.aligned;" ::
                     : "memory");
}

#else

/* Skipped where code is below sm_90. */
template <int M> static __global__ void table_gemv(const __grid_constant__ table_args)
{
    __trap();
}

#endif

/* -------------------------------------------------------------- variant -- */

typedef void table_kernel(table_args);

static table_kernel *kernel_of(int levels)
{
    static table_kernel *const kernels[] = {table_gemv<1>, table_gemv<2>, table_gemv<4>};
    return kernels[levels / 2];
}

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] == CODEBOOK_E8 && geometry.q == 4)
        return "q = 4: the table of a block of A has 65,536 entries (decode_gemv takes it)";
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8 || geometry.q != 2)
        return "E8 with q = 2 only: an index and a product are a byte there";
    if (geometry.rows > 16) return "more than 16 rows";
    if (geometry.scaled) return "a scale per block does not factor out of the sum";
    if (geometry.format != LUT_PACKED && geometry.format != LUT_INT8)
        return "indices of one byte only";
    if (geometry.stride_bytes % 16 != 0) return "rows of codes are not 16-byte aligned";
    if (gemv_table_parts(geometry.blocks) > GEMV_TABLE_PARTS)
        return "the tables of a row of A do not fit the shared memory of 8 SMs";
    return NULL;
}

static int64_t most_bytes(const struct assay_shape *)
{
    return shared_bytes(COLUMNS_MAX);
}

struct table_state {
    struct lut_points points; /* first, for lut_points_teardown */
    int cluster;              /* thread blocks that share a row of A */
    int columns_each;         /* of a cluster */
};

static struct cluster_launch configure(const struct lut_geometry *geometry,
                                       const struct table_state *state, int threads,
                                       cudaStream_t stream)
{
    int64_t clusters = (geometry->columns + state->columns_each - 1) / state->columns_each;
    dim3 grid((unsigned)(clusters * state->cluster), (unsigned)geometry->rows);
    return cluster_launch(state->cluster, grid, threads, (size_t)shared_bytes(state->columns_each),
                          stream);
}

/* As many columns per cluster as fill the device once. */
static int share_columns(const struct lut_geometry *geometry, table_kernel *kernel, int threads,
                         struct table_state *state)
{
    int clusters = 0;
    while (state->cluster < gemv_table_parts(geometry->blocks))
        state->cluster *= 2;
    state->columns_each = COLUMNS_MAX;
    struct cluster_launch all = configure(geometry, state, threads, NULL);
    if (cuda_allow_shared((const void *)kernel, shared_bytes(COLUMNS_MAX)) ||
        assay_cuda(cudaOccupancyMaxActiveClusters(&clusters, kernel, &all.config), "clusters"))
        return -1;
    if (clusters < 1) return assay_error("no cluster of %d thread blocks fits", state->cluster);
    int64_t of_row = clusters > geometry->rows ? clusters / geometry->rows : 1;
    int64_t each = (geometry->columns + of_row - 1) / of_row;
    if (each < COLUMNS_MAX) state->columns_each = (int)each;
    return 0;
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct table_state *state = (struct table_state *)calloc(1, sizeof *state);
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    state->cluster = 1;
    if (share_columns(&geometry, kernel_of(geometry.levels), THREADS, state) ||
        lut_points_upload(call->shape, &state->points))
        return -1;
    call->workspace_bytes += state->points.bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct table_state *state = (const struct table_state *)call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct table_args args = {.a = (const char *)call->buffer[LUT_A],
                              .b = (const char *)call->buffer[LUT_B],
                              .points = state->points.left,
                              .c = (float *)call->buffer[LUT_C],
                              .columns = geometry.columns,
                              .stride_bytes = geometry.stride_bytes,
                              .blocks = (int)geometry.blocks,
                              .parts = gemv_table_parts(geometry.blocks),
                              .columns_each = state->columns_each};
    struct cluster_launch clusters =
        configure(&geometry, state, THREADS, (cudaStream_t)call->stream);
    return assay_cuda(cudaLaunchKernelEx(&clusters.config, kernel_of(geometry.levels), args),
                      "launch");
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "table_gemv",
    .summary = "few rows: A as tables, codes looked up",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 90,
    .supports = supports,
    .shared_bytes = most_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = lut_points_teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
