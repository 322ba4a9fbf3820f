/* store_timings.c - reads the medians of a run, and samples of short cases only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/timings.h"
#include "store/store_gate.h"
#include "store/store_internal.h"

static void read_input(struct query *query, struct timing *timing)
{
    static const char mark[] = "input ";
    char note[ASSAY_MAX_NAME];
    column_text(query, "note", note, sizeof note);
    if (strncmp(note, mark, sizeof mark - 1) != 0) return;
    const char *word = note + sizeof mark - 1;
    snprintf(timing->input, sizeof timing->input, "%.*s", (int)strcspn(word, " ,"), word);
}

static FIELD_TABLE(timing_fields, FIELDS(timing, reason, threshold, is_baseline, time_ns, lo_ns,
                                         hi_ns, sm_mhz, bytes, ops, clock_reasons, code_hash));

static void read_timing(struct query *query, struct timing *timing)
{
    char word[16];
    case_read(query, &timing->id);
    column_text(query, "status", word, sizeof word);
    timing->status = status_parse(word);
    fields_read(query, timing_fields, timing);
    if (!status_has_time(timing->status)) timing->time_ns = timing->lo_ns = timing->hi_ns = NAN;
    read_input(query, timing);
}

/* What the samples of a short time say; not of the host's clock, which has no steps to speak of. */
static int read_steps(struct store *store, struct query *query, struct timing *timing)
{
    char id[ID_SIZE], clock[16];
    struct samples samples = {0};
    int count = 0;
    column_text(query, "clock", clock, sizeof clock);
    if (!(timing->time_ns < CLOCK_STEPS_MOST_NS) || strcmp(clock, "host") == 0) return 0;
    column_text(query, "id", id, sizeof id);
    int status = store_read_samples(store, id, &samples);
    double *time_ns = calloc((size_t)samples.count + 1, sizeof *time_ns);
    if (!time_ns) status = assay_error("out of memory for the samples of a case");
    for (int i = 0; status == 0 && samples.time_ns && i < samples.count; i++)
        if (!(samples.mark && samples.mark[i]) && samples.time_ns[i] > 0)
            time_ns[count++] = samples.time_ns[i];
    if (status == 0) timing->steps = clock_steps_of(time_ns, count);
    free(time_ns);
    samples_release(&samples);
    return status;
}

static int read_launch(struct store *store, int launch, struct timings *timings)
{
    struct query query;
    int status = 0;
    query_ask(
        &query, store, "read the times of a launch",
        "SELECT id, clock, operation, variant, kind, place, shape, temperature, status, reason,"
        " threshold, is_baseline, time_ns, lo_ns, hi_ns, sm_mhz,"
        " read_bytes + write_bytes AS bytes,"
        " ops_fp32 + ops_tf32 + ops_bf16 + ops_fp16 + ops_int8 + ops_fp64"
        " + coalesce(ops_fp8, 0) AS ops,"
        " clock_reasons, code_hash, note FROM result WHERE launch_id = :key"
        " AND purpose = 'case' ORDER BY ordinal",
        timings->run.launches[launch].id);
    for (struct timing *row;
         status == 0 && (row = query_add(&query, &timings->rows, &timings->count, sizeof *row,
                                         "the times of a run"));) {
        row->launch = launch;
        read_timing(&query, row);
        status = read_steps(store, &query, row);
    }
    return query_close(&query) == 0 ? status : -1;
}

/* What the launch was to measure, and has no row of. */
static int read_lost(struct store *store, int launch, struct timings *timings)
{
    struct query query;
    query_ask(&query, store, "read the plan of a launch",
              "SELECT operation, variant, kind, place, shape, temperature FROM expected AS plan"
              " WHERE launch_id = :key AND purpose = 'case' AND skip = '' AND NOT EXISTS"
              " (SELECT 1 FROM result WHERE " STORE_OF_PLAN " AND result.purpose = plan.purpose)",
              timings->run.launches[launch].id);
    for (struct lost_case *lost; (lost = query_add(&query, &timings->lost, &timings->lost_count,
                                                   sizeof *lost, "the losses of a run"));) {
        lost->launch = launch;
        case_read(&query, &lost->id);
    }
    return query_close(&query);
}

static int read_rows(struct store *store, struct timings *timings)
{
    for (int i = 0; i < timings->run.launch_count; i++)
        if (read_launch(store, i, timings) != 0 || read_lost(store, i, timings) != 0) return -1;
    if (timings->lost_count > 0)
        qsort(timings->lost, (size_t)timings->lost_count, sizeof *timings->lost, lost_case_order);
    if (timings->count > 0)
        qsort(timings->rows, (size_t)timings->count, sizeof *timings->rows, timing_order);
    return 0;
}

int store_count_cases(struct store *store, const char *run_id, int *stored, int *planned)
{
    static const char of_results[] =
        "SELECT count(*) FROM result JOIN launch ON launch.id = launch_id"
        " WHERE run_id = :key AND purpose = 'case'";
    static const char of_plans[] =
        "SELECT count(*) FROM expected JOIN launch ON launch.id = launch_id"
        " WHERE run_id = :key AND purpose = 'case' AND skip = ''";
    int64_t results = 0, plans = 0;
    if (store_integer(store, "count the cases of a run", of_results, run_id, &results) != 0 ||
        store_integer(store, "count the cases of a run", of_plans, run_id, &plans) != 0)
        return -1;
    *stored = (int)results;
    *planned = (int)plans;
    return 0;
}

/* One transaction: a run that is being measured is seen at one moment. */
int store_read_timings(struct store *store, const char *run_id, struct timings *timings)
{
    static const char purpose[] = "read the times of a run";
    memset(timings, 0, sizeof *timings);
    if (store_need_run(store, run_id) != 0) return -1;
    if (store_exec(store, purpose, "BEGIN") != 0) return -1;
    int status = store_read_head(store, run_id, &timings->run);
    if (status == 0) status = read_rows(store, timings);
    status = store_finish(store, purpose, status);
    if (status != 0) timings_release(timings);
    return status;
}
