/* store_key.c - see store_key.h. */
#include "store/store_key.h"

#include <math.h>

#include "base/text.h"
#include "case/comparability.h"

void store_key(const struct device_info *device, char key[ID_SIZE])
{
    struct comparability parts;
    struct id_hash hash;
    comparability_of(device, &parts);
    id_hash_begin(&hash);
    id_hash_text(&hash, "assay comparability 2"); /* raised when the parts change */
    for (int i = 0; i < COMPARABILITY_PARTS; i++)
        id_hash_text(&hash, parts.part[i]);
    id_hash_end(&hash, key);
}

static void text_of(sqlite3_value *value, char *out, size_t size)
{
    const char *text = (const char *)sqlite3_value_text(value);
    text_copy(out, size, text ? text : "");
}

static int32_t count_of(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? -1 : sqlite3_value_int(value);
}

/* NULL is a clock that nobody told. */
static int32_t word_of(sqlite3_value *value, int (*parse)(const char *name))
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? parse(text) : -1;
}

static void key_function(sqlite3_context *context, int count, sqlite3_value **value)
{
    struct device_info device = {0};
    char key[ID_SIZE];
    (void)count;
    device.simulated = sqlite3_value_int(value[0]) != 0;
    text_of(value[1], device.name, sizeof device.name);
    text_of(value[2], device.uuid, sizeof device.uuid);
    text_of(value[3], device.vbios, sizeof device.vbios);
    text_of(value[4], device.driver, sizeof device.driver);
    text_of(value[5], device.runtime, sizeof device.runtime);
    bool is_known = sqlite3_value_type(value[6]) != SQLITE_NULL;
    device.power_limit_w = is_known ? sqlite3_value_double(value[6]) : NAN;
    device.ecc = count_of(value[7]);
    device.mig = count_of(value[8]);
    device.clock = word_of(value[9], clock_parse);
    device.flush = word_of(value[10], flush_parse);
    store_key(&device, key);
    sqlite3_result_text(context, key, -1, SQLITE_TRANSIENT);
}

int store_key_functions(struct store *store)
{
    int rc = sqlite3_create_function_v2(store->db, "comparability_key", COMPARABILITY_PARTS,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, key_function,
                                        NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : store_failed(store, rc, "open the database");
}

int store_rekey(struct store *store)
{
    return store_exec(
        store, "tell which launches compare",
        "UPDATE launch SET comparability = own.key FROM"
        " (SELECT launch.id, comparability_key(simulated, name, uuid, vbios, driver, runtime,"
        "   power_limit_w, ecc, mig, clock, flush) AS key"
        "  FROM launch JOIN device ON device.id = launch.device_id) AS own"
        " WHERE own.id = launch.id AND own.key != launch.comparability");
}
