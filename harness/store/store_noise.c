/* store_noise.c - the noise of unchanged code, in the database. */
#include <stdlib.h>
#include <string.h>

#include "store/store_gate.h"
#include "store/store_internal.h"
#include "store/store_rows.h"

int store_comparability(struct store *store, const char *launch_id, char key[STORE_ID])
{
    static const char sql[] = "SELECT comparability FROM launch WHERE id = :key";
    key[0] = '\0';
    if (store_need(store, NEED_LAUNCH, launch_id) != 0) return -1;
    return store_text(store, "read the comparability of a launch", sql, launch_id, key, STORE_ID) <
                   0
               ? -1
               : 0;
}

static FIELD_TABLE(block_fields, FIELDS(noise_block, session, rounds, time_ns, shift, spread));

static void block_id(const struct noise_block *block, const char *source, const char *metric,
                     char id[ID_SIZE])
{
    struct id_hash hash;
    char first[16];
    snprintf(first, sizeof first, "%d", block->first);
    id_hash_begin(&hash);
    id_hash_text(&hash, block->session);
    id_hash_text(&hash, source);
    id_hash_text(&hash, metric);
    fields_hash(&hash, case_fields, &block->id);
    if (block->first > 0) id_hash_text(&hash, first);
    id_hash_end(&hash, id);
}

int store_add_noise(struct store *store, const char *comparability, const char *source,
                    const char *metric, const struct noise_block *block)
{
    struct query query;
    char id[ID_SIZE];
    block_id(block, source, metric, id);
    row_open(&query, store, "store the noise of a case", "noise",
             "ON CONFLICT (id) DO UPDATE SET rounds = excluded.rounds,"
             " time_ns = excluded.time_ns, shift = excluded.shift, spread = excluded.spread,"
             " measured_at = excluded.measured_at WHERE excluded.rounds > rounds");
    query_text(&query, ":id", id);
    query_text(&query, ":comparability", comparability);
    query_text(&query, ":source", source);
    query_text(&query, ":metric", metric);
    fields_bind(&query, case_fields, &block->id);
    fields_bind(&query, block_fields, block);
    query_now(&query, ":measured_at");
    return query_run(&query);
}

int store_read_noise(struct store *store, const char *comparability, const char *metric,
                     const char *but, struct noise *noise)
{
    struct query query;
    memset(noise, 0, sizeof *noise);
    if (store_need(store, NEED_NOISE, comparability) != 0) return -1;
    query_open(&query, store, "read the noise of unchanged code",
               "SELECT operation, variant, kind, place, shape, temperature, session, rounds,"
               " time_ns, shift, spread FROM noise WHERE comparability = :comparability AND metric "
               "= :metric AND session IS NOT :but");
    query_text(&query, ":comparability", comparability);
    query_text(&query, ":metric", metric);
    query_text(&query, ":but", but);
    for (struct noise_block *block;
         (block = query_add(&query, &noise->blocks, &noise->count, sizeof *block, "the noise"));) {
        case_read(&query, &block->id);
        fields_read(&query, block_fields, block);
    }
    int status = query_close(&query);
    if (status == 0) status = noise_prepare(noise);
    if (status != 0) noise_release(noise);
    return status;
}

/* -------------------------------------------------------------- sessions -- */

/* Labels have the first eight digits of a session; its blocks, if any, the others. */
static int complete_session(struct store *store, char session[STORE_ID])
{
    static const char sql[] =
        "SELECT session FROM noise WHERE session >= :key AND session < :key || 'g' LIMIT 1";
    char random[STORE_ID];
    int found = store_text(store, "look for a session", sql, session, session, STORE_ID);
    if (found != 0) return found < 0 ? -1 : 0;
    if (id_random(random) != 0) return -1;
    snprintf(session + 8, STORE_ID - 8, "%s", random + 8);
    return 0;
}

/* The query's one row: a session as labels have it, and its last round. -1 with assay_error, also
 * where there is none, which `none` says of the suite. */
static int find_session(struct store *store, const char *sql, const char *suite, const char *none,
                        char session[STORE_ID], int *last)
{
    struct query query;
    query_ask(&query, store, "look for a session", sql, suite);
    int found = query_step(&query);
    if (found == 1) {
        column_text(&query, "session", session, STORE_ID);
        *last = (int)column_integer(&query, "last");
    }
    if (query_close(&query) != 0) return -1;
    if (found == 1) return complete_session(store, session);
    return assay_error(none, store->path, suite);
}

/* Labels are "gate 1a2b3c4d round 3, base". */
#define SESSION_AND_LAST                                                                           \
    "SELECT substr(label, 6, 8) AS session, max(CAST(substr(label, 21) AS INTEGER)) AS last"       \
    " FROM run WHERE suite = :key AND "
#define NEWEST_FIRST STORE_NEWEST_FIRST("max(started_at)") "max(rowid) DESC LIMIT 1"

int store_last_calibration(struct store *store, const char *suite, char session[STORE_ID],
                           int *last)
{
    static const char sql[] = SESSION_AND_LAST
        "label GLOB 'gate ???????? round *, unchanged*' GROUP BY session" NEWEST_FIRST;
    return find_session(store, sql, suite, "%s: there is no calibration of '%s' to go on with",
                        session, last);
}

/* A gate against a stored run launches no base; a calibration calls its launches unchanged. */
int store_unfinished_gate(struct store *store, const char *suite, char session[STORE_ID], int *last)
{
    static const char sql[] = SESSION_AND_LAST STORE_OF_GATE
        " GROUP BY session HAVING sum(label GLOB '*, base') > 0"
        " AND session NOT IN (SELECT substr(id, 1, 8) FROM gate)" NEWEST_FIRST;
    return find_session(store, sql, suite,
                        "%s: no gate of '%s' is unfinished: there is nothing to resume", session,
                        last);
}

/* ----------------------------------------------------- pairs and devices -- */

static FIELD_TABLE(device_list_fields, FIELDS(noise_device, comparability, name, uuid, driver,
                                              clock, flush, simulated));

int store_each_noise_device(struct store *store,
                            int (*each)(const struct noise_device *device, void *context),
                            void *context)
{
    struct query query;
    struct noise_device device;
    if (store_need(store, NEED_NOISY_DEVICES, "") != 0) return -1;
    query_open(&query, store, "list the devices whose noise is known",
               "SELECT known.comparability AS comparability, device.name AS name, uuid, driver,"
               " clock, flush, device.simulated AS simulated"
               " FROM (SELECT DISTINCT comparability FROM noise WHERE metric = 'time') AS known"
               " JOIN launch ON launch.id = (SELECT id FROM launch WHERE"
               "   launch.comparability = known.comparability LIMIT 1)"
               " JOIN device ON device.id = launch.device_id"
               " ORDER BY device.simulated, name, driver, known.comparability");
    while (query_step(&query) == 1) {
        fields_read(&query, device_list_fields, &device);
        if (each(&device, context) != 0) break;
    }
    return query_close(&query);
}

/* Of a calibration both launches of a round; of a gate the base and the null arm, and base
 * and candidate where the gate made a block of them. Labels tell them; a round that was
 * interrupted is launched once more as a whole, and its first part is of another hour. */
static const char pairs_of_launches[] =
    "WITH newest AS (SELECT id FROM run WHERE label GLOB 'gate *'"
    "   AND NOT EXISTS (SELECT 1 FROM run AS later"
    "   WHERE later.label = run.label"
    "     AND (later.started_at, later.rowid) > (run.started_at, run.rowid)))"
    "SELECT a.time_ns AS one_ns, b.time_ns AS other_ns"
    " FROM run AS first JOIN launch AS l ON l.run_id = first.id"
    " JOIN run AS second ON second.label IN (first.label || ' again',"
    "   replace(first.label, ', base', ', candidate')) AND second.id != first.id"
    " JOIN launch AS m ON m.run_id = second.id AND m.comparability = l.comparability"
    " JOIN result AS a ON a.launch_id = l.id AND a.purpose = 'case' AND a.status IN ('ok', "
    "'unchecked')"
    " JOIN result AS b ON b.launch_id = m.id AND b.purpose = 'case' AND b.status IN ('ok', "
    "'unchecked')"
    "   AND b.operation = a.operation AND b.shape = a.shape AND b.temperature = a.temperature"
    "   AND b.variant = a.variant AND b.place = a.place"
    " WHERE l.comparability = :key AND first.id IN newest AND second.id IN newest"
    "   AND (first.label GLOB 'gate ???????? round *, unchanged'"
    "   OR first.label GLOB 'gate ???????? round *, base')"
    "   AND (second.label = first.label || ' again'"
    "     OR (substr(first.label, 6, 8), a.operation, a.variant, a.place, a.shape, a.temperature)"
    "       IN (SELECT substr(session, 1, 8), operation, variant, place, shape, temperature"
    "           FROM noise WHERE source = 'code'))"
    "   AND a.time_ns > 0 AND b.time_ns > 0";

int store_read_noise_pairs(struct store *store, const char *comparability,
                           struct noise_pair **pairs, int *count)
{
    struct query query;
    *pairs = NULL;
    *count = 0;
    if (store_need(store, NEED_PAIRS, comparability) != 0) return -1;
    query_ask(&query, store, "read the pairs of launches of unchanged code", pairs_of_launches,
              comparability);
    for (struct noise_pair *pair;
         (pair = query_add(&query, pairs, count, sizeof *pair, "the pairs of launches"));)
        *pair = noise_pair_of(column_real(&query, "one_ns"), column_real(&query, "other_ns"));
    int status = query_close(&query);
    if (status != 0) {
        free(*pairs);
        *pairs = NULL;
    }
    return status;
}
