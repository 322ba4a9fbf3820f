# shellcheck shell=bash
# The simulated device goes through the same runner, worker, store and reports.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

ten=$HERE/sim/cases10.ini
export ASSAY_DB=$TMP/sim.sqlite
sim() { "$ASSAY" run "$ten" --no-ceilings --seed 7 --device "$@"; }
count() { query "$ASSAY_DB" "SELECT count(*) FROM result WHERE $1"; }
# Rows of the newest run.
newest="launch_id IN (SELECT id FROM launch WHERE run_id =
    (SELECT id FROM run ORDER BY started_at DESC LIMIT 1))"

# ------------------------------------------------------------- it is marked

check "a simulated run is fine" exits 0 sim sim:launch=0.5
first_line_is_marked() {
    run sim sim:launch=0.5
    head -n 1 said.out | grep -q '^SIMULATED, '
}
check "its table begins with SIMULATED" first_line_is_marked
check "the head has the words it was made by" says "sim:launch=0.5" "$ASSAY" show latest
check "show in Markdown says it" says SIMULATED "$ASSAY" show latest --format md
marks_in_json() { "$ASSAY" show latest --format json | grep -c '"simulated": true'; }
check "JSON says it of the run and of the device" gives 2 marks_in_json
check "the database says it" gives "1|1" query "$ASSAY_DB" \
    "SELECT (SELECT min(simulated) FROM run), (SELECT min(simulated) FROM device)"
check "the clock of every case is sim" gives 0 count "clock <> 'sim' OR clock IS NULL"
check "its clock is told in CSV" says ",sim," "$ASSAY" show latest --format csv
check "one device, whatever the words" gives 1 query "$ASSAY_DB" "SELECT count(*) FROM device"
check "two simulated runs may be compared" \
    gives 1 query "$ASSAY_DB" "SELECT count(DISTINCT comparability) FROM launch"

# -------------------------------------------------------------------- seeds

samples() {
    query "$1" "SELECT operation, variant, shape, number, time_ns, lo_ns, hi_ns FROM result
        JOIN launch ON launch.id = launch_id ORDER BY 1, 2, 3, 4"
}
all_keys='sim:seed=4,noise=2,launch=1,drift=0.3,modes=0.3:5,throttle=0.1,slow=*/host_omp:10'
for i in 1 2; do
    run sim "$all_keys" --launches 3 --db "$TMP/same$i.sqlite"
    samples "$TMP/same$i.sqlite" >"same$i"
done
check "the same seeds give the same run" cmp same1 same2
distinct_times() { cut -d '|' -f 5 same1 | sort -u | wc -l; }
check "launches of a run differ" gives 30 distinct_times
run sim "${all_keys/seed=4/seed=5}" --launches 3 --db "$TMP/other.sqlite"
samples "$TMP/other.sqlite" >other
run "$ASSAY" run "$ten" --no-ceilings --seed 8 --device "$all_keys" --launches 3 \
    --db "$TMP/eight.sqlite"
samples "$TMP/eight.sqlite" >eight
lines() { wc -l <"$1"; }
for file in same1 other eight; do
    check "three launches of ten cases are in $file" gives 30 lines $file
done
check "another seed of the device gives another run" fails cmp -s same1 other
check "so does another seed of the run" fails cmp -s same1 eight

# What a case draws depends on itself: not on what is measured beside it.
for filter in '*' '*_token/host_omp'; do
    run sim sim:noise=0,launch=1 --launches 3 --filter "$filter" --db "$TMP/filter.sqlite"
    samples "$TMP/filter.sqlite" | grep '_token|host_omp|' >"filter_${#filter}"
    rm "$TMP/filter.sqlite"
done
check "a case alone is there in each launch" gives 3 lines filter_16
check "a case alone draws what it draws among others" cmp filter_1 filter_16

# --------------------------------------------------------- what goes wrong

check "a crash ends with 5" exits 5 sim 'sim:crash=int8_quantize/host_omp'
check "a crash has a row with its signal" \
    gives 2 count "$newest AND status = 'crashed' AND reason = 'first launch: signal 6, Aborted'"
check "the rest of its group is measured" gives 8 count "$newest AND status = 'ok'"

check "a wrong answer ends with 1" exits 1 sim 'sim:wrong=*_token/host_omp'
check "a wrong answer says what is wrong" \
    gives 1 count "$newest AND status = 'wrong' AND reason LIKE 'y[8] is %, expected %'"
check "a wrong answer has no time" gives 0 count "$newest AND status = 'wrong' AND time_ns IS NOT NULL"

started=$SECONDS
check "a hang ends with 5" exits 5 sim 'sim:hang=*_token/host_omp'
check "a hang is a timeout" gives 1 count "$newest AND status = 'timeout'"
check "a hang costs a second or two, not the suite's timeout" test $((SECONDS - started)) -lt 15
check "the rest of its group is measured" gives 9 count "$newest AND status = 'ok'"

check "a missing case ends with 5" exits 5 sim 'sim:missing=int8_quantize/host_omp'
check "a missing case is told as it happens" warns "host_omp: missing" sim 'sim:missing=int8_quantize/host_omp'
check "a missing case has no row" gives 8 count "$newest"
check "the table counts what is missing" says "8 ok, 2 missing" "$ASSAY" show latest
check "a run of nothing but missing cases ends with 4" exits 4 sim 'sim:missing=*'

check "throttling throughout is unstable" exits 4 sim sim:throttle=1
check "an unstable case has no time" gives 10 count "$newest AND status = 'unstable' AND time_ns IS NULL"

# ------------------------------------------------------------ typed wrong

for wrong in sim: sim:nois=1 sim:noise=x sim:seed=-1 sim:modes=4 sim:slow=int8_quantize/*:fast \
    sim:crash=int8_quantise/* sim:slow=int8_quantize:10 "sim:crash=$(printf '%0300d' 0)"; do
    check "${wrong:0:40}: a usage error" exits 2 sim "$wrong"
    check "${wrong:0:40}: one line" one_line sim "$wrong"
    check "${wrong:0:40}: nothing on standard output" quiet sim "$wrong"
done
check "a key nearly right gets a suggestion" warns "did you mean 'noise'?" sim sim:nois=1
check "a glob nearly right gets a suggestion" \
    warns "did you mean 'int8_quantize/*'?" sim 'sim:crash=int8_quantise/*'
check "an operation alone gets a suggestion" \
    warns "did you mean 'int8_quantize/*'?" sim sim:slow=int8_quantize:10
check "a device nearly right gets a suggestion" warns "did you mean 'sim'?" sim smi:seed=1

# ------------------------------------------------------------------- speed

# Measured: 1 s for ten launches of 200 cases on two cores; ten times that here.
check "ten launches of 200 cases take seconds" takes_less_than 12 "$ASSAY" run \
    "$HERE/sim/cases200.ini" --no-ceilings --launches 10 --device sim:launch=0.5 \
    --db "$TMP/many_cases.sqlite"
check "they are 2000 cases" gives 2000 query "$TMP/many_cases.sqlite" \
    "SELECT count(*) FROM result WHERE status = 'ok'"
for pct in 0 10; do
    run sim "sim:noise=0,launch=0.5,slow=*/host_omp:$pct" --label "$pct" --db "$TMP/slow.sqlite"
done
ratios() { # variants whose two medians stand in the ratio, to 1e-6
    query "$TMP/slow.sqlite" "WITH case_of AS (SELECT label, operation, variant, shape, time_ns
            FROM result JOIN launch ON launch.id = launch_id JOIN run ON run.id = run_id)
        SELECT count(*) FROM case_of AS a JOIN case_of AS b USING (operation, variant, shape)
        WHERE a.label = '0' AND b.label = '10' AND abs(b.time_ns / a.time_ns - $1) < 1e-6
        AND variant $2 'host_omp'"
}
check "the slowed cases are slower by ten per cent" gives 3 ratios 1.1 '='
check "all others are as they were" gives 7 ratios 1 '<>'
