/*
 * load_openblas.h - OpenBLAS, loaded when a variant is first set up: linked, it would start
 * its threads, one per core, in every process of the program, where they spin for 25 ms.
 */
#pragma once

#include <cblas.h>

/* The functions used, typed by the header. */
struct openblas {
    __typeof__(&cblas_sgemm) sgemm;
    __typeof__(&cblas_sdot) sdot;
    __typeof__(&openblas_get_config) config;
};

/* For a variant's setup, ahead of anything else in it: loads the library at the first call, for
 * the life of the process. 0, or ASSAY_SKIP with assay_error where it is missing. Not for several
 * threads at once. */
int openblas_load(void);

/* The functions, once openblas_load has returned 0. */
const struct openblas *openblas_api(void);
