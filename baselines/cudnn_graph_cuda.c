#include "cudnn_graph.h"

#include <math.h>
#include <stdio.h>

#include "kernels/cuda/cuda_trial.h"

static bool is_well(struct cudnn_graph *graph, int status, const char *what)
{
    graph->status = cudnn_error(graph->api, status, what);
    return graph->status == 0;
}

/* ----------------------------------------------------------- descriptors -- */

/* NULL after a failure. */
static void *make(struct cudnn_graph *graph, enum cudnn_descriptor type, const char *what)
{
    void *descriptor = NULL;
    if (graph->status) return NULL;
    if (graph->descriptors == CUDNN_GRAPH_DESCRIPTORS) {
        graph->status = assay_error("%s: more descriptors than a graph has room for", what);
        return NULL;
    }
    if (!is_well(graph, graph->api->make(type, &descriptor), what)) return NULL;
    graph->owned[graph->descriptors++] = descriptor;
    return descriptor;
}

static void set(struct cudnn_graph *graph, void *descriptor, enum cudnn_attribute attribute,
                enum cudnn_attribute_type type, int64_t count, const void *values, const char *what)
{
    if (graph->status) return;
    is_well(graph, graph->api->set(descriptor, attribute, type, count, values), what);
}

static void set_descriptor(struct cudnn_graph *graph, void *descriptor,
                           enum cudnn_attribute attribute, void *value, const char *what)
{
    if (value) set(graph, descriptor, attribute, CUDNN_OF_DESCRIPTOR, 1, &value, what);
}

static void finalise(struct cudnn_graph *graph, void *descriptor, const char *what)
{
    if (graph->status) return;
    is_well(graph, graph->api->finalise(descriptor), what);
}

int cudnn_graph_open(struct cudnn_graph *graph)
{
    int status = cudnn_load(&graph->api);
    return status ? status
                  : cudnn_error(graph->api, graph->api->create(&graph->handle), "cudnnCreate");
}

void cudnn_graph_close(struct cudnn_graph *graph)
{
    if (graph->pack) graph->api->unmake(graph->pack);
    while (graph->descriptors > 0)
        graph->api->unmake(graph->owned[--graph->descriptors]);
    if (graph->handle) graph->api->destroy(graph->handle);
}

/* ------------------------------------------------------------ operations -- */

struct cudnn_tensor cudnn_graph_tensor(struct cudnn_graph *graph, const struct cudnn_shape *shape)
{
    const char *what = "a tensor";
    const int64_t alignment = 16;
    struct cudnn_tensor tensor = {make(graph, CUDNN_TENSOR, what), ++graph->last_id};
    void *at = tensor.descriptor;
    set(graph, at, CUDNN_TENSOR_ID, CUDNN_OF_INT64, 1, &tensor.id, what);
    set(graph, at, CUDNN_TENSOR_TYPE, CUDNN_OF_DATA_TYPE, 1, &shape->type, what);
    set(graph, at, CUDNN_TENSOR_ALIGNMENT, CUDNN_OF_INT64, 1, &alignment, what);
    set(graph, at, CUDNN_TENSOR_DIMS, CUDNN_OF_INT64, CUDNN_RANK, shape->dims, what);
    set(graph, at, CUDNN_TENSOR_STRIDES, CUDNN_OF_INT64, CUDNN_RANK, shape->strides, what);
    set(graph, at, CUDNN_TENSOR_IS_VIRTUAL, CUDNN_OF_BOOLEAN, 1, &shape->is_virtual, what);
    set(graph, at, CUDNN_TENSOR_IS_BY_VALUE, CUDNN_OF_BOOLEAN, 1, &shape->is_by_value, what);
    finalise(graph, at, what);
    return tensor;
}

static void add_operation(struct cudnn_graph *graph, void *operation, const char *what)
{
    finalise(graph, operation, what);
    if (graph->status) return;
    if (graph->operations == CUDNN_GRAPH_OPERATIONS_MAX)
        graph->status = assay_error("%s: more operations than a graph has room for", what);
    else
        graph->operation[graph->operations++] = operation;
}

void cudnn_graph_pointwise(struct cudnn_graph *graph, const struct cudnn_pointwise *pointwise)
{
    const char *what = "a pointwise operation";
    void *mode = make(graph, CUDNN_POINTWISE, what);
    set(graph, mode, CUDNN_POINTWISE_MODE, CUDNN_OF_POINTWISE_MODE, 1, &pointwise->mode, what);
    set(graph, mode, CUDNN_POINTWISE_PRECISION, CUDNN_OF_DATA_TYPE, 1, &pointwise->precision, what);
    if (pointwise->mode == CUDNN_INDEX_OF_AXIS)
        set(graph, mode, CUDNN_POINTWISE_AXIS, CUDNN_OF_INT64, 1, &pointwise->axis, what);
    finalise(graph, mode, what);
    void *at = make(graph, CUDNN_OPERATION_POINTWISE, what);
    set_descriptor(graph, at, CUDNN_OPERATION_POINTWISE_DESC, mode, what);
    set_descriptor(graph, at, CUDNN_OPERATION_POINTWISE_X, pointwise->x.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_POINTWISE_B, pointwise->b.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_POINTWISE_T, pointwise->t.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_POINTWISE_Y, pointwise->y.descriptor, what);
    add_operation(graph, at, what);
}

void cudnn_graph_matmul(struct cudnn_graph *graph, struct cudnn_tensor a, struct cudnn_tensor b,
                        struct cudnn_tensor c)
{
    const char *what = "a product";
    const enum cudnn_type precision = CUDNN_FLOAT;
    void *mode = make(graph, CUDNN_MATMUL, what);
    set(graph, mode, CUDNN_MATMUL_PRECISION, CUDNN_OF_DATA_TYPE, 1, &precision, what);
    finalise(graph, mode, what);
    void *at = make(graph, CUDNN_OPERATION_MATMUL, what);
    set_descriptor(graph, at, CUDNN_OPERATION_MATMUL_A, a.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_MATMUL_B, b.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_MATMUL_C, c.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_MATMUL_DESC, mode, what);
    add_operation(graph, at, what);
}

void cudnn_graph_reduce(struct cudnn_graph *graph, enum cudnn_reduction reduction,
                        struct cudnn_tensor x, struct cudnn_tensor y)
{
    const char *what = "a reduction";
    const enum cudnn_type precision = CUDNN_FLOAT;
    void *mode = make(graph, CUDNN_REDUCTION, what);
    set(graph, mode, CUDNN_REDUCTION_OPERATOR, CUDNN_OF_REDUCTION, 1, &reduction, what);
    set(graph, mode, CUDNN_REDUCTION_PRECISION, CUDNN_OF_DATA_TYPE, 1, &precision, what);
    finalise(graph, mode, what);
    void *at = make(graph, CUDNN_OPERATION_REDUCTION, what);
    set_descriptor(graph, at, CUDNN_OPERATION_REDUCTION_X, x.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_REDUCTION_Y, y.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_REDUCTION_DESC, mode, what);
    add_operation(graph, at, what);
}

void cudnn_graph_reshape(struct cudnn_graph *graph, struct cudnn_tensor x, struct cudnn_tensor y)
{
    const char *what = "a reshape";
    void *at = make(graph, CUDNN_OPERATION_RESHAPE, what);
    set_descriptor(graph, at, CUDNN_OPERATION_RESHAPE_X, x.descriptor, what);
    set_descriptor(graph, at, CUDNN_OPERATION_RESHAPE_Y, y.descriptor, what);
    add_operation(graph, at, what);
}

/* ----------------------------------------------------------------- plans -- */

static void *close_graph(struct cudnn_graph *graph)
{
    const char *what = "the graph";
    void *at = make(graph, CUDNN_OPERATION_GRAPH, what);
    set(graph, at, CUDNN_GRAPH_HANDLE, CUDNN_OF_HANDLE, 1, &graph->handle, what);
    set(graph, at, CUDNN_GRAPH_OPERATIONS, CUDNN_OF_DESCRIPTOR, graph->operations, graph->operation,
        what);
    finalise(graph, at, what);
    return at;
}

/* Get the configurations that the heuristic lists, at most CUDNN_GRAPH_PLANS. Returns how many. */
static int list_configs(struct cudnn_graph *graph, void *closed, void **configs)
{
    const char *what = "the list of engines";
    const int mode = CUDNN_HEURISTIC_A;
    int64_t count = 0;
    void *at = make(graph, CUDNN_HEURISTIC, what);
    set_descriptor(graph, at, CUDNN_HEURISTIC_GRAPH, closed, what);
    set(graph, at, CUDNN_HEURISTIC_MODE, CUDNN_OF_HEURISTIC_MODE, 1, &mode, what);
    finalise(graph, at, what);
    for (int i = 0; i < CUDNN_GRAPH_PLANS; i++)
        configs[i] = make(graph, CUDNN_ENGINE_CONFIG, what);
    if (graph->status) return 0;
    if (!is_well(graph,
                 graph->api->get(at, CUDNN_HEURISTIC_RESULTS, CUDNN_OF_DESCRIPTOR,
                                 CUDNN_GRAPH_PLANS, &count, (void *)configs),
                 what))
        return 0;
    return count < CUDNN_GRAPH_PLANS ? (int)count : CUDNN_GRAPH_PLANS;
}

/* The number by which cuDNN's documentation names an engine; -1 where it does not say. */
static int64_t engine_of(struct cudnn_graph *graph, void *config)
{
    int64_t index = -1, count;
    void *engine = make(graph, CUDNN_ENGINE, "an engine");
    if (!engine ||
        graph->api->get(config, CUDNN_CONFIG_ENGINE, CUDNN_OF_DESCRIPTOR, 1, &count, &engine) ||
        graph->api->get(engine, CUDNN_ENGINE_INDEX, CUDNN_OF_INT64, 1, &count, &index))
        return -1;
    return index;
}

/* False where cuDNN refuses the configuration, which it often does only here. */
static bool make_plan(struct cudnn_graph *graph, void *config, struct cudnn_plan *plan)
{
    const char *what = "a plan";
    int64_t count;
    void *at = plan->descriptor = make(graph, CUDNN_PLAN, what);
    set(graph, at, CUDNN_PLAN_HANDLE, CUDNN_OF_HANDLE, 1, &graph->handle, what);
    set_descriptor(graph, at, CUDNN_PLAN_CONFIG, config, what);
    finalise(graph, at, what);
    if (graph->status) return false;
    plan->engine = engine_of(graph, config);
    return is_well(graph,
                   graph->api->get(at, CUDNN_PLAN_WORKSPACE, CUDNN_OF_INT64, 1, &count,
                                   &plan->workspace_bytes),
                   what);
}

int cudnn_graph_plans(struct cudnn_graph *graph, int64_t *workspace_bytes)
{
    void *configs[CUDNN_GRAPH_PLANS];
    void *closed = close_graph(graph);
    int listed = list_configs(graph, closed, configs), refused = ASSAY_SKIP;
    *workspace_bytes = 0;
    if (graph->status) return graph->status;
    if (listed == 0) assay_error("cuDNN has no engine for this graph");
    for (int i = 0; i < listed; i++) {
        struct cudnn_plan *plan = &graph->plans[graph->plan_count];
        if (make_plan(graph, configs[i], plan)) {
            if (plan->workspace_bytes > *workspace_bytes) *workspace_bytes = plan->workspace_bytes;
            graph->plan_count++;
        } else {
            refused = graph->status;
            graph->status = 0;
        }
    }
    return graph->plan_count > 0 ? 0 : refused;
}

/* -------------------------------------------------------------- execution -- */

int cudnn_graph_pack(struct cudnn_graph *graph, int count, const int64_t *ids, void *const *at,
                     void *workspace)
{
    const struct cudnn *api = graph->api;
    void *pack = NULL;
    if (graph->pack) api->unmake(graph->pack);
    graph->pack = NULL;
    int status = api->make(CUDNN_VARIANT_PACK, &pack);
    if (!status) status = api->set(pack, CUDNN_PACK_IDS, CUDNN_OF_INT64, count, ids);
    if (!status)
        status = api->set(pack, CUDNN_PACK_POINTERS, CUDNN_OF_POINTER, count, (const void *)at);
    if (!status)
        status =
            api->set(pack, CUDNN_PACK_WORKSPACE, CUDNN_OF_POINTER, 1, (const void *)&workspace);
    if (!status) status = api->finalise(pack);
    if (cudnn_error(api, status, "the operands")) {
        if (pack) api->unmake(pack);
        return -1;
    }
    graph->pack = pack;
    return 0;
}

int cudnn_graph_execute(const struct cudnn_graph *graph, void *stream)
{
    const struct cudnn *api = graph->api;
    int status = api->set_stream(graph->handle, stream);
    if (!status) status = api->execute(graph->handle, graph->plan->descriptor, graph->pack);
    return cudnn_error(api, status, "cudnnBackendExecute") ? -1 : 0;
}

int cudnn_graph_choose(struct cudnn_graph *graph, const struct cuda_work *launch,
                       struct assay_call *call)
{
    const struct cudnn_plan *fastest = NULL;
    struct cuda_trial timer;
    double least_us = INFINITY;
    int status = cuda_trial_open(&timer, call);
    for (int i = 0; i < graph->plan_count && status == 0; i++) {
        graph->plan = &graph->plans[i];
        double us = cuda_trial_us(&timer, launch, least_us);
        if (us < least_us) least_us = us, fastest = graph->plan;
    }
    cuda_trial_close(&timer);
    if (status) return status;
    if (!fastest) return -1; /* the last one's error */
    graph->plan = fastest;
    snprintf(call->note, sizeof call->note, "engine %lld, the fastest of %d plans",
             (long long)fastest->engine, graph->plan_count);
    return 0;
}
