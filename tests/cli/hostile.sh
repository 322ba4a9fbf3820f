#!/usr/bin/env bash
# Databases that were damaged, and databases that somebody made to do harm: every command that reads
# one ends, soon, with one of its exit codes and within its memory.
#
# HOSTILE is how many of each kind (default 12; `make campaign` takes more), from HOSTILE_SEED on.
. "$(dirname "$0")/lib.sh"

: "${HOSTILE:=12}" "${HOSTILE_SEED:=1}"
${CC:-cc} -O1 -o damage "$HERE/hostile/damage.c" || exit 1
many_groups 3 many.ini
for _ in 1 2; do
    "$ASSAY" run many.ini --device host --no-ceilings --db whole.sqlite >/dev/null 2>&1 || exit 1
done

commands=(
    "history *"
    "show latest"
    "show no_such_run"
    "list runs"
    "compare latest~1 latest"
    "export latest --format csv"
    "export latest --format ndjson"
    "claims"
    "plot timeline -o x.svg"
)
# A sanitised program has more address space than that from the start.
memory=1000000
grep -qa __asan_init "$ASSAY" && memory=unlimited
# ends COMMAND...: what it should not have ended with, if anything.
ends() {
    ( ulimit -v "$memory" -f 65536; exec timeout 10 "$ASSAY" "$@" --db h.sqlite ) >said.out 2>said.err
    code=$?
    case $code in
        0 | 1 | 2 | 4 | 5) ! grep -q 'out of memory' said.err ;;
        *) false ;;
    esac
}
# campaign NAME: `make_NAME SEED` makes h.sqlite; every command must end.
campaign() {
    local kind=$1 seed command bad=0 refused=0 tried=0
    for ((seed = HOSTILE_SEED; seed < HOSTILE_SEED + HOSTILE; seed++)); do
        for command in "${commands[@]}"; do
            rm -f h.sqlite h.sqlite-*
            "make_$kind" $seed
            set -f
            # shellcheck disable=SC2086 # words
            ends $command || { echo "# $kind $seed, $command: exit $code: $(tail -n 1 said.err)"; bad=$((bad + 1)); }
            set +f
            [ "$code" -ne 2 ] || refused=$((refused + 1))
            tried=$((tried + 1))
        done
    done
    echo "# $kind: $tried tried, $refused refused, $bad bad"
    [ $bad -eq 0 ]
}

make_damaged() { ./damage whole.sqlite h.sqlite "$1"; }

# A value that its column does not take, in a table whose schema has been changed to take it.
values=("NULL" "x'ff00'" "zeroblob(1000)" "x'00'" "-1" "9223372036854775807" "-9223372036854775808" "9e999"
    "'%s%n'" "printf('%.100000c', 'x')" "''" "' '" "'../../x'" "char(27) || '[31m'")
mapfile -t columns < <(query whole.sqlite "SELECT m.name || '.' || p.name FROM sqlite_schema m,
    pragma_table_info(m.name) p WHERE m.type = 'table' ORDER BY 1")
make_odd() {
    local column=${columns[$1 * 37 % ${#columns[@]}]} value=${values[$1 * 5 % ${#values[@]}]}
    cp whole.sqlite h.sqlite
    query h.sqlite "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql =
        replace(replace(replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') STRICT', ')'), ' NOT NULL,', ','),
        ' NOT NULL CHECK', ' CHECK') WHERE type = 'table'" 2>/dev/null
    query h.sqlite "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;
        UPDATE OR IGNORE ${column%%.*} SET ${column#*.} = $value" 2>/dev/null
}

# A table that is no table: a view without end, one of another table, or gone.
mapfile -t tables < <(query whole.sqlite "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
endless="WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
make_changed() {
    local table=${tables[$1 % ${#tables[@]}]}
    local with=(
        "CREATE VIEW $table AS $endless SELECT kept.* FROM kept, n"
        "CREATE VIEW $table AS SELECT * FROM kept"
        "SELECT 1"
        "CREATE TABLE $table (a)"
        "CREATE TABLE $table AS SELECT * FROM kept; INSERT INTO $table SELECT * FROM kept, (SELECT 1)")
    cp whole.sqlite h.sqlite
    query h.sqlite "PRAGMA foreign_keys = OFF; DROP VIEW cases; DROP VIEW ceilings;
        CREATE TABLE kept AS SELECT * FROM $table; DROP TABLE $table; ${with[$1 * 3 % 5]}" >/dev/null 2>&1
}

cp whole.sqlite h.sqlite
check "what was whole is read" exits 0 "$ASSAY" show latest --db h.sqlite
check "a damaged file ends every command" campaign damaged
check "values that no column takes end every command" campaign odd
check "tables that are none end every command" campaign changed
