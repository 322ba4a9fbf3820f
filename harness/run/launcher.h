/*
 * launcher.h - which of a job's processes this one is, as srun, mpirun, an array job or a
 * Kubernetes indexed job tell it through the environment. Nothing of theirs is linked or called.
 */
#pragma once

#include "case/result.h"

/* One of the processes that a launcher started for one purpose. */
struct rank {
    int index, count; /* from 0; 0 of 1: no launcher, or one that started this process alone */
    int local;        /* among those of this host, from 0; -1: the launcher does not say */
    char job[RESULT_MAX_PROPERTY]; /* names the job in all its processes alike; "" it has no name */
    char how[RESULT_MAX_PROPERTY]; /* for messages: "array task 2 of 4, rank 0 of 2 of Open MPI" */
};

/* Ask the environment through `get` (getenv). -1 with assay_error where it says what cannot be, or
 * that there are others and not how many: ASSAY_SHARDS says it then, and ASSAY_JOB names the job.
 */
int launcher_find(struct rank *rank, char *(*get)(const char *name));
