#!/bin/bash
# The figures of docs/fleet.md: a server of its own, as Debian sets one up, how long pushing and reading takes, and how
# long merging 1,000 files of 200 cases does.
#
#   ASSAY=build/assay tests/cli/central/figures.sh [RUNS...]
#
# Each run has 205 cases of 90 samples. Without RUNS: 56, 300 and 1000 (1.0, 5.6 and 18.5 million samples), and what 0
# alone does: the merge, and the bytes per case of the published runs of an H200, by table.
ASSAY=$(realpath "${ASSAY:-build/assay}") TMP=$(mktemp -d)
export ASSAY TMP FAULTS=$ASSAY
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/lib.sh
. "$here/../lib.sh"
HERE=$(realpath "$here/../..")
# shellcheck source=tests/cli/central/server.sh
. "$here/server.sh"
# shellcheck source=tests/cli/central/clones.sh
. "$here/clones.sh"
trap 'server_end; rm -rf "$TMP"' EXIT
has_server && server_make || exit 1
psql -X -q "postgres://owner@/postgres?host=$server_folder" -c 'CREATE DATABASE assay'
"$ASSAY" push --schema | psql -X -q "$(url owner)"

# seconds WHAT COMMAND...: how long it takes, by the clock.
seconds() {
    local what=$1 TIMEFORMAT=%R
    shift
    printf '%-28s %s s\n' "$what" "$({ time "$@" >/dev/null 2>took.err; } 2>&1)"
}

# empty: the server without runs.
empty() { owner "SET client_min_messages = warning; TRUNCATE assay.environment, assay.device, assay.run CASCADE"; }
published() {
    "$ASSAY" import "$HERE"/../results/h200/*.ndjson.zst --db published.sqlite 2>import.err
    empty
    "$ASSAY" push "$(url owner)" --db published.sqlite 2>push.err
    owner "SELECT format('%s cases, %s samples each', count(*), sum(length(sample.time_ns)) / 4 / count(*)) FROM assay.sample"
    owner "SELECT format('%-20s %6s bytes per case, %6s of them indexes', relname, pg_total_relation_size(c.oid) / cases, pg_indexes_size(c.oid) / cases)
        FROM pg_class AS c, (SELECT count(*) AS cases FROM assay.sample) AS counted
        WHERE relkind = 'r' AND relnamespace = 'assay'::regnamespace AND pg_total_relation_size(c.oid) > 5 * cases
        ORDER BY pg_total_relation_size(c.oid) DESC"
    owner "SELECT format('result_case %s bytes per case', pg_relation_size('assay.result_case') / count(*)) FROM assay.sample"
    echo "SQLite: $(($(stat -c %s published.sqlite) / $(query published.sqlite "SELECT count(*) FROM sample"))) bytes per case"
}
[ $# -gt 0 ] || set -- 56 300 1000 0
for runs; do
    if [ "$runs" -eq 0 ]; then
        shards 1000 100
        seconds "merge of 1,000 files" "$ASSAY" merge shards/*.sqlite --db merged.sqlite
        published
        continue
    fi
    rm -f big.sqlite
    clones "$runs" big.sqlite
    query big.sqlite "SELECT count(DISTINCT launch_id) || ' runs, ' || count(*) || ' cases, ' ||
        (sum(length(sample.time_ns)) / 4) || ' samples' FROM sample JOIN result ON id = result_id"
    empty
    seconds "push" "$ASSAY" push "$(url owner)" --db big.sqlite
    seconds "push, all is there" "$ASSAY" push "$(url owner)" --db big.sqlite
    seconds "show" "$ASSAY" show --db "$(url owner)"
    seconds "list runs" "$ASSAY" list runs --db "$(url owner)"
    seconds "history of a variant" "$ASSAY" history 'int8_quantize/host_scalar' --db "$(url owner)"
    seconds "pull of a run" "$ASSAY" pull "$(url owner)" latest --db "one-$runs.sqlite"
    owner "SELECT 'bytes per case: ' || pg_database_size('assay') / (SELECT count(*) FROM assay.result)"
done
