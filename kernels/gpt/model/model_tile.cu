/*
 * model_tile.cu - the tiles of model_tile.cuh that there are, which of them a step uses, and its
 * launch.
 */
#include "kernels/cuda/cuda_limits.h"
#include "model_tile.cuh"

/* Smallest first. None in fp32 divides k among its warps: best takes model_ring.cuh for fp32 where
 * a card has TMA, and never took such a tile. */
static const struct tile tiles_fp32[] = {
    tile_of<float, TILE_PLAIN, 16, 32, 2, 2, 1, 6, true>("16x32"),
    tile_of<float, TILE_PLAIN, 32, 32, 2, 2>("32x32"),
    tile_of<float, TILE_PLAIN, 32, 64, 2, 4>("32x64"),
    tile_of<float, TILE_PLAIN, 64, 64, 2, 2>("64x64"),
    tile_of<float, TILE_PLAIN, 64, 128, 2, 2, 1, 4>("64x128"),
};

/* "/4": four slices of k. */
static const struct tile tiles_tf32[] = {
    tile_of<float, TILE_TENSOR, 16, 32, 1, 2, 1, 6, true>("16x32"),
    tile_of<float, TILE_TENSOR, 16, 64, 1, 4>("16x64"),
    tile_of<float, TILE_TENSOR, 32, 32, 2, 2>("32x32"),
    tile_of<float, TILE_TENSOR, 32, 32, 1, 1, 4>("32x32/4"),
    tile_of<float, TILE_TENSOR, 32, 64, 2, 4>("32x64"),
    tile_of<float, TILE_TENSOR, 64, 64, 2, 4>("64x64"),
    tile_of<float, TILE_TENSOR, 64, 128, 2, 4>("64x128"),
};

/* bf16 and fp16. */
template <typename T>
static const struct tile tiles_half[] = {
    tile_of<T, TILE_TENSOR, 16, 32, 1, 2, 1, 6, true>("16x32"),
    tile_of<T, TILE_TENSOR, 16, 64, 1, 4>("16x64"),
    tile_of<T, TILE_TENSOR, 32, 32, 2, 2>("32x32"),
    tile_of<T, TILE_TENSOR, 32, 64, 2, 4>("32x64"),
    tile_of<T, TILE_TENSOR, 64, 64, 2, 4>("64x64"),
    tile_of<T, TILE_TENSOR, 64, 128, 2, 4>("64x128"),
};

static const struct tile *tiles_of(int64_t precision, int *count)
{
    static const struct tile *const tiles[] = {tiles_fp32, tiles_tf32, tiles_half<uint16_t>,
                                               tiles_half<fp16_t>};
    const int halves = sizeof tiles_half<uint16_t> / sizeof *tiles_fp32;
    const int counts[] = {sizeof tiles_fp32 / sizeof *tiles_fp32,
                          sizeof tiles_tf32 / sizeof *tiles_tf32, halves, halves};
    *count = counts[precision];
    return tiles[precision];
}

int model_tiles(int64_t precision)
{
    int count;
    tiles_of(precision, &count);
    return count;
}

const char *model_tile_name(int64_t precision, int tile)
{
    int count;
    return tiles_of(precision, &count)[tile].name;
}

int model_tiles_allow(void)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
        int count;
        const struct tile *tiles = tiles_of(precision, &count);
        for (int i = 0; i < 4 * count; i++) {
            tile_function *kernel = tiles[i / 4].kernel[i / 2 % 2][i % 2];
            if (!kernel) continue;
            if (cuda_allow_shared((const void *)kernel, assay_card()->shared_bytes) < 0) return -1;
        }
    }
    return 0;
}

static size_t shared_of(const struct model_step *step, const struct tile *tile)
{
    bool norm = step->scale != NULL;
    return gpt_bytes(step->precision) == 2 ? tile_shared<uint16_t>(tile, norm, step->k)
                                           : tile_shared<float>(tile, norm, step->k);
}

/* Whether rows of x and w start on 16 bytes and have a multiple of 16 bytes. */
static bool aligned(const struct model_step *step)
{
    int64_t width = 16 / gpt_bytes(step->precision);
    return step->k % width == 0 && step->ldx % width == 0 && (uintptr_t)step->x % 16 == 0 &&
           (uintptr_t)step->w % 16 == 0;
}

const char *model_tile_refused(const struct model_step *step, int index)
{
    int count;
    const struct tile *tile = tiles_of(step->precision, &count) + index;
    if ((int64_t)shared_of(step, tile) > assay_card()->shared_bytes)
        return "rows too long for shared memory";
    if (step->scale ? step->residual != NULL : step->gelu) return "no such end of a product";
    if (!aligned(step) && !tile->unaligned) return "rows that do not start on 16 bytes";
    return NULL;
}

int model_tile_enqueue(const struct model_step *step, int index, void *stream)
{
    int count;
    const struct tile *tile = tiles_of(step->precision, &count) + index;
    struct tile_args args = {};
    args.x = step->x, args.w = step->w, args.bias = step->bias;
    args.scale = step->scale, args.shift = step->shift, args.residual = step->residual;
    args.y = step->y;
    args.ldx = step->ldx, args.ldr = step->ldr, args.ldy = step->ldy;
    args.m = (int)step->m, args.n = (int)step->n, args.k = (int)step->k;
    args.gelu = step->gelu;
    dim3 grid(gpt_blocks(step->m, tile->rows), gpt_blocks(step->n, tile->columns));
    tile_function *kernel = tile->kernel[step->scale != NULL][aligned(step)];
    return dependent_launch(kernel, grid, tile->threads, shared_of(step, tile), stream, args);
}

int model_tile_default(const struct model_step *step)
{
    int count, chosen = 0;
    const struct tile *tiles = tiles_of(step->precision, &count);
    const int64_t enough = 128; /* blocks, about one per multiprocessor */
    for (int i = 0; i < count; i++) {
        int64_t blocks = (int64_t)gpt_blocks(step->m, tiles[i].rows) *
                         (int64_t)gpt_blocks(step->n, tiles[i].columns);
        if (tiles[i].slices == 1 && !model_tile_refused(step, i) && blocks >= enough) chosen = i;
    }
    return chosen;
}

int model_tile_product(void *self, const struct model_step *step, void *stream)
{
    (void)self;
    int tile = model_tile_default(step);
    const char *refused = model_tile_refused(step, tile);
    if (refused) return assay_error("%s", refused);
    return model_tile_enqueue(step, tile, stream);
}

int64_t model_tiles_shared_bytes(const struct assay_shape *shape)
{
    const struct model model = model_of(shape);
    int count;
    const struct tile *smallest = tiles_of(model.precision, &count);
    struct model_step step = {};
    step.precision = model.precision;
    step.k = model.channels;
    size_t plain = shared_of(&step, smallest);
    step.scale = "";
    size_t norm = shared_of(&step, smallest);
    return (int64_t)(norm > plain ? norm : plain);
}
