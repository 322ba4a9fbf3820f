/*
 * lut_cublaslt_cuda.c - lut_matmul by cublasLtMatmul in int8 with int32 sums, on
 * operands that setup decoded. Setup times the library's list of algorithms on the
 * case's own buffers and keeps the fastest; call->note says which.
 *
 * Operations: 2 rows K columns in int8. Bytes: 1 an entry of A and B; 4 an element of
 * C, and 8 more: the library leaves int32 sums in C, which a second kernel turns into
 * fp32 in place. The rate without that kernel is the operation gemm's at type int8.
 */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CANDIDATES = 24, REPEATS = 5 };

struct lt {
    const struct cublaslt *api;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c; /* as cublasLt sees them: a is our B */
    void *workspace;
    struct lut_operands operands;
    cublasLtMatmulAlgo_t algorithm;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_COLUMNS] % 4 != 0) return "int8 needs columns to be a multiple of 4";
    return lut_cublas_supports(shape);
}

static int describe(struct lt *lt, const struct assay_shape *shape)
{
    const cublasOperation_t transposed = CUBLAS_OP_T, as_is = CUBLAS_OP_N;
    uint64_t m = (uint64_t)shape->value[LUT_COLUMNS], n = (uint64_t)shape->value[LUT_ROWS];
    uint64_t k = (uint64_t)lt->operands.stride; /* the padding is zeros */
    const struct cublaslt *api = lt->api;
    if (cublas_error(api->desc_create(&lt->desc, CUBLAS_COMPUTE_32I, CUDA_R_32I), "description") ||
        cublas_error(
            api->desc_set(lt->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
            "operand a") ||
        cublas_error(api->desc_set(lt->desc, CUBLASLT_MATMUL_DESC_TRANSB, &as_is, sizeof as_is),
                     "operand b") ||
        cublas_error(api->layout_create(&lt->a, CUDA_R_8I, k, m, (int64_t)k), "layout of a") ||
        cublas_error(api->layout_create(&lt->b, CUDA_R_8I, k, n, (int64_t)k), "layout of b") ||
        cublas_error(api->layout_create(&lt->c, CUDA_R_32I, m, n, (int64_t)m), "layout of c"))
        return -1;
    return 0;
}

static cublasStatus_t multiply(const struct lt *lt, const struct assay_call *call,
                               const cublasLtMatmulAlgo_t *algorithm)
{
    const int32_t one = 1, zero = 0;
    void *c = call->buffer[LUT_C];
    return lt->api->matmul(lt->handle, lt->desc, &one, lt->operands.b, lt->a, lt->operands.a, lt->b,
                           &zero, c, lt->c, c, lt->c, algorithm, lt->workspace,
                           LUT_CUBLAS_WORKSPACE_BYTES, call->stream);
}

/* How many algorithms the library lists, best guess first; -1 on error. */
static int list(const struct lt *lt, cublasLtMatmulHeuristicResult_t results[CANDIDATES])
{
    const uint64_t bytes = LUT_CUBLAS_WORKSPACE_BYTES;
    cublasLtMatmulPreference_t preference;
    int count = 0;
    if (cublas_error(lt->api->preference_create(&preference), "preference")) return -1;
    int failed =
        cublas_error(lt->api->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof bytes),
                     "workspace limit");
    if (!failed)
        failed = cublas_error(lt->api->heuristic(lt->handle, lt->desc, lt->a, lt->b, lt->c, lt->c,
                                                 preference, CANDIDATES, results, &count),
                              "list of algorithms");
    lt->api->preference_destroy(preference);
    if (failed) return -1;
    return count > 0 ? count : assay_error("cuBLASLt has no int8 algorithm for this shape");
}

/* Milliseconds a launch; INFINITY where the library refuses the algorithm after all. */
static int time_algorithm(const struct lt *lt, const struct assay_call *call,
                          const cublasLtMatmulAlgo_t *algorithm, const cudaEvent_t event[2],
                          double *ms)
{
    float elapsed = 0;
    *ms = INFINITY;
    if (multiply(lt, call, algorithm) != CUBLAS_STATUS_SUCCESS) return 0;
    if (cuda_error(cudaEventRecord(event[0], call->stream), "event")) return -1;
    for (int i = 0; i < REPEATS; i++)
        if (multiply(lt, call, algorithm) != CUBLAS_STATUS_SUCCESS) return 0;
    if (cuda_error(cudaEventRecord(event[1], call->stream), "event") ||
        cuda_error(cudaEventSynchronize(event[1]), "timing an algorithm") ||
        cuda_error(cudaEventElapsedTime(&elapsed, event[0], event[1]), "event"))
        return -1;
    *ms = (double)elapsed / REPEATS;
    return 0;
}

static int choose(struct lt *lt, struct assay_call *call, const cudaEvent_t event[2])
{
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    double best = INFINITY;
    int chosen = -1, count = list(lt, results);
    for (int i = 0; i < count; i++) {
        double ms = INFINITY;
        if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
        if (time_algorithm(lt, call, &results[i].algo, event, &ms)) return -1;
        if (ms >= best) continue;
        best = ms;
        chosen = i;
    }
    if (count < 0) return -1;
    if (chosen < 0) return assay_error("cuBLASLt ran none of the algorithms that it listed");
    lt->algorithm = results[chosen].algo;
    snprintf(call->note, sizeof call->note, "guess %d of %d", chosen + 1, count);
    return 0;
}

static int prepare(struct lt *lt, struct assay_call *call)
{
    cudaEvent_t event[2] = {NULL, NULL};
    lt->api = cublaslt_load();
    if (!lt->api) return -1;
    if (cublas_error(lt->api->create(&lt->handle), "cublasLtCreate")) return -1;
    if (cuda_error(cudaMalloc(&lt->workspace, LUT_CUBLAS_WORKSPACE_BYTES), "workspace")) return -1;
    call->workspace_bytes += LUT_CUBLAS_WORKSPACE_BYTES;
    if (lut_operands_init(&lt->operands, call, LUT_AS_INT8) || describe(lt, call->shape)) return -1;
    int status = cuda_error(cudaEventCreate(&event[0]), "event");
    if (status == 0) status = cuda_error(cudaEventCreate(&event[1]), "event");
    if (status == 0) status = choose(lt, call, event);
    if (event[1]) cudaEventDestroy(event[1]);
    if (event[0]) cudaEventDestroy(event[0]);
    return status;
}

static int setup(struct assay_call *call)
{
    struct lt *lt = calloc(1, sizeof *lt);
    if (!lt) return assay_error("out of memory");
    call->state = lt;
    return prepare(lt, call);
}

static int launch(struct assay_call *call)
{
    const struct lt *lt = call->state;
    struct lut_geometry geometry = lut_geometry(call->shape);
    if (cublas_error(multiply(lt, call, &lt->algorithm), "cublasLtMatmul")) return -1;
    return lut_sums_to_c(&geometry, call->buffer[LUT_C], call->stream);
}

static void teardown(struct assay_call *call)
{
    struct lt *lt = call->state;
    if (!lt) return;
    if (lt->c) lt->api->layout_destroy(lt->c);
    if (lt->b) lt->api->layout_destroy(lt->b);
    if (lt->a) lt->api->layout_destroy(lt->a);
    if (lt->desc) lt->api->desc_destroy(lt->desc);
    if (lt->handle) lt->api->destroy(lt->handle);
    lut_operands_release(&lt->operands);
    cudaFree(lt->workspace);
    free(lt);
}

static const struct assay_variant int8 = {
    .operation = "lut_matmul",
    .name = "cublaslt_int8",
    .summary = "cuBLASLt, int8 with int32 sums, on decoded operands; sums to fp32",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
    .check = lut_check,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(int8);

#endif
