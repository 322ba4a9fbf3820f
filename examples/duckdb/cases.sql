-- Every measured case, with run, device and host, as Parquet:
--
--     duckdb <cases.sql          reads results/assay.sqlite, writes cases.parquet
--
-- From the tables and not from the view `cases`: DuckDB takes all columns of a view of SQLite for text, so
-- that a median of times would be one of words.
INSTALL sqlite;
LOAD sqlite;
ATTACH 'results/assay.sqlite' AS assay (TYPE sqlite, READ_ONLY);

COPY (
    SELECT run.id AS run_id, run.suite, run.label, CAST(run.started_at AS TIMESTAMP) AS started_at,
           environment.hostname, environment.git_commit, device.name AS device, device.uuid, launch.number AS launch,
           launch.driver, launch.link_width, launch.ecc_uncorrected,
           result.operation, result.variant, result.kind, result.place, result.shape, result.temperature,
           result.status, result.time_ns, result.lo_ns, result.hi_ns, result.sm_mhz, result.energy_mj,
           (result.read_bytes + result.write_bytes) / result.time_ns AS gb_per_s
    FROM assay.result
    JOIN assay.launch ON launch.id = result.launch_id
    JOIN assay.run ON run.id = launch.run_id
    JOIN assay.environment ON environment.id = run.environment_id
    JOIN assay.device ON device.id = launch.device_id
    WHERE result.purpose = 'case'
) TO 'cases.parquet' (FORMAT parquet, COMPRESSION zstd);

-- The cards of a model, the slowest first: the median over cases of the time over that of all cards.
WITH times AS (
    SELECT device, uuid, operation, variant, shape, temperature, median(time_ns) AS time_ns
    FROM 'cases.parquet' WHERE status = 'ok' GROUP BY ALL
), ratios AS (
    SELECT device, uuid, time_ns / median(time_ns) OVER
        (PARTITION BY device, operation, variant, shape, temperature) AS ratio
    FROM times
)
SELECT device, uuid, round(median(ratio), 4) AS ratio, count(*) AS cases FROM ratios GROUP BY ALL ORDER BY ratio DESC, uuid;
