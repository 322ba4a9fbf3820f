/*
 * store_schema_v3.c - the third version: the firmware, the power limit, ECC and MIG
 * are in the comparability key. See store_schema.h.
 */
#include "store/store_schema.h"

const char store_schema_v3[] =
    "CREATE TEMP TABLE keyed AS SELECT launch.id, comparability AS former,\n"
    "    comparability_key(simulated, name, uuid, vbios, driver, runtime, power_limit_w,\n"
    "        ecc, mig, clock, flush) AS own\n"
    "    FROM launch JOIN device ON device.id = launch.device_id;\n"

    /* Where one former key is several now, nobody knows whose the noise was: it keeps
     * a key that no launch has, and counts no more. */
    "CREATE TEMP TABLE renamed AS SELECT former, min(own) AS own FROM keyed\n"
    "    GROUP BY former HAVING min(own) = max(own);\n"
    "UPDATE noise SET comparability = renamed.own FROM renamed\n"
    "    WHERE renamed.former = noise.comparability;\n"
    "UPDATE gate SET comparability = renamed.own FROM renamed\n"
    "    WHERE renamed.former = gate.comparability;\n"
    "UPDATE launch SET comparability = keyed.own FROM keyed WHERE keyed.id = launch.id;\n"
    "DROP TABLE temp.renamed;\n"
    "DROP TABLE temp.keyed;\n";
