/*
 * test_launch_doubts_cuda.c - what a trace of launches cannot follow, and what it finds that the
 * machine code alone does not settle. Needs ptxas for its kernels, and no GPU.
 */
#include <math.h>

#include "tests/device/played_program.h"

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
    struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
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
TEST(many_launches_need_the_program)
{
    static const int counts[] = {100, 101};
    if (!cubin[0][0]) skip();
    for (int i = 0; i < 2; i++) {
        struct case_id id = {.place = ASSAY_CUDA};
        struct fingerprint print;
        struct program program;
        struct rng rng;
        rng_seed(&rng, 9);
        draw_program(&program, &rng);
        settle_world(&program, &rng);
        struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
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

TEST(what_is_not_followed_is_in_doubt)
{
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

TEST(a_kernel_of_no_module_is_in_doubt)
{
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
    struct launch_call launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    fingerprint_begin(&print, &id);
    trace_acts_step(launch_trace_acts(trace), TRACE_SETUP, 0, &print);
    call(trace, "cuLaunchKernel", &launch, "unseen");
    trace_acts_step(launch_trace_acts(trace), TRACE_END, 1, &print);
    assert_string_equal(print.unknown, "the machine code of unseen was not seen");
    launch_trace_free(trace);
}

TEST(what_the_host_does_needs_the_program)
{
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
    float ms = 0.25F;
    struct elapsed_call elapsed = {&ms, handle(30), handle(31)};
    assert_true(with_call("cuEventElapsedTime", &elapsed, false, 2).needs_program);
    assert_true(ms == 0.25F);
}

enum { CANDIDATES = 3, TRIALS = 2 };

/* A setup that launches candidates twice each, and takes the first of the shortest time for the one
 * launch; how long each took. */
static struct fingerprint with_trials(const struct program candidate[CANDIDATES],
                                      const float took_ms[CANDIDATES], int *chosen)
{
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
    struct trace_acts *acts = launch_trace_acts(trace);
    float least_ms = INFINITY;
    launch_trace_module(trace, cubin[0][0], cubin_size[0][0]);
    fingerprint_begin(&print, &id);
    trace_acts_step(acts, TRACE_SETUP, 0, &print);
    for (int i = 0; i < CANDIDATES; i++) {
        for (int k = 0; k < TRIALS; k++) {
            float ms = took_ms[i];
            const struct elapsed_call elapsed = {&ms, handle(30), handle(31)};
            play_step(trace, &candidate[i].launch[0]);
            call(trace, "cuEventElapsedTime_v2", &elapsed, NULL);
            if (ms < least_ms) least_ms = ms, *chosen = i;
        }
    }
    trace_acts_step(acts, TRACE_LAUNCH, CANDIDATES * TRIALS, &print);
    play_step(trace, &candidate[*chosen].launch[0]);
    trace_acts_step(acts, TRACE_END, 1, &print);
    fingerprint_end(&print);
    launch_trace_free(trace);
    assert_string_equal(print.unknown, "");
    assert_false(print.needs_program);
    return print;
}

/* Whatever the times are, two programs choose alike and are alike; one whose candidates differ is
 * not, also where the other one is chosen. */
TEST(a_setup_that_times_candidates_chooses_alike_in_each_process)
{
    static const float took_ms[][CANDIDATES] = {{3, 1, 2}, {1, 2, 3}, {2, 3, 1}};
    struct program candidate[CANDIDATES];
    struct rng rng;
    int first = -1, chosen = -1;
    if (!cubin[0][0]) skip();
    rng_seed(&rng, 9);
    draw_program(&candidate[0], &rng);
    settle_world(&candidate[0], &rng);
    for (int i = 1; i < CANDIDATES; i++) {
        candidate[i] = candidate[0];
        candidate[i].launch[0].grid[0] += (unsigned)i;
    }
    struct fingerprint base = with_trials(candidate, took_ms[0], &first);
    assert_int_equal(first, 0);
    for (int i = 1; i < 3; i++) {
        assert_string_equal(with_trials(candidate, took_ms[i], &chosen).hash, base.hash);
        assert_int_equal(chosen, first);
    }
    candidate[2].launch[0].grid[0]++;
    struct fingerprint other = with_trials(candidate, took_ms[0], &chosen);
    assert_string_not_equal(other.hash, base.hash);
    assert_int_equal(strncmp(other.fact[other.count - 1], "trials of the setup: steps 6; ", 30), 0);
}

/* A launch with an allocation, and one with another that was made meanwhile: also after the first
 * was freed, when it may be at the same address. Both launches wait for an event of their own. */
static struct fingerprint with_memory(bool is_new, bool is_at_the_same_address)
{
    struct program program;
    struct rng rng;
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    rng_seed(&rng, 9);
    draw_program(&program, &rng);
    settle_world(&program, &rng);
    struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
    launch_trace_module(trace, cubin[0][0], cubin_size[0][0]);
    fingerprint_begin(&print, &id);
    trace_acts_step(launch_trace_acts(trace), TRACE_SETUP, 0, &print);
    for (int i = 0; i < 2; i++) {
        struct event_call event = {handle(is_at_the_same_address ? 30 : 30 + (unsigned)i),
                                   handle(0)};
        struct destroy_call gone = {event.event};
        play_step(trace, &program.launch[0]);
        call(trace, "cuEventRecord", &event, NULL);
        if (is_new) call(trace, "cuEventDestroy_v2", &gone, NULL);
        if (is_new) world.id[program.launch[0].pointer[0]] += 100;
        if (!is_at_the_same_address) world.begin[program.launch[0].pointer[0]] += (uint64_t)1 << 30;
    }
    trace_acts_step(launch_trace_acts(trace), TRACE_LAUNCH, 2, &print);
    trace_acts_step(launch_trace_acts(trace), TRACE_END, 0, &print);
    fingerprint_end(&print);
    launch_trace_free(trace);
    return print;
}

TEST(what_is_made_where_another_was_is_another)
{
    if (!cubin[0][0]) skip();
    struct fingerprint there = with_memory(true, true), elsewhere = with_memory(true, false);
    struct fingerprint kept = with_memory(false, true);
    assert_string_equal(there.unknown, "");
    assert_string_equal(there.hash, elsewhere.hash);
    assert_string_not_equal(there.hash, kept.hash);
}

/* The host may write other bytes there until the graph is launched. */
TEST(a_graph_that_copies_from_the_host_needs_the_program)
{
    static const char host[64];
    CUgraph graph = handle(21);
    struct capture_call capture = {handle(20), &graph};
    struct copy_call in = {0, (uint64_t)(uintptr_t)host, sizeof host, handle(20)};
    for (int captured = 0; captured < 2; captured++) {
        struct case_id id = {.place = ASSAY_CUDA};
        struct fingerprint print;
        struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
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

int main(void)
{
    if (make_cubins() != 0) return 1;
    int failed = test_main(NULL, NULL);
    free_cubins();
    return failed;
}
