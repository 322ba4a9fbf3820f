#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "case/registry.h"
#include "case/twins.h"
#include "device/nvml.h"
#include "device/nvtx.h"
#include "measure/measure.h"
#include "measure/wire.h"
#include "measure/worker.h"
#include "object/object.h"

struct worker {
    const char *const *objects; /* files, loaded before the device is opened */
    int object_count;
    int socket, most_threads;
    struct board *board;
    const struct device_ops *ops;
    struct device *device;
};

/* ----------------------------------------------------------- the process -- */

/* It dies with its parent, leaves the signals that end a run to it, and dumps no core. */
static void settle_process(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    /* Output of a variant must not mix with the results on standard output. */
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) close(STDOUT_FILENO);
}

/* On the host a variant that allocates too much must fail before the machine runs out of
 * memory. CUDA and the sanitizers reserve far more address space than there is memory, so
 * the limit is only set for the host device without sanitizers. */
static void limit_memory(const struct worker *worker)
{
#if !defined(__SANITIZE_ADDRESS__)
    if (strcmp(worker->ops->name, "host") != 0) return;
    rlim_t bytes = (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE) / 10 * 9;
    struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)worker;
#endif
}

/* --------------------------------------------------------------- messages -- */

static void send_broken(struct worker *worker, int index, const char *reason)
{
    struct measure_outcome outcome = {.broken = true, .culprit = index};
    snprintf(outcome.reason, sizeof outcome.reason, "%s", reason);
    wire_send(worker->socket, WIRE_BROKEN, &outcome, sizeof outcome);
}

static int open_device(struct worker *worker, const struct wire_open *request)
{
    struct device_options options = request->options;
    options.spec = request->spec;
    if (objects_load_again(worker->objects, worker->object_count) < 0 ||
        device_open(&options, &worker->ops, &worker->device) < 0) {
        const char *why = assay_last_error();
        wire_send(worker->socket, WIRE_FAILED, why, strlen(why));
        return -1;
    }
    limit_memory(worker);
    struct device_info info;
    worker->ops->describe(worker->device, &info);
    return wire_send(worker->socket, WIRE_READY, &info, sizeof info);
}

static int send_state(struct worker *worker)
{
    struct device_state state;
    struct device_info info;
    worker->ops->state(worker->device, &state);
    /* Asked for here alone: it takes longer than all else that is read of a GPU. */
    int processes = nvml_processes();
    if (processes >= 0) state.other_processes = processes > 0 ? processes - 1 : 0;
    worker->ops->describe(worker->device, &info);
    registry_libraries((enum assay_place)info.place, state.library, sizeof state.library);
    return wire_send(worker->socket, WIRE_STATE, &state, sizeof state);
}

/* Of one operation; a group has some of them. */
enum { MOST_VARIANTS = 1024 };

static const struct assay_variant *find_variant(const char *operation, const char *name,
                                                enum assay_place place)
{
    const struct assay_variant *list[MOST_VARIANTS];
    char plain[ASSAY_MAX_NAME];
    if (twin_split(name, plain) >= 0) return twins_named(operation, name, place);
    int count = registry_variants(operation, list, MOST_VARIANTS);
    for (int i = 0; i < count; i++)
        if (list[i]->place == place && strcmp(list[i]->name, name) == 0) return list[i];
    return NULL;
}

/* Find what the names of the group name, in place of the sender's pointers. */
static int read_request(struct worker *worker, struct wire_group *group)
{
    struct measure_request *request = &group->request;
    struct device_info info;
    worker->ops->describe(worker->device, &info);
    request->profiles = NULL;
    int threads = worker->most_threads;
    if (group->threads > 0 && group->threads < threads) threads = group->threads;
    if (threads != omp_get_max_threads()) omp_set_num_threads(threads);
    request->prints = NULL;
    request->shape.operation = registry_operation(group->operation);
    if (request->shape.operation == NULL)
        return assay_error("the worker knows no operation '%s'", group->operation);
    for (int i = 0; i < request->count; i++) {
        request->variant[i] =
            find_variant(group->operation, group->variant[i], (enum assay_place)info.place);
        if (request->variant[i] == NULL)
            return assay_error("the worker knows no variant '%s/%s'", group->operation,
                               group->variant[i]);
    }
    if (group->profile && worker->ops->profile) {
        request->profiles = calloc((size_t)request->count + 1, sizeof *request->profiles);
        if (request->profiles == NULL) return assay_error("out of host memory for profiles");
    }
    if (group->fingerprint) {
        request->prints = calloc((size_t)request->count + 1, sizeof *request->prints);
        if (request->prints == NULL) return assay_error("out of host memory for fingerprints");
    }
    return worker->ops->stage ? worker->ops->stage(worker->device, request) : 0;
}

static int send_results(struct worker *worker, const struct measure_request *request,
                        struct case_result *results)
{
    for (int i = 0; i < request->count; i++) {
        if (request->lost[i]) continue;
        struct wire_case message = {.index = i, .result = results[i]};
        if (request->profiles && request->profiles[i].activities > 0)
            message.profile = &request->profiles[i];
        if (request->prints && request->prints[i].count > 0) message.print = &request->prints[i];
        if (wire_send_case(worker->socket, &message) < 0) return -1;
    }
    return wire_send(worker->socket, WIRE_DONE, NULL, 0);
}

/* The buffers of the group could not be allocated: its cases are skipped with the reason. */
static int send_skipped(struct worker *worker, const struct measure_request *request,
                        struct case_result *results)
{
    char why[ASSAY_MAX_REASON];
    snprintf(why, sizeof why, "%s", assay_last_error());
    for (int i = 0; i < request->count; i++) {
        results[i].status = STATUS_SKIPPED;
        snprintf(results[i].reason, sizeof results[i].reason, "%s", why);
    }
    return send_results(worker, request, results);
}

static int serve_group(struct worker *worker, struct wire_group *group)
{
    struct measure_request *request = &group->request;
    struct case_result *results = malloc(((size_t)request->count + 1) * sizeof *results);
    struct measure_outcome outcome;
    int status = -1;
    if (results == NULL) {
        send_broken(worker, -1, "out of host memory for a group");
        return -1;
    }
    for (int i = 0; i < request->count; i++)
        result_init(&results[i]);
    if (read_request(worker, group) < 0)
        send_broken(worker, -1, assay_last_error());
    else if (measure_group(worker->ops, worker->device, worker->board, request, results, &outcome))
        status = send_skipped(worker, request, results);
    else if (outcome.broken)
        send_broken(worker, outcome.culprit, outcome.reason);
    else
        status = send_results(worker, request, results);

    for (int i = 0; i < request->count; i++)
        samples_release(&results[i].samples);
    free(results);
    free(request->profiles);
    free(request->prints);
    return status;
}

/* 1: go on; 0: told to quit; -1: cannot continue. */
static int serve_one(struct worker *worker, enum wire_type type, void *data, size_t bytes)
{
    switch (type) {
    case WIRE_OPEN:
        if (bytes != sizeof(struct wire_open) || open_device(worker, data) < 0) return -1;
        return send_state(worker) < 0 ? -1 : 1;
    case WIRE_GROUP:
        if (bytes != sizeof(struct wire_group) || serve_group(worker, data) < 0) return -1;
        return 1;
    case WIRE_LOOK:
        return send_state(worker) < 0 ? -1 : 1;
    case WIRE_QUIT:
        return send_state(worker) < 0 ? -1 : 0;
    default:
        return -1;
    }
}

int cmd_worker(int argc, char **argv)
{
    struct worker worker = {.socket = WORKER_SOCKET,
                            .objects = (const char *const *)argv + 1,
                            .object_count = argc - 1,
                            .most_threads = omp_get_max_threads()};
    settle_process();
    worker.board =
        mmap(NULL, sizeof *worker.board, PROT_READ | PROT_WRITE, MAP_SHARED, WORKER_BOARD, 0);
    if (worker.board == MAP_FAILED) return EXIT_USAGE;

    int go_on = 1;
    nvtx_push(NVTX_RUN, "run");
    while (go_on > 0) {
        enum wire_type type;
        void *data;
        size_t bytes;
        if (wire_receive(WORKER_SOCKET, &type, &data, &bytes) < 0) break; /* the parent is gone */
        go_on = serve_one(&worker, type, data, bytes);
        free(data);
    }
    nvtx_pop();
    /* A broken device is not closed, because that could hang. */
    if (go_on >= 0 && worker.device) worker.ops->close(worker.device);
    return go_on == 0 ? EXIT_FINE : EXIT_LOST;
}
