/*
 * linear_cublas_cuda.c - `linear` by cublasGemmEx, with the algorithm that the library selects.
 *
 * cuBLAS is column-major: y' [n, m] = op(w) x'. op is a transposition (TN) for the weight as it was
 * trained, and none (NN) for the variants that read a transposed copy of it. The call has no bias,
 * so one of the family's kernels adds it.
 *
 * Operations: 2 m n k. Bytes: those of the operation, and of the bias or the copy.
 */
#include "cublas_session.h"

#ifdef CUBLAS_HEADERS

#include <stdlib.h>

#include "kernels/gpt/cublas_types.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/gpt/linear/linear_steps.h"

struct linear {
    struct cublas_session session;
    void *copy; /* a transposed copy of the weight */
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LINEAR_BIAS] == LINEAR_FUSED) return "cublasGemmEx adds no bias";
    return cublas_missing();
}

static int setup(struct assay_call *call)
{
    struct linear *linear = call->state = calloc(1, sizeof *linear);
    if (!linear) return assay_error("out of memory");
    const struct cublas_types types = cublas_types(call->shape->value[LINEAR_PRECISION]);
    if (cublas_session_open(&linear->session, types.math, call)) return -1;
    return linear_prepare(call, &linear->copy);
}

static int launch(struct assay_call *call)
{
    const struct linear *linear = call->state;
    const struct cublas_types types = cublas_types(call->shape->value[LINEAR_PRECISION]);
    const float one = 1, zero = 0;
    struct linear_operands o;
    if (linear_begin(call, linear->copy, &o)) return -1;
    if (cublas_error(linear->session.api->gemm_ex(
                         linear->session.handle, o.transposed ? CUBLAS_OP_N : CUBLAS_OP_T,
                         CUBLAS_OP_N, (int)o.n, (int)o.m, (int)o.k, &one, o.w, types.data,
                         (int)o.leading, o.x, types.data, (int)o.k, &zero, o.y, types.data,
                         (int)o.n, types.compute, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx"))
        return -1;
    return linear_end(call);
}

static void teardown(struct assay_call *call)
{
    struct linear *linear = call->state;
    if (!linear) return;
    cublas_session_release(&linear->session);
    cudaFree(linear->copy);
    free(linear);
}

static const struct assay_variant cublas = {
    .operation = "linear",
    .name = "cublas",
    .summary = "cuBLAS, cublasGemmEx with its own choice of algorithm",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublas);

#endif
