#!/usr/bin/env bash
# assay gate with programs that lie, change or break: none of it makes the gate say yes.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/fake.sh
. "$HERE/cli/gate/fake.sh"

# ------------------------------------------------- work that is restated

build restated SLOW=b PACE=120 RESTATED=b
check "a case that the candidate redefines is no yes: 4" exits 4 gate plain restated --junit j.xml
check "it cannot be compared" grep -qF "1 INCOMPARABLE" g.out
check "what changed is said" grep -qF "the definition of its work differs (80 bytes, 0 operations; now 81, 0)" g.err
check "in JUnit, too" grep -q '<error message="1 of 3 cases cannot be compared by the candidate' j.xml
check "with its tag" grep -qF "REDEFINED" g.out
check "who knows of it acknowledges it" exits 0 "$ASSAY" ack 'copy/b *' --reason "counts the index" --until 2099-01-01
check "then it is no reason to fail" exits 0 gate plain restated
check "but an ack of a slowdown is none of this" exits 0 "$ASSAY" ack 'copy/b *' --reason "x" --up-to 5 --until 2099-01-01
check "so that it fails" exits 4 gate plain restated

# ------------------------------------------- programs that fail or change

for ends in 1 4 5; do
    build "ends$ends" ENDS=$ends
    check "a candidate that ends with $ends beside clean rows is exit 5" exits 5 gate plain "ends$ends"
    check "and named" grep -qF "./ends$ends ended with $ends, and what it stored does not say why" g.err
done
check "so is a base" exits 5 gate ends5 plain
build failed ENDS=5 CRASHED=c
check "one whose rows say why is judged by them" exits 5 gate plain failed
check "case by case" grep -qF "ERROR" g.out

# at ROUND NAME LINE: a program that is `plain`, but runs this line before that launch.
at() {
    printf '#!/bin/sh\ncase "$*" in *"round %s,"*) %s ;; esac\nexec "%s/cli/gate/program.sh" "$@"\n' \
        "$1" "$3" "$HERE" >"$2"
    chmod +x "$2"
}
at 3 rebuilt 'export COMMIT=c0ffee00c0ffee'
check "a build that changes during a gate is exit 2" exits 2 gate plain rebuilt
check "and named" grep -qF "the build of the candidate changed during the gate (no commit, then c0ffee00)" g.err
check "of the base, too" exits 2 gate rebuilt plain
at 3 edits 'export TEXT=other'
check "so is a suite" exits 2 gate plain edits
# shellcheck disable=SC2016
at 3 touched 'touch -d 2001-01-01 "$0"'
check "and a program's file, whatever it says of itself" exits 2 gate plain touched
check "which is named" grep -qF "./touched: the file changed between launches" g.err
at 3 deletes 'rm -f gone.sqlite'
check "a database that is deleted during a gate is exit 2" exits 2 gate plain deletes --db gone.sqlite
check "and said" grep -qF "gone.sqlite: the database was deleted or replaced meanwhile" g.err
at 3 replaces 'cp other.sqlite new.sqlite; mv new.sqlite gone.sqlite'
gate plain plain --db other.sqlite >/dev/null 2>&1
check "so is one that is replaced" exits 2 gate plain replaces --db gone.sqlite

# ----------------------------------------------- what a launch may bring

# brings NAME SQL: a program that is `slow`, and puts this into its database, too.
brings() {
    # shellcheck disable=SC2016
    {
        printf '#!/bin/bash\nSLOW=b PACE=150 "%s/cli/gate/program.sh" "$@"\n' "$HERE"
        printf 'while [ "$1" != --db ]; do shift; done\n[ ! -s "$2" ] || sqlite3 "$2" "%s"\n' "$2"
    } >"$1"
    chmod +x "$1"
}
case_columns="'copy','b','kernel','host','n=10','cold'"
brings forges "INSERT INTO noise SELECT 'n' || value, (SELECT comparability FROM launch), 's' || value % 9, 'calibrate',
    $case_columns, 'time', 10, 50000, 0.5, 0.5, '' FROM generate_series(1, 40);
    INSERT INTO ack VALUES ('copy/*', 'mine', '', NULL, '2099-01-01', '');
    INSERT INTO gate (id, mode, suite, base, candidate, comparability, judged_at, exit) VALUES ('forged', 'paired', 'tiny', 'a', 'b', 'k', '2099-01-01', 0);
    INSERT INTO baseline SELECT 'mine', id, '', '' FROM run;
    INSERT INTO run (id, environment_id, suite, label, command, suite_text, simulated, status, started_at, ended_at) SELECT 'forged', environment_id, suite, 'mine', '', '', 0, 'complete', '2099-01-01', NULL FROM run"
check "a launch that brings noise of its own does not hide a slowdown" exits 1 gate plain forges --db taken.sqlite
check "nothing is taken from it but its run" gives "0|0|0|0|0" query taken.sqlite "SELECT
    (SELECT count(*) FROM noise WHERE source = 'calibrate'), (SELECT count(*) FROM ack),
    (SELECT count(*) FROM gate WHERE id = 'forged'), (SELECT count(*) FROM baseline),
    (SELECT count(*) FROM run WHERE id = 'forged')"
brings twins "CREATE TEMP TABLE t AS SELECT * FROM launch; UPDATE t SET id = run_id, number = 2;
    INSERT INTO launch SELECT * FROM t"
check "a launch that is two is refused" exits 2 gate plain twins
check "and said" grep -qF "./twins stored 2 launches, where it was asked for one" g.err
build honest COMMIT=c0ffee00c0ffee
brings pretends "INSERT INTO environment SELECT 'ec0ffee00c0ffee', 'x', 'dead', '', '', '', '', '', '', '', '', '', '', NULL, NULL;
    UPDATE run SET environment_id = 'ec0ffee00c0ffee'"
check "one that calls its build by the id of another is refused" exits 2 gate honest pretends
check "and said" grep -qF "its environment is another one than that of the same id" g.err

# ------------------------------------------------- disks that are full

# small_disk KIB COMMAND...: with a disk of that size at small/.
small_disk() {
    local size=$1
    shift
    unshare -rm sh -c 'mount -t tmpfs -o size='"$size"'k none small && "$@"' sh "$@"
}
mkdir small
full_database() { small_disk 600 "$ASSAY" gate tiny --base ./plain --cand ./slow --no-proof --device host --db small/new.sqlite; }
full_temporary() {
    # shellcheck disable=SC2016
    small_disk 64 sh -c 'dd if=/dev/zero of=small/fill 2>/dev/null; TMPDIR=$PWD/small exec "$@"' sh \
        "$ASSAY" gate tiny --base "$ASSAY" --cand ./plain --device host --db small.sqlite
}
if small_disk 64 true 2>/dev/null; then
    check "a full disk of temporary files is told" warns "(TMPDIR) cannot be written: No space left" full_temporary
    check "a full disk of the database is told with its name" \
        ends 2 "assay gate: small/new.sqlite: cannot take over a run: the disk is full" full_database
else
    skipped "no file system can be mounted here"
fi

# ------------------------------------------------- suites that are laxer

# judge BASE CANDIDATE: without a threshold of the command line.
judge() {
    "$ASSAY" gate tiny --base "./$1" --cand "./$2" --device host >g.out 2>g.err
}
build strict THRESHOLD=0.05
build lax SLOW=b PACE=190 THRESHOLD=0.99 TEXT=lax
build absurd2 SLOW=b PACE=190 THRESHOLD=1e300
build absurd THRESHOLD=1e300
check "a candidate's threshold of 99 % does not make 90 % slower PASS" exits 1 judge plain lax
check "nor beside a threshold of the base" exits 1 judge strict lax
check "it is said" grep -qF "thresholds up to 99 %, above those of the base's" g.out
check "and that the suites differ" grep -qF "the sides have different texts of the suite tiny" g.out
check "one that both have counts" exits 0 judge lax lax
check "but not in silence" grep -qF "changes of up to 99 % count for nothing" g.out
check "one that no suite can have counts for nothing" exits 1 judge absurd absurd2
