/* store_write.c - what a run writes while it measures. */
#include <math.h>
#include <string.h>

#include "case/shape.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

/* What is stored when it is over says itself when it began. */
static void began(char text[TIMESTAMP_SIZE], const struct timespec *started)
{
    if (started->tv_sec)
        timestamp_of(text, started);
    else
        timestamp_now(text);
}

int store_begin_run(struct store *store, struct run_info *run, const struct program_info *program,
                    const struct host_info *host)
{
    static const char purpose[] = "begin a run";
    char started[TIMESTAMP_SIZE];
    struct run_row row = {
        .run = run, .program = program, .host = host, .status = "running", .started_at = started};
    if (id_random(run->id) != 0) return -1;
    began(started, &run->started);
    if (store_begin(store, purpose) != 0) return -1;
    return store_finish(store, purpose, run_write(store, &row));
}

static void expected_bind(struct query *query, const struct group *group, int variant)
{
    struct case_id id;
    group_case_id(group, variant, &id);
    fields_bind(query, case_fields, &id);

    query_text(query, ":purpose", words_name(&purpose_words, group->purpose));
    query_text(query, ":group_label", group->label);
    query_text(query, ":skip", group->skip[variant]);
    const char *ceiling = shape_ceiling(&group->shape, group->temperature);
    if (ceiling) query_text(query, ":ceiling", ceiling);
}

static int expected_write(struct store *store, const char *launch_id, const struct plan *plan)
{
    struct query query;
    int ordinal = 0;
    row_open(&query, store, "store the plan", "expected", "");
    for (int i = 0; i < plan->count; i++) {
        for (int j = 0; j < plan->groups[i].variant_count; j++) {
            query_text(&query, ":launch_id", launch_id);
            query_integer(&query, ":ordinal", ++ordinal);
            expected_bind(&query, &plan->groups[i], j);
            if (query_insert(&query) != 0) return query_close(&query);
        }
    }
    return query_close(&query);
}

int store_begin_launch(struct store *store, struct launch_info *launch, const struct plan *plan)
{
    static const char purpose[] = "begin a launch";
    char started[TIMESTAMP_SIZE];
    struct launch_row row = {.launch = launch, .started_at = started};
    if (id_random(launch->id) != 0) return -1;
    began(started, &launch->started);
    if (store_begin(store, purpose) != 0) return -1;
    int status = launch_write(store, &row);
    if (status == 0) status = expected_write(store, launch->id, plan);
    return store_finish(store, purpose, status);
}

int store_hand_over(struct store *store, const char *from_launch, const char *to_launch, int first,
                    int count)
{
    static const char purpose[] = "hand a group over";
    struct query query;
    query_open(&query, store, purpose,
               "UPDATE expected SET launch_id = :to WHERE launch_id = :from"
               " AND ordinal >= :first AND ordinal < :end");
    query_text(&query, ":from", from_launch);
    query_text(&query, ":to", to_launch);
    query_integer(&query, ":first", first);
    query_integer(&query, ":end", (int64_t)first + count);
    if (query_run(&query) != 0) return -1;
    if (sqlite3_changes(store->db) == count) return 0;
    return assay_error("%s: cannot %s: launch %s does not have it", store->path, purpose,
                       from_launch);
}

int store_end_launch(struct store *store, const char *launch_id, const struct device_state *end,
                     const struct surroundings *around)
{
    static const char purpose[] = "end a launch";
    struct query query;
    query_open(&query, store, purpose,
               "UPDATE launch SET ended_at = :now, end_sm_mhz = :end_sm_mhz,"
               " end_memory_mhz = :end_memory_mhz, end_temperature_c = :end_temperature_c,"
               " end_power_w = :end_power_w, end_energy_mj = :end_energy_mj,"
               " end_clock_reasons = :end_clock_reasons,"
               " end_other_processes = :end_other_processes, processors = :processors,"
               " start_load = :start_load, end_load = :end_load, other_share = :other_share,"
               " steal_share = :steal_share, link_width = :link_width,"
               " link_width_max = :link_width_max, link_generation = :link_generation,"
               " link_generation_max = :link_generation_max, ecc_uncorrected = :ecc_uncorrected,"
               " library = CASE :library WHEN '' THEN library ELSE :library END"
               " WHERE id = :id");
    query_now(&query, ":now");
    query_text(&query, ":library", end->library);
    query_text(&query, ":id", launch_id);
    fields_bind(&query, end_fields, end);
    fields_bind(&query, health_fields, &end->health);
    fields_bind(&query, around_fields, around);
    if (query_run(&query) != 0) return -1;
    if (sqlite3_changes(store->db) == 1) return 0;
    return assay_error("%s: cannot %s: there is no launch %s", store->path, purpose, launch_id);
}

int store_end_run(struct store *store, const char *run_id, const char *status)
{
    static const char purpose[] = "end a run";
    struct query query;
    query_open(&query, store, purpose,
               "UPDATE run SET ended_at = :now, status = :status WHERE id = :id");
    query_now(&query, ":now");
    query_text(&query, ":status", status);
    query_text(&query, ":id", run_id);
    if (query_run(&query) != 0) return -1;
    if (sqlite3_changes(store->db) == 1) return 0;
    return assay_error("%s: cannot %s: there is no run %s", store->path, purpose, run_id);
}

static bool expects_wrong(const struct group *group, const char *variant)
{
    for (int i = 0; i < group->variant_count; i++)
        if (strcmp(group->variant[i]->name, variant) == 0) return group->expect_wrong[i];
    return false;
}

static int cases_write(struct store *store, const char *launch_id, const struct group *group,
                       const struct case_result *results, int count, const struct timespec *begun)
{
    char now[TIMESTAMP_SIZE], then[TIMESTAMP_SIZE] = "";
    struct result_row row = {
        .launch_id = launch_id,
        .purpose = group->purpose,
        .group_label = group->label,
        .threshold = group->threshold_pct > 0 ? group->threshold_pct / 100 : NAN,
        .begun_at = then,
        .measured_at = now,
    };
    bool added;
    if (begun) timestamp_of(then, begun);
    timestamp_now(now);
    for (int i = 0; i < count; i++) {
        row.result = &results[i];
        row.expect_wrong = expects_wrong(group, results[i].id.variant);
        if (result_write(store, &row, &added) != 0) return -1;
    }
    return 0;
}

int store_cases(struct store *store, const char *launch_id, const struct group *group,
                const struct case_result *results, int count, const struct timespec *begun)
{
    if (store_begin(store, "store a case") != 0) return -1;
    return store_finish(store, "store a case",
                        cases_write(store, launch_id, group, results, count, begun));
}

int store_find_case(struct store *store, const char *launch_id, const struct case_id *id,
                    char result_id[STORE_ID])
{
    struct query query;
    query_open(&query, store, "look for a case",
               "SELECT id FROM result WHERE launch_id = :launch_id AND operation = :operation"
               " AND variant = :variant AND kind = :kind AND place = :place AND shape = :shape"
               " AND temperature = :temperature ORDER BY purpose LIMIT 1");
    query_text(&query, ":launch_id", launch_id);
    fields_bind(&query, case_fields, id);
    int found = query_step(&query);
    if (found == 1) column_text(&query, "id", result_id, STORE_ID);
    return query_close(&query) == 0 ? found : -1;
}

int store_has_case(struct store *store, const char *launch_id, const struct case_id *id, bool *has)
{
    char result_id[STORE_ID];
    int found = store_find_case(store, launch_id, id, result_id);
    *has = found == 1;
    return found < 0 ? -1 : 0;
}
