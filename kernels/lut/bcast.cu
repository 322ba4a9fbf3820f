/*
 * bcast.cu - the published variant "vectorized": for every pair of blocks and levels it writes the
 * position in the table to memory, then the value found there, then the sum. Deliberately slow: it
 * shows what temporaries cost.
 *
 * Operations: M^2 lookups per pair of blocks. Bytes, beside the codes: a position is 4 written and
 * 4 read, a value the same, so 16 M^2 rows columns K / d.
 */
#include "table.cuh"

enum { THREADS = 256 };

static const int64_t WORKSPACE_MAX = (int64_t)4 << 30;

struct bcast_state {
    float *table, *values;
    int32_t *positions;
};

/* Lookups of a shape: [row][column][block][level of A][level of B]. */
static int64_t lookups(const struct lut_geometry *geometry)
{
    return geometry->rows * geometry->columns * geometry->blocks * geometry->levels *
           geometry->levels;
}

static __global__ void __launch_bounds__(THREADS)
    bcast_positions(struct table_args args, int32_t *positions, int64_t count)
{
    int64_t levels = args.geometry.levels, step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        int64_t n = i % levels, m = i / levels % levels, pair = i / levels / levels;
        int64_t block = pair % args.geometry.blocks, at = pair / args.geometry.blocks;
        uint32_t left = lut_read(&args.a, at / args.geometry.columns, block * levels + m);
        uint32_t right = lut_read(&args.b, at % args.geometry.columns, block * levels + n);
        positions[i] = (int32_t)(left * args.geometry.count + right);
    }
}

static __global__ void __launch_bounds__(THREADS)
    bcast_gather(const float *__restrict__ table, const int32_t *__restrict__ positions,
                 float *__restrict__ values, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        values[i] = table[positions[i]];
}

static __global__ void __launch_bounds__(THREADS)
    bcast_sum(struct table_args args, const float *__restrict__ values)
{
    const struct lut_geometry &geometry = args.geometry;
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= geometry.rows * geometry.columns) return;
    const float *value = values + at * geometry.blocks * geometry.levels * geometry.levels;
    int exact = 0;
    float scaled = 0;
    for (int64_t block = 0; block < geometry.blocks; block++) {
        int sum = 0, left_weight = 1;
        for (int m = 0; m < geometry.levels; m++, left_weight *= geometry.q) {
            int weight = left_weight;
            for (int n = 0; n < geometry.levels; n++, weight *= geometry.q)
                sum += weight * (int)*value++;
        }
        exact += sum;
        if (geometry.scaled)
            scaled =
                __fmaf_rn(block_scale(args, at / geometry.columns, at % geometry.columns, block),
                          (float)sum, scaled);
    }
    args.c[at] = (geometry.scaled ? scaled : (float)exact) * geometry.unit;
}

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    const char *why = lut_table_unsupported(shape);
    if (why) return why;
    double bytes = 8.0 * (double)geometry.rows * (double)geometry.columns *
                   (double)geometry.blocks * geometry.levels * geometry.levels;
    return bytes > (double)WORKSPACE_MAX ? "positions and values take more than 4 GiB" : NULL;
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct bcast_state *state = (struct bcast_state *)calloc(1, sizeof *state);
    size_t bytes = (size_t)lookups(&geometry) * 4;
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    if (table_upload(call, &state->table)) return -1;
    if (assay_cuda(cudaMalloc((void **)&state->positions, bytes), "positions")) return -1;
    if (assay_cuda(cudaMalloc((void **)&state->values, bytes), "values")) return -1;
    call->workspace_bytes += 2 * (int64_t)bytes;
    return 0;
}

static unsigned grid_of(int64_t count)
{
    int64_t blocks = (count + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20);
}

static int launch(struct assay_call *call)
{
    const struct bcast_state *state = (const struct bcast_state *)call->state;
    struct table_args args = table_args_of(call);
    cudaStream_t stream = (cudaStream_t)call->stream;
    int64_t count = lookups(&args.geometry), outputs = args.geometry.rows * args.geometry.columns;
    bcast_positions<<<grid_of(count), THREADS, 0, stream>>>(args, state->positions, count);
    bcast_gather<<<grid_of(count), THREADS, 0, stream>>>(state->table, state->positions,
                                                         state->values, count);
    bcast_sum<<<(unsigned)((outputs + THREADS - 1) / THREADS), THREADS, 0, stream>>>(args,
                                                                                     state->values);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct bcast_state *state = (struct bcast_state *)call->state;
    if (state == NULL) return;
    cudaFree(state->values);
    cudaFree(state->positions);
    cudaFree(state->table);
    free(state);
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "bcast",
    .summary = "positions and values of every lookup in memory, then summed",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
