/*
 * linear_wgmma.cu - the tensor-core product for Hopper (linear_wgmma.cuh) in bf16, fp16 and
 * tf32: which tile a shape gets, and the variants.
 *
 * Operations: 2 m n k. Bytes from L2 per tile and step of k: 128 rows of x and COLUMNS / CLUSTER
 * rows of w, 128 bytes each. The widest tile needs 32 bytes per cycle and multiprocessor, which L2
 * gives; a narrow one needs more.
 *
 * Measured on an H200 (run `gpt`), 8192^3: 787 TFLOP/s in bf16 and 416 in tf32, 102 and 100 % of
 * the library in the same run; at least 9/10 was predicted. 8192 x 2304 x 768, bf16, with a bias:
 * 42.1 us, cublasLt 39.8. With few tiles it is behind (1024 x 3072 x 768: 10.1 us, cublasLt 9.38),
 * because a multiprocessor has one tile, whose beginning and end nothing hides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linear_wgmma.cuh"
#include "linear_wgmma_kernels.h"

/* Rates relative to each other on an H200. Those of 256 columns, and of bf16 in turns, are
 * from the cycles between a tile's first product and its last at k = 768; those of 64 columns from
 * 4096^3; the others are chosen to give the times of 8192 x 2304 x 768 and 8192^3. A rate of 0 is
 * not known: `best` times such a kernel, `choose` does not take it. What never was the fastest of
 * 60 neutral shapes (results/README.md) is not in the tables: each kernel takes half a second to
 * compile. */

struct linear_wgmma {
    struct lwg_plan plan;
    const struct lwg_kernel *kernel;
};

/* Cycles per column of a tile's outputs, stored by TMA or by warps: for two warpgroups that share a
 * tile, or for one that shares the multiprocessor with the other. Measured as above. */
static double outputs_cycles(const struct lwg_kernel *kernel, bool by_engine)
{
    double column = kernel->turns ? (by_engine ? 37 : 120) : (by_engine ? 14 : 36);
    return column * kernel->columns;
}

/* About how many cycles a product takes, in rounds of a full machine. In turns, storing a tile's
 * outputs is hidden by the other warpgroup's products, for as long as those take. */
static double expected_cycles(const struct lwg_kernel *kernel,
                              const struct linear_operands *operands, enum gpt_precision precision,
                              int processors)
{
    const double bytes = (double)gpt_bytes(precision);
    double bands = gpt_blocks(operands->m, LWG_ROWS * kernel->cluster);
    double tiles = bands * gpt_blocks(operands->n, kernel->columns);
    double rounds = ceil(tiles / (processors / kernel->cluster));
    double stages = ceil(operands->k * bytes / WGMMA_ROW_BYTES);
    double products = stages * kernel->columns * LWG_COLUMN_CYCLES / kernel->rate;
    double outputs = outputs_cycles(kernel, linear_store_by_engine(operands, (int)bytes));
    if (!kernel->turns) return rounds * (products + outputs);
    return rounds * fmax(products, (products + outputs) / 2) + outputs / 2;
}

static const struct lwg_kernel *choose(const struct linear_operands *operands,
                                       enum gpt_precision precision, int processors)
{
    const struct lwg_kernels all = lwg_kernels_of(precision);
    const struct lwg_kernel *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < all.count; i++) {
        const struct lwg_kernel *kernel = &all.kernel[i];
        if (kernel->rate == 0) continue;
        double cycles = expected_cycles(kernel, operands, precision, processors);
        if (cycles >= least) continue;
        least = cycles;
        best = kernel;
    }
    return best;
}

/* ---------------------------------------------------------------- products -- */

struct lwg_kernels lwg_kernels_of(enum gpt_precision precision)
{
    if (precision == GPT_BF16) return lwg_kernels_bf16();
    if (precision == GPT_FP16) return lwg_kernels_fp16();
    return precision == GPT_TF32 ? lwg_kernels_tf32() : lwg_kernels_fp32();
}

void lwg_kernel_name(const struct lwg_kernel *kernel, char *out, size_t size)
{
    (void)snprintf(out, size, "%d x %d, %d a cluster, %s", (int)LWG_ROWS, kernel->columns,
                   kernel->cluster, kernel->turns ? "in turns" : "shared");
}

int linear_wgmma_make(struct linear_wgmma **product, const struct lwg_kernel *kernel,
                      const struct linear_operands *operands, const struct lwg_how *how)
{
    struct linear_wgmma *made = (struct linear_wgmma *)aligned_alloc(alignof(struct linear_wgmma),
                                                                     sizeof(struct linear_wgmma));
    *product = made;
    if (!made) return assay_error("out of memory");
    /* A gate compares arguments whole, the gaps between members too. */
    memset(made, 0, sizeof *made);
    made->kernel = kernel;
    return kernel->prepare(&made->plan, operands, how);
}

int linear_wgmma_init(struct linear_wgmma **product, const struct linear_operands *operands,
                      enum gpt_precision precision)
{
    const struct lwg_kernel *kernel = choose(operands, precision, assay_card()->multiprocessors);
    const struct lwg_how whole = {LINEAR_WHOLE, NULL};
    *product = NULL;
    if (!kernel) return assay_error("no product by wgmma of this type");
    return linear_wgmma_make(product, kernel, operands, &whole);
}

void linear_wgmma_add(struct linear_wgmma *product, const float *residual)
{
    product->plan.residual = residual;
}

bool linear_wgmma_divided(const struct linear_wgmma *product)
{
    return product->plan.division.split > 0;
}

int linear_wgmma_enqueue(const struct linear_wgmma *product, cudaStream_t stream)
{
    return product->kernel->enqueue(&product->plan, stream);
}

void linear_wgmma_release(struct linear_wgmma *product)
{
    free(product);
}

/* --------------------------------------------------------------- variants -- */

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_WEIGHT] != LINEAR_DIRECT) return "w as it lies only";
    return linear_unaligned(shape);
}

template <enum gpt_precision PRECISION>
static const char *supports_only(const struct assay_shape *shape)
{
    const char *other = linear_only<PRECISION>(shape);
    return other ? other : supports(shape);
}

static int setup(struct assay_call *call)
{
    enum gpt_precision precision = (enum gpt_precision)call->shape->value[LINEAR_PRECISION];
    struct linear_operands operands;
    struct linear_wgmma *product;
    if (linear_begin(call, NULL, &operands) < 0) return -1;
    int status = linear_wgmma_init(&product, &operands, precision);
    call->state = product;
    if (status < 0) return -1;
    lwg_kernel_name(product->kernel, call->note, sizeof call->note);
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct linear_wgmma *product = (const struct linear_wgmma *)call->state;
    if (linear_wgmma_enqueue(product, (cudaStream_t)call->stream) < 0) return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    linear_wgmma_release((struct linear_wgmma *)call->state);
}

template <enum gpt_precision PRECISION>
static constexpr struct assay_variant named(const char *name)
{
    return {
        .operation = "linear",
        .name = name,
        .summary = "Hopper's tensor cores, TMA, tiles of 128 x 64 to 256",
        .kind = ASSAY_KERNEL,
        .place = ASSAY_CUDA,
        .min_sm = 90,
        .max_sm = 90,
        .arch_specific = true,
        .supports = supports_only<PRECISION>,
        .setup = setup,
        .launch = launch,
        .teardown = teardown,
    };
}

static constexpr struct assay_variant bf16 = named<GPT_BF16>("bf16_wgmma");
static constexpr struct assay_variant fp16 = named<GPT_FP16>("fp16_wgmma");
static constexpr struct assay_variant tf32 = named<GPT_TF32>("tf32_wgmma");
ASSAY_REGISTER_VARIANT(bf16);
ASSAY_REGISTER_VARIANT(fp16);
ASSAY_REGISTER_VARIANT(tf32);
