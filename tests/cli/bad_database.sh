#!/usr/bin/env bash
# A database that cannot be had: a clear line, exit 2, nothing lost.
. "$(dirname "$0")/lib.sh"

many_groups 4 many.ini
# shellcheck disable=SC2120 # refused passes words on to it
measure() { "$@" "$ASSAY" run many.ini --device host --no-ceilings --db "$db"; }
# refused TEXT [COMMAND...]: a run into $db ends with exit 2 and says this last.
refused() {
    local text=$1
    shift
    run measure "$@"
    [ "$code" -eq 2 ] && tail -n 1 said.err | grep -qF -- "$text"
}
db=whole.sqlite
check "a run to begin with" exits 0 measure
before=$(sqlite3 whole.sqlite .dump | sha256sum)
unchanged() { [ "$(sqlite3 "$1" .dump | sha256sum)" = "$before" ]; }
copy() { rm -f "$1"*; query whole.sqlite "VACUUM INTO '$1'"; db=$1; }

db=folder.sqlite
mkdir folder.sqlite
check "a folder in its place" refused "folder.sqlite is a folder"
db=none/such/folder.sqlite
check "a folder that is not there" refused "none/such"
db=
check "none at all" refused "is empty"
db=:memory:
check "a name that SQLite takes for no file is a file" exits 0 measure
check "which is there afterwards" test -s ./:memory:
db=text.sqlite
echo "these are my notes, not a database" >text.sqlite
check "a file that is no database" refused "text.sqlite"
check "which stays as it was" gives "these are my notes, not a database" cat text.sqlite
check "show refuses it too" exits 2 "$ASSAY" show --db text.sqlite
db=other.sqlite
query other.sqlite "CREATE TABLE notes (a); INSERT INTO notes VALUES (1)"
check "a database of another program" refused "not one of assay's"
check "which stays as it was" gives notes query other.sqlite "SELECT group_concat(name) FROM sqlite_schema"

copy newer.sqlite
query newer.sqlite "PRAGMA user_version = 99"
before_newer=$(sha256sum <newer.sqlite)
check "one made by a newer version" refused "made by a newer assay"
check "show refuses it too" warns "made by a newer assay" "$ASSAY" show --db newer.sqlite
check "which stays as it was" [ "$(sha256sum <newer.sqlite)" = "$before_newer" ]

copy older.sqlite
query older.sqlite "PRAGMA user_version = 3"
before_older=$(sha256sum <older.sqlite)
check "one of an older development version" refused "older development version"
check "show says what to do" warns "export its runs with that one and import them here" "$ASSAY" show --db older.sqlite
check "merge refuses it too" warns "older.sqlite is of an older" "$ASSAY" merge older.sqlite --db whole.sqlite
check "which stays as it was" [ "$(sha256sum <older.sqlite)" = "$before_older" ]

copy locked.sqlite
mkfifo hold
sqlite3 locked.sqlite <hold >locked.out 2>&1 &
holder=$!
exec 8>hold
echo "BEGIN EXCLUSIVE; SELECT 'locked';" >&8
wait_for 20 grep -q locked locked.out
export ASSAY_DB_TIMEOUT_MS=200
check "one that another process holds" refused "locked"
check "is told within its time" timeout 10 bash -c '! "$0" run many.ini --device host --db locked.sqlite 2>said.err' "$ASSAY"
unset ASSAY_DB_TIMEOUT_MS
( sleep 1; echo "COMMIT;" >&8 ) &
check "one that it lets go of in time" exits 0 measure
exec 8>&-
wait "$holder"
check "has both runs" gives 2 query locked.sqlite "SELECT count(*) FROM run WHERE status = 'complete'"

if [ "$(id -u)" -ne 0 ]; then
    copy frozen.sqlite
    chmod 444 frozen.sqlite
    check "one that may not be written" refused "frozen.sqlite: cannot"
    check "can be shown" exits 0 "$ASSAY" show --db frozen.sqlite
    check "and stays as it was" unchanged frozen.sqlite
elif mkdir -p frozen && mount -t tmpfs -o size=8m none frozen 2>/dev/null; then
    copy frozen/logged.sqlite
    query frozen/logged.sqlite "PRAGMA journal_mode = WAL" >/dev/null
    copy frozen/a.sqlite
    mount -o remount,ro frozen
    check "one on a file system that may not be written" refused "the database or its folder is read-only"
    db=frozen/logged.sqlite
    check "one there that keeps a log" refused "the database or its folder is read-only"
    check "can be shown" exits 0 "$ASSAY" show --db frozen/a.sqlite
    check "and stays as it was" unchanged frozen/a.sqlite
    mount -o remount,rw frozen
    cp whole.sqlite frozen/b.sqlite
    echo "rows that were not moved into the file" >frozen/b.sqlite-wal
    mount -o remount,ro frozen
    check "one with a log left over says where its rows are" \
        warns "copy both files" "$ASSAY" show --db frozen/b.sqlite
    umount frozen
fi

# A full disk: a small file system where one can be made, else a limit on the
# size of a file. Enough for the copy, too little for a second run.
copy full.sqlite
size=$(stat -c %s full.sqlite)
if mkdir -p disk && [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=$((size + 65536)) none disk 2>/dev/null; then
    copy disk/full.sqlite
    check "a disk that fills up is told" refused "full"
    cp disk/full.sqlite* . && umount disk
else
    full() { ( ulimit -f $((size / 1024 + 32)); trap '' XFSZ; measure ); }
    run full
    check "a file that may not grow is exit 2" [ "$code" -eq 2 ]
fi
check "what was there before is there still" gives "8" query full.sqlite "SELECT count(*) FROM result
    JOIN launch ON launch.id = launch_id JOIN run ON run.id = run_id WHERE run.status = 'complete'"
check "the database is whole" gives ok query full.sqlite "PRAGMA integrity_check"
check "and what came of the second run too" gives 0 query full.sqlite \
    "SELECT count(*) FROM cases WHERE samples IS NULL OR samples < 30"

check "show without a database says how to make one" warns "assay run makes one" "$ASSAY" show --db none.sqlite
check "and makes none" fails test -e none.sqlite
