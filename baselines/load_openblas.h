/*
 * load_openblas.h - OpenBLAS, loaded when a variant that uses it is first set up. If the program
 * were linked to it, every process would start its threads, one per core, which spin for 25 ms.
 */
#pragma once

#include <cblas.h>

/* The functions used, typed by the header. */
struct openblas {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_sdot) sdot;
    __typeof__(&openblas_get_config) config;
};

/* To be called first in a variant's setup: loads the library on the first call, for the life of
 * the process. 0, or ASSAY_SKIP with assay_error if it is missing. Not thread-safe. */
int openblas_load(void);

/* The functions, once openblas_load has returned 0. */
const struct openblas *openblas_api(void);
