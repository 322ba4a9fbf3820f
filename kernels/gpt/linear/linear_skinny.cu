/*
 * linear_skinny.cu - `linear` with few rows of x, or few outputs (linear_skinny.cuh), in bf16 and
 * tf32.
 */
#include <stdio.h>
#include <stdlib.h>

#include "linear_skinny.cuh"

/* `width` is 0 to 2; 1 alone where rows are not aligned. */
template <typename T> static struct skinny_kernel kernel_for(int width, int64_t rows, int64_t k)
{
    if (k * (int64_t)sizeof(T) % 16 != 0)
        return width == 1 ? kernel_for<T, 2, false>(rows) : skinny_kernel();
    if (width == 0) return kernel_for<T, 1, true>(rows);
    return width == 1 ? kernel_for<T, 2, true>(rows) : kernel_for<T, 4, true>(rows);
}

int linear_skinny_init(struct linear_skinny *product, int division,
                       const struct linear_operands *operands, enum gpt_precision precision)
{
    const int width = division / 4, parts = 1 << division % 4;
    const int64_t rows = gpt_blocks(operands->m, gpt_blocks(operands->m, SKINNY_ROWS));
    const struct skinny_kernel kernel = precision == GPT_BF16
                                            ? kernel_for<uint16_t>(width, rows, operands->k)
                                            : kernel_for<float>(width, rows, operands->k);
    if (!kernel.kernel) return assay_error("rows are not aligned");
    return skinny_plan(product, kernel, parts, operands);
}

int linear_skinny_enqueue(const struct linear_skinny *product, cudaStream_t stream)
{
    struct skinny_args args = {product->operands, product->scales, product->row_blocks,
                               product->parts};
    void *pointers[] = {&args};
    struct cluster_launch launch(product->parts, dim3(product->blocks), product->threads,
                                 (size_t)product->shared_bytes, stream);
    if (product->parts == 1) launch.config.numAttrs = 0;
    return assay_cuda(cudaLaunchKernelExC(&launch.config, product->kernel, pointers), "launch");
}

void linear_skinny_name(const struct linear_skinny *product, char *out, size_t size)
{
    (void)snprintf(out, size, "skinny, %d columns, k in %d", product->columns, product->parts);
}

/* ----------------------------------------------------------------- variant -- */

static int setup(struct assay_call *call)
{
    struct linear_skinny *product = (struct linear_skinny *)calloc(1, sizeof *product);
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct linear_operands operands;
    call->state = product;
    if (!product) return assay_error("out of memory");
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = -1;
    for (int division = 4 + skinny_usual_parts(&operands, 32); status && division >= 4; division--)
        status = linear_skinny_init(product, division, &operands, precision);
    if (status) return status;
    linear_skinny_name(product, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct linear_skinny *product = (const struct linear_skinny *)call->state;
    if (linear_skinny_enqueue(product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const char *supports(const struct assay_shape *shape)
{
    const int64_t precision = shape->value[LINEAR_PRECISION];
    if (precision != GPT_TF32 && precision != GPT_BF16) return "tf32 and bf16 only";
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return shape->value[LINEAR_M] > LINEAR_SKINNY_MOST ? "more than 1024 rows" : NULL;
}

static const struct assay_variant variant = {
    .operation = "linear",
    .name = "skinny",
    .summary = "few rows on tensor cores by mma.sync, any k, which clusters divide",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .min_sm = 80,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
