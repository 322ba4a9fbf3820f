/*
 * cudnn_graph.h - builds a graph of cuDNN operations, and executes it by the fastest of its plans.
 *
 * The first failure is kept: what is added after it does nothing, and cudnn_graph_plans returns
 * it. A graph starts as zeros; the order of calls is that of this file.
 */
#pragma once

#include "cudnn_api.h"
#include "kernels/cuda/cuda_graph.h"

enum {
    CUDNN_GRAPH_DESCRIPTORS = 96,
    CUDNN_GRAPH_OPERATIONS_MAX = 24,
    CUDNN_GRAPH_PLANS = 4,
    CUDNN_RANK = 4,
};

struct cudnn_plan {
    void *descriptor;
    int64_t workspace_bytes, engine;
};

struct cudnn_graph {
    const struct cudnn *api;
    void *handle;
    void *owned[CUDNN_GRAPH_DESCRIPTORS];
    void *operation[CUDNN_GRAPH_OPERATIONS_MAX];
    int descriptors, operations;
    int64_t last_id;
    int status; /* 0, -1 or ASSAY_SKIP */
    struct cudnn_plan plans[CUDNN_GRAPH_PLANS];
    const struct cudnn_plan *plan; /* the one that is executed */
    int plan_count;
    void *pack; /* the operands */
};

/* Load cuDNN. 0, -1 or ASSAY_SKIP; cudnn_graph_close may follow a failure too. */
int cudnn_graph_open(struct cudnn_graph *graph);

/* A tensor of four dims; strides in elements. virtual: it lives between two operations and never
 * in memory. by_value: one number, in host memory when the plan is executed. */
struct cudnn_shape {
    enum cudnn_type type;
    int64_t dims[CUDNN_RANK], strides[CUDNN_RANK];
    bool is_virtual, is_by_value;
};

struct cudnn_tensor {
    void *descriptor;
    int64_t id; /* names it in a variant pack */
};

struct cudnn_tensor cudnn_graph_tensor(struct cudnn_graph *graph, const struct cudnn_shape *shape);

/* One operation each; a tensor without descriptor is left out. `axis` is for INDEX_OF_AXIS. */
struct cudnn_pointwise {
    enum cudnn_pointwise_mode mode;
    enum cudnn_type precision;
    int64_t axis;
    struct cudnn_tensor x, b, t, y;
};
void cudnn_graph_pointwise(struct cudnn_graph *graph, const struct cudnn_pointwise *pointwise);
void cudnn_graph_matmul(struct cudnn_graph *graph, struct cudnn_tensor a, struct cudnn_tensor b,
                        struct cudnn_tensor c);
/* y has the dims of x, except that reduced ones are 1. */
void cudnn_graph_reduce(struct cudnn_graph *graph, enum cudnn_reduction reduction,
                        struct cudnn_tensor x, struct cudnn_tensor y);

/* y has the numbers of x in other dims: so are matrices transposed. */
void cudnn_graph_reshape(struct cudnn_graph *graph, struct cudnn_tensor x, struct cudnn_tensor y);

/* Up to CUDNN_GRAPH_PLANS plans in the order that cuDNN's heuristic expects to be fastest first,
 * and the bytes of workspace that the most demanding of them takes. 0 with at least one; -1; or
 * ASSAY_SKIP where cuDNN cannot do this graph. */
int cudnn_graph_plans(struct cudnn_graph *graph, int64_t *workspace_bytes);

/* The operands that a plan is executed with from now on: the ids of `count` tensors, and their
 * addresses. */
int cudnn_graph_pack(struct cudnn_graph *graph, int count, const int64_t *ids, void *const *at,
                     void *workspace);

/* Time `launch`, which executes the graph's plan, with each of them, and keep the fastest; the
 * call's note says which. 0, -1 or ASSAY_SKIP. */
int cudnn_graph_choose(struct cudnn_graph *graph, const struct cuda_work *launch,
                       struct assay_call *call);

int cudnn_graph_execute(const struct cudnn_graph *graph, void *stream);

void cudnn_graph_close(struct cudnn_graph *graph);
