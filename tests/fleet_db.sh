#!/usr/bin/env bash
# Make a database of one sweep over made-up cards, to test `assay fleet` and what reads its data.
#
#   fleet_db.sh PROGRAM FILE CARDS [SEED]
#
# Card I is "GPU-<I, four digits>" in host "node<I/8>", an "NVIDIA H200" with 16 lanes of PCIe 5, 700 W and
# ECC. Its times are those of the model times 1 + 0.2 % of a draw per card and 0.3 % per case, about normal;
# SEED draws others. Thirty cases: 10 of "stream" at 4 TB/s, of which that of n=1000000 measures the ceiling
# memory_copy, 10 of "solve" at 40 TFLOP/s with two variants, of which "library" is the baseline.
set -eu
program=$1 file=$2 cards=$3 seed=${4:-1}

echo '{"assay_ndjson":1,"table":"header","schema":1}' | "$program" import - --db "$file" 2>/dev/null
sqlite3 "$file" <<END
.parameter init
.parameter set :cards $cards
.parameter set :seed $seed
BEGIN;
CREATE TEMP TABLE card AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
    WHERE i + 1 < :cards) SELECT i FROM n;
CREATE TEMP TABLE c AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
    SELECT 3 * i AS i, 'stream' AS operation, 'copy' AS variant, 'kernel' AS kind, 100000 * (1 + i) AS n,
        0.002 * 100000 * (1 + i) AS ns, 4.0 * 100000 * (1 + i) AS bytes, 0.0 AS ops FROM n
    UNION ALL SELECT 3 * i + 1, 'solve', 'own', 'kernel', 1000 * (1 + i), 50.0 * (1 + i), 4000.0 * (1 + i),
        2e6 * (1 + i) FROM n
    UNION ALL SELECT 3 * i + 2, 'solve', 'library', 'baseline', 1000 * (1 + i), 60.0 * (1 + i), 4000.0 * (1 + i),
        2e6 * (1 + i) FROM n;
-- Four uniform draws of one number: variance 1 when scaled by sqrt(3).
CREATE TEMP VIEW draw AS WITH RECURSIVE n (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k + 1 < 31 * $cards),
    hash (k, a) AS (SELECT k, (k * 7919 + $seed * 104729 + 12345) * 1103515245 % 2147483647 FROM n),
    more (k, a, b) AS (SELECT k, a, a * 48271 % 2147483647 FROM hash),
    last (k, a, b, c) AS (SELECT k, a, b, b * 69621 % 2147483647 FROM more)
    SELECT k, 1.7320508 * ((a + b + c + c * 48271 % 2147483647) / 2147483647.0 - 2) AS z FROM last;
CREATE TEMP TABLE drawn (k INTEGER PRIMARY KEY, z REAL);
INSERT INTO drawn SELECT k, z FROM draw;
INSERT INTO environment (id, version, git_commit, diff_hash, compiler, flags, nvcc, nvcc_flags, hostname, cpu,
    kernel, os, container) SELECT DISTINCT 'e' || (i / 8), '1', 'c0ffee', '', 'gcc', '', '', '', 'node' || (i / 8),
    '', '', '', '' FROM card;
INSERT INTO device (id, place, simulated, name, uuid, vbios, compute_capability, multiprocessors)
    SELECT 'd' || i, 'cuda', 0, 'NVIDIA H200', printf('GPU-%04d', i), 'fw', 90, 132 FROM card;
INSERT INTO run (id, environment_id, suite, label, command, suite_text, simulated, status, started_at, ended_at)
    SELECT printf('%032x', i + 1), 'e' || (i / 8), 'sweep', 'sweep', '', '', 0, 'complete',
    '2026-11-20T04:00:00.000Z', '2026-11-20T04:10:00.000Z' FROM card;
INSERT INTO launch (id, run_id, number, device_id, comparability, seed, flush, spec, driver, runtime, library,
    lost, clock, started_at, start_clock_reasons, ended_at, end_clock_reasons, power_limit_w, ecc,
    link_width, link_width_max, link_generation, link_generation_max, ecc_uncorrected)
    SELECT printf('%032x', 1000000 + i), printf('%032x', i + 1), 1, 'd' || i, 'k' || i, 1, 'read', 'cuda:' || (i % 8),
    '580', '13.0', '', '', 'cupti', '2026-11-20T04:00:00.000Z', 0, '2026-11-20T04:10:00.000Z', 0, 700, 1,
    16, 16, 5, 5, 0 FROM card;
INSERT INTO expected (launch_id, ordinal, purpose, group_label, operation, variant, kind, place, shape, temperature,
    skip, ceiling) SELECT printf('%032x', 1000000 + card.i), c.i + 1, 'case', 'g', operation, variant, kind, 'cuda',
    'n=' || n, 'cold', '', iif(operation = 'stream' AND n = 1000000, 'memory_copy', NULL) FROM card, c;
INSERT INTO result (id, launch_id, ordinal, measured_at, purpose, group_label, operation, variant,
    kind, place, shape, temperature, status, reason, note, clock, is_baseline, time_ns, lo_ns, hi_ns, read_bytes,
    write_bytes, ops_fp32, ops_tf32, ops_bf16, ops_fp16, ops_int8, ops_fp64, sm_mhz, clock_reasons, code_hash)
    SELECT printf('%032x', 100000000 + 100 * card.i + c.i), printf('%032x', 1000000 + card.i), c.i + 1,
    '2026-11-20T04:05:00.000Z', 'case', 'g', operation, variant, kind, 'cuda', 'n=' || n, 'cold', 'ok', '', '', 'cupti',
    kind = 'baseline', t, t, t, bytes / 2, bytes / 2, ops, 0, 0, 0, 0, 0, 1980, 0, ''
    FROM (SELECT card.i AS card_i, c.*, ns * (1 + 0.002 * own.z) * (1 + 0.003 * luck.z) AS t FROM card, c
        JOIN drawn AS own ON own.k = card.i * 31 + 30 JOIN drawn AS luck ON luck.k = card.i * 31 + c.i) AS c
    JOIN card ON card.i = c.card_i ORDER BY card.i, c.i;
COMMIT;
END
