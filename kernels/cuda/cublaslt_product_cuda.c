/*
 * cublaslt_product_cuda.c - see cublaslt_product.h.
 *
 * The choice is made with warm caches, whatever the temperature of the case, and in a CUDA
 * graph: one by one, short products would be timed by how fast the host launches. Sums
 * split over k are added in the compute type only.
 */
#include "cublaslt_product.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_graph.h"

enum { CANDIDATES = 32 };

void lt_product_release(struct lt_product *lt)
{
    if (lt->residual) lt->api->layout_destroy(lt->residual);
    if (lt->y) lt->api->layout_destroy(lt->y);
    if (lt->x) lt->api->layout_destroy(lt->x);
    if (lt->w) lt->api->layout_destroy(lt->w);
    if (lt->desc) lt->api->desc_destroy(lt->desc);
    if (lt->handle) lt->api->destroy(lt->handle);
    cudaFree(lt->owned);
}

/* ----------------------------------------------------------- description -- */

static int lt_set(const struct lt_product *lt, cublasLtMatmulDescAttributes_t attribute,
                  const void *value, size_t size, const char *what)
{
    return cublas_error(lt->api->desc_set(lt->desc, attribute, value, size), what);
}

static int lt_describe(struct lt_product *lt)
{
    const struct lt_request *ask = &lt->request;
    const cublasOperation_t w = ask->transposed ? CUBLAS_OP_N : CUBLAS_OP_T, x = CUBLAS_OP_N;
    uint64_t m = (uint64_t)ask->m, n = (uint64_t)ask->n, k = (uint64_t)ask->k;
    if (cublas_error(lt->api->desc_create(&lt->desc, ask->compute, ask->scale), "description"))
        return -1;
    if (lt_set(lt, CUBLASLT_MATMUL_DESC_TRANSA, &w, sizeof w, "operand w") ||
        lt_set(lt, CUBLASLT_MATMUL_DESC_TRANSB, &x, sizeof x, "operand x") ||
        lt_set(lt, CUBLASLT_MATMUL_DESC_EPILOGUE, &ask->epilogue, sizeof ask->epilogue, "epilogue"))
        return -1;
    if (ask->bias &&
        lt_set(lt, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &ask->bias, sizeof ask->bias, "bias"))
        return -1;
    if (cublas_error(lt->api->layout_create(&lt->w, ask->in, ask->transposed ? n : k,
                                            ask->transposed ? k : n, ask->leading),
                     "layout of w") ||
        cublas_error(lt->api->layout_create(&lt->x, ask->in, k, m, ask->ldx ? ask->ldx : ask->k),
                     "layout of x") ||
        cublas_error(
            lt->api->layout_create(&lt->residual, ask->out, n, m, ask->ldr ? ask->ldr : ask->n),
            "layout of the residual") ||
        cublas_error(lt->api->layout_create(&lt->y, ask->out, n, m, ask->ldy ? ask->ldy : ask->n),
                     "layout of y"))
        return -1;
    return 0;
}

/* Which algorithms may be listed: workspace, and how split sums are added. */
static int preference_fill(const struct lt_product *lt, cublasLtMatmulPreference_t preference)
{
    const uint64_t bytes = LT_WORKSPACE_BYTES;
    const uint32_t reduction =
        lt->request.half ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK;
    if (cublas_error(lt->api->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof bytes),
                     "workspace limit"))
        return -1;
    return cublas_error(lt->api->preference_set(preference,
                                                CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                &reduction, sizeof reduction),
                        "reduction schemes");
}

/* How many algorithms it listed, best guess first; -1 on error. */
static int lt_list(const struct lt_product *lt, cublasLtMatmulAlgo_t algorithms[CANDIDATES])
{
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    cublasLtMatmulPreference_t preference;
    int listed = 0, count = 0;
    if (cublas_error(lt->api->preference_create(&preference), "preference")) return -1;
    int failed = preference_fill(lt, preference);
    if (!failed)
        failed = cublas_error(lt->api->heuristic(lt->handle, lt->desc, lt->w, lt->x, lt->residual,
                                                 lt->y, preference, CANDIDATES, results, &listed),
                              "list of algorithms");
    lt->api->preference_destroy(preference);
    if (failed) return -1;
    for (int i = 0; i < listed; i++)
        if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms[count++] = results[i].algo;
    return count > 0 ? count : assay_error("cuBLASLt has no algorithm for this shape");
}

/* ---------------------------------------------------------------- launch -- */

static cublasStatus_t lt_launch_on(const struct lt_product *lt, const struct lt_request *ask,
                                   cublasLtMatrixLayout_t residual_layout,
                                   const cublasLtMatmulAlgo_t *algorithm)
{
    const struct lt_request *own = &lt->request;
    const union lt_factor *keep = ask->residual ? &own->one : &own->zero;
    const void *residual = ask->residual ? ask->residual : ask->y;
    return lt->api->matmul(lt->handle, lt->desc, &own->one, ask->w, lt->w, ask->x, lt->x, keep,
                           residual, residual_layout, ask->y, lt->y, algorithm, lt->workspace,
                           LT_WORKSPACE_BYTES, ask->stream);
}

/* ---------------------------------------------------------------- choice -- */

struct trial {
    const struct lt_product *lt;
    const cublasLtMatmulAlgo_t *algorithm;
};

/* The library may refuse an algorithm after all. */
static int enqueue_trial(const void *what, void *stream)
{
    const struct trial *trial = what;
    struct lt_request ask = trial->lt->request;
    ask.stream = stream;
    return lt_launch_on(trial->lt, &ask, trial->lt->residual, trial->algorithm) ==
                   CUBLAS_STATUS_SUCCESS
               ? 0
               : -1;
}

static int lt_choose(struct lt_product *lt, const cublasLtMatmulAlgo_t *listed, int count)
{
    double least_us = INFINITY;
    for (int i = 0; i < count; i++) {
        const struct trial trial = {lt, &listed[i]};
        const struct cuda_work work = {enqueue_trial, &trial};
        double us = cuda_graph_time_us(&work, lt->request.stream, least_us);
        if (us < least_us) least_us = us, lt->algorithm = listed[i];
    }
    return isinf(least_us) ? assay_error("cuBLASLt ran none of the algorithms that it listed") : 0;
}

int lt_product_config(const struct lt_product *lt, cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    int32_t value = -1;
    size_t written;
    if (lt->api->config_get(&lt->algorithm, attribute, &value, sizeof value, &written) !=
        CUBLAS_STATUS_SUCCESS)
        return -1;
    return value;
}

static void lt_note(const struct lt_product *lt, int listed, struct assay_call *call)
{
    snprintf(call->note, sizeof call->note, "algo %d tile %d stages %d splitk %d of %d",
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_ID),
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_TILE_ID),
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_STAGES_ID),
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), listed);
}

/* ------------------------------------------------------------- interface -- */

struct lt_request lt_request_int8(int64_t m, int64_t n, int64_t k, const void *x, const void *w,
                                  void *y, cudaStream_t stream)
{
    return (struct lt_request){
        .in = CUDA_R_8I,
        .out = CUDA_R_32I,
        .scale = CUDA_R_32I,
        .compute = CUBLAS_COMPUTE_32I,
        .one = {.i32 = 1},
        .zero = {.i32 = 0},
        .m = m,
        .n = n,
        .k = k,
        .leading = k,
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
        .x = x,
        .w = w,
        .y = y,
        .stream = stream,
    };
}

int lt_product_open(struct lt_product *lt, const struct lt_request *request,
                    struct assay_call *call)
{
    cublasLtMatmulAlgo_t listed[CANDIDATES];
    lt->request = *request;
    lt->api = cublaslt_load();
    if (!lt->api) return -1;
    if (cublas_error(lt->api->create(&lt->handle), "cublasLtCreate")) return -1;
    lt->workspace = request->workspace;
    if (!lt->workspace) {
        if (cuda_error(cudaMalloc(&lt->owned, LT_WORKSPACE_BYTES), "workspace")) return -1;
        lt->workspace = lt->owned;
        call->workspace_bytes += LT_WORKSPACE_BYTES;
    }
    if (lt_describe(lt)) return -1;
    int count = lt_list(lt, listed);
    if (count < 0 || lt_choose(lt, listed, count)) return -1;
    lt_note(lt, count, call);
    return 0;
}

int lt_product_launch_at(const struct lt_product *lt, const struct lt_request *ask)
{
    if (ask->bias &&
        lt_set(lt, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &ask->bias, sizeof ask->bias, "bias"))
        return -1;
    cublasLtMatrixLayout_t residual = lt->residual, own = NULL;
    if (ask->ldr != lt->request.ldr) {
        if (cublas_error(lt->api->layout_create(&own, ask->out, (uint64_t)ask->n, (uint64_t)ask->m,
                                                ask->ldr ? ask->ldr : ask->n),
                         "layout of the residual"))
            return -1;
        residual = own;
    }
    int status = cublas_error(lt_launch_on(lt, ask, residual, &lt->algorithm), "cublasLtMatmul");
    if (own) lt->api->layout_destroy(own);
    return status;
}

int lt_product_launch(const struct lt_product *lt)
{
    return cublas_error(lt_launch_on(lt, &lt->request, lt->residual, &lt->algorithm),
                        "cublasLtMatmul");
}

#endif
