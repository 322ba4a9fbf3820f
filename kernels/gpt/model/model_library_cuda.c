/*
 * model_library_cuda.c - see model_library.h.
 */
#include "model_library.h"

#include "kernels/gpt/cublas_types.h"
#include "kernels/cuda/device_memory.h"

#ifdef CUBLAS_HEADERS

static struct lt_request request_of(const struct model_library *library,
                                    const struct model_step *step, void *normed, void *stream)
{
    struct lt_request request = gpt_lt_request(step->precision);
    request.m = step->m;
    request.n = step->n;
    request.k = step->k;
    request.leading = step->k;
    request.epilogue = step->gelu   ? CUBLASLT_EPILOGUE_GELU_BIAS
                       : step->bias ? CUBLASLT_EPILOGUE_BIAS
                                    : CUBLASLT_EPILOGUE_DEFAULT;
    request.bias = step->bias;
    request.x = step->scale ? normed : step->x;
    request.w = step->w;
    request.residual = step->residual;
    request.y = step->y;
    request.ldx = step->scale ? step->k : step->ldx;
    request.ldr = step->ldr;
    request.ldy = step->ldy;
    request.stream = stream;
    request.workspace = library->workspace;
    return request;
}

int model_library_enqueue(const struct model_library *library, const struct model_step *step,
                          void *normed, void *stream)
{
    if (step->scale && model_norm(step, normed, stream)) return -1;
    const struct lt_request request = request_of(library, step, normed, stream);
    return lt_product_launch_at(&library->product[step->product], &request);
}

/* The search launches the step many times, each of which may add to y in place. During setup the
 * values of y do not matter. */
bool model_library_open(struct model_library *library, const struct model_step *step, void *normed,
                        struct assay_call *call, void *stream)
{
    if (cublas_missing()) return false;
    const struct lt_request request = request_of(library, step, normed, stream);
    library->opened[step->product] = true;
    return lt_product_open(&library->product[step->product], &request, call) == 0;
}

int model_library_prepare(struct model_library *library, struct assay_call *call)
{
    if (cublas_missing()) return 0;
    return device_memory(call, &library->workspace, LT_WORKSPACE_BYTES, "cublasLt");
}

void model_library_release(struct model_library *library)
{
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        if (library->opened[p]) lt_product_release(&library->product[p]);
    cudaFree(library->workspace);
}

#else

int model_library_enqueue(const struct model_library *library, const struct model_step *step,
                          void *normed, void *stream)
{
    (void)library, (void)step, (void)normed, (void)stream;
    return assay_error("built without cuBLAS");
}

bool model_library_open(struct model_library *library, const struct model_step *step, void *normed,
                        struct assay_call *call, void *stream)
{
    (void)library, (void)step, (void)normed, (void)call, (void)stream;
    return false;
}

int model_library_prepare(struct model_library *library, struct assay_call *call)
{
    (void)library, (void)call;
    return 0;
}

void model_library_release(struct model_library *library)
{
    (void)library;
}

#endif
