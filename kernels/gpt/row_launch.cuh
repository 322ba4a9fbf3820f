/*
 * row_launch.cuh - how the kernels of row.cuh are launched: how a row is divided among lanes, warps
 * and blocks, by rule or measured in setup, and the functions of the variants.
 */
#pragma once

#include <stdlib.h>

#include "row.cuh"

enum { ROW_ARGS_BYTES = 96, ROW_KERNELS = 4 }; /* with 1, 2, 4 and 8 pieces per lane */

/* A call as the kernels see it. */
struct row_job {
    int64_t rows, columns;
    int pieces;     /* of a row, at most */
    int part_bytes; /* of what a warp tells the others */
    const void *registers[ROW_KERNELS], *stream, *naive;
    char args[ROW_ARGS_BYTES]; /* their first argument */
};

template <class OP>
static inline void row_job_init(struct row_job *job, const typename OP::args &args)
{
    static_assert(sizeof args <= ROW_ARGS_BYTES, "the argument fits");
    const int width = row_piece<typename OP::element>::WIDTH;
    *job = (struct row_job){};
    job->rows = args.rows;
    job->columns = args.columns;
    job->pieces = args.columns / width > 0 ? args.columns / width : 1;
    job->part_bytes = sizeof(typename OP::part);
    job->registers[0] = (const void *)row_registers<OP, 1>;
    job->registers[1] = (const void *)row_registers<OP, 2>;
    job->registers[2] = (const void *)row_registers<OP, 4>;
    job->registers[3] = (const void *)row_registers<OP, 8>;
    job->stream = (const void *)row_stream<OP>;
    if constexpr (!OP::ADDS) job->naive = (const void *)row_naive<OP>; /* layernorm has its own */
    memcpy(job->args, &args, sizeof args);
}

/* How one launch divides its rows. */
struct row_plan {
    const void *kernel;
    struct row_team team;
    unsigned blocks;
    int threads, shared_bytes;
    int lane_pieces; /* 0: streamed */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Each fills `plan` and returns NULL, or why these rows cannot be divided so. */
const char *row_plan_naive(const struct row_job *job, struct row_plan *plan);
const char *row_plan_stream(const struct row_job *job, struct row_plan *plan);
const char *row_plan_block(const struct row_job *job, struct row_plan *plan);
const char *row_plan_cluster(const struct row_job *job, struct row_plan *plan);

/* In setup: let the plan's kernel have its clusters. 0, or -1 with assay_error. */
int row_plan_allow(const struct row_plan *plan);

/* 0, or -1 with assay_error. */
int row_plan_launch(const struct row_job *job, const struct row_plan *plan, void *stream);

/* The fastest plan of all that fit, measured as the case will be; writes the call's note. 0, -1 or
 * ASSAY_SKIP. */
int row_plan_best(const struct row_job *job, struct assay_call *call, struct row_plan *plan);

#ifdef __cplusplus
}
#endif

/* -------------------------------------------------------------- variants -- */

typedef void row_job_of(const struct assay_call *call, struct row_job *job);
typedef int row_check(struct assay_call *call);
typedef const char *row_planner(const struct row_job *job, struct row_plan *plan);

static inline int row_unchecked(struct assay_call *call)
{
    (void)call;
    return 0;
}

template <row_job_of *JOB, row_planner *PLANNER>
static const char *row_supports(const struct assay_shape *shape)
{
    struct assay_call call = {};
    struct row_job job;
    struct row_plan plan;
    call.shape = shape;
    JOB(&call, &job);
    return PLANNER(&job, &plan);
}

template <row_job_of *JOB, row_planner *PLANNER, row_check *CHECK>
static int row_setup(struct assay_call *call)
{
    struct row_job job;
    struct row_plan plan;
    JOB(call, &job);
    PLANNER(&job, &plan);
    return CHECK(call) ? -1 : row_plan_allow(&plan);
}

template <row_job_of *JOB, row_planner *PLANNER> static int row_launch(struct assay_call *call)
{
    struct row_job job;
    struct row_plan plan;
    JOB(call, &job);
    PLANNER(&job, &plan);
    return row_plan_launch(&job, &plan, call->stream);
}

template <row_job_of *JOB, row_check *CHECK> static int row_setup_best(struct assay_call *call)
{
    struct row_job job;
    if (CHECK(call)) return -1;
    call->state = malloc(sizeof(struct row_plan));
    if (!call->state) return assay_error("out of memory");
    JOB(call, &job);
    return row_plan_best(&job, call, (struct row_plan *)call->state);
}

template <row_job_of *JOB> static int row_launch_best(struct assay_call *call)
{
    struct row_job job;
    JOB(call, &job);
    return row_plan_launch(&job, (const struct row_plan *)call->state, call->stream);
}

static inline void row_teardown(struct assay_call *call)
{
    free(call->state);
    call->state = NULL;
}

/* A variant of `operation` that divides its rows by PLANNER. */
template <row_job_of *JOB, row_planner *PLANNER, row_check *CHECK = row_unchecked>
static constexpr struct assay_variant row_variant(const char *operation, const char *name,
                                                  const char *summary, int min_sm = 0)
{
    struct assay_variant variant = {};
    variant.operation = operation;
    variant.name = name;
    variant.summary = summary;
    variant.kind = ASSAY_KERNEL;
    variant.place = ASSAY_CUDA;
    variant.clock = ASSAY_CLOCK_DEVICE;
    variant.min_sm = min_sm;
    variant.supports = row_supports<JOB, PLANNER>;
    variant.setup = row_setup<JOB, PLANNER, CHECK>;
    variant.launch = row_launch<JOB, PLANNER>;
    return variant;
}

/* The one that measures in setup how to divide them. */
template <row_job_of *JOB, row_check *CHECK = row_unchecked>
static constexpr struct assay_variant row_variant_best(const char *operation, const char *name)
{
    struct assay_variant variant = {};
    variant.operation = operation;
    variant.name = name;
    variant.summary = "a row per warp, block or cluster, in registers: the fastest in setup";
    variant.kind = ASSAY_KERNEL;
    variant.place = ASSAY_CUDA;
    variant.clock = ASSAY_CLOCK_DEVICE;
    variant.setup = row_setup_best<JOB, CHECK>;
    variant.launch = row_launch_best<JOB>;
    variant.teardown = row_teardown;
    return variant;
}
