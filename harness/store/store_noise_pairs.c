/* store_noise_pairs.c - pairs of launches of unchanged code, and the devices they are of. */
#include <stdlib.h>

#include "base/grow.h"
#include "store/store_gate.h"
#include "store/store_internal.h"

static const struct field device_list_fields[] = {
    FIELDS(noise_device, comparability, name, uuid, driver, clock, flush, simulated), {0}};

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
    int status = 0;
    *pairs = NULL;
    *count = 0;
    if (store_need(store, NEED_PAIRS, comparability) != 0) return -1;
    query_open(&query, store, "read the pairs of launches of unchanged code", pairs_of_launches);
    query_text(&query, ":key", comparability);
    while (status == 0 && query_step(&query) == 1) {
        struct noise_pair *pair = grow_add(pairs, count, sizeof *pair, "the pairs of launches");
        if (pair)
            *pair = noise_pair_of(column_real(&query, "one_ns"), column_real(&query, "other_ns"));
        else
            status = -1;
    }
    if (query_close(&query) != 0) status = -1;
    if (status != 0) {
        free(*pairs);
        *pairs = NULL;
    }
    return status;
}
