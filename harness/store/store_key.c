#include "store/store_key.h"

#include <string.h>

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

int store_rekey(struct store *store)
{
    static const char purpose[] = "tell which launches compare";
    struct query launches, change;
    query_open(&launches, store, purpose,
               "SELECT launch.id AS launch_id, device.*, launch.* FROM launch"
               " JOIN device ON device.id = launch.device_id");
    query_open(&change, store, purpose, "UPDATE launch SET comparability = :key WHERE id = :id");
    while (query_step(&launches) == 1) {
        struct device_info device = {0};
        char id[ID_SIZE], stored[ID_SIZE], key[ID_SIZE];
        column_text(&launches, "launch_id", id, sizeof id);
        column_text(&launches, "comparability", stored, sizeof stored);
        fields_read(&launches, device_fields, &device);
        fields_read(&launches, session_fields, &device);
        store_key(&device, key);
        if (strcmp(key, stored) == 0) continue;
        query_text(&change, ":key", key);
        query_text(&change, ":id", id);
        if (query_step(&change) != 0) break;
        query_reset(&change);
    }
    int status = query_close(&change);
    return query_close(&launches) == 0 ? status : -1;
}
