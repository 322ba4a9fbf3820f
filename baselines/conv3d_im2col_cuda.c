/*
 * conv3d_im2col_cuda.c - `conv3d` as a matrix product, as a framework without a convolution of its
 * own would do it. One kernel writes the columns (im2col) of as many leaves as fit 256 MiB, cuBLAS
 * computes one product per leaf, and another kernel adds the bias.
 *
 * Operations: 2 * kernel^3 * in per element of y. Bytes: those of the operation; the columns,
 * kernel^3 * in per voxel of y, written and read; and y once more for the bias.
 */
#include "cublas_session.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/codec/layers/conv3d.h"

static const int64_t COLUMN_BYTES = 256 << 20;

struct route {
    struct cublas_session session;
    float *columns;
    int64_t leaves; /* at a time */
};

static int setup(struct assay_call *call)
{
    const struct conv_job job = conv_job(call->shape);
    const int64_t leaf_bytes = (int64_t)sizeof(float) * conv_depth(&job) * conv_voxels(&job);
    struct route *route = calloc(1, sizeof *route);
    if (!route) return assay_error("out of memory");
    call->state = route;
    route->leaves = COLUMN_BYTES / leaf_bytes;
    if (route->leaves > job.leaves) route->leaves = job.leaves;
    if (route->leaves < 1) route->leaves = 1;
    if (cuda_error(cudaMalloc((void **)&route->columns, (size_t)(route->leaves * leaf_bytes)),
                   "columns"))
        return -1;
    call->workspace_bytes += route->leaves * leaf_bytes;
    const bool tf32 = call->shape->value[CONV_TYPE] == CONV_TF32;
    return cublas_session_open(&route->session,
                               tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH, call);
}

/* Row-major: y [out, voxels] = w^T columns. cuBLAS is column-major and so computes
 * y' [voxels, out] = columns' [voxels, depth] w'^T with w' [out, depth]. */
static int multiply(const struct route *route, const struct assay_call *call,
                    const struct conv_job *job, int64_t first, int64_t count)
{
    const float one = 1, zero = 0;
    const int voxels = conv_voxels(job), depth = conv_depth(job);
    float *y = (float *)call->buffer[CONV_Y] + first * job->out * voxels;
    const cublasComputeType_t compute = call->shape->value[CONV_TYPE] == CONV_TF32
                                            ? CUBLAS_COMPUTE_32F_FAST_TF32
                                            : CUBLAS_COMPUTE_32F_PEDANTIC;
    return cublas_error(route->session.api->gemm_batched(
                            route->session.handle, CUBLAS_OP_N, CUBLAS_OP_T, voxels, job->out,
                            depth, &one, route->columns, CUDA_R_32F, voxels,
                            (long long)depth * voxels, call->buffer[CONV_W], CUDA_R_32F, job->out,
                            0, &zero, y, CUDA_R_32F, voxels, (long long)job->out * voxels,
                            (int)count, compute, CUBLAS_GEMM_DEFAULT),
                        "cublasGemmStridedBatchedEx");
}

static int launch(struct assay_call *call)
{
    const struct route *route = call->state;
    const struct conv_job job = conv_job(call->shape);
    for (int64_t first = 0; first < job.leaves; first += route->leaves) {
        const int64_t rest = job.leaves - first;
        const int64_t count = rest < route->leaves ? rest : route->leaves;
        if (conv3d_columns_enqueue(&job, call->buffer[CONV_X], first, count, route->columns,
                                   call->stream))
            return -1;
        if (multiply(route, call, &job, first, count)) return -1;
        if (conv3d_bias_enqueue(&job, call->buffer[CONV_B], first, count, call->buffer[CONV_Y],
                                call->stream))
            return -1;
    }
    return 0;
}

static void teardown(struct assay_call *call)
{
    struct route *route = call->state;
    if (!route) return;
    cublas_session_release(&route->session);
    cudaFree(route->columns);
    free(route);
}

static const struct assay_variant im2col = {
    .operation = "conv3d",
    .name = "im2col_cublas",
    .summary = "columns written out, one cuBLAS product per leaf, the bias in another pass",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = cublas_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(im2col);

#endif
