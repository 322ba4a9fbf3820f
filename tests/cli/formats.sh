#!/usr/bin/env bash
# Formats of other tools: what assay export writes of a run, what assay import makes
# of their files, and what of broken ones.
. "$(dirname "$0")/lib.sh"
files=$HERE/import
export ASSAY_DB=f.sqlite

# at FILE PATH: the value at a JSON path of a file.
at() { sqlite3 :memory: "SELECT json_extract(readfile('$1'), '$2')"; }
valid() { [ "$(sqlite3 :memory: "SELECT json_valid(readfile('$1'))")" = 1 ]; }
# of CASES-COLUMN WHERE: of the cases in the database.
of() { query f.sqlite "SELECT $1 FROM cases WHERE $2"; }
runs() { query "$1" "SELECT count(*) FROM run"; }

# ---------------------------------------------------------------- NVBench
check "a file of NVBench is known by its content" exits 0 "$ASSAY" import "$files/nvbench.json"
check "a run for each device" gives 2 runs f.sqlite
check "again: nothing is new" warns ": 0 new rows" "$ASSAY" import "$files/nvbench.json"
cp "$files/nvbench.json" renamed.txt
mkdir nvbench.json-bin && cp "$files"/nvbench.json-bin/* nvbench.json-bin
check "under another name neither" warns ": 0 new rows" "$ASSAY" import renamed.txt
f32="variant = 'nvbench' AND shape = 'T=F32 Elements_In=1048576' AND launch_id = (SELECT launch_id
    FROM cases WHERE shape LIKE 'T=F64%')"
check "axes are the shape; samples in seconds give the median" \
    gives "copy sweep|2400.0|2100.0|2700.0|9" of "operation, round(time_ns, 3), round(lo_ns, 3),
    round(hi_ns, 3), samples" "$f32 AND temperature = 'cold'"
check "bytes are the rate times the mean" gives 8400000.0 of bytes "$f32 AND temperature = 'cold'"
check "event pairs made the time" gives event of clock "$f32 AND temperature = 'cold'"
check "a batch is the hot case" gives "1500.0|mean of 1000" of "time_ns, note" \
    "$f32 AND temperature = 'hot'"
check "a median is taken before a mean" gives "4500.0|median of 3" of "time_ns, note" \
    "shape LIKE 'T=F64%'"
check "what was skipped has its reason and no time" gives "skipped|not built for F16|1" of \
    "status, reason, time_ns IS NULL" "shape LIKE 'T=F16%'"
check "the program is the suite" gives copy_bench query f.sqlite "SELECT DISTINCT suite FROM run"
check "the device is described" gives "Made-up GPU|90|132|1980.0" query f.sqlite \
    "SELECT name, compute_capability, multiprocessors, sm_mhz_max FROM device"
check "L2 was flushed by writing" gives write query f.sqlite "SELECT DISTINCT flush FROM launch"
rm -r nvbench.json-bin
check "without its files of samples too" exits 0 "$ASSAY" import renamed.txt --db bare.sqlite
check "then the mean is the time" gives "2400.0||mean of 9" query bare.sqlite \
    "SELECT time_ns, samples, note FROM cases WHERE shape LIKE 'T=F32%' AND temperature = 'cold'
     AND launch_id = (SELECT launch_id FROM cases WHERE shape LIKE 'T=F64%')"

# A file of samples is a regular one beside the JSON or below, whatever the JSON says.
mkdir -p away/in/x elsewhere
cp "$files/nvbench.json-bin/0.bin" elsewhere/0.bin
ln -s ../../../elsewhere away/in/x/link
ln -s ../../../elsewhere/0.bin away/in/x/0.bin
mkfifo away/in/x/pipe
# samples_at PATH: how many samples are read where the JSON in away/in says that they lie there.
samples_at() {
    rm -f at.sqlite
    sed "s|out/nvbench.json-bin/0.bin|$1|" "$files/nvbench.json" >away/in/n.json
    timeout 20 "$ASSAY" import away/in/n.json --db at.sqlite >/dev/null 2>&1 || return 1
    query at.sqlite "SELECT coalesce(max(samples), 0) FROM cases WHERE shape LIKE 'T=F32%'"
}
cp elsewhere/0.bin away/in/x/own.bin
check "samples below the JSON are read" gives 9 samples_at x/own.bin
check "beside it, too, where the JSON has a longer path" gives 9 samples_at /build/out/x/own.bin
for path in "$TMP/elsewhere/0.bin" ../../elsewhere/0.bin x/../../../elsewhere/0.bin elsewhere/0.bin x/link/0.bin x/0.bin x/pipe x; do
    check "not from ${path#"$TMP"}" gives 0 samples_at "$path"
done

# ------------------------------------------------------- Google Benchmark
check "a file of Google Benchmark too" exits 0 "$ASSAY" import "$files/gbench.json"
check "its time is the run's, in UTC" gives 2026-02-03T03:05:06.000Z query f.sqlite \
    "SELECT started_at FROM run WHERE suite = 'string_bench'"
check "arguments are the shape" gives "arg0=1024 threads=2|12.5|1000.0" of "shape, time_ns, bytes" \
    "operation = 'BM_Copy'"
check "repetitions are samples" gives "Find|n=64|1400.0|1100.0|1700.0|9" of \
    "variant, shape, time_ns, lo_ns, hi_ns, samples" "operation = 'Strings'"
check "of aggregates alone the median" gives 2000000.0 of time_ns "operation = 'BM_Only<int, 4>'"
check "what failed has its reason and no time" gives "crashed|no file to read|1" of \
    "status, reason, time_ns IS NULL" "operation = 'BM_Fail'"
check "a fit of complexity is no case" gives 4 of "count(*)" "suite = 'string_bench'"
check "again: nothing is new" warns ": 0 new rows" "$ASSAY" import "$files/gbench.json"
check "from a pipe as well" warns "standard input: 0 new rows" \
    bash -c 'cat "$1" | "$0" import -' "$ASSAY" "$files/gbench.json"
check "imports show as runs" says "Find" "$ASSAY" show gbench.json
check "and have a history" says "Strings/Find n=64 hot" "$ASSAY" history 'Strings/*'

# ----------------------------------------------------------- broken files
# broken FILE CHANGE: broken.json is the file, changed by an expression of SQLite over its text `it`.
broken() { sqlite3 :memory: "SELECT $2 FROM (SELECT CAST(readfile('$files/$1') AS TEXT) AS it)" >broken.json; }
# refused FILE CHANGE WORDS: exit 2, one line with the file and the words, nothing taken.
refused() {
    rm -f broken.sqlite*
    broken "$1" "$2" && exits 2 "$ASSAY" import broken.json --db broken.sqlite || return 1
    grep -qF broken.json said.err && grep -qF -- "$3" said.err || return 1
    [ "$(wc -l <said.err)" -eq 1 ] && [ "$(runs broken.sqlite)" = 0 ]
}
cp -r "$files/nvbench.json-bin" .
state='$.benchmarks[0].states'
samples="${state}[0].summaries[7].data[1].value"
check "cut short" refused nvbench.json "substr(it, 1, 1500)" "not JSON, or cut short"
check "of a newer version" refused nvbench.json \
    "json_set(it, '\$.meta.version.json.major', 2, '\$.meta.version.json.string', '2.0.0')" "2.0.0"
check "a device that is not described" refused nvbench.json "json_set(it, '${state}[0].device', 7)" \
    "does not describe"
check "fewer samples than said" refused nvbench.json "json_set(it, '$samples', '10')" \
    "has 9 samples, not 10"
check "more samples than said" refused nvbench.json "json_set(it, '$samples', '8')" "more than 8"
check "a case twice" refused nvbench.json \
    "json_insert(it, '${state}[#]', json_extract(it, '${state}[0]'))" "is there twice"
second='$.benchmarks[1]'
check "no time" refused gbench.json "json_remove(it, '$second.real_time')" "benchmarks[1]: real_time"
check "a time that is text" refused gbench.json "json_set(it, '$second.real_time', '12')" \
    "benchmarks[1]: real_time"
check "an unknown unit" refused gbench.json "json_set(it, '$second.time_unit', 'fortnight')" "'fortnight'"
check "no results" refused gbench.json "json_set(it, '\$.benchmarks', json('[]'))" "no result"
check "no benchmarks" refused gbench.json "json_remove(it, '\$.benchmarks')" \
    "not a file of Google Benchmark"
check "the wrong format by option" exits 2 "$ASSAY" import "$files/gbench.json" --format nvbench
check "it says what is missing" warns "not a file of NVBench" \
    "$ASSAY" import "$files/gbench.json" --format nvbench
check "a format that is only written" warns "only written" "$ASSAY" import x --format bmf

# ---------------------------------------------------------------- exports
check "gbench by the ending" exits 0 "$ASSAY" export gbench.json -o g.json
check "is JSON" valid g.json
check "has its caches, without which Bencher refuses it" gives 33554432 at g.json \
    '$.context.caches[0].size'
check "the cases that are ok, and no other" gives 3 sqlite3 :memory: \
    "SELECT json_array_length(readfile('g.json'), '\$.benchmarks')"
check "a name by its arguments" gives "Strings/Find/n:64/hot/host" at g.json '$.benchmarks[1].name'
check "the median in nanoseconds" gives 1400 at g.json '$.benchmarks[1].real_time'
check "what has no figure is left out" gives "" at g.json '$.benchmarks[0].lower_time'
check "gbench comes back as the same cases" exits 0 "$ASSAY" import g.json --db back.sqlite
check "with the same names, times and intervals" gives "Strings|Find|n=64|hot|1400.0|1100.0|1700.0" \
    query back.sqlite "SELECT operation, variant, shape, temperature, time_ns, lo_ns, hi_ns
    FROM cases WHERE variant = 'Find'"

check "bmf by its ending" exits 0 "$ASSAY" export gbench.json -o b.bmf.json
check "is JSON" valid b.bmf.json
bmf() { at b.bmf.json "\$.\"Strings/Find/n:64/hot/host\".latency.$1"; }
check "latency in nanoseconds" gives 1400 bmf value
check "with the ends of its interval" gives 1100,1700 echo "$(bmf lower_value),$(bmf upper_value)"
check "an end that is not known is not there" fails grep -q null b.bmf.json
check "throughput" gives 80000000000 at b.bmf.json \
    '$."BM_Copy/gbench/arg0:1024/threads:2/hot/host".throughput.value'
check "nothing of what failed" gives "" at b.bmf.json '$."BM_Fail/gbench/hot/host"'

# A run whose names need escaping.
odd='a \"b\\c\nd'
sed "s/string_bench/$(printf '%s' "$odd" | sed 's/\\/\\\\/g')/" "$files/gbench.json" >odd.json
check "odd names are taken" exits 0 "$ASSAY" import odd.json
check "prometheus by its ending" exits 0 "$ASSAY" export odd.json -o m.prom
label='[a-z_]+="([^"\\]|\\["\\n])*"'
lines="^(# HELP assay_[a-z_]+ .+|# TYPE assay_[a-z_]+ gauge|assay_[a-z_]+\{$label(,$label)*\} [0-9.e+-]+)$"
check "every line is of the format" gives 0 grep -Evc "$lines" m.prom
check "quotes and backslashes are escaped, and a line end is a blank" says 'suite="a \"b\\c d"' cat m.prom
check "base units" says 'shape="n=64",temperature="hot",place="host"} 1.4e-06' cat m.prom
check "what failed is 0 and has no time" gives 1 grep -c BM_Fail m.prom
once() { [ -z "$(grep -o '^assay_[^ ]*{.*}' m.prom | sort | uniq -d)" ]; }
check "no series is there twice" once
check "no partial file is left" fails ls m.prom.partial.*
check "a file that is there stays when the export fails" exits 2 "$ASSAY" export nosuchrun -o m.prom
check "as it was" says assay_run_info cat m.prom
check "a format that is only read" warns "only read" "$ASSAY" export --format nvbench
check "an unknown format gets a suggestion" warns "did you mean 'prometheus'?" \
    "$ASSAY" export --format prometeus
