/* store_read.c - a run as it was stored, back in memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

static const char what[] = "a stored run";

/* Which launches are those of the run :key, or, where it stands for its job, of all shares that
 * fit: of each the newest that is complete. Conditions on a row of launch. */
#define OF_RUN "launch.run_id = :key"
#define SHARES                                                                                     \
    "(SELECT share.id FROM run AS named JOIN run AS share ON share.shard_group = "                 \
    "named.shard_group"                                                                            \
    "  AND share.suite = named.suite AND share.label = named.label"                                \
    "  AND share.shard_count = named.shard_count AND share.shard_cut = named.shard_cut"            \
    " WHERE named.id = :key AND share.status = 'complete' AND NOT EXISTS"                          \
    "  (SELECT 1 FROM run AS newer WHERE newer.status = 'complete'"                                \
    "   AND newer.shard_group = share.shard_group AND newer.suite = share.suite"                   \
    "   AND newer.label = share.label AND newer.shard_count = share.shard_count"                   \
    "   AND newer.shard_cut = share.shard_cut AND newer.shard_index = share.shard_index"           \
    "   AND (newer.started_at, newer.id) > (share.started_at, share.id)))"
#define OF_JOB "launch.run_id IN " SHARES
/* Shares one after the other. */
#define BY_SHARE "(SELECT shard_index FROM run WHERE run.id = launch.run_id), "

static bool is_job(const struct store *store, const char *run_id)
{
    return strcmp(store->job_run, run_id) == 0;
}

/* ------------------------------------------------------------- samples -- */

/* A copy of a BLOB column, NULL where it is NULL. The first of the series that belong together
 * gives *count, which is -1 before, and the others have as many elements. The schema says the same,
 * but whoever wrote the file need not have kept to it, and every reader of samples relies on it. */
static void *series_copy(struct query *query, const char *column, size_t element, int *count)
{
    int index = column_index(query, column);
    if (index < 0) return NULL;
    int type = sqlite3_column_type(query->statement, index);
    const void *bytes = sqlite3_column_blob(query->statement, index);
    size_t size = (size_t)sqlite3_column_bytes(query->statement, index);
    if (*count < 0) *count = (int)(size / element);
    if (type == SQLITE_NULL) return NULL;
    if (type != SQLITE_BLOB || size != element * (size_t)*count) {
        query_refuse(query, "the series %s is damaged: %zu bytes for %d samples", column, size,
                     *count);
        return NULL;
    }
    void *copy = malloc(size ? size : 1);
    if (!copy) query_refuse(query, "out of memory");
    if (copy && size) memcpy(copy, bytes, size);
    return copy;
}

int store_read_samples(struct store *store, const char *result_id, struct samples *samples)
{
    struct query query;
    int count = -1, wall_count = -1;
    query_ask(&query, store, "read samples", "SELECT * FROM sample WHERE result_id = :key",
              result_id);
    if (query_step(&query) == 1) {
        for (int i = 0; i < SAMPLE_SERIES; i++) {
            const struct sample_series *series = &sample_series[i];
            *series_array(samples, series) =
                series_copy(&query, series->name, series->element_bytes,
                            series->is_wall ? &wall_count : &count);
        }
        samples->count = count > 0 ? count : 0;
        samples->wall_count = wall_count > 0 ? wall_count : 0;
    }
    return query_close(&query);
}

static int read_spans(struct store *store, const char *result_id, struct samples *samples)
{
    struct query query;
    query_ask(&query, store, "read the spans of stages",
              "SELECT lane, name, begin_ns, end_ns FROM span WHERE result_id = :key"
              " ORDER BY ordinal",
              result_id);
    for (struct stage_span *span;
         (span = query_add(&query, &samples->span, &samples->span_count, sizeof *span, what));)
        fields_read(&query, span_fields, span);
    return query_close(&query);
}

static int read_metrics(struct store *store, const char *result_id, struct case_result *result)
{
    struct query query;
    query_ask(&query, store, "read metrics",
              "SELECT name, value FROM metric WHERE result_id = :key ORDER BY ordinal", result_id);
    while (result->metric_count < ASSAY_MAX_METRICS && query_step(&query) == 1) {
        struct metric *metric = &result->metrics[result->metric_count++];
        column_text(&query, "name", metric->name, sizeof metric->name);
        metric->value = column_real(&query, "value");
    }
    return query_close(&query);
}

/* --------------------------------------------------------------- cases -- */

static FIELD_TABLE(stored_fields,
                   FIELDS(stored_case, launch_id, group_label, threshold, expect_wrong),
                   FIELD_AS("number", stored_case, launch_number));

static int read_case(struct query *query, bool with_samples, const struct stored_run *run,
                     struct stored_case *stored)
{
    char word[ASSAY_MAX_NAME], id[STORE_ID];
    result_init(&stored->result);
    fields_read(query, stored_fields, stored);
    column_text(query, "purpose", word, sizeof word);
    column_text(query, "id", id, sizeof id);
    stored->purpose = words_find(&purpose_words, word);
    case_read(query, &stored->result.id);
    fields_read(query, result_fields, &stored->result);
    double *ops = stored->result.work.ops;
    if (isnan(ops[ARITHMETIC_FP8]) && !isnan(ops[ASSAY_FP32])) /* of before version 13 */
        ops[ARITHMETIC_FP8] = 0;
    if (query->rc == SQLITE_OK && stored_run_launch(run, stored->launch_id) == NULL)
        query_refuse(query, "the device of launch %d is not in it", stored->launch_number);
    if (query->rc != SQLITE_OK) return -1;
    if (read_metrics(query->store, id, &stored->result) != 0) return -1;
    if (!with_samples) return 0;
    if (store_read_samples(query->store, id, &stored->result.samples) != 0) return -1;
    return read_spans(query->store, id, &stored->result.samples);
}

static int read_cases(struct store *store, const char *run_id, bool with_samples,
                      struct stored_run *run)
{
#define CASES                                                                                      \
    "SELECT result.*, launch.number FROM result JOIN launch ON launch.id = launch_id WHERE "
    static const char *const sql[] = {CASES OF_RUN " ORDER BY launch.number, result.ordinal",
                                      CASES OF_JOB " ORDER BY " BY_SHARE
                                                   "launch.number, result.ordinal"};
    struct query query;
    int status = 0;
    query_ask(&query, store, "read the cases of a run", sql[is_job(store, run_id)], run_id);
    for (struct stored_case *stored;
         status == 0 &&
         (stored = query_add(&query, &run->cases, &run->case_count, sizeof *stored, what));)
        status = read_case(&query, with_samples, run, stored);
    return query_close(&query) == 0 ? status : -1;
}

/* ------------------------------------------------------------ launches -- */

static const char select_launch[] =
    "SELECT launch.id AS launch_id, device.*, launch.*"
    " FROM launch JOIN device ON device.id = launch.device_id WHERE ";

static void read_launch(struct query *query, struct launch_info *launch)
{
    column_text(query, "launch_id", launch->id, sizeof launch->id);
    column_text(query, "run_id", launch->run_id, sizeof launch->run_id);
    fields_read(query, launch_fields, launch);
    fields_read(query, device_fields, &launch->device);
    fields_read(query, session_fields, &launch->device);
    fields_read(query, start_fields, &launch->start);
    fields_read(query, around_fields, &launch->around);
    launch->end_other_processes = (int32_t)column_count(query, "end_other_processes");
}

static int read_launches(struct store *store, const char *run_id, struct stored_run *run)
{
    struct query query;
    char sql[sizeof select_launch + sizeof OF_JOB + sizeof BY_SHARE + 32];
    snprintf(sql, sizeof sql, "%s%s ORDER BY %slaunch.number", select_launch,
             is_job(store, run_id) ? OF_JOB : OF_RUN, is_job(store, run_id) ? BY_SHARE : "");
    query_ask(&query, store, "read the launches of a run", sql, run_id);
    for (struct launch_info *launch;
         (launch = query_add(&query, &run->launches, &run->launch_count, sizeof *launch, what));)
        read_launch(&query, launch);
    return query_close(&query);
}

/* Incomplete: a case of the plan that was not to be skipped has no result. */
int store_open_launch(struct store *store, const char *run_id, struct launch_info *launch)
{
    struct query query;
    char sql[sizeof select_launch + 1024];
    memset(launch, 0, sizeof *launch);
    snprintf(sql, sizeof sql,
             "%s" OF_RUN " AND (launch.ended_at IS NULL OR EXISTS (SELECT 1 FROM expected AS plan"
             "  WHERE plan.launch_id = launch.id AND plan.skip = '' AND NOT EXISTS"
             "   (SELECT 1 FROM result WHERE " STORE_OF_PLAN ")))"
             " ORDER BY launch.number DESC LIMIT 1",
             select_launch);
    query_ask(&query, store, "look for an incomplete launch", sql, run_id);
    if (query_step(&query) == 1) read_launch(&query, launch);
    return query_close(&query);
}

/* ----------------------------------------------------------------- run -- */

static int read_run_row(struct store *store, const char *run_id, struct stored_run *run)
{
    struct query query;
    query_ask(&query, store, "read a run",
              "SELECT run.*, environment.* FROM run"
              " JOIN environment ON environment.id = run.environment_id WHERE run.id = :key",
              run_id);
    int found = query_step(&query);
    if (found == 1) {
        snprintf(run->run.id, sizeof run->run.id, "%s", run_id);
        fields_read(&query, run_fields, &run->run);
        fields_read(&query, shard_fields, &run->run.shard);
        if (run->run.shard.count < 0) run->run.shard = (struct shard){0};
        fields_read(&query, program_fields, &run->program);
        fields_read(&query, host_fields, &run->host);
        fields_read(&query, time_fields, run);
        run->suite_text = column_copy(&query, "suite_text");
    }
    if (query_close(&query) != 0) return -1;
    if (found != 1) return assay_error("%s: there is no run %s", store->path, run_id);
    run->run.suite_text = run->suite_text;
    return 0;
}

static int read_objects(struct store *store, const char *run_id, struct stored_run *run)
{
    struct query query;
    query_ask(&query, store, "read the objects of a run",
              "SELECT * FROM object WHERE run_id = :key ORDER BY ordinal", run_id);
    for (struct object_info *object;
         (object = query_add(&query, &run->objects, &run->run.object_count, sizeof *object, what));)
        fields_read(&query, object_fields, object);
    run->run.objects = run->objects;
    return query_close(&query);
}

/* How many rows of the plans there are, and launches of one case at most: an import may have none.
 */
static int read_plans(struct store *store, const char *run_id, struct stored_run *run)
{
#define PLANS "FROM expected JOIN launch ON launch.id = expected.launch_id WHERE "
#define MOST  "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n " PLANS
#define CASE  " GROUP BY purpose, group_label, operation, variant, place, shape, temperature)"
    static const char *const count[] = {"SELECT count(*) " PLANS OF_RUN,
                                        "SELECT count(*) " PLANS OF_JOB};
    static const char *const most[] = {MOST OF_RUN CASE, MOST OF_JOB CASE};
    bool whole = is_job(store, run_id);
    int64_t expected = 0, rounds = 0;
    int status =
        store_integer(store, "count the cases of the plan", count[whole], run_id, &expected);
    if (status == 0 && run->launch_count > 1)
        status = store_integer(store, "count the launches of a case", most[whole], run_id, &rounds);
    run->expected_count = (int)expected;
    run->rounds = (int)rounds;
    return status;
}

/* The run that stands for its job becomes the job. */
static int read_job(struct store *store, const char *run_id, struct stored_run *run)
{
    int64_t shares = 0;
    if (!is_job(store, run_id)) return 0;
    int status = store_integer(store, "count shares",
                               "SELECT count(*) FROM run WHERE id IN " SHARES, run_id, &shares);
    run->shares = (int)shares;
    run->run.shard.index = 0;
    return status;
}

/* Of a central store all shares must be here. */
int store_need_run(struct store *store, const char *run_id)
{
    struct query query;
    char(*ids)[STORE_ID] = NULL;
    int count = 0, status;
    if (!store->central || !is_job(store, run_id)) return store_need(store, NEED_RUN, run_id);
    query_ask(&query, store, "look for shares", "SELECT id FROM run WHERE id IN " SHARES, run_id);
    for (char(*id)[STORE_ID]; (id = query_add(&query, &ids, &count, sizeof *ids, what));)
        column_text(&query, "id", *id, sizeof *id);
    status = query_close(&query);
    for (int i = 0; i < count && status == 0; i++)
        status = store_need(store, NEED_RUN, ids[i]);
    free(ids);
    return status;
}

int store_read_head(struct store *store, const char *run_id, struct stored_run *run)
{
    if (read_run_row(store, run_id, run) != 0) return -1;
    if (read_objects(store, run_id, run) != 0) return -1;
    if (read_launches(store, run_id, run) != 0) return -1;
    if (read_plans(store, run_id, run) != 0) return -1;
    return read_job(store, run_id, run);
}

/* One transaction, so that a run that is being measured is seen at one moment. */
int store_read_run(struct store *store, const char *run_id, bool with_samples,
                   struct stored_run *run)
{
    memset(run, 0, sizeof *run);
    if (store_need_run(store, run_id) != 0) return -1;
    if (store_exec(store, "read a run", "BEGIN") != 0) return -1;
    int status = store_read_head(store, run_id, run);
    if (status == 0) status = read_cases(store, run_id, with_samples, run);
    status = store_finish(store, "read a run", status);
    if (status != 0) stored_run_release(run);
    return status;
}
