/* store_schema_noisy.c - version 5: what else used the machine during a launch, and which times are
 * known too badly to be relied on. */
#include "store/store_internal.h"

const char store_alter_noisy[] = "ALTER TABLE launch ADD COLUMN start_other_processes INTEGER;\n"
                                 "ALTER TABLE launch ADD COLUMN end_other_processes INTEGER;\n"
                                 "ALTER TABLE launch ADD COLUMN processors INTEGER;\n"
                                 "ALTER TABLE launch ADD COLUMN start_load REAL;\n"
                                 "ALTER TABLE launch ADD COLUMN end_load REAL;\n"
                                 "ALTER TABLE launch ADD COLUMN other_share REAL;\n"
                                 "ALTER TABLE launch ADD COLUMN steal_share REAL;\n"
                                 "DROP VIEW IF EXISTS ceilings;\n";

const char store_schema_noisy[] =
    /* interval_spread() and NOISY_SPREAD of case/result.h. */
    "CREATE VIEW spread AS\n"
    "SELECT id AS result_id, launch_id, spread, spread > 0.05 AS noisy\n"
    "FROM (SELECT id, launch_id, max(hi_ns - time_ns, time_ns - lo_ns) / time_ns AS spread\n"
    "      FROM result WHERE status IN ('ok', 'unchecked') AND time_ns > 0);\n"

    /* As ceilings_learn() of case/ceiling.h: a noisy case lies between two rates, and the ceiling
     * is known once another case was at least as fast as the faster one. Not by way of the view
     * `spread`: this program lets no view read another (store.c). */
    "CREATE VIEW ceilings AS\n"
    "WITH reached AS\n"
    "    (SELECT launch.run_id, launch.id AS launch_id, launch.number AS launch,\n"
    "            device.name AS device, expected.ceiling AS name, result.operation,\n"
    "            result.variant, result.shape, result.temperature, result.time_ns,\n"
    "            coalesce(max(hi_ns - time_ns, time_ns - lo_ns) > 0.05 * time_ns, 0) AS noisy,\n"
    "            result.lo_ns,\n"
    "            CASE WHEN expected.ceiling IN ('fp32', 'tf32', 'bf16', 'fp16', 'int8', 'fp64')\n"
    "                 THEN 'ops/s' ELSE 'bytes/s' END AS unit,\n"
    "            CASE expected.ceiling\n"
    "                WHEN 'fp32' THEN ops_fp32 WHEN 'tf32' THEN ops_tf32\n"
    "                WHEN 'bf16' THEN ops_bf16 WHEN 'fp16' THEN ops_fp16\n"
    "                WHEN 'int8' THEN ops_int8 WHEN 'fp64' THEN ops_fp64\n"
    "                ELSE read_bytes + write_bytes END AS amount\n"
    "     FROM result\n"
    "     JOIN launch ON launch.id = result.launch_id\n"
    "     JOIN device ON device.id = launch.device_id\n"
    "     JOIN expected ON expected.launch_id = result.launch_id\n"
    "         AND expected.operation = result.operation\n"
    "         AND expected.variant = result.variant AND expected.place = result.place\n"
    "         AND expected.shape = result.shape\n"
    "         AND expected.temperature = result.temperature\n"
    "         AND expected.purpose = result.purpose\n"
    "     WHERE expected.ceiling IS NOT NULL AND result.status = 'ok' AND result.time_ns > 0)\n"
    "SELECT run_id, launch_id, launch, device, name, operation, variant, shape, temperature,\n"
    "       time_ns, unit, rate\n"
    "FROM (SELECT *, max(1e9 / time_ns * amount) AS rate FROM reached WHERE NOT noisy AND amount > "
    "0\n"
    "      GROUP BY run_id, name) AS best\n"
    "WHERE NOT EXISTS (SELECT 1 FROM reached WHERE noisy AND reached.run_id = best.run_id\n"
    "    AND reached.name = best.name AND 1e9 / lo_ns * amount > rate);\n";
