/*
 * cupti_host_abi.h - the parameter structs of CUPTI's profiler host API, for C.
 *
 * CUPTI's header of these functions includes a C++ header (CUDA 12.6 to 13.0), so C cannot
 * include it. The interface is stable: each struct begins with its size and grows only at
 * the end. cupti_host_abi.cu compares these structs with CUPTI's at compile time.
 */
#ifndef CUPTI_HOST_ABI_H
#define CUPTI_HOST_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { HOST_RANGE_PROFILER = 0 }; /* the kind of profiler */

struct host_initialize {
    size_t size;
    void *reserved;
    int profiler;
    const char *chip;
    const uint8_t *availability;
    void *host; /* out */
};

struct host_deinitialize {
    size_t size;
    void *reserved;
    void *host;
};

struct host_add_metrics {
    size_t size;
    void *reserved;
    void *host;
    const char **names;
    size_t count;
};

struct host_config_size {
    size_t size;
    void *reserved;
    void *host;
    size_t bytes; /* out */
};

struct host_config {
    size_t size;
    void *reserved;
    void *host;
    size_t bytes;
    uint8_t *image;
};

struct host_passes {
    size_t size;
    void *reserved;
    size_t bytes;
    uint8_t *image;
    size_t passes; /* out */
};

struct host_evaluate {
    size_t size;
    void *reserved;
    void *host;
    const uint8_t *data;
    size_t data_bytes;
    size_t range;
    const char **names;
    size_t count;
    double *values;
};

struct host_metric {
    size_t size;
    void *reserved;
    void *host;
    const char *name;
    const char *description, *unit, *dimension; /* out */
    int type;                                   /* out */
};

#endif
