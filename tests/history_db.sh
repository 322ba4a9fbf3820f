#!/usr/bin/env bash
# Make a database of made-up runs, one launch each, to test `assay history` on.
#
#   history_db.sh PROGRAM FILE RUNS CASES
#
# Case I is operation "op_<I/10>", variant "v<I%10>", shape "n=<1000*(I+1)>". Its time
# is 1000 ns, 1 % of noise that depends on case and run alone, and 10 % more from
# run RUNS/2 on where I is odd. The driver changes at run 3*RUNS/4, and the times
# with it, by 5 %. In run 7 no case has a time.
set -eu
program=$1 file=$2 runs=$3 cases=$4

echo '{"assay_ndjson":1,"table":"header","schema":1}' | "$program" import - --db "$file" 2>/dev/null
sqlite3 "$file" <<END
.parameter init
.parameter set :runs $runs
.parameter set :cases $cases
BEGIN;
CREATE TEMP TABLE r AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
    WHERE i + 1 < :runs) SELECT i FROM n;
CREATE TEMP TABLE c AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
    WHERE i + 1 < :cases) SELECT i FROM n;
INSERT INTO environment VALUES ('e', '1', 'c0ffee', '', '', '', '', '', '', '', '', '', '', 16, 1);
INSERT INTO device VALUES ('d', 'cuda', 0, 'Made-up GPU', 'GPU-1', 'fw', 90, 132, 1, 1, 1, 1, 1);
INSERT INTO run (id, environment_id, suite, label, command, suite_text, simulated, status, started_at,
    ended_at) SELECT printf('%032x', i), 'e', 'made_up', '', '', '', 0, 'complete',
    strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', i || ' hours'), NULL FROM r;
INSERT INTO launch (id, run_id, number, device_id, comparability, seed, flush, spec,
    driver, runtime, library, lost, clock, started_at, start_clock_reasons)
    SELECT printf('%032x', 1000003 * i + 1), printf('%032x', i), 1, 'd',
    iif(4 * i < 3 * :runs, 'a', 'b'), 1, 'read', 'cuda:0', iif(4 * i < 3 * :runs, '570', '580'),
    '13.0', '', '', 'cupti', strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', i || ' hours'), 0 FROM r;
INSERT INTO result (id, launch_id, ordinal, measured_at, purpose, group_label, operation, variant,
    kind, place, shape, temperature, status, reason, note, clock, is_baseline, time_ns,
    read_bytes, write_bytes, clock_reasons, code_hash)
    SELECT printf('%032x', 100000 * r.i + c.i), printf('%032x', 1000003 * r.i + 1), c.i + 1, '',
    'case', 'g', 'op_' || (c.i / 10), 'v' || (c.i % 10), 'kernel', 'cuda',
    'n=' || (1000 * (c.i + 1)), 'cold', iif(r.i = 7, 'crashed', 'ok'), '', '', 'cupti', 0,
    iif(r.i = 7, NULL, 1000.0 * (1 + 0.1 * (c.i % 2 AND 2 * r.i >= :runs))
    * (1 + 0.05 * (4 * r.i >= 3 * :runs)) * (1 + 0.01
    * ((((r.i * 7919 + c.i * 104729 + 12345) * 1103515245 + 12345) % 2147483648
    * 48271 % 2147483647) % 1000 / 1000.0 - 0.5))), 4000, 4000, 0, ''
    FROM r, c ORDER BY r.i, c.i;
COMMIT;
END
