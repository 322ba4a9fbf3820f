#!/usr/bin/env bash
# assay time: programs that record as the library does (tests/trace/recorded.c), and misbehave.
. "$(dirname "$0")/lib.sh"
root=$(dirname "$HERE")
${CC:-cc} -std=c11 -O2 -D_GNU_SOURCE -I"$root/harness" -o recorded "$HERE/trace/recorded.c" \
    "$root"/harness/device/{trace_writer,cuda/symbols,cuda/cubin}.c \
    "$root"/harness/base/{elf_file,error,rng,text}.c || exit 1
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
export ASSAY_TIME_LIBRARY=$PWD/recorded ASSAY_DB=$PWD/a.sqlite TMPDIR=$PWD/tmp
mkdir tmp
timed() { "$ASSAY" time "$@"; }

# One line on standard error, nothing stored, an exit code: refused CODE TEXT ARGUMENT...
refused() {
    local wanted=$1 text=$2
    shift 2
    run timed "$@"
    [ "$code" -eq "$wanted" ] && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] &&
        grep -qF -- "$text" said.err && [ ! -e a.sqlite ]
}
check "no program" refused 2 "which program?"
check "an unknown option of ours" refused 2 "--launches" --lanches 3 -- true
printf 'no database, but long enough to be taken for the first page of one, by its size' >no.sqlite
check "a database that is none, before the program runs" refused 2 "no.sqlite is not a database" \
    --db no.sqlite -- touch ran
check "so is one in what is no folder" refused 2 "no.sqlite/new.sqlite: cannot open the database: Not a directory" \
    --db no.sqlite/new.sqlite -- touch ran
check "or in a folder that cannot be made" refused 2 "cannot make the folder" --db no/folder/new.sqlite -- touch ran
check "which it does not" [ ! -e ran ]
check "no such program" refused 2 "/nosuch: No such file" -- /nosuch
check "a program that may not be run" refused 2 "Permission denied" -- /etc/passwd
printf 'neither a script nor a program' >text && chmod +x text
check "a file that is no program" refused 2 "Exec format error" -- ./text
check "a name with a slash" refused 2 "without a slash" --name a/b -- true
check "a program without CUDA" refused 4 "true ran no kernel: it uses no CUDA" -- true
check "one that fails, too" refused 4 "it ended with exit status 1" -- false
check "one that only opens the GPU" refused 4 "opened the GPU and ran no kernel" -- ./recorded
check "one that ends at once" refused 4 "left no record" -- ./recorded flush _exit=0
check "one whose kernels may not be seen" refused 4 "could be recorded: WHY" -- ./recorded failed=WHY
check "one whose records are lost" refused 4 "no record of the 4 kernels" -- ./recorded lost=4
taken() { CUDA_INJECTION64_PATH=/opt/tool.so "$ASSAY" time -- ./recorded run=a,1,1; }
check "another profiler in the environment" exits 2 taken
check "which is said" warns "another profiler" taken
unknown() { ASSAY_TIME_LIBRARY=/nosuch "$ASSAY" time -- ./recorded run=a,1,1; }
check "a library that is not there" exits 4 unknown

check "a program is recorded" exits 0 timed -- ./recorded run=scale,100,5000,forward run=init,3,900 print
cp said.err first.err
check "its output is its own" [ "$(cat said.out)" = "the program's own output" ]
line() { grep -E "$1" first.err; }
check "the table has the kernel of most time first" line '^ *100 +50[0-9] us +99\.[0-9] % +5\.0[0-9] us +0\.[0-9]+ %  scale  range=forward  132 x 256$'
check "and the other" line '^ *3 .*  init  132 x 256$'
check "a run is stored" gives "time:recorded|complete|assay time -- ./recorded" \
    query a.sqlite "SELECT suite, status, command FROM run"
check "with a case per range and kernel" gives "init||hot|unchecked|3
scale|range=forward|hot|unchecked|100" query a.sqlite \
    "SELECT variant, shape, temperature, status, samples FROM cases ORDER BY variant"
check "counts and totals are exact" gives "count|100.0" query a.sqlite \
    "SELECT name, value FROM metric JOIN result ON result.id = result_id WHERE variant = 'scale' AND name = 'count'"
check "with grid and resources" gives "scale|132|256|32|1024" query a.sqlite \
    "SELECT name, grid_x, block_x, registers, static_shared_bytes FROM profile_kernel WHERE name = 'scale'"
check "arguments are not stored" [ -z "$(query a.sqlite "SELECT * FROM run" | grep run=scale)" ]
words() { printf '%s\0' "$@" | sha256sum | cut -d' ' -f1; }
check "but a hash of them" [ "$(query a.sqlite "SELECT suite_text FROM run" | sed -n 's/arguments_sha256 = //p')" \
    = "$(words run=scale,100,5000,forward run=init,3,900 print)" ]
check "when it began is stored" gives 1 query a.sqlite \
    "SELECT run.started_at = launch.started_at AND run.started_at < run.ended_at FROM run JOIN launch"
check "no folder is left" [ -z "$(ls -A tmp)" ]
rm a.sqlite

check "arguments are stored where asked" exits 0 timed --keep-command --name mine --label one -- ./recorded run=a,9,100
check "as they were, under the given name" gives "assay time -- ./recorded run=a,9,100|one|mine" query a.sqlite \
    "SELECT command, label, operation FROM run, result"
check "help of the program is its own" exits 0 timed -- ./recorded --help run=a,9,100
check "options behind -- too" gives "the program's own output" timed -- ./recorded --label print run=a,9,100
rm a.sqlite

cp recorded $'odd\nname\e'
check "a program's name may be anything" warns "  a  132 x 256" timed -- $'./odd\nname\e' run=a,9,100
check "and is stored as it can be printed" gives 'odd name\x1b|time:odd name\x1b|assay time -- ./odd name\x1b' query a.sqlite \
    "SELECT operation, suite, command FROM run JOIN result"
rm a.sqlite

# What a median of samples says where there are too many launches to keep. An interval holds the true
# one 19 times in 20, so the noise is always the same.
check "a million launches are recorded" takes_less_than 20 timed -- ./recorded seed=1 run=scale,1000000,5000 run=tiny,100,100
check "all are counted" gives "1000000.0" query a.sqlite "SELECT max(value) FROM metric WHERE name = 'count'"
check "some are kept" gives 1 query a.sqlite "SELECT max(samples) BETWEEN 1500 AND 8192 FROM cases"
check "and their median is that of all" gives 1 query a.sqlite \
    "SELECT abs(time_ns - 5049.5) < 5 AND lo_ns < 5049.5 AND hi_ns > 5049 FROM result WHERE variant = 'scale'"
rm a.sqlite

check "grids that differ are said to" warns "scale  (grids vary)" timed -- ./recorded run=scale,9,100 grid=7 run=scale,9,100
check "child processes are recorded" warns "  20  " timed -- ./recorded fork run=scale,10,5000
check "two devices are two cases" exits 0 timed --name two -- ./recorded run=k,9,5000 gpu=1 run=k,9,7000
check "told apart by their number" gives "gpu=0|5
gpu=1|7" query a.sqlite "SELECT shape, CAST(time_ns / 1000 AS INTEGER) FROM result WHERE operation = 'two' ORDER BY shape"
check "closed descriptors lose nothing" warns " 100  " timed -- ./recorded close run=scale,100,5000
check "by range there is a table for each" warns "range=b_c: 9" timed --by range -- ./recorded "run=k,9,100,b c" run=k,9,100
many() { timed --by range -- ./recorded $(seq -f 'run=k,2,100,r%g' 60); }
check "the largest of many ranges are shown" warns "and 20 more in further ranges, 33.3 % of the time" many
rows() { timed -- ./recorded $(seq -f 'run=k%g,2,100' 60); }
check "and of many kernels" warns "and 35 more, 58.3 % of the time" rows
rm a.sqlite

# Files of the program's own among the records: a pipe would be waited for, a link followed.
cat >clutter <<'END'
#!/bin/sh
mkfifo "$ASSAY_TIME_FOLDER/a.trace" && ln -s /dev/zero "$ASSAY_TIME_FOLDER/b.trace" && echo rubbish >"$ASSAY_TIME_FOLDER/c.trace"
exec ./recorded run=scale,100,5000
END
chmod +x clutter
check "other files among the records are passed over" exits 0 timed --name clutter -- ./clutter
check "and those are read" gives "scale|100.0" query a.sqlite "SELECT variant, value FROM result
    JOIN metric ON result.id = result_id WHERE operation = 'clutter' AND metric.name = 'count'"
rm a.sqlite

# Ends that are none: what was written until then is there. ended CODE TEXT WORD
ended() {
    run timed --name "$3" -- ./recorded run=k,10,500 flush run=lost,5,500 "$3"
    [ "$code" -eq "$1" ] && grep -qF -- "$2" said.err
}
for how in crash:5:"signal 6" kill:5:"signal 9" _exit=3:5:"exit status 3" exit=3:5:"exit status 3" _exit=0:0:"last moments"; do
    IFS=: read -r word wanted text <<<"$how"
    check "$word: is said, and its exit code" ended "$wanted" "$text" "$word"
    check "$word: what it ran is stored" gives "k|10.0" query a.sqlite \
        "SELECT variant, value FROM result JOIN metric ON result.id = result_id
         WHERE operation = '$word' AND metric.name = 'count' AND variant = 'k'"
done
rm a.sqlite

# Ctrl-C of a terminal reaches both; a signal for us alone is handed on.
"$ASSAY" time -- ./recorded run=k,10,500 flush sleep=30 2>int.err &
pid=$!
check "the program runs" wait_for 20 sh -c 'cat tmp/*/*.trace 2>/dev/null | grep -q assaytrc'
kill -TERM $pid
code=0
wait $pid || code=$?
check "a signal ends it" [ "$code" -eq 130 ]
check "and what it ran is stored" gives "interrupted|k" query a.sqlite "SELECT run.status, variant FROM run, result"
rm a.sqlite

# An application's gate.
check "six launches before a change" exits 0 timed --launches 6 --label before -- ./recorded run=a,50,5000,r run=b,50,9000
check "and after it" exits 0 timed --launches 6 --label after -- ./recorded run=a,50,5000,r run=b,50,9900
check "launches are counted" gives 12 query a.sqlite "SELECT count(*) FROM launch"
check "compare finds the slower kernel" exits 1 "$ASSAY" compare before after
check "and names it" says "recorded/b hot" "$ASSAY" compare before after
check "the same against itself has not changed" exits 0 "$ASSAY" compare before before
check "history has both" says "2 runs" "$ASSAY" history 'recorded/a range=r'
check "show marks them unchecked" says "u b" "$ASSAY" show after
check "show has the kernel's grid" says "132 x 256" "$ASSAY" show after --profile
check "report takes it" exits 0 "$ASSAY" report after -o report.html
check "it is exported" exits 0 "$ASSAY" export after --format ndjson -o after.ndjson
check "and imported" exits 0 "$ASSAY" import after.ndjson --db b.sqlite
check "with all of its rows" gives 12 query b.sqlite "SELECT count(*) FROM result"
