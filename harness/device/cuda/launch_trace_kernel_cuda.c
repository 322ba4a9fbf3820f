/* launch_trace_kernel_cuda.c - the launch of a kernel, with all that it hands over. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/host_words.h"
#include "device/cuda/launch_trace_parts.h"

struct launch {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **parameters, **extra;
    const CUlaunchAttribute *attributes;
    unsigned attribute_count;
    bool is_cooperative;
};

int trace_attribute_bytes(CUlaunchAttributeID id)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
        return 0;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return (int)sizeof(CUaccessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return 3 * (int)sizeof(unsigned);
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return (int)sizeof(int);
    default:
        return -1;
    }
}

/* In words where it is a cluster, which is what people change. */
static uint64_t attributes_hash(struct launch_trace *trace, const struct launch *launch,
                                char cluster[48])
{
    uint64_t sum = 0;
    snprintf(cluster, 48, "none");
    for (unsigned i = 0; i < launch->attribute_count; i++) {
        const CUlaunchAttribute *one = &launch->attributes[i];
        int bytes = trace_attribute_bytes(one->id);
        if (bytes < 0) trace_acts_doubt(trace->acts, "it launches with attribute %d", (int)one->id);
        if (bytes <= 0) continue;
        struct code_hash value = trace_bytes(trace->acts, &one->value, (size_t)bytes);
        const uint64_t parts[] = {(uint64_t)one->id, value.word[0], value.word[1]};
        sum += code_hash_of(parts, sizeof parts).word[0];
        if (one->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            snprintf(cluster, 48, "%u %u %u", one->value.clusterDim.x, one->value.clusterDim.y,
                     one->value.clusterDim.z);
    }
    return sum + (launch->is_cooperative ? 1 : 0);
}

/* The form of one buffer for all: sizes and pointers in a list. */
static struct code_hash extra_hash(struct launch_trace *trace, void **extra)
{
    const void *bytes = NULL;
    size_t size = 0;
    for (int i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            bytes = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            memcpy(&size, extra[i + 1], sizeof size);
        else
            break;
    }
    if (!bytes) trace_acts_doubt(trace->acts, "it hands over arguments in an unknown form");
    return trace_bytes(trace->acts, bytes, bytes ? size : 0);
}

static struct code_hash arguments_hash(struct launch_trace *trace, const struct launch *launch,
                                       const struct module_kernel *kernel, const char *name)
{
    struct code_hash hash = {{0, 0}};
    if (launch->extra && !launch->parameters) return extra_hash(trace, launch->extra);
    if (kernel->parameters < 0 || kernel->parameters >= KERNEL_MAX_PARAMETERS) {
        trace_acts_doubt(trace->acts, "the parameters of a kernel are not known");
        return hash;
    }
    for (int i = 0; i < kernel->parameters; i++) {
        int unset = host_words_unset(name, kernel->parameter_bytes[i]);
        struct code_hash one = trace_bytes(trace->acts, (const char *)launch->parameters[i] + unset,
                                           (size_t)(kernel->parameter_bytes[i] - unset));
        code_hash_add(&hash, &one, sizeof one);
    }
    return hash;
}

static void see_launch(struct launch_trace *trace, const struct launch *launch, const char *name)
{
    enum { SHOWN = 64 };
    struct trace_acts *acts = trace->acts;
    struct module_kernel kernel;
    char plain[SHOWN], cluster[48];
    if (!name || module_set_find(trace->modules, name, &kernel) != 0 || kernel.modules == 0) {
        trace_acts_kernels(acts, 1);
        trace_acts_doubt(acts, "the machine code of %.80s was not seen", name ? name : "a kernel");
        return;
    }
    cubin_plain_local(name, plain, sizeof plain);
    struct code_hash arguments = arguments_hash(trace, launch, &kernel, name);
    uint64_t attributes = attributes_hash(trace, launch, cluster);
    uint64_t settings = trace_settings(acts, launch_trace_key(trace, name)) +
                        3 * trace_settings(acts, launch->stream) + 5 * trace_settings(acts, NULL);
    trace_acts_kernels(acts, 1);
    trace_act(acts,
              "kernel %s; grid %u %u %u; block %u %u %u; shared %u; cluster %s; code %016" PRIx64
              "%016" PRIx64 "; arguments %016" PRIx64 "; attributes %016" PRIx64
              "; settings %016" PRIx64 "; stream %d",
              plain, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
              launch->block[1], launch->block[2], launch->shared_bytes, cluster,
              kernel.code.word[0], kernel.code.word[1], arguments.word[0], attributes, settings,
              trace_handle(acts, launch->stream));
}

static struct launch launch_of(const struct launch_call *call)
{
    struct launch launch = {.function = call->function,
                            .shared_bytes = call->shared_bytes,
                            .stream = call->stream,
                            .parameters = call->parameters};
    memcpy(launch.grid, call->grid, sizeof launch.grid);
    memcpy(launch.block, call->block, sizeof launch.block);
    return launch;
}

void trace_kernel(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct launch_call *call = seen->parameters;
    struct launch launch = launch_of(call);
    launch.extra = call->extra;
    see_launch(trace, &launch, seen->kernel);
}

void trace_cooperative(struct launch_trace *trace, const struct seen_call *seen)
{
    struct launch launch = launch_of(seen->parameters);
    launch.is_cooperative = true;
    see_launch(trace, &launch, seen->kernel);
}

void trace_kernel_ex(struct launch_trace *trace, const struct seen_call *seen)
{
    const struct launch_ex_call *call = seen->parameters;
    const CUlaunchConfig *config = call->config;
    const struct launch launch = {
        .function = call->function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .stream = config->hStream,
        .parameters = call->parameters,
        .extra = call->extra,
        .attributes = config->attrs,
        .attribute_count = config->attrs ? config->numAttrs : 0};
    see_launch(trace, &launch, seen->kernel);
}
