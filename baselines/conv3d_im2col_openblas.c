/*
 * conv3d_im2col_openblas.c - `conv3d` on the host as a matrix product: for one leaf after another,
 * the columns (im2col) are written and OpenBLAS multiplies them.
 *
 * Operations: 2 * kernel^3 * in per element of y. Bytes: those of the operation, and the columns,
 * kernel^3 * in per voxel of y, written and read.
 */
#include <stdlib.h>

#include "kernels/codec/layers/conv3d.h"
#include "load_openblas.h"

static int setup(struct assay_call *call)
{
    int status = openblas_load();
    if (status) return status;
    const struct conv_job job = conv_job(call->shape);
    const size_t bytes = sizeof(float) * (size_t)conv_depth(&job) * (size_t)conv_voxels(&job);
    call->state = malloc(bytes);
    if (!call->state) return assay_error("out of memory");
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct conv_job job = conv_job(call->shape);
    const int voxels = conv_voxels(&job), depth = conv_depth(&job);
    const float *b = call->buffer[CONV_B];
    for (int64_t leaf = 0; leaf < job.leaves; leaf++) {
        float *y = (float *)call->buffer[CONV_Y] + leaf * job.out * voxels;
        for (int i = 0; i < job.out * voxels; i++)
            y[i] = b[i / voxels];
        conv3d_columns(&job, call->buffer[CONV_X], leaf, 1, call->state);
        openblas_api()->sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, job.out, voxels, depth, 1.0f,
                              call->buffer[CONV_W], job.out, call->state, voxels, 1.0f, y, voxels);
    }
    return 0;
}

static void teardown(struct assay_call *call)
{
    free(call->state);
}

static const struct assay_variant im2col = {
    .operation = "conv3d",
    .name = "host_im2col_openblas",
    .summary = "columns of a leaf written out, then cblas_sgemm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = conv_only_fp32,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(im2col);
