/* model_ring.cu - the configurations of model_ring.cuh, which steps go by them, and their launch.
 */
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/tensor_map.h"
#include "kernels/gpt/linear/linear_products.h"
#include "model_operands.h"
#include "model_ring.cuh"
#include "model_ring.h"

/* Largest first: rows x columns of a tile, "/4" with four slices of k, "d" with deep stages of 128
 * of k, for long k. At 1024 rows each of them gives 128 blocks for some product of a layer, where
 * a large card has 132 multiprocessors: 3 c, c or 4 c columns with c of 64, 128, 192 or 256, and
 * 3 c and c with 768. */
const struct ring rings[] = {
    ring_of<ring_config<128, 144, 4, 2, 1, 4>, false>("r128x144"),
    ring_of<ring_config<64, 128, 2, 2, 1, 4>, true>("r64x128/2"),
    ring_of<ring_config<64, 96, 2, 2, 1, 4>, true>("r64x96/2"),
    ring_of<ring_config<64, 96, 2, 1, 1, 4>, false>("r64x96/4"),
    ring_of<ring_config<64, 72, 2, 1, 1, 4>, true>("r64x72/4"),
    ring_of<ring_config<64, 64, 2, 1, 2, 3>, true>("r64x64/4"),
    ring_of<ring_config<64, 48, 2, 1, 2, 3>, true>("r64x48/4"),
    ring_of<ring_config<32, 64, 1, 1, 2, 4>, true>("r32x64/8"),
    ring_of<ring_config<32, 64, 1, 1, 4, 3>, false>("r32x64/8d"),
    ring_of<ring_config<32, 48, 1, 1, 2, 4>, true>("r32x48/8"),
    ring_of<ring_config<32, 32, 1, 1, 2, 4>, true>("r32x32/8"),
    ring_of<ring_config<32, 32, 1, 1, 4, 3>, false>("r32x32/8d"),
};
const int rings_count = sizeof rings / sizeof *rings;

/* With fewer rows most of a tile would be empty; other kernels are for those. */
enum { RING_LEAST_ROWS = 16 };

int model_rings(void)
{
    return rings_count;
}

const char *model_ring_name(int ring)
{
    return rings[ring].name;
}

int model_rings_allow(void)
{
    if (!assay_card()->arch_specific) return 0; /* none will be launched */
    for (int i = 0; i < 2 * rings_count; i++) {
        ring_function *kernel = i % 2 ? rings[i / 2].norm : rings[i / 2].plain;
        if (kernel && cuda_allow_shared((const void *)kernel, RING_SHARED_MAX) < 0) return -1;
    }
    return 0;
}

/* Bytes of shared memory: the stages of w, and of x either its stages or, where the kernel
 * normalises it, whole rows with scale and shift. At the end the sums take their place. */
static size_t shared_of(const struct ring *ring, int64_t k, bool norm)
{
    size_t stages = (size_t)gpt_blocks(k, RING_BOX * ring->boxes), kept = (size_t)ring->stages;
    size_t w = kept * (size_t)(ring->boxes * ring->columns) * RING_ROW_BYTES;
    size_t x = (norm ? stages : kept) * (size_t)(ring->boxes * ring->rows) * RING_ROW_BYTES;
    size_t bytes = w + x + (norm ? 2 * (size_t)k * sizeof(float) : 0);
    return RING_ALIGN + (bytes > (size_t)ring->planes ? bytes : (size_t)ring->planes);
}

/* Whether the kernel normalises x: it can, and whole rows fit. Else the norm is another kernel. */
static bool normalises(const struct model_step *step, const struct ring *ring)
{
    return step->scale && ring->norm && shared_of(ring, step->k, true) <= RING_SHARED_MAX;
}

const char *model_ring_refused(const struct model_step *step, int index)
{
    const struct ring *ring = &rings[index];
    if (step->precision != GPT_FP32) return "fp32 only";
    if (step->m < RING_LEAST_ROWS) return "few rows";
    bool packed = step->scale && !normalises(step, ring); /* by the norm's own kernel */
    if (!packed && step->ldx != step->k) return "rows are apart";
    if (step->k % 4 || step->n % 4 || step->ldr % 4 || step->ldy % 4 || !model_on(step->x, 16) ||
        !model_on(step->w, 16) || !model_on(step->y, 16) || !model_on(step->bias, 16) ||
        !model_on(step->residual, 16))
        return "rows that do not start on 16 bytes";
    return assay_card()->arch_specific ? NULL : "Hopper only";
}

/* The tensor maps are arguments of the launch, so nothing needs to be kept. */
int model_ring_enqueue(const struct model_step *step, int index, void *normed, void *stream)
{
    const struct ring *ring = &rings[index];
    bool norm = normalises(step, ring), apart = step->scale && !norm;
    const void *from = apart ? normed : step->x;
    const struct tensor_map_matrix x = {(void *)from, step->m, step->k, sizeof(float)};
    const struct tensor_map_matrix w = {(void *)step->w, step->n, step->k, sizeof(float)};
    struct ring_args args = {};
    args.bias = (const float *)step->bias;
    args.scale = (const float *)step->scale, args.shift = (const float *)step->shift;
    args.residual = (const float *)step->residual;
    args.y = (float *)step->y;
    args.ldr = step->ldr, args.ldy = step->ldy;
    args.m = (int)step->m, args.n = (int)step->n, args.k = (int)step->k;
    args.gelu = step->gelu;
    if (tensor_map_init(&args.x, &x, ring->rows) < 0) return -1;
    if (tensor_map_init(&args.w, &w, ring->columns) < 0) return -1;
    if (apart && model_norm(step, normed, stream)) return -1;
    dim3 grid(gpt_blocks(step->m, ring->rows), gpt_blocks(step->n, ring->columns));
    return dependent_launch(norm ? ring->norm : ring->plain, grid, RING_THREADS,
                            shared_of(ring, step->k, norm), stream, args);
}
