/* store_resume.c - whether an unfinished run can go on with a plan. */

#include "store/store_internal.h"
#include "store/store_rows.h"

int store_last_launch(struct store *store, const char *run_id, int *number)
{
    static const char sql[] = "SELECT coalesce(max(number), 0) FROM launch WHERE run_id = :key";
    int64_t last = 0;
    int status = store_integer(store, "look for the last launch", sql, run_id, &last);
    *number = (int)last;
    return status;
}

static int count_expected(struct store *store, const char *run_id, int launch, int64_t *count)
{
    struct query query;
    query_open(&query, store, "read the plan of a launch",
               "SELECT count(*) AS count FROM expected JOIN launch ON launch.id = launch_id"
               " WHERE run_id = :run_id AND number = :number");
    query_text(&query, ":run_id", run_id);
    query_integer(&query, ":number", launch);
    if (query_step(&query) == 1) *count = column_integer(&query, "count");
    return query_close(&query);
}

/* How many of the plan's cases the launch was begun with. */
static int count_known(struct store *store, const char *run_id, int launch, const struct plan *plan,
                       int64_t *known)
{
    struct query query;
    query_open(&query, store, "read the plan of a launch",
               "SELECT EXISTS (SELECT 1 FROM expected JOIN launch ON launch.id = launch_id"
               " WHERE run_id = :run_id AND number = :number AND purpose = :purpose"
               " AND operation = :operation AND variant = :variant AND kind = :kind"
               " AND place = :place AND shape = :shape AND temperature = :temperature) AS known");
    *known = 0;
    for (int i = 0; i < plan->count; i++) {
        const struct group *group = &plan->groups[i];
        for (int j = 0; j < group->variant_count; j++) {
            struct case_id id;
            group_case_id(group, j, &id);
            query_text(&query, ":run_id", run_id);
            query_integer(&query, ":number", launch);
            query_text(&query, ":purpose", words_name(&purpose_words, group->purpose));
            fields_bind(&query, case_fields, &id);
            if (query_step(&query) != 1) return query_close(&query);
            *known += column_integer(&query, "known");
            query_reset(&query);
        }
    }
    return query_close(&query);
}

static int refuse(struct store *store, const char *run_id)
{
    char command[512] = "";
    if (store_text(store, "look for a run", "SELECT command FROM run WHERE id = :key", run_id,
                   command, sizeof command) < 0)
        return -1;
    return assay_error("run %.8s planned other cases than these: resume it with the suite and "
                       "options that it began with (%s)",
                       run_id, command);
}

int store_check_plan(struct store *store, const char *run_id, int launch, const struct plan *plan)
{
    int64_t expected = 0, known = 0, cases = 0;
    for (int i = 0; i < plan->count; i++)
        cases += plan->groups[i].variant_count;
    if (count_expected(store, run_id, launch, &expected) != 0 ||
        count_known(store, run_id, launch, plan, &known) != 0)
        return -1;
    return expected == cases && known == cases ? 0 : refuse(store, run_id);
}
