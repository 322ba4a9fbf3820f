/*
 * row_launch.cuh - how the kernels of row.cuh are launched: those of an operation as a row_job, and
 * the functions of the variants, which divide its rows (row_plan.h).
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "kernels/gpt/row/row_registers.cuh"
#include "kernels/gpt/row/row_ring.cuh"
#include "kernels/gpt/row/row_shared.cuh"
#include "kernels/gpt/row/row_stream.cuh"

/* A row that is worth a ring fills a block with 4 or 8 pieces per lane: with fewer none ever was
 * the fastest. Layernorm is without one, which was slower for every row. */
template <class OP, int PIECES> static inline void row_job_kernels(struct row_job *job, int at)
{
    job->registers[at] = (const void *)row_registers<OP, PIECES, 32>;
    if constexpr (OP::RING && PIECES >= 4) job->ring[at] = (const void *)row_ring<OP, PIECES>;
}

template <class OP>
static inline void row_job_init(struct row_job *job, const typename OP::args &args)
{
    static_assert(sizeof args <= ROW_ARGS_BYTES, "the argument fits");
    const int width = row_piece<typename OP::element>::WIDTH;
    *job = (struct row_job){};
    job->rows = args.rows;
    job->pieces = args.columns / width > 0 ? args.columns / width : 1;
    job->part_bytes = sizeof(typename OP::part);
    if constexpr (OP::RING) job->gains = OP::GAINS;
    job->edge = row_edge(args.columns, width);
    row_job_kernels<OP, 1>(job, 0);
    row_job_kernels<OP, 2>(job, 1);
    row_job_kernels<OP, 4>(job, 2);
    row_job_kernels<OP, 8>(job, 3);
    job->narrow[0] = (const void *)row_registers<OP, 4, 2>;
    job->narrow[1] = (const void *)row_registers<OP, 4, 4>;
    job->narrow[2] = (const void *)row_registers<OP, 4, 8>;
    job->narrow[3] = (const void *)row_registers<OP, 4, 16>;
    job->stream = (const void *)row_stream<OP>;
    if constexpr (OP::RING) job->shared = (const void *)row_shared<OP>;
    if constexpr (OP::RING) job->naive = (const void *)row_naive<OP>; /* layernorm has its own */
    memcpy(job->args, &args, sizeof args);
}

/* -------------------------------------------------------------- variants -- */

typedef void row_job_of(const struct assay_call *call, struct row_job *job);
typedef int row_check(struct assay_call *call);
typedef const char *row_planner(const struct row_job *job, struct row_plan *plan);

static inline int row_unchecked(struct assay_call *call)
{
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

/* The plan is the call's state. */
template <row_job_of *JOB, row_planner *PLANNER, row_check *CHECK, bool MEASURED>
static int row_setup(struct assay_call *call)
{
    struct row_job job;
    if (CHECK(call)) return -1;
    struct row_plan *plan = (struct row_plan *)malloc(sizeof *plan);
    call->state = plan;
    if (!plan) return assay_error("out of memory");
    JOB(call, &job);
    if (MEASURED) return row_plan_best(&job, call, plan);
    const char *reason = PLANNER(&job, plan);
    if (!reason) return row_plan_allow(plan);
    assay_error("%s", reason);
    return ASSAY_SKIP;
}

template <row_job_of *JOB> static int row_launch(struct assay_call *call)
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

/* A variant of `operation` that divides its rows by PLANNER, or measures in setup how. */
template <row_job_of *JOB, row_planner *PLANNER, row_check *CHECK = row_unchecked,
          bool MEASURED = false>
static constexpr struct assay_variant row_variant(const char *operation, const char *name,
                                                  const char *summary, int min_sm = 0)
{
    struct assay_variant variant = {};
    variant.operation = operation;
    variant.name = name;
    variant.summary = summary;
    variant.kind = ASSAY_KERNEL;
    variant.place = ASSAY_CUDA;
    variant.min_sm = min_sm;
    variant.supports = row_supports<JOB, PLANNER>;
    variant.setup = row_setup<JOB, PLANNER, CHECK, MEASURED>;
    variant.launch = row_launch<JOB>;
    variant.teardown = row_teardown;
    return variant;
}

/* The one that measures; any row may be streamed. */
template <row_job_of *JOB, row_check *CHECK = row_unchecked>
static constexpr struct assay_variant row_variant_best(const char *operation, const char *name)
{
    return row_variant<JOB, row_plan_stream, CHECK, true>(
        operation, name, "a row per warp, block or cluster, read once: the fastest in setup");
}
