/*
 * cublas_load.h - cuBLAS and cuBLASLt, loaded when a case first needs them, so that a program which
 * only lists or reports does not map 600 MB.
 *
 * Needs the headers of both to compile (CUBLAS_HEADERS is 1 if the toolkit has them); the shared
 * libraries may be missing where the program runs.
 */
#pragma once

#if defined(__has_include)
#if __has_include(<cublas_v2.h>) && __has_include(<cublasLt.h>)
#define CUBLAS_HEADERS 1
#endif
#endif

#ifdef CUBLAS_HEADERS

#include <cublasLt.h>
#include <cublas_v2.h>

/* The functions used, typed by the headers. */
struct cublas {
    __typeof__(&cublasCreate_v2) create;
    __typeof__(&cublasDestroy_v2) destroy;
    __typeof__(&cublasSetStream_v2) set_stream;
    __typeof__(&cublasSetWorkspace_v2) set_workspace;
    __typeof__(&cublasSetMathMode) set_math_mode;
    __typeof__(&cublasGetVersion_v2) get_version;
    __typeof__(&cublasGetProperty) get_property;
    __typeof__(&cublasGemmEx) gemm_ex;
    __typeof__(&cublasGemmStridedBatchedEx) gemm_batched;
    __typeof__(&cublasGemmBatchedEx) gemm_pointers;
};

struct cublaslt {
    __typeof__(&cublasLtCreate) create;
    __typeof__(&cublasLtDestroy) destroy;
    __typeof__(&cublasLtMatmul) matmul;
    __typeof__(&cublasLtMatmulDescCreate) desc_create;
    __typeof__(&cublasLtMatmulDescDestroy) desc_destroy;
    __typeof__(&cublasLtMatmulDescSetAttribute) desc_set;
    __typeof__(&cublasLtMatrixLayoutCreate) layout_create;
    __typeof__(&cublasLtMatrixLayoutDestroy) layout_destroy;
    __typeof__(&cublasLtMatmulPreferenceCreate) preference_create;
    __typeof__(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    __typeof__(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    __typeof__(&cublasLtMatmulAlgoGetHeuristic) heuristic;
    __typeof__(&cublasLtMatmulAlgoGetIds) ids;
    __typeof__(&cublasLtMatmulAlgoInit) algorithm_init;
    __typeof__(&cublasLtMatmulAlgoConfigGetAttribute) config_get;
};

/* NULL, or the reason why they cannot be used here (to skip with; of static lifetime). Only looks
 * for the files and loads nothing if they are in a usual place. So it is fast, and safe in a
 * process that must not touch CUDA. */
const char *cublas_missing(void);

/* The same, for a variant that takes every shape. */
struct assay_shape;
const char *cublas_supports(const struct assay_shape *shape);

/* The functions, loaded at the first call for the life of the process; NULL with assay_error if
 * that fails. */
const struct cublas *cublas_load(void);
const struct cublaslt *cublaslt_load(void);

/* 0, or the status's name as an assay_error. */
int cublas_error(cublasStatus_t status, const char *what);

#endif
