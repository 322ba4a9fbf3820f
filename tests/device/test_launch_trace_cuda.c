/*
 * test_launch_trace_cuda.c - the calls of programs that are played, and what is traced of them: a
 * program that does the same at other addresses has the same fingerprint, and one that was changed
 * in one thing another. Needs ptxas for its kernels, and no GPU.
 */
#include "tests/device/played_program.h"

#include "judge/proof.h"

static struct fingerprint played(const struct program *program, struct rng *rng)
{
    struct case_id id = {.place = ASSAY_CUDA};
    struct fingerprint print;
    settle_world(program, rng);
    struct launch_trace *trace = launch_trace_new(find_range, plain_word, find_name);
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

TEST(every_change_is_told_from_the_same)
{
    static struct program program, changed;
    char why[ASSAY_MAX_REASON];
    struct rng rng;
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

int main(void)
{
    if (make_cubins() != 0) return 1;
    int failed = test_main(NULL, NULL);
    free_cubins();
    return failed;
}
