/*
 * cublaslt_gemm_cuda.c - `gemm` by cublasLtMatmul: setup asks for the library's
 * list of algorithms, times them on the case's own buffers and keeps the
 * fastest; call->note says which. The launch is that one algorithm.
 *
 * The choice is made with warm caches, back to back, whatever the temperature of
 * the case. Sums split over k are added in the compute type only.
 *
 * Operations: 2 m n k. Bytes: those of the operation.
 */
#include "cublas_gemm.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_error.h"

enum { CANDIDATES = 32, ROUNDS = 3 };

struct lt {
    const struct cublaslt *api;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c; /* as cublasLt sees them: a is our B */
    void *workspace;
    cublasLtMatmulAlgo_t algorithm;
};

struct candidate {
    cublasLtMatmulAlgo_t algorithm;
    double ms; /* a launch; INFINITY: dropped */
};

static void lt_release(struct lt *lt)
{
    if (lt->c) lt->api->layout_destroy(lt->c);
    if (lt->b) lt->api->layout_destroy(lt->b);
    if (lt->a) lt->api->layout_destroy(lt->a);
    if (lt->desc) lt->api->desc_destroy(lt->desc);
    if (lt->handle) lt->api->destroy(lt->handle);
    cudaFree(lt->workspace);
    free(lt);
}

/* ----------------------------------------------------------- description -- */

static int lt_describe(struct lt *lt, const struct assay_shape *shape)
{
    const struct cublas_gemm_types types = cublas_gemm_types(shape);
    const cublasOperation_t transposed = CUBLAS_OP_T, as_is = CUBLAS_OP_N;
    uint64_t m = (uint64_t)shape->value[GEMM_M], n = (uint64_t)shape->value[GEMM_N];
    uint64_t k = (uint64_t)shape->value[GEMM_K];
    if (cublas_error(lt->api->desc_create(&lt->desc, types.compute, types.scale), "description"))
        return -1;
    if (cublas_error(lt->api->desc_set(lt->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof transposed),
                     "operand a") ||
        cublas_error(lt->api->desc_set(lt->desc, CUBLASLT_MATMUL_DESC_TRANSB, &as_is, sizeof as_is),
                     "operand b"))
        return -1;
    if (cublas_error(lt->api->layout_create(&lt->a, types.in, k, n, (int64_t)k), "layout of a") ||
        cublas_error(lt->api->layout_create(&lt->b, types.in, k, m, (int64_t)k), "layout of b") ||
        cublas_error(lt->api->layout_create(&lt->c, types.out, n, m, (int64_t)n), "layout of c"))
        return -1;
    return 0;
}

/* Which algorithms may be listed: workspace, and how split sums are added. */
static int preference_fill(const struct lt *lt, const struct assay_shape *shape,
                           cublasLtMatmulPreference_t preference)
{
    const uint64_t bytes = CUBLAS_GEMM_WORKSPACE_BYTES;
    bool half = gemm_elements(shape).rounding > 0;
    const uint32_t reduction =
        half ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_MASK;
    if (cublas_error(lt->api->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof bytes),
                     "workspace limit"))
        return -1;
    return cublas_error(lt->api->preference_set(preference,
                                                CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                &reduction, sizeof reduction),
                        "reduction schemes");
}

/* How many candidates it listed, best guess first; -1 on error. */
static int lt_list(const struct lt *lt, const struct assay_shape *shape,
                   struct candidate candidates[CANDIDATES])
{
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    cublasLtMatmulPreference_t preference;
    int listed = 0, count = 0;
    if (cublas_error(lt->api->preference_create(&preference), "preference")) return -1;
    int failed = preference_fill(lt, shape, preference);
    if (!failed)
        failed = cublas_error(lt->api->heuristic(lt->handle, lt->desc, lt->a, lt->b, lt->c, lt->c,
                                                 preference, CANDIDATES, results, &listed),
                              "list of algorithms");
    lt->api->preference_destroy(preference);
    if (failed) return -1;
    for (int i = 0; i < listed; i++)
        if (results[i].state == CUBLAS_STATUS_SUCCESS)
            candidates[count++] = (struct candidate){.algorithm = results[i].algo};
    return count > 0 ? count : assay_error("cuBLASLt has no algorithm for this shape");
}

/* ---------------------------------------------------------------- launch -- */

static cublasStatus_t lt_launch(const struct lt *lt, const struct assay_call *call,
                                const cublasLtMatmulAlgo_t *algorithm)
{
    const union cublas_gemm_scale one = cublas_gemm_scale(call->shape, 1);
    const union cublas_gemm_scale zero = cublas_gemm_scale(call->shape, 0);
    return lt->api->matmul(lt->handle, lt->desc, &one, call->buffer[GEMM_B], lt->a,
                           call->buffer[GEMM_A], lt->b, &zero, call->buffer[GEMM_C], lt->c,
                           call->buffer[GEMM_C], lt->c, algorithm, lt->workspace,
                           CUBLAS_GEMM_WORKSPACE_BYTES, call->stream);
}

/* ---------------------------------------------------------------- choice -- */

/* Milliseconds a launch over `repeats` of them; INFINITY in *ms when the
 * library refuses the algorithm after all. */
static int time_candidate(const struct lt *lt, const struct assay_call *call,
                          const struct candidate *candidate, int repeats,
                          const cudaEvent_t event[2], double *ms)
{
    float elapsed = 0;
    *ms = INFINITY;
    if (lt_launch(lt, call, &candidate->algorithm) != CUBLAS_STATUS_SUCCESS) return 0;
    if (cuda_error(cudaEventRecord(event[0], call->stream), "event")) return -1;
    for (int i = 0; i < repeats; i++)
        if (lt_launch(lt, call, &candidate->algorithm) != CUBLAS_STATUS_SUCCESS) return 0;
    if (cuda_error(cudaEventRecord(event[1], call->stream), "event") ||
        cuda_error(cudaEventSynchronize(event[1]), "timing an algorithm") ||
        cuda_error(cudaEventElapsedTime(&elapsed, event[0], event[1]), "event"))
        return -1;
    *ms = (double)elapsed / repeats;
    return 0;
}

/* Enough launches to fill the round's share of time, by the last estimate. */
static int repeats_for(int round, double ms)
{
    static const double share_ms[ROUNDS] = {0, 2, 20};
    double repeats = share_ms[round] / fmax(ms, 1e-3);
    return repeats < 1 ? 1 : repeats > 1000 ? 1000 : (int)repeats;
}

/* The index of the fastest. Each round times the survivors for longer and drops
 * those that are clearly behind, so that poor algorithms cost one launch. */
static int fastest_candidate(const struct lt *lt, const struct assay_call *call,
                             struct candidate *candidates, int count, const cudaEvent_t event[2])
{
    static const double keep_within[ROUNDS] = {1.5, 1.1, 1.0};
    int best = -1;
    for (int round = 0; round < ROUNDS; round++) {
        best = -1;
        for (int i = 0; i < count; i++) {
            struct candidate *candidate = &candidates[i];
            if (isinf(candidate->ms)) continue;
            if (time_candidate(lt, call, candidate, repeats_for(round, candidate->ms), event,
                               &candidate->ms))
                return -1;
            if (best < 0 || candidate->ms < candidates[best].ms) best = i;
        }
        if (best < 0 || isinf(candidates[best].ms))
            return assay_error("cuBLASLt ran none of the algorithms that it listed");
        for (int i = 0; i < count; i++)
            if (candidates[i].ms > keep_within[round] * candidates[best].ms)
                candidates[i].ms = INFINITY;
    }
    return best;
}

static int lt_choose(struct lt *lt, const struct assay_call *call, struct candidate *candidates,
                     int count)
{
    cudaEvent_t event[2] = {NULL, NULL};
    int best = -1;
    if (!cuda_error(cudaEventCreate(&event[0]), "event") &&
        !cuda_error(cudaEventCreate(&event[1]), "event"))
        best = fastest_candidate(lt, call, candidates, count, event);
    if (event[1]) cudaEventDestroy(event[1]);
    if (event[0]) cudaEventDestroy(event[0]);
    if (best < 0) return -1;
    lt->algorithm = candidates[best].algorithm;
    return 0;
}

/* An attribute of the chosen algorithm; -1 where the library does not say. */
static int lt_config(const struct lt *lt, cublasLtMatmulAlgoConfigAttributes_t attribute)
{
    int32_t value = -1;
    size_t written;
    if (lt->api->config_get(&lt->algorithm, attribute, &value, sizeof value, &written) !=
        CUBLAS_STATUS_SUCCESS)
        return -1;
    return value;
}

static void lt_note(const struct lt *lt, int listed, struct assay_call *call)
{
    snprintf(call->note, sizeof call->note, "algo %d tile %d stages %d splitk %d of %d",
             lt_config(lt, CUBLASLT_ALGO_CONFIG_ID), lt_config(lt, CUBLASLT_ALGO_CONFIG_TILE_ID),
             lt_config(lt, CUBLASLT_ALGO_CONFIG_STAGES_ID),
             lt_config(lt, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), listed);
}

/* --------------------------------------------------------------- variant -- */

static int lt_prepare(struct lt *lt, struct assay_call *call)
{
    struct candidate candidates[CANDIDATES];
    lt->api = cublaslt_load();
    if (!lt->api) return -1;
    if (cublas_error(lt->api->create(&lt->handle), "cublasLtCreate")) return -1;
    if (cuda_error(cudaMalloc(&lt->workspace, CUBLAS_GEMM_WORKSPACE_BYTES), "workspace")) return -1;
    call->workspace_bytes += CUBLAS_GEMM_WORKSPACE_BYTES;
    if (lt_describe(lt, call->shape)) return -1;
    int count = lt_list(lt, call->shape, candidates);
    if (count < 0 || lt_choose(lt, call, candidates, count)) return -1;
    lt_note(lt, count, call);
    return 0;
}

static int setup(struct assay_call *call)
{
    struct lt *lt = calloc(1, sizeof *lt);
    if (!lt) return assay_error("out of memory");
    if (lt_prepare(lt, call)) {
        lt_release(lt);
        return -1;
    }
    call->state = lt;
    return 0;
}

static int launch(struct assay_call *call)
{
    const struct lt *lt = call->state;
    return cublas_error(lt_launch(lt, call, &lt->algorithm), "cublasLtMatmul");
}

static void teardown(struct assay_call *call)
{
    if (call->state) lt_release(call->state);
}

static const struct assay_variant cublaslt = {
    .operation = "gemm",
    .name = "cublaslt",
    .summary = "cuBLASLt, the fastest of its algorithms as timed in setup",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .supports = cublas_gemm_supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(cublaslt);

#endif
