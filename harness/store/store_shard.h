/*
 * store_shard.h - the shares into which the processes of a job divided a suite: which of them are
 * missing, how long groups took when they were measured before (by which a suite is divided), and
 * whether a process may write where it is about to.
 * Every function returns 0, or -1 after assay_error.
 */
#pragma once

#include "store/store.h"

/* What the shares of one job, suite and label come to. */
struct shard_job {
    char group[RESULT_MAX_PROPERTY]; /* the job's name; "" it has none */
    char suite[ASSAY_MAX_NAME], label[RESULT_MAX_PROPERTY];
    int count;   /* shares of the suite */
    int missing; /* of which no run completed */
    int apart;   /* runs cut from another plan than the first: their shares do not fit */
    char text[RESULT_MAX_SPEC]; /* a sentence without its end: "shares 3 and 5-7 of 8 of slurm-1.0
                                 * are missing (suite core)"; "" they are all there */
};

/* Every job that has shares in the database, the oldest first; stops when `each` returns -1. */
int store_each_shard_job(struct store *store,
                         int (*each)(const struct shard_job *job, void *context), void *context);

/* What the newest launch that measured a group says of it. */
struct group_past {
    int64_t cost_us;                /* how long it took; -1: it was never measured */
    char uuid[RESULT_MAX_PROPERTY]; /* of its device; "" likewise */
};

/* Of each group of the plan, from complete runs that began before the first of this share's job and
 * before `before` (a started_at; NULL: any), so that every process of the job finds the same. */
int store_group_past(struct store *store, const struct shard *shard, const char *before,
                     bool simulated, const struct plan *plan, struct group_past *past);

/* Refuse a share that was cut from another plan than those of its job that are there; and, where
 * the job is that of this process, also while another of its processes writes there. */
int store_check_shard(struct store *store, const struct shard *shard, bool is_own_job);

/* The share of a run, and when the run began. */
int store_read_shard(struct store *store, const char *run_id, struct shard *shard,
                     char started_at[32]);
