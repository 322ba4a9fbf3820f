#!/usr/bin/env bash
# Every ```sql block of docs/schema.md runs on a database that the program made.
. "$(dirname "$0")/lib.sh"

check "a run of the simulated host" exits 0 "$ASSAY" run smoke --device sim --launches 2 --seed 1 --db a.sqlite

# Each block in a file of its own: 1.sql, 2.sql, ...
awk '/^```/ { on = $0 == "```sql"; if (on) file = ++blocks ".sql"; next } on { print >file }' \
    "$HERE/../docs/schema.md"
check "the page has queries" [ -s 4.sql ]
for file in [0-9]*.sql; do
    check "query ${file%.sql}: $(head -n 1 "$file")" exits 0 sqlite3 -batch -bail a.sqlite ".read $file"
    check "  ... and says nothing on standard error" [ ! -s said.err ]
done
check "a query of the page finds the cases" [ -n "$(sqlite3 -batch a.sqlite ".read 1.sql")" ]
