/*
 * cublaslt_product_cuda.c - see cublaslt_product.h.
 *
 * cublasLt lists its best guesses, eight or fewer. Others come from asking for each of its
 * algorithms by number. All are timed with the caches as the case will have them (cuda_trial.h),
 * until they are tried or SEARCH_S have passed; guesses first, so that a search that is cut short
 * has tried the likely ones. Sums split over k are added in the compute type only.
 */
#include "cublaslt_product.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "base/clock.h"
#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/cuda_trial.h"

enum { CANDIDATES = 32, ALGORITHMS = 64 };
static const double SEARCH_S = 0.5;

struct lt_list {
    cublasLtMatmulAlgo_t algorithm[CANDIDATES];
    int count;
};

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

/* Sums of FP8 leave the tensor cores every few steps, to be added in fp32. w is the library's A. */
static int lt_describe_scales(struct lt_product *lt)
{
    const struct lt_request *ask = &lt->request;
    const int8_t fast = 0;
    if (!ask->x_scale) return 0;
    if (lt_set(lt, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &ask->w_scale, sizeof ask->w_scale,
               "scale of w") ||
        lt_set(lt, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &ask->x_scale, sizeof ask->x_scale,
               "scale of x"))
        return -1;
    return lt_set(lt, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast, "full accumulation");
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
        lt_set(lt, CUBLASLT_MATMUL_DESC_EPILOGUE, &ask->epilogue, sizeof ask->epilogue,
               "epilogue") ||
        lt_describe_scales(lt))
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

static uint32_t alignment_of(const void *memory)
{
    uint32_t bits = (uint32_t)(uintptr_t)memory | 256; /* the most that the library asks for */
    return bits & -bits;
}

/* Which algorithms may be listed: workspace, how split sums are added, and what the operands'
 * addresses allow. */
static int preference_fill(const struct lt_product *lt, cublasLtMatmulPreference_t preference)
{
    const struct lt_request *ask = &lt->request;
    const uint64_t bytes = LT_WORKSPACE_BYTES;
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        uint32_t value;
    } table[] = {
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         ask->half ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(ask->w)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(ask->x)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
         alignment_of(ask->residual ? ask->residual : ask->y)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(ask->y)},
    };
    cublasStatus_t status = lt->api->preference_set(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof table / sizeof *table && status == CUBLAS_STATUS_SUCCESS; i++)
        status = lt->api->preference_set(preference, table[i].attribute, &table[i].value,
                                         sizeof table[i].value);
    return cublas_error(status, "preference");
}

static bool list_has(const struct lt_list *list, const cublasLtMatmulAlgo_t *algorithm)
{
    for (int i = 0; i < list->count; i++)
        if (!memcmp(&list->algorithm[i], algorithm, sizeof *algorithm)) return true;
    return false;
}

/* Adds up to `room` of what the library answers, best guess first. */
static cublasStatus_t list_ask(const struct lt_product *lt, cublasLtMatmulPreference_t preference,
                               cublasLtMatmulHeuristicResult_t *results, int room,
                               struct lt_list *list)
{
    int answers = 0;
    cublasStatus_t status = lt->api->heuristic(lt->handle, lt->desc, lt->w, lt->x, lt->residual,
                                               lt->y, preference, room, results, &answers);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    for (int i = 0; i < answers && list->count < CANDIDATES; i++)
        if (results[i].state == CUBLAS_STATUS_SUCCESS && !list_has(list, &results[i].algo))
            list->algorithm[list->count++] = results[i].algo;
    return status;
}

/* Algorithms by number share the room that is left. Many cannot do this product: no error. */
static void list_by_number(const struct lt_product *lt, cublasLtMatmulPreference_t preference,
                           struct lt_list *list)
{
    const struct lt_request *ask = &lt->request;
    const uint32_t mode = CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID;
    int ids[ALGORITHMS], count = 0;
    if (lt->api->preference_set(preference, CUBLASLT_MATMUL_PREF_SEARCH_MODE, &mode, sizeof mode) ||
        lt->api->ids(lt->handle, ask->compute, ask->scale, ask->in, ask->in, ask->out, ask->out,
                     ALGORITHMS, ids, &count) ||
        count == 0)
        return;
    int each = (CANDIDATES - list->count + count - 1) / count;
    for (int i = 0; i < count && list->count < CANDIDATES; i++) {
        cublasLtMatmulHeuristicResult_t results[CANDIDATES] = {0};
        if (lt->api->algorithm_init(lt->handle, ask->compute, ask->scale, ask->in, ask->in,
                                    ask->out, ask->out, ids[i], &results[0].algo))
            continue;
        for (int j = 1; j < each; j++)
            results[j].algo = results[0].algo;
        list_ask(lt, preference, results, each, list);
    }
}

static int lt_list(const struct lt_product *lt, struct lt_list *list)
{
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    cublasLtMatmulPreference_t preference;
    list->count = 0;
    if (cublas_error(lt->api->preference_create(&preference), "preference")) return -1;
    int failed = preference_fill(lt, preference);
    if (!failed)
        failed =
            cublas_error(list_ask(lt, preference, results, CANDIDATES, list), "list of algorithms");
    if (!failed) list_by_number(lt, preference, list);
    lt->api->preference_destroy(preference);
    if (failed) return -1;
    return list->count > 0 ? 0 : assay_error("cuBLASLt has no algorithm for this shape");
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

/* How many were timed; -1 on error. */
static int time_all(struct lt_product *lt, const struct lt_list *list,
                    const struct cuda_trial *timer)
{
    double least_us = INFINITY, end_s = clock_s() + SEARCH_S;
    int timed = 0;
    while (timed < list->count && (timed == 0 || clock_s() < end_s)) {
        const struct trial trial = {lt, &list->algorithm[timed++]};
        const struct cuda_work work = {enqueue_trial, &trial};
        double us = cuda_trial_us(timer, &work, least_us);
        if (us < least_us) least_us = us, lt->algorithm = *trial.algorithm;
    }
    return isinf(least_us) ? assay_error("cuBLASLt ran none of the algorithms that it listed")
                           : timed;
}

static int lt_choose(struct lt_product *lt, const struct lt_list *list,
                     const struct assay_call *call)
{
    struct cuda_trial timer;
    int timed = cuda_trial_open(&timer, call) ? -1 : time_all(lt, list, &timer);
    cuda_trial_close(&timer);
    return timed;
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

static void lt_note(const struct lt_product *lt, int timed, struct assay_call *call)
{
    snprintf(call->note, sizeof call->note, "algo %d tile %d stages %d splitk %d, of %d timed %s",
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_ID),
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_TILE_ID),
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_STAGES_ID),
             lt_product_config(lt, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), timed,
             call->temperature == ASSAY_COLD ? "cold" : "hot");
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
    struct lt_list list;
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
    if (lt_list(lt, &list)) return -1;
    int timed = lt_choose(lt, &list, call);
    if (timed < 0) return -1;
    lt_note(lt, timed, call);
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

int lt_variant_setup(struct assay_call *call, const struct lt_request *request)
{
    call->state = calloc(1, sizeof(struct lt_product));
    if (!call->state) return assay_error("out of memory");
    return lt_product_open(call->state, request, call);
}

int lt_variant_launch(struct assay_call *call)
{
    return lt_product_launch(call->state);
}

void lt_variant_teardown(struct assay_call *call)
{
    if (call->state) lt_product_release(call->state);
    free(call->state);
}

#endif
