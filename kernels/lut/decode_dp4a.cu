/*
 * decode_dp4a.cu - tiles of codes are decoded to int8 in shared memory and multiplied by dp4a,
 * four entries per instruction: how fast decoding is without tensor cores.
 *
 * Operations: 2 * rows * K * columns in int8, and one codeword to decode per block, level and
 * tile. Bytes: the codes, once per row of tiles and once per column of tiles.
 *
 * A thread block computes 64 x 64 elements, 4 x 4 per thread, in steps of 64 entries of K. With
 * scales, the sum of each lattice block is multiplied separately, so a word of four entries must
 * not hold parts of two lattice blocks: only d = 4 and 8 are supported then.
 */
#include <stdlib.h>

#include "decode.cuh"
#include "table.cuh"

enum { SIDE = 64, EACH = 4, ACROSS = SIDE / EACH, THREADS = ACROSS * ACROSS, WORDS = 16 };
/* Words of a row, and one more, so that lanes of different rows use different banks. */
enum { PITCH = WORDS + 1 };

template <int D>
static __device__ __forceinline__ void decode_side(const struct table_args &args,
                                                   const struct lut_codes &codes,
                                                   const int8_t *points, int64_t first_row,
                                                   int64_t first_word, int32_t *out)
{
    for (int i = threadIdx.x; i < SIDE * WORDS; i += THREADS) {
        int row = i / WORDS, word = i % WORDS;
        int64_t from = min(first_row + row, codes.rows - 1);
        out[row * PITCH + word] =
            (int32_t)decode_four<D>(codes, args.geometry, points, from, first_word + word);
    }
}

/* Multiply the words of a tile; with scales, one lattice block (D / 4 words) at a time. */
template <int D, bool SCALED>
static __device__ __forceinline__ void multiply(const struct table_args &args, const int32_t *left,
                                                const int32_t *right, int64_t first_row,
                                                int64_t first_column, int64_t first_word,
                                                int exact[EACH][EACH], float scaled[EACH][EACH])
{
    constexpr int TOGETHER = D < 8 ? 1 : 2;
    int down = threadIdx.x / ACROSS, across = threadIdx.x % ACROSS;
#pragma unroll 2
    for (int word = 0; word < WORDS; word += TOGETHER) {
        int64_t block = (first_word + word) / TOGETHER;
        if (SCALED && block >= args.geometry.blocks) return;
#pragma unroll
        for (int r = 0; r < EACH; r++)
#pragma unroll
            for (int c = 0; c < EACH; c++) {
                int sum = SCALED ? 0 : exact[r][c];
#pragma unroll
                for (int w = 0; w < TOGETHER; w++)
                    sum = __dp4a(left[(down + r * ACROSS) * PITCH + word + w],
                                 right[(across + c * ACROSS) * PITCH + word + w], sum);
                exact[r][c] = sum;
                if (!SCALED) continue;
                int64_t row = min(first_row + down + r * ACROSS, args.geometry.rows - 1);
                int64_t column = min(first_column + across + c * ACROSS, args.geometry.columns - 1);
                scaled[r][c] =
                    __fmaf_rn(block_scale(args, row, column, block),
                              (float)(sum >> lut_shift(args.geometry.divisor)), scaled[r][c]);
            }
    }
}

template <int D, bool SCALED>
static __global__ void __launch_bounds__(THREADS)
    decode_dp4a(struct table_args args, const int8_t *__restrict__ left_points,
                const int8_t *__restrict__ right_points)
{
    __shared__ int32_t left[SIDE * PITCH], right[SIDE * PITCH];
    int64_t first_row = (int64_t)blockIdx.y * SIDE, first_column = (int64_t)blockIdx.x * SIDE;
    int64_t words = (args.geometry.blocks * D + 3) / 4;
    int exact[EACH][EACH] = {};
    float scaled[EACH][EACH] = {};
    for (int64_t word = 0; word < words; word += WORDS) {
        __syncthreads();
        decode_side<D>(args, args.a, left_points, first_row, word, left);
        decode_side<D>(args, args.b, right_points, first_column, word, right);
        __syncthreads();
        multiply<D, SCALED>(args, left, right, first_row, first_column, word, exact, scaled);
    }
    int shift = lut_shift(args.geometry.divisor);
#pragma unroll
    for (int r = 0; r < EACH; r++)
#pragma unroll
        for (int c = 0; c < EACH; c++) {
            int64_t row = first_row + threadIdx.x / ACROSS + r * ACROSS;
            int64_t column = first_column + threadIdx.x % ACROSS + c * ACROSS;
            float sum = SCALED ? scaled[r][c] : (float)(exact[r][c] >> shift);
            if (row < args.geometry.rows && column < args.geometry.columns)
                args.c[row * args.geometry.columns + column] = sum * args.geometry.unit;
        }
}

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.scaled && geometry.d == 2)
        return "blocks of two have no word of their own to scale";
    return lut_decode_unsupported(shape);
}

typedef void dp4a_kernel(struct table_args, const int8_t *, const int8_t *);

static int launch(struct assay_call *call)
{
    static dp4a_kernel *const kernels[][2] = {{decode_dp4a<2, false>, NULL},
                                              {decode_dp4a<4, false>, decode_dp4a<4, true>},
                                              {decode_dp4a<8, false>, decode_dp4a<8, true>}};
    const struct lut_points *points = (const struct lut_points *)call->state;
    struct table_args args = table_args_of(call);
    int by_d = args.geometry.d == 2 ? 0 : args.geometry.d / 4;
    dim3 grid((unsigned)((args.geometry.columns + SIDE - 1) / SIDE),
              (unsigned)((args.geometry.rows + SIDE - 1) / SIDE));
    kernels[by_d][args.geometry.scaled]<<<grid, THREADS, 0, (cudaStream_t)call->stream>>>(
        args, points->left, points->right);
    return assay_launched();
}

extern const struct assay_variant lut_decode_dp4a = {
    .operation = "lut_matmul",
    .name = "decode_dp4a",
    .summary = "decoded to int8 in shared memory, four entries per instruction",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = lut_points_setup,
    .launch = launch,
    .teardown = lut_points_teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(lut_decode_dp4a);
