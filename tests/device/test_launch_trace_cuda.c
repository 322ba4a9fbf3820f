/*
 * test_launch_trace_cuda.c - the calls of programs that are played, and what is traced of them: a
 * program that does the same at other addresses has the same fingerprint, and one that was changed
 * in one thing another. Needs ptxas for its kernels, and no GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/temp_folder.h"
#include "device/cuda/driver_calls.h"
#include "device/cuda/launch_trace.h"
#include "judge/proof.h"

enum { ALLOCATIONS = 5, STEPS = 8, SCALARS = 2, POINTERS = 2, KERNELS = 2, STREAMS = 3 };

/* ----------------------------------------------------------------- worlds -- */

/* Where things lie in a process: differs from one to the next. */
struct world {
    uint64_t begin[ALLOCATIONS];
    uint64_t bytes[ALLOCATIONS];
    bool on_host[ALLOCATIONS];
    char handles[64]; /* their addresses are handles */
};
static struct world world;

static bool find_range(uint64_t address, struct trace_range *range)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (address - world.begin[i] < world.bytes[i]) {
            *range = (struct trace_range){world.begin[i], world.bytes[i], world.on_host[i]};
            return true;
        }
    return false;
}

static char handles_of_kernels[2]; /* by which they are set, and not launched */

static const char *find_name(const void *handle, bool is_kernel)
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

static struct step drawn_step(struct rng *rng)
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

static void draw_program(struct program *program, struct rng *rng)
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

static void *handle(unsigned number)
{
    return &world.handles[number];
}

static void call(struct launch_trace *trace, const char *name, const void *parameters,
                 const char *kernel)
{
    launch_trace_call(trace, name, false, parameters, kernel);
    launch_trace_call(trace, name, true, parameters, kernel);
}

static void play_launch(struct launch_trace *trace, const struct step *step)
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

static void play_graph(struct launch_trace *trace, const struct step *step)
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

static void play_copy(struct launch_trace *trace, const struct step *step)
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

static void play_step(struct launch_trace *trace, const struct step *step)
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
static int kernels_of(const struct step *steps, int count)
{
    int kernels = 0;
    for (int i = 0; i < count; i++)
        kernels += steps[i].kind <= COOPERATIVE || steps[i].kind == GRAPH;
    return kernels;
}

static void settle_world(const struct program *program, struct rng *rng)
{
    uint64_t at = (uint64_t)(2 + rng_next(rng) % 100) << 33;
    for (int i = 0; i < ALLOCATIONS; i++) {
        at += 512 * (1 + rng_next(rng) % 1000);
        world.begin[i] = at + program->misaligned[i];
        world.bytes[i] = program->bytes[i];
        world.on_host[i] = false;
        at = (world.begin[i] + world.bytes[i] + 511) / 512 * 512;
    }
}

static struct fingerprint played(const struct program *program, struct rng *rng)
{
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    settle_world(program, rng);
    struct launch_trace *trace = launch_trace_new(find_range, find_name);
    assert_non_null(trace);
    for (int i = 0; i < KERNELS; i++)
        launch_trace_module(trace, cubin[i][program->module[i]], cubin_size[i][program->module[i]]);
    struct function_call setting = {(CUfunction)&handles_of_kernels[0], 8, program->setting};
    struct kernel_call last = {9, program->setting_of_the_last, (CUkernel)&handles_of_kernels[1]};
    struct function_call unknown = {handle(60), 8, program->setting_of_nobody_known};
    struct limit_call limit = {2, program->limit};
    call(trace, "cuFuncSetAttribute", &setting, NULL);
    call(trace, "cuKernelSetAttribute", &last, NULL);
    if (program->setting_of_nobody_known) call(trace, "cuFuncSetAttribute", &unknown, NULL);
    call(trace, "cuCtxSetLimit", &limit, NULL);
    fingerprint_begin(&print, &id);
    struct trace_acts *acts = launch_trace_acts(trace);
    trace_acts_step(acts, TRACE_SETUP, 0, &print);
    call(trace, "cuMemAlloc_v2", NULL, NULL);
    for (int i = 0; i < program->setup_count; i++)
        play_step(trace, &program->setup[i]);
    trace_acts_step(acts, TRACE_LAUNCH, kernels_of(program->setup, program->setup_count), &print);
    for (int i = 0; i < program->launch_count; i++)
        play_step(trace, &program->launch[i]);
    call(trace, "cuCtxSynchronize", NULL, NULL);
    trace_acts_step(acts, TRACE_END, kernels_of(program->launch, program->launch_count), &print);
    fingerprint_end(&print);
    launch_trace_free(trace);
    return print;
}

/* -------------------------------------------------------------- mutations -- */

/* A step that is played, of a kind that has what is to be changed: the first launch. */
static void other_grid(struct program *p)
{
    p->launch[0].grid[0]++;
}
static void other_grid_y(struct program *p)
{
    p->launch[0].grid[1]++;
}
static void other_block(struct program *p)
{
    p->launch[0].block[0] += 32;
}
static void other_shared(struct program *p)
{
    p->launch[0].shared += 16;
}
/* Streams are told by their order: whether the first and the last launch share one. */
static void other_stream(struct program *p)
{
    struct step *first = &p->launch[0], *last = &p->launch[p->launch_count - 1];
    last->stream = last->stream == first->stream ? first->stream + 1 : first->stream;
}
static void other_scalar(struct program *p)
{
    p->launch[0].scalar[1]++;
}
static void other_offset(struct program *p)
{
    p->launch[0].offset[0] += 16;
}
static void other_alignment(struct program *p)
{
    p->misaligned[p->launch[0].pointer[0]] = 128;
}
static void other_size(struct program *p)
{
    p->bytes[p->launch[0].pointer[1]] += 512;
}
static void other_code(struct program *p)
{
    p->module[0] ^= 1;
}
static void other_code_of_the_last(struct program *p)
{
    p->module[1] ^= 1;
}
static void other_kernel(struct program *p)
{
    p->launch[0].kernel = 1;
}
static void other_cluster(struct program *p)
{
    p->launch[p->launch_count - 1].cluster += 1;
}
static void other_setting(struct program *p)
{
    p->setting++;
}
static void other_setting_of_the_last(struct program *p)
{
    p->setting_of_the_last++;
}
static void setting_of_nobody_known(struct program *p)
{
    p->setting_of_nobody_known++;
}
static void other_limit(struct program *p)
{
    p->limit += 1024;
}
static void plain_is_cooperative(struct program *p)
{
    p->launch[0].kind = COOPERATIVE;
}
static void plain_is_a_graph(struct program *p)
{
    p->launch[0].kind = GRAPH;
}
static void one_launch_less(struct program *p)
{
    p->launch_count--;
}
static void one_step_less_in_setup(struct program *p)
{
    p->setup_count--;
}
static void other_content(struct program *p)
{
    p->setup[0].kind = COPY_IN;
    p->setup[0].content++;
}

static void (*const mutations[])(struct program *p) = {other_grid,
                                                       other_grid_y,
                                                       other_block,
                                                       other_shared,
                                                       other_stream,
                                                       other_scalar,
                                                       other_offset,
                                                       other_alignment,
                                                       other_size,
                                                       other_code,
                                                       other_code_of_the_last,
                                                       other_kernel,
                                                       other_cluster,
                                                       other_setting,
                                                       other_setting_of_the_last,
                                                       setting_of_nobody_known,
                                                       other_limit,
                                                       plain_is_cooperative,
                                                       plain_is_a_graph,
                                                       one_launch_less,
                                                       one_step_less_in_setup,
                                                       other_content};
enum { MUTATIONS = sizeof mutations / sizeof mutations[0] };

static void every_change_is_told_from_the_same(void **state)
{
    static struct program program, changed;
    char why[ASSAY_MAX_REASON];
    struct rng rng;
    (void)state;
    if (!cubin[0][0]) skip();
    rng_seed(&rng, 5);
    for (int i = 0; i < 30 * MUTATIONS; i++) {
        draw_program(&program, &rng);
        changed = program;
        mutations[i % MUTATIONS](&changed);
        struct fingerprint base = played(&program, &rng), again = played(&program, &rng);
        struct fingerprint candidate = played(&changed, &rng);
        assert_string_equal(base.unknown, "");
        if (!proof_holds(&base, &again, why)) fail_msg("%d: the same: %s", i, why);
        if (proof_holds(&base, &candidate, why)) fail_msg("mutation %d is not seen", i % MUTATIONS);
    }
}

/* ------------------------------------------------------------ what is not known -- */

/* A program whose one launch is followed by calls; its fingerprint. */
static struct fingerprint with_call(const char *name, const void *parameters, bool in_setup,
                                    int kernels)
{
    struct program program;
    struct rng rng;
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    rng_seed(&rng, 9);
    draw_program(&program, &rng);
    settle_world(&program, &rng);
    struct launch_trace *trace = launch_trace_new(find_range, find_name);
    struct trace_acts *acts = launch_trace_acts(trace);
    launch_trace_module(trace, cubin[0][0], cubin_size[0][0]);
    fingerprint_begin(&print, &id);
    trace_acts_step(acts, TRACE_SETUP, 0, &print);
    if (in_setup && name) call(trace, name, parameters, NULL);
    trace_acts_step(acts, TRACE_LAUNCH, 0, &print);
    play_step(trace, &program.launch[0]);
    if (!in_setup && name) call(trace, name, parameters, NULL);
    if (!in_setup && name) play_step(trace, &program.launch[0]);
    trace_acts_step(acts, TRACE_END, kernels, &print);
    fingerprint_end(&print);
    launch_trace_free(trace);
    return print;
}

/* More than the host enqueues ahead: its speed is part of the time. */
static void many_launches_need_the_program(void **state)
{
    static const int counts[] = {100, 101};
    (void)state;
    if (!cubin[0][0]) skip();
    for (int i = 0; i < 2; i++) {
        struct case_id id = {.place = ASSAY_CUDA};
        struct fingerprint print;
        struct program program;
        struct rng rng;
        rng_seed(&rng, 9);
        draw_program(&program, &rng);
        settle_world(&program, &rng);
        struct launch_trace *trace = launch_trace_new(find_range, find_name);
        struct trace_acts *acts = launch_trace_acts(trace);
        launch_trace_module(trace, cubin[0][0], cubin_size[0][0]);
        fingerprint_begin(&print, &id);
        trace_acts_step(acts, TRACE_SETUP, 0, &print);
        trace_acts_step(acts, TRACE_LAUNCH, 0, &print);
        for (int k = 0; k < counts[i]; k++)
            play_step(trace, &program.launch[0]);
        trace_acts_step(acts, TRACE_END, counts[i], &print);
        assert_int_equal(print.needs_program, i == 1);
        assert_string_equal(print.unknown, "");
        launch_trace_free(trace);
    }
}

static void what_is_not_followed_is_in_doubt(void **state)
{
    (void)state;
    if (!cubin[0][0]) skip();
    assert_string_equal(with_call(NULL, NULL, false, 1).unknown, "");
    assert_string_equal(with_call("cuGraphAddKernelNode_v2", NULL, true, 1).unknown,
                        "it calls cuGraphAddKernelNode_v2, which is not followed");
    assert_string_equal(with_call("cuMemcpy2DAsync_v2", NULL, true, 1).unknown,
                        "it calls cuMemcpy2DAsync_v2, which is not followed");
    assert_string_equal(with_call("cuNotThereYet", NULL, true, 1).unknown,
                        "it calls cuNotThereYet, which is not followed");
    assert_string_equal(with_call("cuMemGetInfo_v2", NULL, true, 1).unknown, "");
    assert_string_equal(with_call("cuMemAllocAsync", NULL, true, 1).unknown, "");
    struct graph_call graph = {handle(50), NULL};
    assert_string_equal(with_call("cuGraphLaunch", &graph, true, 1).unknown,
                        "it launches a graph that was not seen captured");
    /* A kernel that ran without a call that was seen, and the other way round. */
    assert_string_equal(with_call(NULL, NULL, false, 2).unknown,
                        "launch 1 ran 2 kernels, and 1 were seen launched");
    assert_string_not_equal(with_call(NULL, NULL, false, 0).unknown, "");
}

static void a_kernel_of_no_module_is_in_doubt(void **state)
{
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    (void)state;
    struct launch_trace *trace = launch_trace_new(find_range, find_name);
    struct launch_call launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    fingerprint_begin(&print, &id);
    trace_acts_step(launch_trace_acts(trace), TRACE_SETUP, 0, &print);
    call(trace, "cuLaunchKernel", &launch, "unseen");
    trace_acts_step(launch_trace_acts(trace), TRACE_END, 1, &print);
    assert_string_equal(print.unknown, "the machine code of unseen was not seen");
    launch_trace_free(trace);
}

static void what_the_host_does_needs_the_program(void **state)
{
    (void)state;
    if (!cubin[0][0]) skip();
    assert_false(with_call(NULL, NULL, false, 1).needs_program);
    struct copy_call out = {0, world.begin[0], 64, NULL}; /* as the next world has it */
    assert_true(with_call("cuStreamSynchronize", NULL, false, 2).needs_program);
    assert_false(with_call("cuStreamSynchronize", NULL, true, 1).needs_program);
    assert_true(with_call("cuMemcpyDtoHAsync_v2", &out, false, 2).needs_program);
    /* From nowhere: not read, and in doubt. */
    struct copy_call in = {world.begin[0], 64, 64, NULL};
    assert_string_not_equal(with_call("cuMemcpyAsync", &in, false, 2).unknown, "");
    assert_string_not_equal(with_call("cuMemcpyHtoDAsync_v2", &in, false, 2).unknown, "");
    assert_true(with_call("cuEventElapsedTime", NULL, false, 2).needs_program);
    /* A setup that times candidates: what it launched for that is no part of it. */
    struct fingerprint timed = with_call("cuEventElapsedTime_v2", NULL, true, 1);
    assert_false(timed.needs_program);
    assert_string_equal(timed.unknown, "");
    assert_string_equal(timed.fact[0], "setup: chooses by time");
}

/* The host may write other bytes there until the graph is launched. */
static void a_graph_that_copies_from_the_host_needs_the_program(void **state)
{
    static const char host[64];
    CUgraph graph = handle(21);
    struct capture_call capture = {handle(20), &graph};
    struct copy_call in = {0, (uint64_t)(uintptr_t)host, sizeof host, handle(20)};
    (void)state;
    for (int captured = 0; captured < 2; captured++) {
        struct case_id id = {.place = ASSAY_CUDA};
        struct fingerprint print;
        struct launch_trace *trace = launch_trace_new(find_range, find_name);
        fingerprint_begin(&print, &id);
        trace_acts_step(launch_trace_acts(trace), TRACE_SETUP, 0, &print);
        if (captured) call(trace, "cuStreamBeginCapture_v2", &capture, NULL);
        in.to = world.begin[0];
        call(trace, "cuMemcpyHtoDAsync_v2", &in, NULL);
        if (captured) call(trace, "cuStreamEndCapture", &capture, NULL);
        trace_acts_step(launch_trace_acts(trace), TRACE_LAUNCH, 0, &print);
        trace_acts_step(launch_trace_acts(trace), TRACE_END, 0, &print);
        assert_string_equal(print.unknown, "");
        assert_int_equal(print.needs_program, captured);
        launch_trace_free(trace);
    }
}

/* ------------------------------------------------------------------- main -- */

static const char ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry %s(.param .u64 p, .param .u64 q, .param .u32 n, .param .u32 m)\n{\n"
    ".reg .u64 %%rd<3>;\n.reg .u32 %%r<3>;\nld.param.u64 %%rd1, [p];\ncvta.to.global.u64 %%rd2, "
    "%%rd1;\nld.param.u32 %%r1, [n];\nadd.u32 %%r2, %%r1, %d;\nst.global.u32 [%%rd2], "
    "%%r2;\nret;\n}\n";

static void make_cubin(const struct temp_folder *folder, int kernel, int build)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_is_told_from_the_same),
        cmocka_unit_test(many_launches_need_the_program),
        cmocka_unit_test(what_is_not_followed_is_in_doubt),
        cmocka_unit_test(a_kernel_of_no_module_is_in_doubt),
        cmocka_unit_test(what_the_host_does_needs_the_program),
        cmocka_unit_test(a_graph_that_copies_from_the_host_needs_the_program),
    };
    struct temp_folder folder;
    if (temp_folder_make(&folder, "trace") != 0) return 1;
    for (int i = 0; i < 2 * KERNELS; i++)
        make_cubin(&folder, i / 2, i % 2);
    temp_folder_remove(&folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 2 * KERNELS; i++)
        free(cubin[i / 2][i % 2]);
    return failed;
}
