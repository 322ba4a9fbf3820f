/*
 * tiled.cu - the int8 table and tiles of the indices in shared memory. A block computes 64 x 64
 * elements, 4 x 4 per thread, so that an index serves four lookups once it is read.
 *
 * Operations: M^2 lookups per pair of blocks. Bytes: the codes, once per row of tiles and once per
 * column of tiles.
 */
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/device_memory.h"
#include "table.cuh"

enum { SIDE = 64, EACH = 4, ACROSS = SIDE / EACH, THREADS = ACROSS * ACROSS, STEP = 16 };

/* Bytes of the indices of STEP blocks of one operand, stored as [block and level][row], so that
 * lanes use different banks. */
static int64_t side_bytes(int levels)
{
    return (int64_t)STEP * levels * SIDE * (int64_t)sizeof(uint16_t);
}

static __device__ __forceinline__ void load_side(const struct lut_codes &codes, int64_t first_row,
                                                 int64_t first, int64_t end, int count,
                                                 uint16_t *out)
{
    for (int i = threadIdx.x; i < count * SIDE; i += THREADS) {
        int at = i % count, row = i / count;
        int64_t from = min(first_row + row, codes.rows - 1);
        out[at * SIDE + row] =
            first + at < end ? (uint16_t)lut_read(&codes, from, first + at) : (uint16_t)0;
    }
}

static __global__ void __launch_bounds__(THREADS)
    tiled(struct table_args args, const int8_t *__restrict__ source)
{
    extern __shared__ __align__(16) char shared[];
    const struct lut_geometry &geometry = args.geometry;
    int levels = geometry.levels, count = (int)geometry.count;
    uint16_t *left = (uint16_t *)shared, *right = left + STEP * levels * SIDE;
    int8_t *table = (int8_t *)(right + STEP * levels * SIDE);
    for (int i = threadIdx.x; i < count * count; i += THREADS)
        table[i] = source[i];

    int64_t first_row = (int64_t)blockIdx.y * SIDE, first_column = (int64_t)blockIdx.x * SIDE;
    int down = threadIdx.x / ACROSS, across = threadIdx.x % ACROSS;
    int exact[EACH][EACH] = {};
    float scaled[EACH][EACH] = {};
    for (int64_t first = 0; first < geometry.blocks; first += STEP) {
        int64_t end = geometry.blocks * levels;
        __syncthreads();
        load_side(args.a, first_row, first * levels, end, STEP * levels, left);
        load_side(args.b, first_column, first * levels, end, STEP * levels, right);
        __syncthreads();
        int blocks = (int)min((int64_t)STEP, geometry.blocks - first);
        for (int block = 0; block < blocks; block++) {
            int sum[EACH][EACH] = {};
            int left_weight = 1;
            for (int m = 0; m < levels; m++, left_weight *= geometry.q) {
                int base[EACH];
#pragma unroll
                for (int r = 0; r < EACH; r++)
                    base[r] = left[(block * levels + m) * SIDE + down + r * ACROSS] * count;
                int weight = left_weight;
                for (int n = 0; n < levels; n++, weight *= geometry.q) {
#pragma unroll
                    for (int c = 0; c < EACH; c++) {
                        int index = right[(block * levels + n) * SIDE + across + c * ACROSS];
#pragma unroll
                        for (int r = 0; r < EACH; r++)
                            sum[r][c] += weight * table[base[r] + index];
                    }
                }
            }
#pragma unroll
            for (int r = 0; r < EACH; r++)
#pragma unroll
                for (int c = 0; c < EACH; c++) {
                    if (!geometry.scaled) {
                        exact[r][c] += sum[r][c];
                        continue;
                    }
                    int64_t row = min(first_row + down + r * ACROSS, geometry.rows - 1);
                    int64_t column = min(first_column + across + c * ACROSS, geometry.columns - 1);
                    scaled[r][c] = __fmaf_rn(block_scale(args, row, column, first + block),
                                             (float)sum[r][c], scaled[r][c]);
                }
        }
    }
#pragma unroll
    for (int r = 0; r < EACH; r++)
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            int64_t row = first_row + down + r * ACROSS;
            int64_t column = first_column + across + c * ACROSS;
            float sum = geometry.scaled ? scaled[r][c] : (float)exact[r][c];
            if (row < geometry.rows && column < geometry.columns)
                args.c[row * geometry.columns + column] = sum * geometry.unit;
        }
}

static int64_t shared_bytes(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    return 2 * side_bytes(geometry.levels) + geometry.count * geometry.count;
}

static int setup(struct assay_call *call)
{
    if (cuda_allow_shared((const void *)tiled, shared_bytes(call->shape))) return -1;
    return table_upload(call, (int8_t **)&call->state);
}

static int launch(struct assay_call *call)
{
    struct table_args args = table_args_of(call);
    dim3 grid((unsigned)((args.geometry.columns + SIDE - 1) / SIDE),
              (unsigned)((args.geometry.rows + SIDE - 1) / SIDE));
    tiled<<<grid, THREADS, (size_t)shared_bytes(call->shape), (cudaStream_t)call->stream>>>(
        args, (const int8_t *)call->state);
    return assay_launched();
}

static const struct assay_variant variant = {
    .operation = "lut_matmul",
    .name = "tiled",
    .summary = "int8 table and tiles of indices in shared memory, 4 x 4 per thread",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = lut_table_unsupported,
    .shared_bytes = shared_bytes,
    .setup = setup,
    .launch = launch,
    .teardown = device_memory_free,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(variant);
