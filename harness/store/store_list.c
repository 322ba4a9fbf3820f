/* store_list.c - what a database has: its runs, a line each, and the names of its cases. */
#include <stdlib.h>

#include "case/case_name.h"
#include "store/store_internal.h"

/* Cases are counted as `show` has rows (show/view.c): a case of several launches once, with its
 * worst status, and those that were measured for their ceiling only where there are no others. The
 * first launch of a gate stands for it: its columns are those of the row with the least started_at,
 * as SQLite has it where min() is the only such function. */
#define LINES(counted)                                                                             \
    "WITH counts AS (" counted "),"                                                                \
    " line AS (SELECT run.rowid AS place, run.*,"                                                  \
    "  CASE WHEN " STORE_OF_GATE " THEN substr(label, 6, 8) ELSE '' END AS gate,"                  \
    "  (SELECT count(*) FROM launch WHERE launch.run_id = run.id) AS launches,"                    \
    "  coalesce(of_cases.cases, of_ceilings.cases, 0) AS cases,"                                   \
    "  coalesce(of_cases.ok, of_ceilings.ok, 0) AS ok,"                                            \
    "  coalesce(of_cases.wrong, of_ceilings.wrong, 0) AS wrong FROM run"                           \
    "  LEFT JOIN counts AS of_cases ON of_cases.run_id = run.id AND NOT of_cases.is_ceiling"       \
    "  LEFT JOIN counts AS of_ceilings ON of_ceilings.run_id = run.id AND"                         \
    "   of_ceilings.is_ceiling)"                                                                   \
    " SELECT id, suite, label, gate, place, min(started_at) AS started_at,"                        \
    "  CASE WHEN count(*) = 1 OR sum(status != 'complete') = 0 THEN status"                        \
    "    ELSE 'interrupted' END AS status,"                                                        \
    "  coalesce((SELECT device.name FROM launch JOIN device ON device.id = launch.device_id"       \
    "    WHERE launch.run_id = line.id ORDER BY launch.number LIMIT 1), '') AS device,"            \
    "  coalesce((SELECT mode FROM gate WHERE gate.id >= line.gate AND gate.id < line.gate || 'g'"  \
    "    AND line.gate != ''), CASE WHEN label GLOB '*, unchanged*' THEN 'calibrate' END, '')"     \
    "    AS gate_mode,"                                                                            \
    "  (SELECT exit FROM gate WHERE gate.id >= line.gate AND gate.id < line.gate || 'g'"           \
    "    AND line.gate != '') AS gate_exit,"                                                       \
    "  sum(launches) AS launches, sum(cases) AS cases, sum(ok) AS ok,"                             \
    "  sum(wrong) AS wrong"                                                                        \
    " FROM line GROUP BY CASE WHEN :fold AND gate != '' THEN gate ELSE id END" STORE_NEWEST_FIRST( \
        "min(started_at)") "place DESC"
static const char lines[] = LINES(STORE_COUNTED(""));
/* A central store has them counted. */
static const char central_lines[] = LINES("SELECT * FROM temp.counted");

static FIELD_TABLE(line_fields, FIELDS(run_line, id, suite, label, device, started_at, status, gate,
                                       gate_mode, gate_exit, launches, cases, ok, wrong));

int store_each_run(struct store *store, bool gates_as_one,
                   int (*each)(const struct run_line *line, void *context), void *context)
{
    struct query query;
    struct run_line line;
    if (store_need(store, NEED_LIST, "") != 0) return -1;
    query_open(&query, store, "list the runs", store->central ? central_lines : lines);
    query_integer(&query, ":fold", gates_as_one);
    while (query_step(&query) == 1) {
        fields_read(&query, line_fields, &line);
        if (each(&line, context) != 0) break;
    }
    return query_close(&query);
}

int store_each_case_name(struct store *store, int (*each)(const char *name, void *context),
                         void *context)
{
    /* A seek in the index a name, where DISTINCT would walk through every result. UNION: a name
     * that comes again, by an index that is damaged, is not gone on from. */
    static const char sql[] =
        "WITH RECURSIVE one (operation) AS ("
        " SELECT min(operation) FROM result"
        " UNION SELECT (SELECT min(operation) FROM result WHERE operation > one.operation)"
        " FROM one WHERE operation IS NOT NULL),"
        " pair (operation, variant) AS ("
        " SELECT operation, (SELECT min(variant) FROM result WHERE operation = one.operation)"
        " FROM one WHERE operation IS NOT NULL"
        " UNION SELECT operation, (SELECT min(variant) FROM result"
        "  WHERE operation = pair.operation AND variant > pair.variant)"
        " FROM pair WHERE variant IS NOT NULL)"
        " SELECT operation || '/' || variant AS name FROM pair WHERE variant IS NOT NULL"
        " ORDER BY operation, variant";
    struct query query;
    int status = 0;
    query_open(&query, store, "read the names of cases", sql);
    while (status == 0 && query_step(&query) == 1) {
        char name[2 * ASSAY_MAX_NAME + 2];
        column_text(&query, "name", name, sizeof name);
        status = each(name, context);
    }
    return query_close(&query) != 0 ? -1 : status;
}

int store_hint_case(struct store *store, const char *pattern, char hint[TEXT_HINT])
{
    struct query query;
    struct case_id *ids = NULL, *id;
    int count = 0;
    bool found = false;
    hint[0] = '\0';
    /* All of it is in the index result_case; a kind is not, nor is it looked at. */
    query_open(&query, store, "look for a case",
               "SELECT DISTINCT operation, variant, shape, temperature, place, 'kernel' AS kind"
               " FROM result");
    while (!found && (id = query_add(&query, &ids, &count, sizeof *ids, "the names of cases"))) {
        fields_read(&query, case_fields, id);
        found = case_matches(pattern, id);
    }
    struct case_names *names = calloc((size_t)count + 1, sizeof *names);
    for (int i = 0; names && i < count; i++)
        names[i] = case_names_of(&ids[i]);
    if (!found) case_hint(hint, pattern, names, names ? count : 0);
    free(names);
    free(ids);
    return query_close(&query) != 0 ? -1 : found || count == 0;
}
