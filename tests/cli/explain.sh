#!/usr/bin/env bash
# `assay explain`: the terms of a difference of times, from what is stored of two runs.
. "$(dirname "$0")/lib.sh"
export ASSAY_DB=$PWD/explain.sqlite OMP_NUM_THREADS=1

int8_suite two.ini 'n = 100k, 1M' 'variants = host_scalar, host_omp'
omp="int8_quantize/host_omp n=1000000 input=fp32 scale=odd cold"

# A simulated device counts the instructions of its work.
sim() { # LABEL DEVICE
    "$ASSAY" profile ./two.ini --device "$2" --seed 1 --counters default,work --label "$1" >/dev/null 2>&1
}
sim fast sim:code=1
sim slow 'sim:code=2,slow=*/host_omp:50'
check "more instructions are the whole difference" says "instructions  +2.24 us  100 %" \
    "$ASSAY" explain fast slow "$omp"
check "of that case alone" gives 1 sh -c '"$0" explain fast slow "$1" | grep -c "^unexplained"' "$ASSAY" "$omp"
check "one case has no summary" sh -c '! "$0" explain fast slow "$1" | grep -q "most of it by"' "$ASSAY" "$omp"
check "several begin with a line each" gives "+50.0 %|instructions|100 %|0 %" sh -c \
    '"$0" explain fast slow "*" --format md | sed -n "/most of it by/,/^$/ s/^| .*host_omp n=1000000[^|]*| \([^|]*\) | \([^|]*\) | \([^|]*\) | \([^|]*\) |$/\1|\2|\3|\4/p"' "$ASSAY"
check "in the table, too" gives 1 sh -c '"$0" explain fast slow "*" | grep -c "host_omp n=1000000 .*instructions *100 % "' "$ASSAY"
check "a pattern names several" gives 2 sh -c '"$0" explain fast slow "*/host_omp" | grep -c "^unexplained"' "$ASSAY"
check "where nothing differs it says so" says "there may be no difference" "$ASSAY" explain fast fast "$omp"

# share TERM COMMAND...: the term's share of the difference, in per cent; "-" unknown.
share() {
    local term=$1
    shift
    "$@" --format json | python3 -c '
import json, sys
row = json.load(sys.stdin)["rows"][0]
shares = {one["term"]: one["share"] for one in row["terms"]}
shares["unexplained"] = row["unexplained_share"]
sum = sum(one["time_ns"] or 0 for one in row["terms"]) + row["unexplained_ns"]
assert abs(sum - row["difference_ns"]) < 1e-6 * row["base_ns"], sum
share = shares[sys.argv[1]]
print("-" if share is None else round(100 * share) + 0)' "$term"
}

# What a GPU stores, written by hand: two cases' times, kernels and clocks in a run of its own.
gpu() { # LABEL SETTINGS OF result
    "$ASSAY" run ./two.ini --device sim --seed 1 --label "$1" >/dev/null 2>&1
    query explain.sqlite "UPDATE result SET place = 'cuda', clock = 'cupti', $2 WHERE launch_id IN
        (SELECT launch.id FROM launch JOIN run ON run.id = run_id WHERE label = '$1')"
}
gpu before "time_ns = 50000, lo_ns = 49900, hi_ns = 50100, busy_ns = 49000, kernels = 3, sm_mhz = 1980"
gpu clock "time_ns = 65667, lo_ns = 65600, hi_ns = 65700, busy_ns = 64333, kernels = 3, sm_mhz = 1508"
gpu gaps "time_ns = 54000, lo_ns = 53900, hi_ns = 54100, busy_ns = 49000, kernels = 3, sm_mhz = 1980"
gpu launches "time_ns = 51000, lo_ns = 50900, hi_ns = 51100, busy_ns = 49000, kernels = 5, sm_mhz = 1980"
gpu more "time_ns = 55000, lo_ns = 54900, hi_ns = 55100, busy_ns = 54000, kernels = 3, sm_mhz = 1980"
check "without counters: the clock" gives 98 share clock "$ASSAY" explain before clock "$omp"
check "longer gaps" gives 100 share gaps "$ASSAY" explain before gaps "$omp"
check "more launches, with a gap for each" gives 100 share launches "$ASSAY" explain before launches "$omp"
check "bytes are not known" gives - share bytes "$ASSAY" explain before clock "$omp"
check "the command that counts them is told" says "assay profile ./two.ini --filter '$omp' --counters default,work" \
    "$ASSAY" explain before clock "$omp"
query explain.sqlite "INSERT INTO object (run_id, ordinal, name, sha256, git_commit)
    SELECT id, 1, 'mine.so', '$(printf '%064d' 1)', '' FROM run WHERE label IN ('before', 'clock')"
check "with the object of both" says "--counters default,work --load mine.so" "$ASSAY" explain before clock "$omp"
query explain.sqlite "UPDATE object SET name = 'other.so' WHERE run_id = (SELECT id FROM run WHERE label = 'before')"
check "or with that of each" says "--counters default,work --load FILE.so" "$ASSAY" explain before clock "$omp"
gpu traced "time_ns = 51000, lo_ns = 50900, hi_ns = 51100, kernels = 1, sm_mhz = 1980"
query explain.sqlite "UPDATE run SET command = 'assay time -- ./program' WHERE label = 'traced'"
check "but not of a program that is in no suite" fails says "assay profile" "$ASSAY" explain before traced "$omp"
check "what no fact accounts for is unexplained" gives 100 share unexplained "$ASSAY" explain before more "$omp"

# A profile beside the times: the memory is busy, and moves a fifth more.
profile() { # LABEL BYTES
    query explain.sqlite "CREATE TEMP TABLE mine AS SELECT result.id FROM result JOIN launch ON launch.id = launch_id
        JOIN run ON run.id = run_id WHERE label = '$1';
        INSERT INTO profile SELECT id, 1, 50000, 50000, 0, 0, 27, '' FROM mine;
        INSERT INTO profile_kernel SELECT id, 1, 'kernel', 'scale(float*)', 1, 8, 1, 1, 128, 1, 1, 32, 0, 0, 0,
            50000, 50000, 50000 FROM mine;
        INSERT INTO profile_counter SELECT id, 0, 1, 'dram__bytes_read.sum', $2 FROM mine;
        INSERT INTO profile_counter SELECT id, 0, 2, 'dram__bytes_write.sum', 0 FROM mine;
        INSERT INTO profile_counter SELECT id, 0, 3, 'dram__throughput.avg.pct_of_peak_sustained_elapsed', 90 FROM mine;
        INSERT INTO profile_counter SELECT id, 0, 4, 'smsp__inst_executed.sum', 1000 FROM mine;
        INSERT INTO profile_counter SELECT id, 0, 5, 'smsp__issue_active.avg.pct_of_peak_sustained_active', 10 FROM mine"
}
gpu narrow "time_ns = 50000, lo_ns = 49900, hi_ns = 50100, kernels = 1, sm_mhz = 1980"
gpu wide "time_ns = 60000, lo_ns = 59900, hi_ns = 60100, kernels = 1, sm_mhz = 1500"
profile narrow 200e6
profile wide 240e6
check "bytes, where the memory is busy, whatever the clock" gives 100 share bytes "$ASSAY" explain narrow wide "$omp"
check "waits have both shares that they are of" says "10.0 % issued, memory 90.0 %" "$ASSAY" explain narrow wide "$omp"
check "nothing else is to be counted" sh -c '! "$0" explain narrow wide "$1" | grep -q "not counted"' "$ASSAY" "$omp"
check "Markdown has a table" says "| bytes | +10.0 us | 100 % | 200 MB | 240 MB |" \
    "$ASSAY" explain narrow wide "$omp" --format md

# Programs are measured with what their device counts.
check "a program and a program" says "instructions" "$ASSAY" explain "$ASSAY" "$ASSAY" "$omp" --suite ./two.ini \
    --device sim:code=1 --allow-simulated
check "on the host there are times alone" says "only the times are stored" "$ASSAY" explain "$ASSAY" "$ASSAY" \
    'int8_quantize/host_scalar n=100000' --suite ./two.ini --device host
check "a run and a program" exits 0 "$ASSAY" explain fast "$ASSAY" "$omp" --suite ./two.ini --device sim:code=1 \
    --allow-simulated
check "a simulated device is asked for by name" exits 2 "$ASSAY" explain "$ASSAY" "$ASSAY" "$omp" --device sim

# Bad input: one line.
bad() { exits "$1" "$ASSAY" explain "${@:2}" && [ "$(grep -c "^assay explain: " said.err)" -eq 1 ]; }
check "no case" bad 2 fast slow
check "a case that neither has" bad 4 fast slow 'int8_quantize/nothing'
check "no run, program or revision" bad 2 fast nowhere "$omp"
check "which is said" warns "'nowhere' is neither a program nor a revision" "$ASSAY" explain fast nowhere "$omp"
printf '#!/bin/sh\nkill -SEGV $$\n' >dies && chmod +x dies
check "a program that crashes" bad 5 fast ./dies "$omp"
check "a file that is no program" bad 2 fast ./two.ini "$omp"
