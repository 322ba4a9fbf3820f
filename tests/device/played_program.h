/*
 * played_program.h - programs of made-up driver calls, and the process in which they are played for
 * a launch_trace: what the tests of it share. Their kernels need ptxas; without it cubin[0][0] is
 * NULL.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/rng.h"
#include "base/temp_folder.h"
#include "device/cuda/driver_calls.h"
#include "device/cuda/launch_trace.h"

enum { ALLOCATIONS = 5, STEPS = 8, SCALARS = 2, POINTERS = 2, KERNELS = 2, STREAMS = 3 };

/* ----------------------------------------------------------------- worlds -- */

/* Where things lie in a process: differs from one to the next. */
struct world {
    uint64_t begin[ALLOCATIONS];
    uint64_t bytes[ALLOCATIONS];
    uint64_t id[ALLOCATIONS];
    bool on_host[ALLOCATIONS];
    char handles[64]; /* their addresses are handles */
};
static struct world world;

static inline bool find_range(uint64_t address, struct trace_range *range)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (address - world.begin[i] < world.bytes[i]) {
            *range =
                (struct trace_range){world.begin[i], world.bytes[i], world.id[i], world.on_host[i]};
            return true;
        }
    return false;
}

static inline uint64_t plain_word(uint64_t word, bool *is_read)
{
    *is_read = false;
    return word;
}

static char handles_of_kernels[2]; /* by which they are set, and not launched */

static inline const char *find_name(const void *handle, bool is_kernel)
{
    if (handle == &handles_of_kernels[0] && !is_kernel) return "first";
    return handle == &handles_of_kernels[1] && is_kernel ? "second" : NULL;
}

/* ---------------------------------------------------------------- programs -- */

enum kind { LAUNCH, LAUNCH_EX, COOPERATIVE, COPY_IN, COPY_WITHIN, FILL, EVENT, WAIT, GRAPH, KINDS };

struct step {
    enum kind kind;
    int kernel;
    unsigned grid[3], block[3], shared, cluster, stream, event;
    int pointer[POINTERS]; /* allocations */
    uint64_t offset[POINTERS];
    uint32_t scalar[SCALARS];
    uint32_t content; /* of a copy */
    unsigned value;
};

/* What can be changed of a program without its doing the same. */
struct program {
    uint64_t bytes[ALLOCATIONS];
    uint64_t misaligned[ALLOCATIONS];
    int module[KERNELS];              /* which build of each kernel is loaded */
    int setting, setting_of_the_last; /* of the kernels */
    int setting_of_nobody_known;
    size_t limit;
    int setup_count, launch_count;
    struct step setup[STEPS], launch[STEPS];
};

static unsigned char *cubin[KERNELS][2];
static size_t cubin_size[KERNELS][2];
static const char *const kernel_names[KERNELS] = {"first", "second"};

static inline struct step drawn_step(struct rng *rng)
{
    struct step step = {.kind = (enum kind)(rng_next(rng) % KINDS),
                        .kernel = (int)(rng_next(rng) % KERNELS),
                        .grid = {1 + (unsigned)(rng_next(rng) % 100), 1, 1},
                        .block = {32u << rng_next(rng) % 4, 1, 1},
                        .shared = (unsigned)(rng_next(rng) % 4) * 1024,
                        .cluster = 1 + (unsigned)(rng_next(rng) % 2),
                        .stream = (unsigned)(rng_next(rng) % STREAMS),
                        .event = (unsigned)(rng_next(rng) % 4),
                        .content = (uint32_t)rng_next(rng),
                        .value = (unsigned)(rng_next(rng) % 256)};
    for (int i = 0; i < POINTERS; i++) {
        step.pointer[i] = (int)(rng_next(rng) % ALLOCATIONS);
        step.offset[i] = rng_next(rng) % 8 * 16;
    }
    for (int i = 0; i < SCALARS; i++)
        step.scalar[i] = (uint32_t)(rng_next(rng) % 1000);
    return step;
}

static inline void draw_program(struct program *program, struct rng *rng)
{
    *program = (struct program){.limit = rng_next(rng) % 2 * 4096};
    for (int i = 0; i < ALLOCATIONS; i++)
        program->bytes[i] = 4096 * (1 + rng_next(rng) % 50);
    program->setup_count = 1 + (int)(rng_next(rng) % (STEPS - 1));
    program->launch_count = 1 + (int)(rng_next(rng) % (STEPS - 1));
    for (int i = 0; i < STEPS; i++) {
        program->setup[i] = drawn_step(rng);
        program->launch[i] = drawn_step(rng);
    }
    /* Whatever else it does it launches both kernels, so that what is changed of them counts. */
    program->launch[0].kind = LAUNCH;
    program->launch[0].kernel = 0;
    program->launch[program->launch_count].kind = LAUNCH_EX;
    program->launch[program->launch_count++].kernel = 1;
}

/* ---------------------------------------------------------------- playing -- */

static inline void *handle(unsigned number)
{
    return &world.handles[number];
}

static inline void call(struct launch_trace *trace, const char *name, const void *parameters,
                        const char *kernel)
{
    launch_trace_call(trace, name, false, parameters, kernel);
    launch_trace_call(trace, name, true, parameters, kernel);
}

static inline void play_launch(struct launch_trace *trace, const struct step *step)
{
    uint64_t pointer[POINTERS];
    uint32_t scalar[SCALARS];
    void *arguments[POINTERS + SCALARS];
    for (int i = 0; i < POINTERS; i++) {
        pointer[i] = world.begin[step->pointer[i]] + step->offset[i];
        arguments[i] = &pointer[i];
    }
    for (int i = 0; i < SCALARS; i++) {
        scalar[i] = step->scalar[i];
        arguments[POINTERS + i] = &scalar[i];
    }
    const char *name = kernel_names[step->kernel];
    CUfunction function = handle(40 + (unsigned)step->kernel);
    struct launch_call plain = {.function = function,
                                .shared_bytes = step->shared,
                                .stream = handle(step->stream),
                                .parameters = arguments};
    memcpy(plain.grid, step->grid, sizeof plain.grid);
    memcpy(plain.block, step->block, sizeof plain.block);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {step->cluster, 1, 1}};
    CUlaunchConfig config = {
        step->grid[0],  step->grid[1], step->grid[2], step->block[0], step->block[1],
        step->block[2], step->shared,  plain.stream,  &attribute,     1};
    struct launch_ex_call ex = {&config, function, arguments, NULL};
    if (step->kind == LAUNCH_EX)
        call(trace, "cuLaunchKernelEx", &ex, name);
    else
        call(trace, step->kind == LAUNCH ? "cuLaunchKernel_ptsz" : "cuLaunchCooperativeKernel",
             &plain, name);
}

static inline void play_graph(struct launch_trace *trace, const struct step *step)
{
    struct capture_call capture = {handle(20), NULL};
    CUgraph graph = handle(21);
    CUgraphExec executable = handle(22);
    struct step within = *step;
    struct instantiate_call make = {&executable, graph};
    struct graph_call launch = {executable, handle(step->stream)};
    capture.made = &graph;
    within.kind = LAUNCH;
    call(trace, "cuStreamBeginCapture_v2", &capture, NULL);
    play_launch(trace, &within);
    call(trace, "cuStreamEndCapture", &capture, NULL);
    call(trace, "cuGraphInstantiateWithFlags", &make, NULL);
    call(trace, "cuGraphLaunch", &launch, NULL);
}

static inline void play_copy(struct launch_trace *trace, const struct step *step)
{
    static uint32_t host[64];
    for (int i = 0; i < 64; i++)
        host[i] = step->content + (uint32_t)i;
    struct copy_call copy = {world.begin[step->pointer[0]] + step->offset[0],
                             step->kind == COPY_IN
                                 ? (uint64_t)(uintptr_t)host
                                 : world.begin[step->pointer[1]] + step->offset[1],
                             sizeof host, handle(step->stream)};
    call(trace, step->kind == COPY_IN ? "cuMemcpyHtoDAsync_v2" : "cuMemcpyDtoDAsync_v2", &copy,
         NULL);
}

static inline void play_step(struct launch_trace *trace, const struct step *step)
{
    struct fill_call fill = {
        world.begin[step->pointer[0]], {.of_32 = step->value}, 100, handle(step->stream)};
    struct event_call event = {handle(30 + step->event), handle(step->stream)};
    struct wait_call wait = {handle(step->stream), handle(30 + step->event), 0};
    switch (step->kind) {
    case COPY_IN:
    case COPY_WITHIN:
        play_copy(trace, step);
        break;
    case FILL:
        call(trace, "cuMemsetD8Async", &fill, NULL);
        break;
    case EVENT:
        call(trace, "cuEventRecord", &event, NULL);
        break;
    case WAIT:
        call(trace, "cuStreamWaitEvent", &wait, NULL);
        break;
    case GRAPH:
        play_graph(trace, step);
        break;
    default:
        play_launch(trace, step);
    }
}

/* Kernels that the device would have recorded. */
static inline int kernels_of(const struct step *steps, int count)
{
    int kernels = 0;
    for (int i = 0; i < count; i++)
        kernels += steps[i].kind <= COOPERATIVE || steps[i].kind == GRAPH;
    return kernels;
}

static inline void settle_world(const struct program *program, struct rng *rng)
{
    uint64_t at = (uint64_t)(2 + rng_next(rng) % 100) << 33;
    for (int i = 0; i < ALLOCATIONS; i++) {
        at += 512 * (1 + rng_next(rng) % 1000);
        world.begin[i] = at + program->misaligned[i];
        world.bytes[i] = program->bytes[i];
        world.id[i] = 100 + (uint64_t)i;
        world.on_host[i] = false;
        at = (world.begin[i] + world.bytes[i] + 511) / 512 * 512;
    }
}

/* ---------------------------------------------------------------- kernels -- */

static const char ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry %s(.param .u64 p, .param .u64 q, .param .u32 n, .param .u32 m)\n{\n"
    ".reg .u64 %%rd<3>;\n.reg .u32 %%r<3>;\nld.param.u64 %%rd1, [p];\ncvta.to.global.u64 %%rd2, "
    "%%rd1;\nld.param.u32 %%r1, [n];\nadd.u32 %%r2, %%r1, %d;\nst.global.u32 [%%rd2], "
    "%%r2;\nret;\n}\n";

static inline void make_cubin(const struct temp_folder *folder, int kernel, int build)
{
    char command[6000], path[5000];
    snprintf(path, sizeof path, "%s/k.ptx", folder->path);
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, ptx, kernel_names[kernel], 1 + build);
    fclose(file);
    snprintf(
        command, sizeof command,
        "cd %s && PATH=$PATH:/usr/local/cuda/bin ptxas -arch=sm_80 -o k.cubin k.ptx 2>/dev/null",
        folder->path);
    if (system(command) != 0) return;
    snprintf(path, sizeof path, "%s/k.cubin", folder->path);
    file = fopen(path, "rb");
    cubin[kernel][build] = malloc(1 << 16);
    cubin_size[kernel][build] = fread(cubin[kernel][build], 1, 1 << 16, file);
    fclose(file);
}

static inline int make_cubins(void)
{
    struct temp_folder folder;
    if (temp_folder_make(&folder, "trace") != 0) return -1;
    for (int i = 0; i < 2 * KERNELS; i++)
        make_cubin(&folder, i / 2, i % 2);
    temp_folder_remove(&folder);
    return 0;
}

static inline void free_cubins(void)
{
    for (int i = 0; i < 2 * KERNELS; i++)
        free(cubin[i / 2][i % 2]);
}
