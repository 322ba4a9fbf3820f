/*
 * store_schema_v2.c - the second version: the host evicts lines, a third way to make
 * caches cold; the stages of a launch, and its profile. See store_schema.h.
 */
#include "store/store_schema.h"

const char store_schema_v2[] =
    "ALTER TABLE launch ADD COLUMN flush TEXT NOT NULL DEFAULT 'read'\n"
    "    CHECK (flush IN ('read', 'write', 'lines'));\n"
    "UPDATE launch SET flush = 'write' WHERE flush_by_write = 1;\n"
    "ALTER TABLE launch DROP COLUMN flush_by_write;\n"

    /* When the stages of one launch ran. */
    "CREATE TABLE span (\n"
    "    result_id TEXT NOT NULL REFERENCES result (id),\n"
    "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
    "    lane INTEGER NOT NULL CHECK (lane >= 0),\n"
    "    name TEXT NOT NULL,\n"
    "    begin_ns REAL NOT NULL,\n"
    "    end_ns REAL NOT NULL,\n"
    "    PRIMARY KEY (result_id, ordinal)\n"
    ") STRICT, WITHOUT ROWID;\n"

    /* One launch of a result, taken apart (assay profile). */
    "CREATE TABLE profile (\n"
    "    result_id TEXT PRIMARY KEY NOT NULL REFERENCES result (id),\n"
    "    activities INTEGER NOT NULL CHECK (activities >= 1),\n"
    "    span_ns REAL NOT NULL,\n"
    "    busy_ns REAL NOT NULL,\n"
    "    idle_ns REAL NOT NULL,\n"
    "    left_out INTEGER NOT NULL,\n"
    "    passes INTEGER,\n"
    "    counters_lost TEXT NOT NULL\n"
    ") STRICT;\n"

    "CREATE TABLE profile_kernel (\n"
    "    result_id TEXT NOT NULL REFERENCES profile (result_id),\n"
    "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
    "    activity TEXT NOT NULL CHECK (activity IN ('kernel', 'copy', 'set')),\n"
    "    name TEXT NOT NULL,\n"
    "    count INTEGER NOT NULL,\n"
    "    grid_x INTEGER,\n"
    "    grid_y INTEGER,\n"
    "    grid_z INTEGER,\n"
    "    block_x INTEGER,\n"
    "    block_y INTEGER,\n"
    "    block_z INTEGER,\n"
    "    registers INTEGER,\n"
    "    static_shared_bytes INTEGER,\n"
    "    dynamic_shared_bytes INTEGER,\n"
    "    local_bytes INTEGER,\n"
    "    busy_ns REAL NOT NULL,\n"
    "    min_ns REAL NOT NULL,\n"
    "    max_ns REAL NOT NULL,\n"
    "    PRIMARY KEY (result_id, ordinal)\n"
    ") STRICT, WITHOUT ROWID;\n"

    /* Kernel 0 is all of the launch together. */
    "CREATE TABLE profile_counter (\n"
    "    result_id TEXT NOT NULL REFERENCES profile (result_id),\n"
    "    kernel INTEGER NOT NULL CHECK (kernel >= 0),\n"
    "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
    "    metric TEXT NOT NULL,\n"
    "    value REAL,\n"
    "    PRIMARY KEY (result_id, kernel, metric)\n"
    ") STRICT, WITHOUT ROWID;\n";
