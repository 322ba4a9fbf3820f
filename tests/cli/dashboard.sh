#!/usr/bin/env bash
# examples/grafana: every query of the dashboard runs on a database that the program made, and finds something.
. "$(dirname "$0")/lib.sh"
board=$HERE/../examples/grafana/assay.json

"$HERE/fleet_db.sh" "$ASSAY" d.sqlite 9
query d.sqlite "UPDATE result SET status = 'wrong', time_ns = NULL WHERE id = (SELECT min(id) FROM result);
    UPDATE expected SET ceiling = 'fp32' WHERE operation = 'solve';
    INSERT INTO gate (id, mode, suite, base, candidate, comparability, judged_at, exit)
        VALUES ('g', 'paired', 's', 'a', 'b', 'k', '2026-11-20T05:00:00.000Z', 0);
    INSERT INTO verdict (gate_id, operation, variant, kind, place, shape, temperature, verdict, tags, reason, launches)
        VALUES ('g', 'stream', 'copy', 'kernel', 'cuda', 'n=1', 'cold', 'PASS', '', '', 6)"

# queries: one a line, with what Grafana puts in the place of its variables.
queries() {
    sqlite3 -batch :memory: "SELECT replace(replace(replace(value, '\${operation}', 'stream'), '\${__from:date:iso}',
        '2026-11-01T00:00:00.000Z'), '\${__to:date:iso}', '2026-12-01T00:00:00.000Z')
        FROM json_tree(readfile('$board')) WHERE key = 'rawQueryText'"
}
queries >queries.txt
check "the dashboard has queries" [ "$(wc -l <queries.txt)" -ge 8 ]
check "no variable is left in them" fails grep -q '\$' queries.txt
check "the shown text of each is the one that is run" gives 0 sqlite3 -batch :memory: "SELECT count(*)
    FROM json_tree(readfile('$board')) AS a JOIN json_tree(readfile('$board')) AS b ON b.parent = a.parent
    WHERE a.key = 'queryText' AND b.key = 'rawQueryText' AND a.value IS NOT b.value"
while IFS= read -r sql; do
    run sqlite3 -batch -bail d.sqlite "$sql"
    cp said.out rows.txt
    check "it runs: ${sql:0:60}" [ "$code" -eq 0 ]
    check "  ... and finds something" [ -s rows.txt ]
    case $sql in
        *' AS time,'*)
            check "  ... a time, a name and a figure per row" fails grep -vqE '^2026-11-20T[^|]*\|[^|]+\|[0-9.e+]+$' rows.txt
            ;;
    esac
done <queries.txt
check "a card is one row" [ "$(grep -c . <(sqlite3 -batch d.sqlite "$(grep 'ecc_uncorrected' queries.txt)"))" -eq 9 ]
