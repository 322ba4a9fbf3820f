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

for format in table md json html; do
    check "$format takes less than a second" \
        takes_less_than 1 "$ASSAY" compare one two --db big.sqlite --format $format
done
check "Markdown says what it left out" says "more rows are left out" \
    "$ASSAY" compare one two --db big.sqlite --format md
