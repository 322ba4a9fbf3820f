#!/bin/bash
# A central store: assay push and pull, and --db postgres://, with a real server.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/sim.sh
. "$HERE/cli/gate/sim.sh"
# shellcheck source=tests/cli/central/server.sh
. "$HERE/cli/central/server.sh"
# shellcheck source=tests/cli/central/clones.sh
. "$HERE/cli/central/clones.sh"
unset ASSAY_DB

# ------------------------------------------------------------ without a server
check "what is no URL is refused" exits 2 "$ASSAY" push http://host/db
check "and what is missing is asked for" warns "to which central store?" "$ASSAY" push
check "a store is not pushed into a store" warns "comes from a file" "$ASSAY" push postgres://a/b --db postgres://c/d
check "a server that is not there is one line" one_line "$ASSAY" list runs --db postgres://127.0.0.1:1/x
check "with exit code 2" exits 2 "$ASSAY" list runs --db postgres://127.0.0.1:1/x
check "which does not have the password" fails warns hidden "$ASSAY" list runs --db postgres://me:hidden@127.0.0.1:1/x
check "nor where it is a parameter" fails warns hidden "$ASSAY" list runs --db 'postgres://127.0.0.1:1/x?password=hidden'
check "nor where it has a ?" fails warns hidden "$ASSAY" list runs --db 'postgres://me:hid?hidden@127.0.0.1:1/x'
check "nor in a gate over nodes" fails warns hidden "$ASSAY" gate --over postgres://me:hidden@127.0.0.1:1/x
check "nor as a file to merge" fails warns hidden "$ASSAY" merge postgres://me:hidden@127.0.0.1:1/x --db all.sqlite
check "nor as the database of a rank" fails warns hidden env SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 \
    "$ASSAY" run smoke --device sim --db postgres://me:hidden@127.0.0.1:1/x
check "a merge says what to do" warns "come by assay pull" "$ASSAY" merge postgres://127.0.0.1:1/x --db all.sqlite
check "a library that is not there is one line" warns "libpq5" env ASSAY_LIBPQ=none.so "$ASSAY" list runs --db postgres://x/x
has_server || exit

# ------------------------------------------------------------------- the store
check "a server starts" server_make
server_answers || exit
psql -X -q "postgres://owner@/postgres?host=$server_folder" -c 'CREATE DATABASE assay'
check "without a schema it says how to make one" warns "assay push --schema | psql URL" "$ASSAY" list runs --db "$(url owner)"
"$ASSAY" push --schema >schema.sql
check "the schema is made" exits 0 psql -X -q -v ON_ERROR_STOP=1 "$(url owner)" -f schema.sql
check "and the roles" exits 0 psql -X -q -v ON_ERROR_STOP=1 "$(url owner)" -f "$HERE/../docs/central-store-roles.sql"
check "both again" exits 0 psql -X -q -v ON_ERROR_STOP=1 "$(url owner)" -f schema.sql -f "$HERE/../docs/central-store-roles.sql"
owner "CREATE ROLE node LOGIN PASSWORD 'of node' IN ROLE assay_writer; CREATE ROLE stranger LOGIN PASSWORD 'of stranger';
    CREATE ROLE \"o'reader\" LOGIN PASSWORD 'of reader' IN ROLE assay_reader"
printf '%s:*:*:node:of node\n%s:*:*:o'\''reader:of reader\n%s:*:*:stranger:of stranger\n' \
    "$server_folder" "$server_folder" "$server_folder" >passwords
chmod 600 passwords
export PGPASSFILE=$PWD/passwords
writer=$(url node) reader=$(url "o'reader")

# columns SIDE: the columns of tables and views, a line each.
columns_here() {
    query one.sqlite "SELECT m.name || '.' || c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
        WHERE m.type IN ('table', 'view') AND m.name NOT IN ('baseline', 'ack') ORDER BY 1"
}
columns_there() {
    owner "SELECT table_name || '.' || column_name AS name FROM information_schema.columns
        WHERE table_schema = 'assay' AND table_name NOT IN ('schema_version', 'pushed', 'counted') ORDER BY (table_name || '.' || column_name) COLLATE \"C\""
}

# -------------------------------------------------------------------- the runs
odd="it's \"50 %\" \\ :run {a,b} ü"
"$ASSAY" run smoke --device sim:seed=1 --launches 2 --label first --db one.sqlite >/dev/null 2>&1
"$ASSAY" run smoke --device 'sim:seed=2,slow=int8_quantize/*:10' --label "$odd" --db one.sqlite >/dev/null 2>&1
"$ASSAY" run smoke --device sim:seed=4 --launches 2 --db one.sqlite >/dev/null 2>&1
"$ASSAY" run smoke --device sim:seed=5 --shard 2/3:job-1 --label share1 --db one.sqlite >/dev/null 2>&1
"$ASSAY" calibrate "$ten" --device "$(calm 3)" --allow-simulated --rounds 5 --filter 'int8_quantize/*' --db one.sqlite >/dev/null 2>&1
# What a profile, an object, stages, the host's clock and a gate would store.
query one.sqlite "UPDATE sample SET wall_ns = time_ns, wall_round = round;
    INSERT INTO span SELECT id, 1, 0, 'it''s', 0, 1.5 FROM result LIMIT 3;
    INSERT INTO metric SELECT id, 9, 'odd', 1e300 * 1e300 FROM result LIMIT 3;
    INSERT INTO object SELECT id, 1, 'a.so', 'ab', '' FROM run;
    INSERT INTO profile SELECT id, 1, 2.5, 2, 0.5, 0, NULL, 'none' FROM result WHERE purpose = 'case' LIMIT 2;
    INSERT INTO profile_kernel SELECT result_id, 1, 'set', '', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 1, 1 FROM profile;
    INSERT INTO profile_counter SELECT result_id, 0, 1, 'sm', 0.1 FROM profile"
query one.sqlite "INSERT INTO gate (id, mode, suite, base, candidate, comparability, judged_at, exit) SELECT substr(label, 6, 8) || 'aaaa', 'paired', suite, 'a', 'b', '', started_at, 1 FROM run
    WHERE label GLOB 'gate *' LIMIT 1; INSERT INTO verdict SELECT gate.id, operation, variant, kind, place, shape, temperature,
    'PASS', '', '', 1.01, 1, 1.02, NULL, 0.005, 5, NULL, NULL, NULL, NULL FROM gate, noise GROUP BY operation, variant, shape"
check "there is a gate with noise" [ "$(query one.sqlite "SELECT (SELECT count(*) FROM gate) > 0 AND (SELECT count(*) FROM noise) > 0")" = 1 ]
runs=$(query one.sqlite "SELECT count(*) FROM run")

check "the writer pushes" warns ": $runs runs sent, 0 were there" "$ASSAY" push "$writer" --db one.sqlite
check "once" warns ": 0 runs sent, $runs were there; 0 new rows" "$ASSAY" push "$writer" --db one.sqlite
check "tables and views have the columns of SQLite's" diff <(columns_here) <(columns_there)

# alike COMMAND...: the same from the server as from the file, and not nothing.
alike() {
    "$ASSAY" "$@" --db one.sqlite >file.out 2>file.err
    local code_file=$?
    "$ASSAY" "$@" --db "$reader" >server.out 2>server.err
    # But the command that would measure it again, which needs a file.
    [ $? -eq $code_file ] && [ -s file.out ] && diff <(sed '/"next": /d' file.out) <(sed '/"next": /d' server.out)
}
for format in table json; do
    check "list is the same ($format)" alike list runs --format $format
    check "each launch of a gate as well ($format)" alike list runs --all --format $format
done
for format in table md csv json; do check "show is the same ($format)" alike show first --format $format; done
check "of the newest" alike show --format json
check "of one before" alike show latest~1 --format json
check "of a label with quotes" alike show "$odd" --format json
check "a profile is the same" alike show first --profile
check "of an id" alike show "$(query one.sqlite "SELECT substr(id, 1, 12) FROM run WHERE label = 'first'")"
check "compare is the same" alike compare first "$odd" --format json
check "and has its noise and its slowdown" grep -q '"REGRESSED"\|"SUSPECT"' server.out
check "of shares too" alike compare first share1 --format json
check "and it says what is missing" grep -qF "shares 1, 3 of 3 of job-1 are missing" server.err
for cases in 'int8_quantize/*' '*' 'int8_quantize n=*' 'memory/memcpy, int8_quantize/*'; do
    check "history of $cases is the same" alike history "$cases" --format json
done
check "the fleet is the same" alike fleet --allow-simulated --format json
check "gates of nodes are looked for there as in a file" warns "no gate of two programs is in it" "$ASSAY" gate --over "$reader"
check "claims are the same" alike claims --format json
check "the noise of devices is the same" alike calibrate --show --format json
check "an export is the same" alike export first --format ndjson
check "a report is the same" alike report first -o -
for kind in sweep roofline; do
    "$ASSAY" plot $kind first -o file.svg --db one.sqlite >/dev/null 2>&1
    check "plot $kind takes the URL" exits 0 "$ASSAY" plot $kind first -o server.svg --db "$reader"
    check "and draws the same" cmp file.svg server.svg
done
for kind in "history --case int8_quantize/*" noise; do
    # shellcheck disable=SC2086 # words
    "$ASSAY" plot $kind -o file.svg --db one.sqlite >/dev/null 2>&1
    # shellcheck disable=SC2086
    check "plot $kind too" exits 0 "$ASSAY" plot $kind -o server.svg --db "$reader"
    check "and draws the same" cmp file.svg server.svg
done
check "a file and a server compare" exits 0 "$ASSAY" compare "one.sqlite:first" "$reader:first"
check "a run that is not there gets a suggestion" warns "did you mean 'first'?" "$ASSAY" show firts --db "$reader"
check "going back too far is said" warns "goes back too far" "$ASSAY" show latest~99 --db "$reader"

# The views there and here, by their rows; -0 and rounding aside.
view() { echo "SELECT count(*), round(sum(${2-1})) FROM $1"; }
for what in 'cases coalesce(gb_per_s+bytes+ops+samples,0)' 'spread spread*1000+noisy' 'ceilings rate/1e6'; do
    # shellcheck disable=SC2086 # two words
    check "the view ${what% *} has the same rows" diff <(query one.sqlite "$(view $what)" | sed 's/\.0$//') \
        <(psql -X -A -t "$reader" -c 'SET extra_float_digits = 0' -c "SET search_path = assay" -c "$(view $what | sed 's/round(\(.*\))/round((\1)::numeric)/')" | grep -v SET)
done

# ------------------------------------------------------------- what is refused
for what in "run smoke --device sim" "import x.ndjson" "merge one.sqlite" "baseline set a first" "ack x --reason y --until 2099-01-01"; do
    touch x.ndjson
    # shellcheck disable=SC2086 # words
    check "$what refuses the URL" warns "assay push" "$ASSAY" $what --db "$writer"
done
check "a reader pushes nothing" exits 2 "$ASSAY" push "$reader" --db one.sqlite
check "and is told so in one line" warns "permission denied" "$ASSAY" push "$reader" --db one.sqlite
check "a role without rights is one line" one_line "$ASSAY" list runs --db "$(url stranger)"
check "that says what it lacks" warns "docs/fleet.md" "$ASSAY" list runs --db "$(url stranger)"
check "a wrong password is one line" one_line env PGPASSFILE=/dev/null PGPASSWORD=no "$ASSAY" list runs --db "$writer"
check "a writer deletes nothing" fails psql -X -q "$writer" -c 'DELETE FROM assay.run'
check "nor makes tables" fails psql -X -q "$writer" -c 'CREATE TABLE assay.mine (i int)'
version=$(owner "SELECT version FROM assay.schema_version")
owner "UPDATE assay.schema_version SET version = 99"
check "a newer schema is refused" warns "was made by a newer assay (schema 99; this one has $version)" "$ASSAY" show --db "$reader"
owner "UPDATE assay.schema_version SET version = 8; ALTER TABLE assay.verdict DROP COLUMN fence"
check "an older one too" warns "is of an older assay (schema 8; this one has $version)" "$ASSAY" push "$writer" --db one.sqlite
check "the schema of this one brings it up to date" exits 0 psql -X -q -v ON_ERROR_STOP=1 "$(url owner)" -f schema.sql
check "and it takes runs" exits 0 "$ASSAY" push "$writer" --db one.sqlite
cp one.sqlite latin.sqlite
"$ASSAY" run smoke --device sim --label $'caf\xe9' --db latin.sqlite >/dev/null 2>&1
check "a text that is not UTF-8 is refused" warns "not UTF-8" "$ASSAY" push "$writer" --db latin.sqlite

# ------------------------------------------------------------------------ pull
content() { sqlite3 -batch "$1" .dump | grep -v '^INSERT INTO baseline\|^INSERT INTO ack' | sort; }
check "a reader pulls" warns ": $runs runs fetched, 0 were here" "$ASSAY" pull "$reader" --db pulled.sqlite
check "every bit" diff <(content one.sqlite) <(content pulled.sqlite)
check "once" warns ": 0 runs fetched, $runs were here; 0 new rows" "$ASSAY" pull "$reader" --db pulled.sqlite
check "one by its name" warns ": 1 runs fetched" "$ASSAY" pull "$reader" "$odd" --db named.sqlite
check "one that is not there is said" warns "there is no run 'nosuch'" "$ASSAY" pull "$reader" latest nosuch --db new.sqlite
check "before anything is made" fails test -e new.sqlite
check "once, too" warns ": 0 runs fetched, 1 were here" "$ASSAY" pull "$reader" "$odd" --db named.sqlite
check "alone" gives 1 query named.sqlite "SELECT count(*) FROM run"
check "one run is pushed by its name" exits 0 "$ASSAY" push "$writer" latest --db one.sqlite

# A run that went on, and rows that differ under one id.
query one.sqlite "UPDATE run SET ended_at = '2099-01-01', status = 'complete' WHERE label = 'first';
    UPDATE launch SET ended_at = '2099-01-01', end_load = 5 WHERE number = 2;
    UPDATE noise SET rounds = rounds + 1"
check "a later end is pushed" exits 0 "$ASSAY" push "$writer" --db one.sqlite
check "and is there" [ "$(owner "SELECT ended_at FROM assay.run WHERE label = 'first'")" = 2099-01-01 ]
query one.sqlite "UPDATE run SET ended_at = '2099-01-02' WHERE label = 'first';
    UPDATE result SET time_ns = 7 WHERE ordinal = 1 AND launch_id IN (SELECT launch.id FROM launch JOIN run ON run.id = run_id WHERE label = 'first')"
# conflict WHERE COMMAND...: exit code 1, and by its table what it is.
conflict() {
    local where=$1
    shift
    exits 1 "$@" && grep -qF "2 rows differ from those with the same id $where, which stay as they are: 2 of result" said.err
}
for again in "" ", and again"; do
    check "what differs under one id is reported$again" conflict there "$ASSAY" push "$writer" --db one.sqlite
done
check "and stays" [ "$(owner "SELECT count(*) FROM assay.result WHERE time_ns = 7")" = 0 ]
query one.sqlite "UPDATE run SET ended_at = '2099-01-01' WHERE label = 'first'"
for again in "" ", and again"; do check "by a pull too$again" conflict here "$ASSAY" pull "$reader" --db one.sqlite; done
check "what was pushed with it is pulled" exits 0 "$ASSAY" pull "$reader" --db with.sqlite
check "all of it" gives "$runs" query with.sqlite "SELECT count(*) FROM run"

# Three at a time, two of them with the same runs.
clones 12 twelve.sqlite
"$ASSAY" push "$writer" latest~1 latest~2 latest~3 --db twelve.sqlite 2>a.err &
first=$!
"$ASSAY" push "$writer" --db twelve.sqlite 2>b.err &
second=$!
check "pushes at the same time wait for each other" exits 0 "$ASSAY" push "$writer" --db twelve.sqlite
check "the first of them ends well" wait $first
check "and the second" wait $second
hundred() { "$ASSAY" list runs --db "$1" | grep hundred | sort; }
check "and the runs are there once" diff <(hundred "$reader") <(hundred twelve.sqlite)

# --------------------------------------------------- a million samples, a crash
clones 56 big.sqlite
samples=$(query big.sqlite "SELECT sum(length(time_ns)) / 4 FROM sample")
check "there are a million samples" [ "$samples" -ge 1000000 ]

# The second transaction waits at its end, where the server is killed.
before=$(owner "SELECT count(*) FROM assay.run")
owner "CREATE FUNCTION wait_there() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF (SELECT count(*) FROM assay.pushed) > $before THEN PERFORM pg_sleep(600); END IF; RETURN NULL; END';
    CREATE TRIGGER wait_there BEFORE INSERT ON assay.pushed FOR EACH STATEMENT EXECUTE FUNCTION wait_there()"
was=$(owner "SELECT sum(length(sample.time_ns)) / 4 FROM assay.sample")
"$ASSAY" push "$writer" --db big.sqlite 2>crash.err &
pusher=$!
waits() { [ "$(owner "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")" = 1 ]; }
check "a push comes to its second transaction" wait_for 30 waits
server_stop immediate
wait $pusher
code=$?
check "a server that goes away is exit 2" [ $code -eq 2 ]
check "which says what was sent" grep -q " runs sent, 0 were there" crash.err
check "and that it goes on" grep -q "assay push again goes on from there" crash.err
check "in two lines" [ "$(wc -l <crash.err)" -eq 2 ]
check "the server comes back" server_start
owner "DROP TRIGGER wait_there ON assay.pushed"
there=$(owner "SELECT count(*) - $before FROM assay.run")
check "some runs are there and some are not" [ "$there" -gt 0 -a "$there" -lt 56 ]
check "the rest alone is pushed, in less than a minute" warns ": $((56 - there)) runs sent, $there were there" timeout 60 "$ASSAY" push "$writer" --db big.sqlite
check "every sample is there" [ "$(owner "SELECT sum(length(sample.time_ns)) / 4 - $was FROM assay.sample")" = "$samples" ]
check "with the same cases as in the file" diff <(hundred "$reader") <(cat <(hundred big.sqlite) <(hundred twelve.sqlite) | sort)
