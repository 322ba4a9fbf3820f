/*
 * model_cublas_cuda.c - models with every product by cuBLAS: the layernorm is the family's kernel,
 * as is the attention (cuBLAS has neither). Eager, and as one CUDA graph.
 *
 * cublas      cublasGemmEx, the library's own choice of algorithm; bias with gelu, and bias with
 *             residual are the family's kernels. Eleven kernels per layer: norm, product, bias;
 *             attention; product, bias and residual; norm, product, bias and gelu; product, bias
 *             and residual.
 * cublaslt    cublasLtMatmul, the fastest of its algorithms for each product of a layer as timed
 *             in setup, with bias, gelu and residual in its epilogue: seven kernels per layer.
 *             Where it has no algorithm, cublasGemmEx does the product.
 */
#include "cublas_session.h"

#ifdef CUBLAS_HEADERS

#include <stdio.h>
#include <stdlib.h>

#include "kernels/gpt/cublas_types.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_graph.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/gpt/model/model_cuda.h"
#include "kernels/gpt/model/model_library.h"

/* What does a product: cublasGemmEx; cublasLt; or what the first layer's step finds out. */
enum product_by { BY_GEMM, BY_LT, UNKNOWN };

struct cublas_model {
    struct cublas_session session;
    struct model_run run;
    struct model_provider provider;
    cudaGraphExec_t graph;
    enum model_context context;
    void *normed;
    struct model_library library;
    enum product_by by[MODEL_PRODUCTS];
    struct assay_call *call; /* during setup alone */
};

static int product_by_gemm(const struct cublas_model *own, const struct model_step *step,
                           void *stream)
{
    const struct cublas_types types = cublas_types(step->precision);
    const float one = 1, zero = 0;
    const void *x = step->x;
    int64_t ldx = step->ldx;
    struct model_step behind = *step;
    if (step->scale) {
        if (model_norm(step, own->normed, stream)) return -1;
        x = own->normed;
        ldx = step->k;
    }
    /* If the residual is y itself, the product must not overwrite it. */
    bool in_place = step->residual == step->y;
    if (in_place) behind.y = own->normed, behind.ldy = step->n;
    if (cublas_error(own->session.api->gemm_ex(own->session.handle, CUBLAS_OP_T, CUBLAS_OP_N,
                                               (int)step->n, (int)step->m, (int)step->k, &one,
                                               step->w, types.data, (int)step->k, x, types.data,
                                               (int)ldx, &zero, behind.y, types.data,
                                               (int)behind.ldy, types.compute, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx"))
        return -1;
    if (!step->bias && !step->gelu && !step->residual) return 0;
    return model_finish(&behind, step->bias, step->gelu, step->residual, step->y, step->ldy,
                        stream);
}

/* An algorithm is for one number of rows: without a cache, the last layer needs the last token's
 * alone, which cublasGemmEx does. */
static int product(void *self, const struct model_step *step, void *stream)
{
    struct cublas_model *own = self;
    enum product_by *by = &own->by[step->product];
    if (*by == UNKNOWN)
        *by = model_library_open(&own->library, step, own->normed, own->call, stream) ? BY_LT
                                                                                      : BY_GEMM;
    if (*by == BY_LT && own->library.product[step->product].request.m == step->m)
        return model_library_enqueue(&own->library, step, own->normed, stream);
    return product_by_gemm(own, step, stream);
}

static int attend(void *self, const struct model_attend *attend, void *stream)
{
    return model_attend_own(attend, stream);
}

static int enqueue(const void *what, void *stream)
{
    const struct cublas_model *own = what;
    if (cublas_error(own->session.api->set_stream(own->session.handle, stream), "stream") ||
        cublas_error(own->session.api->set_workspace(own->session.handle, own->session.workspace,
                                                     CUBLAS_SESSION_BYTES),
                     "workspace"))
        return -1;
    return model_run_enqueue(&own->run, &own->provider, own->context, stream);
}

static int open_model(struct assay_call *call, bool cached)
{
    struct cublas_model *own = call->state = calloc(1, sizeof *own);
    if (!own) return assay_error("out of memory");
    own->provider = (struct model_provider){product, attend, own};
    own->context = cached ? MODEL_CACHED : MODEL_RECOMPUTE;
    int status = model_run_init(&own->run, call, cached);
    if (status) return status;
    const struct model *model = &own->run.model;
    int64_t bytes = model->rows * model->channels * gpt_bytes(model->precision);
    status = device_memory(call, &own->normed, bytes, "the norm");
    if (status) return status;
    if (cublas_session_open(&own->session, cublas_types(model->precision).math, call)) return -1;
    return cached ? model_run_enqueue(&own->run, &own->provider, MODEL_PREFILL, call->stream) : 0;
}

static int record(struct cublas_model *own)
{
    const struct cuda_work work = {enqueue, own};
    return cuda_graph_record(&own->graph, &work, 1);
}

/* "algorithms 66 66 gemm 21": of qkv, proj, fc, fc2, head. */
static void note(const struct cublas_model *own, struct assay_call *call)
{
    size_t used = (size_t)snprintf(call->note, sizeof call->note, "algorithms");
    for (int p = 0; p < MODEL_PRODUCTS && used < sizeof call->note; p++) {
        char name[16] = "gemm";
        if (own->by[p] == UNKNOWN) continue;
        if (own->by[p] == BY_LT)
            snprintf(name, sizeof name, "%d",
                     lt_product_config(&own->library.product[p], CUBLASLT_ALGO_CONFIG_ID));
        used += (size_t)snprintf(call->note + used, sizeof call->note - used, " %s", name);
    }
}

/* One run, which chooses the algorithms of cublasLt; those of the context are not its own. */
static int choose(struct assay_call *call)
{
    struct cublas_model *own = call->state;
    int status = model_library_prepare(&own->library, call);
    if (status) return status;
    own->call = call;
    for (int p = 0; p < MODEL_PRODUCTS; p++)
        own->by[p] = UNKNOWN;
    if (enqueue(own, call->stream)) return -1;
    if (cuda_error(cudaStreamSynchronize(call->stream), "the first run")) return -1;
    note(own, call);
    return 0;
}

static int setup(struct assay_call *call)
{
    return open_model(call, false);
}

static int setup_recorded(struct assay_call *call, bool cached, bool lt)
{
    int status = open_model(call, cached);
    if (status == 0 && lt) status = choose(call);
    return status ? status : record(call->state);
}

static int setup_graph(struct assay_call *call)
{
    return setup_recorded(call, false, false);
}

static int setup_cached(struct assay_call *call)
{
    return setup_recorded(call, true, false);
}

static int setup_lt(struct assay_call *call)
{
    return setup_recorded(call, false, true);
}

static int setup_lt_cached(struct assay_call *call)
{
    return setup_recorded(call, true, true);
}

static int launch(struct assay_call *call)
{
    const struct cublas_model *own = call->state;
    return model_run_enqueue(&own->run, &own->provider, own->context, call->stream);
}

static int launch_graph(struct assay_call *call)
{
    const struct cublas_model *own = call->state;
    return cuda_graph_launch(own->graph, call->stream);
}

static void teardown(struct assay_call *call)
{
    struct cublas_model *own = call->state;
    if (!own) return;
    cuda_graph_release(own->graph);
    model_library_release(&own->library);
    cublas_session_release(&own->session);
    model_run_release(&own->run);
    cudaFree(own->normed);
    free(own);
}

#define CUBLAS(operation_name, variant_name, text, setup_with, launch_with)                        \
    static const struct assay_variant variant_name##_##operation_name = {                          \
        .operation = #operation_name,                                                              \
        .name = #variant_name,                                                                     \
        .summary = text,                                                                           \
        .kind = ASSAY_BASELINE,                                                                    \
        .place = ASSAY_CUDA,                                                                       \
        .supports = cublas_supports,                                                               \
        .setup = setup_with,                                                                       \
        .launch = launch_with,                                                                     \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(variant_name##_##operation_name)

#define LT_TEXT "cublasLt's fastest algorithms with epilogues, in one CUDA graph"

CUBLAS(gpt_forward, cublas, "products by cublasGemmEx, launched one by one", setup, launch);
CUBLAS(gpt_forward, cublas_graph, "cublas in one CUDA graph", setup_graph, launch_graph);
CUBLAS(gpt_block, cublas, "products by cublasGemmEx, launched one by one", setup, launch);
CUBLAS(gpt_block, cublas_graph, "cublas in one CUDA graph", setup_graph, launch_graph);
CUBLAS(gpt_forward, cublaslt_graph, LT_TEXT, setup_lt, launch_graph);
CUBLAS(gpt_block, cublaslt_graph, LT_TEXT, setup_lt, launch_graph);
CUBLAS(gpt_decode, cublaslt_graph, "no cache: cublasLt over the whole context, one graph", setup_lt,
       launch_graph);
CUBLAS(gpt_decode, cublaslt_cached_graph, "keys and values kept, products by cublasLt, one graph",
       setup_lt_cached, launch_graph);
CUBLAS(gpt_decode_codes, cublaslt_cached_graph,
       "codes decoded to bf16 in setup, products by cublasLt, one graph", setup_lt_cached,
       launch_graph);
CUBLAS(gpt_decode, cublas_graph, "no cache: cuBLAS over the whole context, one graph", setup_graph,
       launch_graph);
CUBLAS(gpt_decode, cublas_cached_graph, "keys and values kept, products by cuBLAS, one graph",
       setup_cached, launch_graph);

#endif
