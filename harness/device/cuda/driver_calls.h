/*
 * driver_calls.h - the parameters of calls of the driver's interface as a callback of CUPTI is
 * handed them: a struct with the members of the call's declaration in their order (CUPTI's
 * generated_cuda_meta.h, which does not compile as C beside cuda.h).
 */
#pragma once

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

struct launch_call {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **parameters, **extra; /* a cooperative one has no `extra` */
};
struct launch_ex_call {
    const CUlaunchConfig *config;
    CUfunction function;
    void **parameters, **extra;
};
/* From and to are addresses of the host or the device; some have no stream. */
struct copy_call {
    uint64_t to, from;
    size_t bytes;
    CUstream stream;
};
struct fill_call {
    CUdeviceptr to;
    union {
        unsigned char of_8;
        unsigned short of_16;
        unsigned of_32;
    } value;
    size_t count;
    CUstream stream;
};
struct event_call {
    CUevent event;
    CUstream stream;
};
struct destroy_call {
    const void *handle; /* an event or a stream */
};
struct elapsed_call {
    float *ms;
    CUevent begin, end;
};
struct wait_call {
    CUstream stream;
    CUevent event;
    unsigned flags;
};
struct stream_call {
    CUstream *made;
    unsigned flags;
    int priority; /* of cuStreamCreateWithPriority */
};
struct function_call {
    CUfunction function;
    int attribute, value;
};
struct kernel_call {
    int attribute, value;
    CUkernel kernel;
};
struct cache_call {
    const void *handle; /* of a function or a kernel */
    int value;
};
struct limit_call {
    int limit;
    size_t value;
};
struct stream_attribute_call {
    CUstream stream;
    CUstreamAttrID attribute;
    const CUstreamAttrValue *value;
};
struct capture_call {
    CUstream stream;
    CUgraph *made;
};
struct instantiate_call {
    CUgraphExec *made;
    CUgraph graph;
};
struct graph_call {
    CUgraphExec graph;
    CUstream stream;
};
