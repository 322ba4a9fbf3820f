/*
 * model_whole.cu - the tiles of model_whole.cuh, which steps go by them, and their launch.
 */
#include "kernels/cuda/cuda_limits.h"
#include "kernels/cuda/tensor_map.h"
#include "model_operands.h"
#include "model_whole.cuh"
#include "model_whole.h"

typedef void whole_function(const struct whole_args args);

struct whole {
    const char *name;
    int columns;
    whole_function *bf16, *fp16;
};

template <int COLUMNS> static constexpr struct whole whole_of(const char *name)
{
    return {name, COLUMNS, whole_kernel<whole_config<uint16_t, COLUMNS>>,
            whole_kernel<whole_config<fp16_t, COLUMNS>>};
}

/* Largest first. At 1024 rows each of them gives 128 blocks for some product of a layer, where a
 * large card has 132 multiprocessors: 3 c, c or 4 c columns with c of 64, 128, 192 or 256. */
static const struct whole wholes[] = {
    whole_of<128>("w64x128"), whole_of<96>("w64x96"), whole_of<80>("w64x80"),
    whole_of<64>("w64x64"),   whole_of<48>("w64x48"), whole_of<32>("w64x32"),
    whole_of<16>("w64x16"),
};
static const int wholes_count = sizeof wholes / sizeof *wholes;

/* With fewer rows most of a tile would be empty; other kernels are for those. */
enum { WHOLE_LEAST_ROWS = 16 };

int model_wholes(void)
{
    return wholes_count;
}

const char *model_whole_name(int whole)
{
    return wholes[whole].name;
}

int model_wholes_allow(void)
{
    if (!assay_card()->arch_specific) return 0; /* none will be launched */
    for (int i = 0; i < 2 * wholes_count; i++) {
        whole_function *kernel = i % 2 ? wholes[i / 2].fp16 : wholes[i / 2].bf16;
        if (cuda_allow_shared((const void *)kernel, WHOLE_SHARED_MAX) < 0) return -1;
    }
    return 0;
}

/* Bytes of shared memory: all boxes, of w two at least, which outputs take later; scale and shift.
 */
static size_t shared_of(const struct model_step *step, const struct whole *whole)
{
    size_t boxes = (size_t)gpt_blocks(step->k, WHOLE_BOX), of_w = boxes > 2 ? boxes : 2;
    size_t rows = boxes * (size_t)WHOLE_ROWS + of_w * (size_t)whole->columns;
    return WHOLE_ALIGN + rows * RING_ROW_BYTES + (step->scale ? 4 * (size_t)step->k : 0);
}

const char *model_whole_refused(const struct model_step *step, int index)
{
    if (gpt_bytes(step->precision) != 2) return "bf16 and fp16 only";
    if (step->m < WHOLE_LEAST_ROWS) return "few rows";
    if (step->k > WHOLE_BOXES * WHOLE_BOX || shared_of(step, &wholes[index]) > WHOLE_SHARED_MAX)
        return "rows too long for shared memory";
    if (step->ldx != step->k) return "rows are apart";
    if (step->k % 8 || step->n % 8 || step->ldy % 8 || !model_on(step->x, 16) ||
        !model_on(step->w, 16) || !model_on(step->y, 16) || !model_on(step->scale, 16) ||
        !model_on(step->shift, 16))
        return "rows that do not start on 16 bytes";
    if (step->ldr % 2 || !model_on(step->bias, 4) || !model_on(step->residual, 4))
        return "rows that do not start on 4 bytes";
    return assay_card()->arch_specific ? NULL : "Hopper only";
}

/* The tensor maps are arguments of the launch, so nothing needs to be kept. */
int model_whole_enqueue(const struct model_step *step, int index, void *stream)
{
    const struct whole *whole = &wholes[index];
    const struct tensor_map_matrix x = {(void *)step->x, step->m, step->k, 2};
    const struct tensor_map_matrix w = {(void *)step->w, step->n, step->k, 2};
    struct whole_args args = {};
    args.bias = step->bias, args.scale = step->scale, args.shift = step->shift;
    args.residual = step->residual, args.y = step->y;
    args.ldr = step->ldr, args.ldy = step->ldy;
    args.m = (int)step->m, args.n = (int)step->n, args.k = (int)step->k;
    args.gelu = step->gelu;
    if (tensor_map_init(&args.x, &x, WHOLE_ROWS) < 0) return -1;
    if (tensor_map_init(&args.w, &w, whole->columns) < 0) return -1;
    dim3 grid(gpt_blocks(step->m, WHOLE_ROWS), gpt_blocks(step->n, whole->columns));
    return dependent_launch(step->precision == GPT_BF16 ? whole->bf16 : whole->fp16, grid,
                            WHOLE_THREADS, shared_of(step, whole), stream, args);
}
