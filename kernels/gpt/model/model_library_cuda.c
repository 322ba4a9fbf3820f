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
    const struct cublas_types types = cublas_types(step->precision);
    return (struct lt_request){
        .in = types.data,
        .out = types.data,
        .scale = CUDA_R_32F,
        .compute = types.compute,
        .half = step->precision == GPT_BF16,
        .one = {.f32 = 1},
        .zero = {.f32 = 0},
        .m = step->m,
        .n = step->n,
        .k = step->k,
        .leading = step->k,
        .epilogue = step->gelu   ? CUBLASLT_EPILOGUE_GELU_BIAS
                    : step->bias ? CUBLASLT_EPILOGUE_BIAS
                                 : CUBLASLT_EPILOGUE_DEFAULT,
        .bias = step->bias,
        .x = step->scale ? normed : step->x,
        .w = step->w,
        .residual = step->residual,
        .y = step->y,
        .ldx = step->scale ? step->k : step->ldx,
        .ldr = step->ldr,
        .ldy = step->ldy,
        .stream = stream,
        .workspace = library->workspace,
    };
}

int model_library_enqueue(const struct model_library *library, const struct model_step *step,
                          void *normed, void *stream)
{
    if (step->scale && model_norm(step, normed, stream)) return -1;
    const struct lt_request request = request_of(library, step, normed, stream);
    return lt_product_launch_at(&library->product[step->product], &request);
}

/* The search adds to y where it stands, again and again: its values do not matter yet. */
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
