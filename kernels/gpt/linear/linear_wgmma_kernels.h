/*
 * linear_wgmma_kernels.h - the kernels of linear_wgmma.cuh that are compiled, one per width of
 * tile, size of cluster and way of sharing (linear_wgmma_bf16.cu, _fp16.cu, _tf32.cu, _fp32.cu),
 * and products made from one of them. For those who choose among them.
 */
#pragma once

#include "linear_parts.cuh"
#include "linear_products.h"

struct lwg_plan;

struct lwg_how {
    enum linear_parts_how divide;
    const struct tile_parts *parts; /* where tiles are divided */
};

struct lwg_kernel {
    int columns, cluster;
    bool turns;
    double rate; /* of its products, against the tensor cores'; 0: not known */
    /* In setup. 0, or -1 also where no cluster fits the card. */
    int (*prepare)(struct lwg_plan *plan, const struct linear_operands *operands,
                   const struct lwg_how *how);
    int (*enqueue)(const struct lwg_plan *plan, cudaStream_t stream);
};

struct lwg_kernels {
    const struct lwg_kernel *kernel;
    int count;
};

struct lwg_kernels lwg_kernels_bf16(void);
struct lwg_kernels lwg_kernels_fp16(void);
struct lwg_kernels lwg_kernels_tf32(void);
struct lwg_kernels lwg_kernels_fp32(void); /* of operands in parts (linear_split.h) */
/* Of a type. */
struct lwg_kernels lwg_kernels_of(enum gpt_precision precision);

/* linear_wgmma_init with a given kernel and in a given way. */
int linear_wgmma_make(struct linear_wgmma **product, const struct lwg_kernel *kernel,
                      const struct linear_operands *operands, const struct lwg_how *how);

/* Before it is enqueued, in fp32: y = residual + finish(x w^T + bias), with rows as y's and n even.
 * It may be y. */
void linear_wgmma_add(struct linear_wgmma *product, const float *residual);

/* Whether tiles are divided. */
bool linear_wgmma_divided(const struct linear_wgmma *product);

/* "128 x 256, 2 a cluster, shared" */
void lwg_kernel_name(const struct lwg_kernel *kernel, char *out, size_t size);
