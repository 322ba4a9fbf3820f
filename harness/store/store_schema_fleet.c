/* store_schema_fleet.c - version 10: which share of a suite a run measured, and what was measured
 * beside what. */
#include "store/store_internal.h"

const char store_alter_fleet[] =
    "ALTER TABLE run ADD COLUMN shard_index INTEGER CHECK (shard_index >= 1);\n"
    "ALTER TABLE run ADD COLUMN shard_count INTEGER CHECK (shard_count >= shard_index);\n"
    "ALTER TABLE run ADD COLUMN shard_group TEXT;\n"
    "ALTER TABLE run ADD COLUMN shard_cut TEXT;\n"
    "ALTER TABLE result ADD COLUMN begun_at TEXT;\n";

const char store_schema_fleet[] =
    /* On one machine, by its one clock: another GPU of the run, another process of the job, or
     * another run. */
    "CREATE VIEW beside AS\n"
    "SELECT one.id AS result_id, other.id AS beside_id, other.launch_id AS beside_launch_id\n"
    "FROM result AS one\n"
    "JOIN launch AS launch_one ON launch_one.id = one.launch_id\n"
    "JOIN run AS run_one ON run_one.id = launch_one.run_id\n"
    "JOIN environment AS here ON here.id = run_one.environment_id\n"
    "JOIN environment AS there ON there.hostname = here.hostname\n"
    "JOIN run AS run_other ON run_other.environment_id = there.id\n"
    "JOIN launch AS launch_other ON launch_other.run_id = run_other.id\n"
    "JOIN result AS other ON other.launch_id = launch_other.id\n"
    "WHERE other.launch_id != one.launch_id\n"
    "  AND one.begun_at < other.measured_at AND other.begun_at < one.measured_at;\n";
