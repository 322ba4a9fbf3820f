/*
 * decode_imma.cu - codes are decoded to int8 in shared memory, tile by tile, and
 * multiplied by the tensor cores: nothing decoded ever stands in device memory.
 *
 * For E8 with q = 2: 256 codewords of 8 bytes. Bytes: the codes, M / 8 an entry of
 * each tile row and column. Operations: 2 rows K columns in int8; a codeword is
 * decoded once a tile, so A's columns / 256 times and B's rows / 128 times.
 *
 * The table stands in shared memory 16 times, once a pair of banks, and once a level
 * with the level's weight: a lookup is 8 bytes, never waits, and a block of M
 * levels is M lookups and M - 1 additions of bytes. For those additions bytes carry
 * a bias of 128 / M each, 128 together, which one exclusive-or takes off again.
 *
 * Shared memory is what bounds it: for a stage of 1024 cycles on the tensor cores
 * they read it for 640, the lookups for 384 M and the stores of what was decoded for
 * 384: 1408 cycles at M = 1 and 1792 at M = 2, so 73 % and 57 % of the peak at best.
 * That needs lookups that wait for nothing: all 24 M of a thread's stage leave before
 * the first store, and the tensor cores have a stage to work on while the warps meet.
 */
#include <stdlib.h>

#include "imma.cuh"

enum {
    COPIES = 16,
    TABLE_BYTES = 256 * COPIES * 8, /* a level */
    ITEMS = 3,                      /* half rows of a stage, a thread: A, B, B */
    HALF = 8,                       /* blocks of a half row */
};

template <int M> struct decoding {
    /* Four levels' tables leave room for two buffers only. */
    static constexpr int STAGES = M <= 2 ? 3 : 2, LEFT = STAGES - 2;
    struct lut_codes a, b;
    const int8_t *points;

    uint32_t codes[ITEMS][2 * M]; /* of the stage to come */
    const char *source[ITEMS];    /* this thread's rows */
    int next;                     /* the stage that `codes` holds */
    const char *table;            /* this lane's copy */

    static __host__ int64_t table_bytes()
    {
        return (int64_t)M * TABLE_BYTES;
    }

    __device__ __forceinline__ void load(int stage)
    {
        int64_t at = ((int64_t)stage * 2 + threadIdx.x % 2) * HALF * M;
        next = stage;
#pragma unroll
        for (int item = 0; item < ITEMS; item++)
#pragma unroll
            for (int i = 0; i < M; i++) {
                uint2 pair = make_uint2(0, 0); /* index 0 is the point 0 */
                if (at + 8 * i < a.stride_bytes)
                    pair = __ldg((const uint2 *)(source[item] + at + 8 * i));
                codes[item][2 * i] = pair.x;
                codes[item][2 * i + 1] = pair.y;
            }
    }

    __device__ __forceinline__ void begin(char *tables, struct imma_tile tile)
    {
        constexpr int BIAS = M == 1 ? 0 : 128 / M;
        for (int i = threadIdx.x; i < M * 256 * COPIES; i += IMMA_THREADS) {
            const int8_t *point = points + i / COPIES % 256 * 8;
            int level = i / (256 * COPIES);
            uint32_t word[2] = {};
            for (int e = 0; e < 8; e++)
                word[e / 4] |= (uint32_t)(((point[e] << level) + BIAS) & 0xff) << 8 * (e % 4);
            ((uint2 *)tables)[i] = make_uint2(word[0], word[1]);
        }
        table = tables + threadIdx.x % COPIES * 8;
        int row = threadIdx.x / 2;
        source[0] = (const char *)a.data + min(tile.row + row, a.rows - 1) * a.stride_bytes;
        for (int item = 1; item < ITEMS; item++)
            source[item] = (const char *)b.data +
                           min(tile.column + (item - 1) * 128 + row, b.rows - 1) * b.stride_bytes;
        load(0);
        __syncthreads();
    }

    /* Block `block` of a half row: 8 bytes. */
    __device__ __forceinline__ uint2 decode(const uint32_t half[2 * M], int block) const
    {
        uint2 sum = make_uint2(0, 0);
#pragma unroll
        for (int m = 0; m < M; m++) {
            int place = block * M + m, shift = 8 * (place % 4) - 7;
            uint32_t word = half[place / 4];
            uint32_t at = (shift < 0 ? word << 7 : word >> (shift & 31)) & 0xff << 7;
            uint2 entry = *(const uint2 *)(table + m * TABLE_BYTES + at);
            sum.x += entry.x;
            sum.y += entry.y;
        }
        if (M > 1) {
            sum.x ^= 0x80808080u;
            sum.y ^= 0x80808080u;
        }
        return sum;
    }

    /* All of a batch is looked up before any of it is stored: the compiler cannot
     * know that no store meets the table, and would wait for each. */
    __device__ __forceinline__ void produce(int stage, char *buffer)
    {
        constexpr int BATCH = M <= 2 ? ITEMS * HALF : HALF / 2; /* blocks */
        int half = threadIdx.x % 2, row = threadIdx.x / 2;
#pragma unroll
        for (int first = 0; first < ITEMS * HALF; first += BATCH) {
            uint2 blocks[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                blocks[i] = decode(codes[(first + i) / HALF], (first + i) % HALF);
#pragma unroll
            for (int i = 0; i < BATCH; i += 2) {
                int item = (first + i) / HALF, piece = half * 4 + (first + i) % HALF / 2;
                *(uint4 *)(buffer + imma_offset(item * 128 + row, piece)) =
                    make_uint4(blocks[i].x, blocks[i].y, blocks[i + 1].x, blocks[i + 1].y);
            }
        }
        load(stage + 1);
    }

    __device__ __forceinline__ void settle()
    {
    }
};

/* -------------------------------------------------------------- variant -- */

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (shape->value[LUT_LATTICE] != CODEBOOK_E8 || geometry.q != 2)
        return "E8 with q = 2 only: other codebooks go through decode_imma_staged";
    if (geometry.scaled) return "a scale a block does not factor out of the sum";
    if (geometry.format != LUT_PACKED && geometry.format != LUT_INT8)
        return "indices of one byte only";
    if (geometry.stride_bytes % 16 != 0) return "rows of codes are not 16-byte aligned";
    return NULL;
}

template <int M> static int64_t shared_bytes()
{
    return (int64_t)decoding<M>::STAGES * IMMA_STAGE_BYTES + decoding<M>::table_bytes();
}

template <int M> static int prepare()
{
    return imma_prepare((const void *)imma<decoding<M>>, shared_bytes<M>());
}

template <int M>
static int enqueue(const struct assay_call *call, const struct lut_geometry *geometry)
{
    decoding<M> producer = {};
    producer.a = lut_codes(geometry, call->buffer[LUT_A], geometry->rows);
    producer.b = lut_codes(geometry, call->buffer[LUT_B], geometry->columns);
    producer.points = ((const struct lut_points *)call->state)->left;
    imma_output out = {.c = (float *)call->buffer[LUT_C],
                       .rows = geometry->rows,
                       .columns = geometry->columns,
                       .stages_of_k = (int)(lut_decoded_stride(geometry) / IMMA_K),
                       .shift = lut_shift(geometry->divisor),
                       .unit = geometry->unit};
    imma<decoding<M>><<<(unsigned)imma_tiles(out.rows, out.columns), IMMA_THREADS,
                        (size_t)shared_bytes<M>(), (cudaStream_t)call->stream>>>(producer, out);
    return assay_launched();
}

static int setup(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct lut_points *points = (struct lut_points *)calloc(1, sizeof *points);
    if (points == NULL) return assay_error("out of host memory");
    call->state = points;
    int failed = geometry.levels == 1   ? prepare<1>()
                 : geometry.levels == 2 ? prepare<2>()
                                        : prepare<4>();
    if (failed || lut_points_upload(call->shape, points)) return -1;
    call->workspace_bytes += points->bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (geometry.levels == 1) return enqueue<1>(call, &geometry);
    if (geometry.levels == 2) return enqueue<2>(call, &geometry);
    return enqueue<4>(call, &geometry);
}

static void teardown(struct assay_call *call)
{
    struct lut_points *points = (struct lut_points *)call->state;
    if (points == NULL) return;
    lut_points_release(points);
    free(points);
}

extern const struct assay_variant lut_decode_imma = {
    .operation = "lut_matmul",
    .name = "decode_imma",
    .summary = "decoded to int8 in shared memory, wgmma",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .model = lut_model,
    .check = lut_check,
};
ASSAY_REGISTER_VARIANT(lut_decode_imma);
