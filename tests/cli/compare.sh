#!/usr/bin/env bash
# assay compare reads no samples: two runs of 10,000 cases with 500 samples each take
# less than a second.
. "$(dirname "$0")/lib.sh"
export ASSAY

# One launch of one case, twice, then as many copies of it as a large suite has.
for run in one two; do
    VARIANTS=a "$HERE/cli/gate/program.sh" run big --db big.sqlite --label $run
done
sqlite3 -batch big.sqlite >/dev/null <<'END'
PRAGMA synchronous = OFF;
BEGIN;
CREATE TEMP TABLE more AS SELECT result.*, value FROM result, generate_series(2, 10000);
UPDATE more SET id = lower(hex(randomblob(16))), ordinal = value, shape = 'n=' || (100 + value);
ALTER TABLE more DROP COLUMN value;
INSERT INTO result SELECT * FROM more;
INSERT INTO sample SELECT id, zeroblob(2000), NULL, NULL, zeroblob(1000), zeroblob(500), NULL, NULL
    FROM result;
COMMIT;
END
check "there are 10,000 cases a run" gives 20000 query big.sqlite "SELECT count(*) FROM result"

limit=1
[ -n "${ASAN_OPTIONS-}" ] && limit=5 # the sanitizers take their own time
for format in table md json html; do
    check "$format takes less than a second" \
        takes_less_than "$limit" "$ASSAY" compare one two --db big.sqlite --format $format
done

# The same where the noise of the device is well known.
sqlite3 -batch big.sqlite "PRAGMA synchronous = OFF; INSERT INTO noise SELECT lower(hex(randomblob(16))), comparability,
    'session ' || (value % 4), 'calibrate', operation, variant, kind, place, shape, temperature, 'time', 10, time_ns,
    0.001 * value, 0.002, '' FROM cases, generate_series(1, 20) WHERE run_label = 'one'" >pragma.out
check "200,000 blocks of noise leave it so" \
    takes_less_than "$limit" "$ASSAY" compare one two --db big.sqlite
check "and are used" says "200000 blocks of launches, 4 sessions" "$ASSAY" compare one two --db big.sqlite
check "Markdown says what it left out" says "more rows are left out" \
    "$ASSAY" compare one two --db big.sqlite --format md
