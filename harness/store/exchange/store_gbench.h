/*
 * store_gbench.h - the entries of a file of Google Benchmark: repetitions and
 * aggregates gathered by instance.
 */
#pragma once

#include "store/exchange/store_foreign.h"

enum { GBENCH_MAX_NAME = 2048 };

/* One instance of a benchmark, gathered from its entries. Figures that the file does
 * not have are NAN. */
struct gbench_instance {
    char name[GBENCH_MAX_NAME]; /* run_name */
    double *time_ns;            /* of each repetition */
    int count;
    double median_ns, mean_ns; /* as aggregates */
    double cpu_ns, bytes_per_s, items_per_s, lower_ns, upper_ns;
    double iterations;
    bool failed, skipped;
    char reason[ASSAY_MAX_REASON];
};

struct gbench {
    struct gbench_instance *list;
    int count;
};

/* Read the entries of the file's benchmarks; gbench_release in any case. -1 with
 * assay_error, which names the entry. */
int gbench_read(struct gbench *gbench, struct foreign *foreign);
void gbench_release(struct gbench *gbench);
