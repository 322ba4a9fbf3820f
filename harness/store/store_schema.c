/* store_schema.c - the schema, as the SQL that makes it. docs/schema.md is its manual, and a test
 * holds them together. Tables have all columns here, those of later versions last: for each of
 * those a new database would be parsed again, 10 ms in all for each launch of a gate. The words in
 * the CHECK clauses are those of status_name() and its kin. Views are in the SQL that PostgreSQL
 * has too, whose store has the same ones (postgres/central_schema.c). */
#include "store/store_internal.h"

/* What identifies a case. */
#define CASE_COLUMNS                                                                               \
    "    operation TEXT NOT NULL,\n"                                                               \
    "    variant TEXT NOT NULL,\n"                                                                 \
    "    kind TEXT NOT NULL CHECK (kind IN ('kernel', 'baseline', 'bound', 'reference')),\n"       \
    "    place TEXT NOT NULL CHECK (place IN ('host', 'cuda')),\n"                                 \
    "    shape TEXT NOT NULL,\n"                                                                   \
    "    temperature TEXT NOT NULL CHECK (temperature IN ('cold', 'hot')),\n"

static const char schema[] =
    /* What a program was built from, and the machine it ran on. */
    "CREATE TABLE environment (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    version TEXT NOT NULL,\n"
    "    git_commit TEXT NOT NULL,\n"
    "    diff_hash TEXT NOT NULL,\n"
    "    compiler TEXT NOT NULL,\n"
    "    flags TEXT NOT NULL,\n"
    "    nvcc TEXT NOT NULL,\n"
    "    nvcc_flags TEXT NOT NULL,\n"
    "    hostname TEXT NOT NULL,\n"
    "    cpu TEXT NOT NULL,\n"
    "    kernel TEXT NOT NULL,\n"
    "    os TEXT NOT NULL,\n"
    "    container TEXT NOT NULL,\n"
    "    cores INTEGER,\n"
    "    memory_bytes INTEGER\n"
    ") STRICT;\n"

    "CREATE TABLE run (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    environment_id TEXT NOT NULL REFERENCES environment (id),\n"
    "    suite TEXT NOT NULL,\n"
    "    label TEXT NOT NULL,\n"
    "    command TEXT NOT NULL,\n"
    "    suite_text TEXT NOT NULL,\n"
    "    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),\n"
    "    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted')),\n"
    "    started_at TEXT NOT NULL,\n"
    "    ended_at TEXT,\n"
    "    shard_index INTEGER CHECK (shard_index >= 1),\n"
    "    shard_count INTEGER CHECK (shard_count >= shard_index),\n"
    "    shard_group TEXT,\n"
    "    shard_cut TEXT\n"
    ") STRICT;\n"
    "CREATE INDEX run_started_at ON run (started_at);\n"
    "CREATE INDEX run_label ON run (label);\n"

    /* A name that a person gave to a run to compare with. */
    "CREATE TABLE baseline (\n"
    "    name TEXT PRIMARY KEY NOT NULL,\n"
    "    run_id TEXT NOT NULL REFERENCES run (id),\n"
    "    note TEXT NOT NULL,\n"
    "    set_at TEXT NOT NULL\n"
    ") STRICT;\n"

    "CREATE TABLE device (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    place TEXT NOT NULL CHECK (place IN ('host', 'cuda')),\n"
    "    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),\n"
    "    name TEXT NOT NULL,\n"
    "    uuid TEXT NOT NULL,\n"
    "    vbios TEXT NOT NULL,\n"
    "    compute_capability INTEGER,\n"
    "    multiprocessors INTEGER,\n"
    "    l1_bytes INTEGER,\n"
    "    cache_bytes INTEGER,\n"
    "    memory_bytes INTEGER,\n"
    "    sm_mhz_max REAL,\n"
    "    memory_mhz_max REAL\n"
    ") STRICT;\n"

    "CREATE TABLE launch (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    run_id TEXT NOT NULL REFERENCES run (id),\n"
    "    number INTEGER NOT NULL CHECK (number >= 1),\n"
    "    device_id TEXT NOT NULL REFERENCES device (id),\n"
    "    comparability TEXT NOT NULL,\n"
    "    seed INTEGER NOT NULL,\n"
    "    flush TEXT NOT NULL CHECK (flush IN ('read', 'write', 'lines')),\n"
    "    spec TEXT NOT NULL,\n"
    "    driver TEXT NOT NULL,\n"
    "    runtime TEXT NOT NULL,\n"
    "    library TEXT NOT NULL,\n"
    "    lost TEXT NOT NULL,\n"
    "    power_limit_w REAL,\n"
    "    ecc INTEGER,\n"
    "    mig INTEGER,\n"
    "    clock TEXT CHECK (clock IN ('cupti', 'event', 'host', 'sim')),\n"
    "    event_floor_ns REAL,\n"
    "    kernel_floor_ns REAL,\n"
    "    clock_step_ns REAL,\n"
    "    started_at TEXT NOT NULL,\n"
    "    start_sm_mhz REAL,\n"
    "    start_memory_mhz REAL,\n"
    "    start_temperature_c REAL,\n"
    "    start_power_w REAL,\n"
    "    start_energy_mj REAL,\n"
    "    start_clock_reasons INTEGER NOT NULL,\n"
    "    ended_at TEXT,\n"
    "    end_sm_mhz REAL,\n"
    "    end_memory_mhz REAL,\n"
    "    end_temperature_c REAL,\n"
    "    end_power_w REAL,\n"
    "    end_energy_mj REAL,\n"
    "    end_clock_reasons INTEGER,\n"
    "    start_other_processes INTEGER,\n"
    "    end_other_processes INTEGER,\n"
    "    processors INTEGER,\n"
    "    start_load REAL,\n"
    "    end_load REAL,\n"
    "    other_share REAL,\n"
    "    steal_share REAL,\n"
    "    link_width INTEGER,\n"
    "    link_width_max INTEGER,\n"
    "    link_generation INTEGER,\n"
    "    link_generation_max INTEGER,\n"
    "    ecc_uncorrected INTEGER,\n"
    "    UNIQUE (run_id, number)\n"
    ") STRICT;\n"
    "CREATE INDEX launch_comparability ON launch (comparability);\n"

    /* What the plan named, measured or not. */
    "CREATE TABLE expected (\n"
    "    launch_id TEXT NOT NULL REFERENCES launch (id),\n"
    "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
    "    purpose TEXT NOT NULL CHECK (purpose IN ('case', 'ceiling')),\n"
    "    group_label TEXT NOT NULL,\n" CASE_COLUMNS "    skip TEXT NOT NULL,\n"
    "    ceiling TEXT,\n"
    "    PRIMARY KEY (launch_id, ordinal)\n"
    ") STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE result (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    launch_id TEXT NOT NULL REFERENCES launch (id),\n"
    "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
    "    measured_at TEXT NOT NULL,\n"
    "    purpose TEXT NOT NULL CHECK (purpose IN ('case', 'ceiling')),\n"
    "    group_label TEXT NOT NULL,\n" CASE_COLUMNS "    status TEXT NOT NULL CHECK\n"
    "        (status IN ('ok', 'unchecked', 'skipped', 'wrong', 'unstable', 'crashed', "
    "'timeout')),\n"
    "    reason TEXT NOT NULL,\n"
    "    note TEXT NOT NULL,\n"
    "    clock TEXT CHECK (clock IN ('cupti', 'event', 'host', 'sim')),\n"
    "    is_baseline INTEGER NOT NULL CHECK (is_baseline IN (0, 1)),\n"
    "    threshold REAL,\n"
    "    expect_wrong INTEGER CHECK (expect_wrong IN (0, 1)),\n"
    "    time_ns REAL,\n"
    "    lo_ns REAL,\n"
    "    hi_ns REAL,\n"
    "    busy_ns REAL,\n"
    "    event_ns REAL,\n"
    "    wall_ns REAL,\n"
    "    first_call_ns REAL,\n"
    "    read_bytes REAL,\n"
    "    write_bytes REAL,\n"
    "    ops_fp32 REAL,\n"
    "    ops_tf32 REAL,\n"
    "    ops_bf16 REAL,\n"
    "    ops_fp16 REAL,\n"
    "    ops_int8 REAL,\n"
    "    ops_fp64 REAL,\n"
    "    workspace_bytes INTEGER,\n"
    "    kernels INTEGER,\n"
    "    energy_mj REAL,\n"
    "    power_w REAL,\n"
    "    sm_mhz REAL,\n"
    "    temperature_c REAL,\n"
    "    clock_reasons INTEGER NOT NULL,\n"
    "    outputs INTEGER,\n"
    "    checked INTEGER,\n"
    "    max_abs_error REAL,\n"
    "    max_rel_error REAL,\n"
    "    near_share REAL,\n"
    "    code_hash TEXT NOT NULL,\n"
    "    registers INTEGER,\n"
    "    shared_bytes INTEGER,\n"
    "    local_bytes INTEGER,\n"
    "    begun_at TEXT,\n"
    "    ops_fp8 REAL,\n"
    "    UNIQUE (launch_id, ordinal),\n"
    "    UNIQUE (launch_id, operation, shape, temperature, variant, place, purpose)\n"
    ") STRICT;\n"
    /* All that the history of a case reads, so that it reads nothing else. */
    "CREATE INDEX result_case ON result\n"
    "    (operation, variant, shape, temperature, place, purpose, launch_id, status, time_ns);\n"

    "CREATE TABLE metric (\n"
    "    result_id TEXT NOT NULL REFERENCES result (id),\n"
    "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
    "    name TEXT NOT NULL,\n"
    "    value REAL,\n"
    "    PRIMARY KEY (result_id, name)\n"
    ") STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE sample (\n"
    "    result_id TEXT PRIMARY KEY NOT NULL REFERENCES result (id),\n"
    "    time_ns BLOB,\n"
    "    busy_ns BLOB,\n"
    "    event_ns BLOB,\n"
    "    round BLOB,\n"
    "    mark BLOB,\n"
    "    wall_ns BLOB,\n"
    "    wall_round BLOB,\n"
    "    CHECK (time_ns IS NULL OR length(time_ns) % 4 = 0),\n"
    "    CHECK (busy_ns IS NULL OR length(busy_ns) = length(time_ns)),\n"
    "    CHECK (event_ns IS NULL OR length(event_ns) = length(time_ns)),\n"
    "    CHECK (round IS NULL OR 2 * length(round) = length(time_ns)),\n"
    "    CHECK (mark IS NULL OR 4 * length(mark) = length(time_ns)),\n"
    "    CHECK (time_ns IS NOT NULL OR\n"
    "           (busy_ns IS NULL AND event_ns IS NULL AND round IS NULL AND mark IS NULL)),\n"
    "    CHECK (wall_ns IS NULL OR length(wall_ns) % 4 = 0),\n"
    "    CHECK (wall_round IS NULL OR\n"
    "           (wall_ns IS NOT NULL AND 2 * length(wall_round) = length(wall_ns)))\n"
    ") STRICT;\n"

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
    ") STRICT, WITHOUT ROWID;\n"

    /* Launches of unchanged code against each other: what the gate calls noise. */
    "CREATE TABLE noise (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    comparability TEXT NOT NULL,\n"
    "    session TEXT NOT NULL,\n"
    "    source TEXT NOT NULL CHECK (source IN ('calibrate', 'null', 'code')),\n" CASE_COLUMNS
    "    metric TEXT NOT NULL CHECK (metric IN ('time', 'speedup')),\n"
    "    rounds INTEGER NOT NULL CHECK (rounds >= 1),\n"
    "    time_ns REAL NOT NULL,\n"
    "    shift REAL NOT NULL,\n"
    "    spread REAL NOT NULL,\n"
    "    measured_at TEXT NOT NULL\n"
    ") STRICT;\n"
    "CREATE INDEX noise_comparability ON noise (comparability);\n"

    "CREATE TABLE gate (\n"
    "    id TEXT PRIMARY KEY NOT NULL,\n"
    "    mode TEXT NOT NULL CHECK (mode IN ('paired', 'stored')),\n"
    "    suite TEXT NOT NULL,\n"
    "    base TEXT NOT NULL,\n"
    "    candidate TEXT NOT NULL,\n"
    "    comparability TEXT NOT NULL,\n"
    "    judged_at TEXT NOT NULL,\n"
    "    exit INTEGER NOT NULL,\n"
    "    hostname TEXT,\n"
    "    card TEXT,\n"
    "    simulated INTEGER,\n"
    "    base_build TEXT,\n"
    "    candidate_build TEXT\n"
    ") STRICT;\n"

    "CREATE TABLE verdict (\n"
    "    gate_id TEXT NOT NULL REFERENCES gate (id),\n" CASE_COLUMNS "    verdict TEXT NOT NULL,\n"
    "    tags TEXT NOT NULL,\n"
    "    reason TEXT NOT NULL,\n"
    "    ratio REAL,\n"
    "    ratio_lo REAL,\n"
    "    ratio_hi REAL,\n"
    "    floor REAL,\n"
    "    mde REAL,\n"
    "    launches INTEGER NOT NULL,\n"
    "    threshold REAL,\n"
    "    noise REAL,\n"
    "    resolution REAL,\n"
    "    fence REAL,\n"
    "    PRIMARY KEY (gate_id, operation, shape, temperature, variant, place)\n"
    ") STRICT, WITHOUT ROWID;\n"

    /* A change that somebody knows of and has taken on for a while. */
    "CREATE TABLE ack (\n"
    "    pattern TEXT PRIMARY KEY NOT NULL,\n"
    "    reason TEXT NOT NULL,\n"
    "    git_commit TEXT NOT NULL,\n"
    "    up_to REAL,\n"
    "    expires_at TEXT NOT NULL,\n"
    "    set_at TEXT NOT NULL\n"
    ") STRICT;\n";

/* Version 5: what else used the machine during a launch, and which times are known too badly to be
 * relied on. */
static const char alter_noisy[] = "ALTER TABLE launch ADD COLUMN start_other_processes INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN end_other_processes INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN processors INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN start_load REAL;\n"
                                  "ALTER TABLE launch ADD COLUMN end_load REAL;\n"
                                  "ALTER TABLE launch ADD COLUMN other_share REAL;\n"
                                  "ALTER TABLE launch ADD COLUMN steal_share REAL;\n"
                                  "DROP VIEW IF EXISTS ceilings;\n";

/* interval_spread() and NOISY_SPREAD of case/result.h. */
#define FARTHER_END                                                                                \
    "CASE WHEN hi_ns - time_ns > time_ns - lo_ns THEN hi_ns - time_ns ELSE time_ns - lo_ns END"
static const char noisy[] =
    "CREATE VIEW spread AS\n"
    "SELECT id AS result_id, launch_id, spread,\n"
    "       CASE WHEN spread > 0.05 THEN 1 WHEN spread <= 0.05 THEN 0 END AS noisy\n"
    "FROM (SELECT id, launch_id, " FARTHER_END " / time_ns AS spread\n"
    "      FROM result WHERE status IN ('ok', 'unchecked') AND time_ns > 0) AS of_result;\n";

/* Version 6: kind `bound`. SQLite has no statement that changes a CHECK: its manual ("Making other
 * kinds of table schema changes") has this one for what leaves the content of a file as it is. */
static const char bounds[] =
    "PRAGMA writable_schema = ON;\n"
    "UPDATE sqlite_schema SET sql = replace(sql, '(kind IN (''kernel'', ''baseline'', ',"
    "    '(kind IN (''kernel'', ''baseline'', ''bound'', ') WHERE type = 'table';\n"
    "PRAGMA writable_schema = RESET;\n";

/* Version 7: the shared objects that a run had loaded. */
static const char object[] = "CREATE TABLE object (\n"
                             "    run_id TEXT NOT NULL REFERENCES run (id),\n"
                             "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
                             "    name TEXT NOT NULL,\n"
                             "    sha256 TEXT NOT NULL,\n"
                             "    git_commit TEXT NOT NULL,\n"
                             "    PRIMARY KEY (run_id, ordinal)\n"
                             ") STRICT, WITHOUT ROWID;\n";

/* Version 8: status `unchecked`: a time, of an answer that nothing was held against. */
static const char unchecked[] =
    "PRAGMA writable_schema = ON;\n"
    "UPDATE sqlite_schema SET sql = replace(sql, '(status IN (''ok'', ',"
    "    '(status IN (''ok'', ''unchecked'', ') WHERE type = 'table' AND name = 'result';\n"
    "UPDATE sqlite_schema SET sql = replace(sql, 'status = ''ok''',"
    "    'status IN (''ok'', ''unchecked'')') WHERE type = 'view' AND name IN ('cases', "
    "'spread');\n"
    "PRAGMA writable_schema = RESET;\n";

/* Version 9: what the floor of a verdict was made of: a verdict once given can be read with it,
 * whatever noise becomes known later. */
static const char floors[] = "ALTER TABLE verdict ADD COLUMN threshold REAL;\n"
                             "ALTER TABLE verdict ADD COLUMN noise REAL;\n"
                             "ALTER TABLE verdict ADD COLUMN resolution REAL;\n"
                             "ALTER TABLE verdict ADD COLUMN fence REAL;\n";

/* Version 10: which share of a suite a run measured, and what was measured beside what. */
static const char alter_fleet[] =
    "ALTER TABLE run ADD COLUMN shard_index INTEGER CHECK (shard_index >= 1);\n"
    "ALTER TABLE run ADD COLUMN shard_count INTEGER CHECK (shard_count >= shard_index);\n"
    "ALTER TABLE run ADD COLUMN shard_group TEXT;\n"
    "ALTER TABLE run ADD COLUMN shard_cut TEXT;\n"
    "ALTER TABLE result ADD COLUMN begun_at TEXT;\n";

static const char fleet[] =
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

/* Version 11: what a GPU says of its own health. */
static const char alter_health[] = "ALTER TABLE launch ADD COLUMN link_width INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN link_width_max INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN link_generation INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN link_generation_max INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN ecc_uncorrected INTEGER;\n";

/* Version 12: where a gate was made and of what, which its launches say only where it had any. */
static const char alter_gate[] = "ALTER TABLE gate ADD COLUMN hostname TEXT;\n"
                                 "ALTER TABLE gate ADD COLUMN card TEXT;\n"
                                 "ALTER TABLE gate ADD COLUMN simulated INTEGER;\n"
                                 "ALTER TABLE gate ADD COLUMN base_build TEXT;\n"
                                 "ALTER TABLE gate ADD COLUMN candidate_build TEXT;\n";

/* Version 13: operations in FP8. The views that add up operations, or have their rates, are of this
 * version: a column that a view reads cannot be added behind it. */
static const char alter_fp8[] = "ALTER TABLE result ADD COLUMN ops_fp8 REAL;\n"
                                "DROP VIEW IF EXISTS cases;\n"
                                "DROP VIEW IF EXISTS ceilings;\n";

/* `ceilings` as ceilings_learn() of case/ceiling.h: a noisy case lies between two rates, and the
 * ceiling is known once another case was at least as fast as the faster one. Not by way of the view
 * `spread`: this program lets no view read another (store.c). */
static const char fp8[] =
    /* What follows from columns alone, as assay show has it; ratios need the samples, round by
     * round. Only a case that is ok has a time that may be read as one. */
    "CREATE VIEW cases AS\n"
    "SELECT run.id AS run_id, run.suite, run.label AS run_label, run.started_at,\n"
    "       launch.id AS launch_id, launch.number AS launch, launch.comparability,\n"
    "       device.name AS device, result.id AS result_id, result.ordinal,\n"
    "       result.purpose, result.group_label, result.operation, result.variant,\n"
    "       result.kind, result.place, result.shape, result.temperature,\n"
    "       result.status, result.reason, result.note, result.clock, result.is_baseline,\n"
    "       length(sample.time_ns) / 4 AS samples,\n"
    "       CASE WHEN timed THEN result.time_ns END AS time_ns,\n"
    "       CASE WHEN timed THEN result.lo_ns END AS lo_ns,\n"
    "       CASE WHEN timed THEN result.hi_ns END AS hi_ns,\n"
    "       CASE WHEN timed THEN bytes / nullif(result.time_ns, 0) END AS gb_per_s,\n"
    "       bytes, ops, CASE WHEN timed THEN result.energy_mj END AS energy_mj,\n"
    "       result.sm_mhz, result.code_hash\n"
    "FROM (SELECT *, status IN ('ok', 'unchecked') AS timed, read_bytes + write_bytes AS bytes,\n"
    "             ops_fp32 + ops_tf32 + ops_bf16 + ops_fp16 + ops_int8 + ops_fp64\n"
    "             + coalesce(ops_fp8, 0) AS ops\n"
    "      FROM result) AS result\n"
    "JOIN launch ON launch.id = result.launch_id\n"
    "JOIN run ON run.id = launch.run_id\n"
    "JOIN device ON device.id = launch.device_id\n"
    "LEFT JOIN sample ON sample.result_id = result.id;\n"

    "CREATE VIEW ceilings AS\n"
    "WITH reached AS\n"
    "    (SELECT launch.run_id, launch.id AS launch_id, launch.number AS launch,\n"
    "            device.name AS device, expected.ceiling AS name, result.operation,\n"
    "            result.variant, result.shape, result.temperature, result.time_ns,\n"
    "            CASE WHEN " FARTHER_END " > 0.05 * time_ns THEN 1 ELSE 0 END AS noisy,\n"
    "            result.lo_ns,\n"
    "            CASE WHEN expected.ceiling IN ('fp32', 'tf32', 'bf16', 'fp16', 'int8', 'fp64',\n"
    "                                            'fp8')\n"
    "                 THEN 'ops/s' ELSE 'bytes/s' END AS unit,\n"
    "            CASE expected.ceiling\n"
    "                WHEN 'fp32' THEN ops_fp32 WHEN 'tf32' THEN ops_tf32\n"
    "                WHEN 'bf16' THEN ops_bf16 WHEN 'fp16' THEN ops_fp16\n"
    "                WHEN 'int8' THEN ops_int8 WHEN 'fp64' THEN ops_fp64\n"
    "                WHEN 'fp8' THEN ops_fp8\n"
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
    "FROM (SELECT *, 1e9 / time_ns * amount AS rate, row_number() OVER\n"
    "          (PARTITION BY run_id, name ORDER BY 1e9 / time_ns * amount DESC) AS place\n"
    "      FROM reached WHERE noisy = 0 AND amount > 0) AS best\n"
    "WHERE place = 1 AND NOT EXISTS (SELECT 1 FROM reached WHERE noisy = 1\n"
    "    AND reached.run_id = best.run_id AND reached.name = best.name\n"
    "    AND 1e9 / lo_ns * amount > rate);\n";

const struct store_step store_steps[] = {{4, schema, NULL},
                                         {5, noisy, alter_noisy},
                                         {6, NULL, bounds},
                                         {7, object, NULL},
                                         {8, NULL, unchecked},
                                         {9, NULL, floors},
                                         {10, fleet, alter_fleet},
                                         {11, NULL, alter_health},
                                         {12, NULL, alter_gate},
                                         {13, fp8, alter_fp8},
                                         {0}};
const int store_version = 13;
