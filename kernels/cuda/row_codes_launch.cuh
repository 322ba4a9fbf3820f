/*
 * row_codes_launch.cuh - divides the rows of row_codes.cuh among lanes, blocks and clusters, by
 * rule, and launches. Host code.
 */
#pragma once

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/row_codes.cuh"

enum {
    ROW_CODES_COUNTS = 4,      /* kernels of blocks: 1, 2, 4 and 8 pieces per thread */
    ROW_CODES_FEW = 264,       /* rows whose launch is two latencies and a barrier */
    ROW_CODES_WARPS = 16,      /* rows per multiprocessor that fill it with a warp each */
    ROW_CODES_RESIDENT = 512,  /* threads of a multiprocessor that such a launch may have */
    ROW_CODES_PER_BLOCK = 512, /* threads, where rows are many: two blocks share a multiprocessor */
};

enum row_codes_way { ROW_CODES_TEAMS, ROW_CODES_BLOCKS, ROW_CODES_CLUSTERS, ROW_CODES_STREAMS };

struct row_codes_plan {
    enum row_codes_way way;
    int log_count; /* 1 << log_count pieces per thread; of a team: -1 for none */
    int log_width; /* 1 << log_width lanes of a team, or blocks of a cluster */
    int threads;   /* of a block */
};

static inline int row_codes_log(int64_t least)
{
    int log = 0;
    while ((int64_t)1 << log < least)
        log++;
    return log;
}

static inline int row_codes_warps(int64_t pieces, int log_count)
{
    return (int)((((pieces + (1 << log_count) - 1) >> log_count) + 31) / 32);
}

/* Few rows: a piece per lane. Many: up to four, so that fewer lanes have what a row costs beside
 * its pieces. So many that warps fill the device: eight too, of which registers hold more in flight
 * than of four. Four lanes have an edge between them. False where a block is for them. */
static inline bool row_codes_plan_team(int64_t rows, int64_t columns, int64_t pieces,
                                       struct row_codes_plan *plan)
{
    const int64_t processors = assay_card()->multiprocessors;
    const int single = row_codes_log(max(pieces, (int64_t)ROW_CODES_EDGE));
    *plan = (struct row_codes_plan){ROW_CODES_TEAMS, -1, 0, ROW_CODES_TEAM};
    if (columns <= ROW_CODES_EDGE * ROW_CODES_EDGE) {
        plan->log_width = row_codes_log((columns + ROW_CODES_EDGE - 1) / ROW_CODES_EDGE);
    } else if (pieces <= 32 && rows << single <= processors * ROW_CODES_RESIDENT) {
        plan->log_count = 0;
        plan->log_width = single;
    } else if (pieces <= 32 * 4 && rows > ROW_CODES_FEW) {
        plan->log_count = single > 4 ? 2 : single - 2;
        plan->log_width = single - plan->log_count;
    } else if (pieces <= 32 * 8 && rows > ROW_CODES_WARPS * processors) {
        plan->log_count = 3;
        plan->log_width = 5;
    } else {
        return false;
    }
    while (plan->threads > 32 && (rows << plan->log_width) < plan->threads * processors)
        plan->threads /= 2;
    return true;
}

static inline struct row_codes_plan row_codes_plan(int64_t rows, int64_t columns, int width)
{
    const int64_t pieces = columns / width;
    const bool few = rows <= ROW_CODES_FEW;
    const int most = few ? (int)ROW_CODES_THREADS : (int)ROW_CODES_PER_BLOCK,
              last = ROW_CODES_COUNTS - 1;
    struct row_codes_plan plan;
    if (row_codes_plan_team(rows, columns, pieces, &plan)) return plan;
    plan = (struct row_codes_plan){ROW_CODES_BLOCKS, few ? 0 : 2, 0, 0};
    while (plan.log_count < last && 32 * row_codes_warps(pieces, plan.log_count) > most)
        plan.log_count++;
    plan.threads = 32 * row_codes_warps(pieces, plan.log_count);
    if (plan.threads > ROW_CODES_PER_BLOCK && plan.log_count == last && assay_card()->sm >= 90) {
        const bool spread = rows * ROW_CODES_CLUSTER <= assay_card()->multiprocessors;
        const int blocks = (plan.threads + ROW_CODES_PER_BLOCK - 1) / ROW_CODES_PER_BLOCK;
        plan.way = ROW_CODES_CLUSTERS;
        plan.log_width =
            row_codes_log(spread ? (int)ROW_CODES_CLUSTER : min(blocks, (int)ROW_CODES_CLUSTER));
        plan.threads = 32 * row_codes_warps(pieces, last + plan.log_width);
    }
    if (plan.threads > ROW_CODES_THREADS)
        plan = (struct row_codes_plan){ROW_CODES_STREAMS, 0, 0, ROW_CODES_THREADS};
    return plan;
}

/* Enqueue on `stream`. 0, or -1 with assay_error. */
template <class OP>
static inline int row_codes_launch(const void *input, void *output, float *scales, int64_t rows,
                                   const OP &op, cudaStream_t stream)
{
    typedef typename OP::element T;
    typedef typename OP::code C;
    typedef void team_kernel(const T *, C *, float *, int64_t, OP);
    typedef void block_kernel(const T *, C *, float *, OP);
    typedef void cluster_kernel(const T *, C *, float *, int, OP);
    static team_kernel *const teams[][5] = {
        {row_codes_team<1, 0, OP>},
        {row_codes_team<2, 0, OP>},
        {row_codes_team<4, 0, OP>, row_codes_team<4, 1, OP>, row_codes_team<4, 2, OP>,
         row_codes_team<4, 4, OP>},
        {NULL, row_codes_team<8, 1, OP>, NULL, row_codes_team<8, 4, OP>},
        {NULL, row_codes_team<16, 1, OP>, NULL, row_codes_team<16, 4, OP>},
        {NULL, row_codes_team<32, 1, OP>, NULL, row_codes_team<32, 4, OP>,
         row_codes_team<32, 8, OP>}};
    static block_kernel *const blocks[2][ROW_CODES_COUNTS] = {
        {row_codes_block<false, 1, OP>, row_codes_block<false, 2, OP>,
         row_codes_block<false, 4, OP>, row_codes_block<false, 8, OP>},
        {row_codes_block<true, 1, OP>, row_codes_block<true, 2, OP>, row_codes_block<true, 4, OP>,
         row_codes_block<true, 8, OP>}};
    static cluster_kernel *const clusters[2] = {row_codes_cluster<false, 8, OP>,
                                                row_codes_cluster<true, 8, OP>};
    const int width = 16 / sizeof(T);
    const struct row_codes_plan plan = row_codes_plan(rows, op.columns, width);
    const bool whole = op.columns % width == 0;
    const T *x = (const T *)input;
    C *y = (C *)output;
    const unsigned threads = (unsigned)plan.threads;
    if (plan.way == ROW_CODES_CLUSTERS) {
        const int cluster = 1 << plan.log_width;
        struct cluster_launch launch(cluster, dim3((unsigned)rows * cluster), plan.threads, 0,
                                     stream);
        return assay_cuda(
            cudaLaunchKernelEx(&launch.config, clusters[whole], x, y, scales, cluster, op),
            "launch");
    }
    if (plan.way == ROW_CODES_TEAMS) {
        const unsigned grid = (unsigned)(((rows << plan.log_width) + threads - 1) / threads);
        teams[plan.log_width][plan.log_count + 1]<<<grid, threads, 0, stream>>>(x, y, scales, rows,
                                                                                op);
    } else {
        block_kernel *kernel =
            plan.way == ROW_CODES_BLOCKS ? blocks[whole][plan.log_count] : row_codes_stream<OP>;
        kernel<<<(unsigned)rows, threads, 0, stream>>>(x, y, scales, op);
    }
    return assay_launched();
}
