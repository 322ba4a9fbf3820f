#include "store/store_shard.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/store_internal.h"

/* ---------------------------------------------------------------- missing -- */

/* A row for each share of each job that has a run here; `complete` is 1 where one of its runs is.
 */
static const char shares[] =
    "WITH share AS (SELECT *, coalesce(shard_group, '') AS job,"
    " min(started_at) OVER of_job AS first,"
    " first_value(shard_cut) OVER (of_job ORDER BY shard_index, started_at, id) AS first_cut"
    " FROM run WHERE shard_count > 1"
    " WINDOW of_job AS (PARTITION BY shard_group, suite, label, shard_count))"
    " SELECT job, suite, label, shard_count, shard_index, max(status = 'complete') AS complete,"
    " sum(shard_cut IS NOT first_cut) AS apart FROM share"
    " GROUP BY job, suite, label, shard_count, shard_index"
    " ORDER BY first, job, suite, label, shard_count, shard_index";

struct reading {
    struct shard_job job;
    int next;       /* the first share behind the last complete one */
    char list[160]; /* "3 and 5-7" */
};

static void add_missing(struct reading *reading, int from, int to)
{
    if (to < from) return;
    reading->job.missing += to - from + 1;
    if (from == to)
        text_add(reading->list, sizeof reading->list, ", ", "%d", from);
    else
        text_add(reading->list, sizeof reading->list, ", ", "%d-%d", from, to);
}

static void end_job(struct reading *reading)
{
    struct shard_job *job = &reading->job;
    const char *name = job->group[0] ? job->group : "a job without a name";
    add_missing(reading, reading->next, job->count);
    if (job->missing)
        snprintf(job->text, sizeof job->text, "share%s %s of %d of %.80s %s missing (suite %s)",
                 job->missing > 1 ? "s" : "", reading->list, job->count, name,
                 job->missing > 1 ? "are" : "is", job->suite);
    else if (job->apart)
        snprintf(job->text, sizeof job->text,
                 "the shares of %.80s do not fit together (suite %s): they are of different plans "
                 "or builds",
                 name, job->suite);
}

static bool same_job(const struct shard_job *a, const struct shard_job *b)
{
    return a->count == b->count && !strcmp(a->group, b->group) && !strcmp(a->suite, b->suite) &&
           !strcmp(a->label, b->label);
}

static FIELD_TABLE(job_fields, FIELD_AS("job", shard_job, group), FIELDS(shard_job, suite, label),
                   FIELD_AS("shard_count", shard_job, count));

/* Shares come in their order; what another program wrote may have any number. */
static void take_share(struct reading *reading, struct query *query)
{
    int index = (int)column_integer(query, "shard_index");
    reading->job.apart += (int)column_integer(query, "apart");
    if (index < reading->next || index > reading->job.count) return;
    if (column_integer(query, "complete") == 0) return;
    add_missing(reading, reading->next, index - 1);
    reading->next = index + 1;
}

int store_each_shard_job(struct store *store,
                         int (*each)(const struct shard_job *job, void *context), void *context)
{
    struct reading reading = {0};
    struct query query;
    int status = 0;
    if (store_need(store, NEED_SHARES, "") != 0) return -1;
    query_open(&query, store, "look for shares", shares);
    while (status == 0 && query_step(&query) == 1) {
        struct shard_job job = {0};
        fields_read(&query, job_fields, &job);
        if (!same_job(&job, &reading.job)) {
            if (reading.job.count) end_job(&reading);
            if (reading.job.count) status = each(&reading.job, context);
            reading = (struct reading){.job = job, .next = 1};
        }
        take_share(&reading, &query);
    }
    if (query_close(&query) != 0) return -1;
    if (status != 0 || reading.job.count == 0) return status;
    end_job(&reading);
    return each(&reading.job, context);
}

/* ------------------------------------------------------------------- past -- */

/* The newest launch that measured the group. The case is one variant's, by which the index finds
 * it. */
static const char past_of_group[] =
    "SELECT CAST(round(86400e6 * (julianday(max(measured_at)) - julianday(min(begun_at))))"
    "  AS INTEGER) AS cost_us,"
    " (SELECT uuid FROM launch JOIN device ON device.id = device_id WHERE launch.id = launch_id)"
    "  AS uuid FROM result"
    " WHERE begun_at IS NOT NULL AND operation = :operation AND shape = :shape"
    " AND temperature = :temperature AND purpose = 'case' AND launch_id ="
    " (SELECT launch_id FROM result JOIN launch ON launch.id = result.launch_id"
    "  JOIN run ON run.id = launch.run_id WHERE operation = :operation AND variant = :variant"
    "  AND shape = :shape AND temperature = :temperature AND place = :place AND kind = :kind"
    "  AND purpose = 'case' AND begun_at IS NOT NULL AND run.status = 'complete'"
    "  AND run.simulated = :simulated AND run.started_at < :before"
    "  ORDER BY run.started_at DESC, launch.id LIMIT 1)";

static const char first_of_job[] =
    "SELECT min(started_at) AS first FROM run WHERE shard_group = :key AND :key != ''";

static int first_variant(const struct group *group)
{
    for (int i = 0; i < group->variant_count; i++)
        if (!group->skip[i][0]) return i;
    return 0;
}

static int read_past(struct query *query, const struct group *group, struct group_past *past)
{
    struct case_id id;
    *past = (struct group_past){.cost_us = -1};
    group_case_id(group, first_variant(group), &id);
    fields_bind(query, case_fields, &id);
    int found = query_step(query);
    if (found == 1) {
        past->cost_us = column_count(query, "cost_us");
        column_text(query, "uuid", past->uuid, sizeof past->uuid);
    }
    query_reset(query);
    return found < 0 ? -1 : 0;
}

int store_group_past(struct store *store, const struct shard *shard, const char *before,
                     bool simulated, const struct plan *plan, struct group_past *past)
{
    struct query query;
    char first[32] = "";
    int status = 0;
    if (store_text(store, "look for the job's first run", first_of_job, shard->group, first,
                   sizeof first) < 0)
        return -1;
    if (!first[0] || (before && strcmp(before, first) < 0))
        snprintf(first, sizeof first, "%s", before ? before : "9");
    query_open(&query, store, "read what earlier runs say of groups", past_of_group);
    for (int i = 0; i < plan->count && status == 0; i++) {
        query_text(&query, ":before", first);
        query_integer(&query, ":simulated", simulated);
        status = read_past(&query, &plan->groups[i], &past[i]);
    }
    return query_close(&query) == 0 ? status : -1;
}

/* ----------------------------------------------------------------- writing -- */

static int refuse(struct store *store, const struct shard *shard, int other, bool apart)
{
    if (apart)
        return assay_error("share %d of %d of %s was cut from another plan than share %d, which is "
                           "in %s: another GPU, build, suite or option, or other stored times",
                           shard->index, shard->count, shard->group, other, store->path);
    return assay_error("%s: share %d of %s is being written to it: each process of a job needs a "
                       "path of its own",
                       store->path, other, shard->group);
}

int store_check_shard(struct store *store, const struct shard *shard, bool is_own_job)
{
    struct query query;
    int other = 0;
    bool apart = false;
    if (shard->count == 0 || !shard->group[0]) return 0;
    query_open(
        &query, store, "look for other shares",
        "SELECT shard_index, shard_cut IS NOT :cut AS apart FROM run WHERE shard_group = :job"
        " AND shard_count = :count AND shard_index != :index"
        " AND (:own AND status = 'running' OR shard_cut IS NOT :cut)"
        " ORDER BY apart LIMIT 1");
    query_text(&query, ":cut", shard->cut);
    query_integer(&query, ":own", is_own_job);
    query_text(&query, ":job", shard->group);
    query_integer(&query, ":count", shard->count);
    query_integer(&query, ":index", shard->index);
    if (query_step(&query) == 1) {
        other = (int)column_integer(&query, "shard_index");
        apart = column_integer(&query, "apart") != 0;
    }
    if (query_close(&query) != 0) return -1;
    return other ? refuse(store, shard, other, apart) : 0;
}

int store_read_shard(struct store *store, const char *run_id, struct shard *shard,
                     char started_at[32])
{
    struct query query;
    query_ask(&query, store, "read the share of a run", "SELECT * FROM run WHERE id = :key",
              run_id);
    if (query_step(&query) == 1) {
        fields_read(&query, shard_fields, shard);
        column_text(&query, "started_at", started_at, 32);
    }
    if (shard->count < 0) *shard = (struct shard){0};
    return query_close(&query);
}
