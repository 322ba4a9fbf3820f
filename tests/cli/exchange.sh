#!/usr/bin/env bash
# assay export and assay import: formats, files, streams and what is refused.
. "$(dirname "$0")/lib.sh"

# A run as the database has it, without measuring: a fixture that import takes.
# shellcheck disable=SC2154
cat >run.ndjson <<'END'
{"assay_ndjson":1,"table":"header","schema":1}
{"assay_ndjson":1,"table":"environment","id":"e","version":"1","git_commit":"","diff_hash":"","compiler":"","flags":"","nvcc":"","nvcc_flags":"","hostname":"","cpu":"","kernel":"","os":"","container":"","cores":null,"memory_bytes":null}
{"assay_ndjson":1,"table":"run","id":"0123456789abcdef0123456789abcdef","environment_id":"e","suite":"smoke","label":"first","command":"","suite_text":"","simulated":0,"status":"complete","started_at":"2026-01-01T00:00:00.000Z","ended_at":"2026-01-01T00:00:01.000Z"}
{"assay_ndjson":1,"table":"device","id":"d","place":"host","simulated":0,"name":"cpu","uuid":"","vbios":"","compute_capability":0,"multiprocessors":2,"l1_bytes":null,"cache_bytes":null,"memory_bytes":null,"sm_mhz_max":null,"memory_mhz_max":null}
{"assay_ndjson":1,"table":"launch","id":"l","run_id":"0123456789abcdef0123456789abcdef","number":1,"device_id":"d","comparability":"c","seed":1,"flush_by_write":0,"spec":"host","driver":"","runtime":"","library":"","lost":"","power_limit_w":null,"ecc":null,"mig":null,"clock":"host","event_floor_ns":null,"kernel_floor_ns":null,"clock_step_ns":null,"started_at":"2026-01-01T00:00:00.000Z","start_sm_mhz":null,"start_memory_mhz":null,"start_temperature_c":null,"start_power_w":null,"start_energy_mj":null,"start_clock_reasons":0,"ended_at":null,"end_sm_mhz":null,"end_memory_mhz":null,"end_temperature_c":null,"end_power_w":null,"end_energy_mj":null,"end_clock_reasons":null}
{"assay_ndjson":1,"table":"result","id":"r","launch_id":"l","ordinal":1,"measured_at":"","purpose":"case","group_label":"g","operation":"copy","variant":"plain","kind":"kernel","place":"host","shape":"n=10","temperature":"cold","status":"ok","reason":"","note":"","clock":"host","is_baseline":0,"time_ns":12.5,"lo_ns":null,"hi_ns":null,"busy_ns":null,"event_ns":null,"wall_ns":null,"first_call_ns":null,"read_bytes":40.0,"write_bytes":40.0,"ops_fp32":0.0,"ops_tf32":0.0,"ops_bf16":0.0,"ops_fp16":0.0,"ops_int8":0.0,"ops_fp64":0.0,"workspace_bytes":0,"kernels":1,"energy_mj":null,"power_w":null,"sm_mhz":null,"temperature_c":null,"clock_reasons":0,"outputs":10,"checked":10,"max_abs_error":0.0,"max_rel_error":0.0,"near_share":0.0,"code_hash":"","registers":null,"shared_bytes":null,"local_bytes":null}
{"assay_ndjson":1,"table":"sample","result_id":"r","time_ns":[12.5,12.25,null],"busy_ns":null,"event_ns":null,"round":[0,0,1],"mark":[0,0,1],"wall_ns":null,"wall_round":null}
END

check "an import makes the database and its folder" exits 0 "$ASSAY" import run.ndjson
check "in results/" test -s results/assay.sqlite
check "it says how many rows are new" warns "run.ndjson: 0 new rows" "$ASSAY" import run.ndjson
check "nothing of it is on standard output" quiet "$ASSAY" import run.ndjson
check "a label names a run" exits 0 "$ASSAY" export first -o again.ndjson
check "-o takes the format of the ending" says '"assay_ndjson":1' head -1 again.ndjson
check "no partial file is left" fails ls again.ndjson.partial.*
check "standard output is the default" gives "$(cat again.ndjson)" "$ASSAY" export
check "csv by option" says "operation,variant,kind" "$ASSAY" export 0123 --format csv
check "csv by ending" exits 0 "$ASSAY" export latest -o run.csv
check "SQLite reads it" gives "plain|12.5|first" sqlite3 :memory: ".import --csv run.csv t" "SELECT variant, time_ns, run_label FROM t"
check "csv is only written" warns "the format csv is only written" "$ASSAY" import run.csv --db csv.sqlite
check "by option too" warns "the format csv is only written" "$ASSAY" import run.csv --format csv --db csv.sqlite
check "what is of no format is named" warns "standard input:1: not a JSON object" \
    bash -c '"$0" import - --db csv.sqlite <run.csv' "$ASSAY"
cp results/assay.sqlite named.sqlite
check "a database before a colon" says "12.5" "$ASSAY" export named.sqlite:latest --format csv
check "ASSAY_DB names the database" says "12.5" env ASSAY_DB=named.sqlite "$ASSAY" export
check "standard input is -" exits 0 bash -c '"$0" import - --db two.sqlite <run.ndjson' "$ASSAY"
printf '\357\273\277' | cat - run.ndjson >marked.ndjson
check "a byte order mark is no part of the text" exits 0 "$ASSAY" import marked.ndjson --db marked.sqlite
check "also of standard input" exits 0 bash -c 'cat marked.ndjson | "$0" import - --db marked.sqlite' "$ASSAY"
printf '\357\273\277' | cat - "$HERE"/import/gbench.json >marked.json
check "nor of what others write" exits 0 "$ASSAY" import marked.json --db marked.sqlite
check "export, import, export is the same text" gives "$(cat again.ndjson)" \
    "$ASSAY" export 0123456789 --db two.sqlite

published() { set -- "$HERE"/../results/h200/*.ndjson.zst && [ $# -ge 10 ] && "$ASSAY" import "$@" --db published.sqlite; }
check "the published runs are of development versions, and are imported" exits 0 published
check "all of them" gives "$(zstdcat "$HERE"/../results/h200/*.ndjson.zst | grep '"table":"run"' | sort -u | wc -l)" \
    query published.sqlite "SELECT count(*) FROM run"
check "a published kernel that shows a mistake is no failure" exits 0 \
    "$ASSAY" show "$(query published.sqlite "SELECT id FROM run WHERE label = 'gpt'")" --db published.sqlite

# Compressed by zstd: the same text, whichever program packs and unpacks.
check "an ending in .zst compresses" exits 0 "$ASSAY" export first -o packed.ndjson.zst
check "and zstd finds the text in it" gives "$(cat again.ndjson)" zstdcat packed.ndjson.zst
check "of every format" says "operation,variant,kind" bash -c '"$0" export -o run.csv.zst && zstdcat run.csv.zst' "$ASSAY"
check "it is imported" exits 0 "$ASSAY" import packed.ndjson.zst --db packed.sqlite
check "as what was exported" gives "$(cat again.ndjson)" "$ASSAY" export --db packed.sqlite
check "a format that is named is too" warns "packed.ndjson.zst: 0 new rows" \
    "$ASSAY" import --format ndjson packed.ndjson.zst --db packed.sqlite
check "from a pipe, whatever its name" warns "standard input: 0 new rows" \
    bash -c 'cat packed.ndjson.zst | "$0" import - --db packed.sqlite' "$ASSAY"
check "the files of other tools too" exits 0 bash -c \
    'zstd -q <"$1"/import/gbench.json >gbench.zst && "$0" import gbench.zst --db packed.sqlite' "$ASSAY" "$HERE"
zstd -q <packed.ndjson.zst >twice.zst
head -c 6 run.ndjson >plain.zst
packed_by() { head -c "$1" packed.ndjson.zst >cut.zst; "$ASSAY" import cut.zst --db bad.sqlite; }
for bytes in 4 100 $(($(stat -c %s packed.ndjson.zst) - 1)); do
    check "one that is cut short is refused ($bytes bytes)" warns "cut short" packed_by "$bytes"
    check "with exit 2" exits 2 packed_by "$bytes"
done
check "and nothing of it is taken" gives 0 query bad.sqlite "SELECT count(*) FROM run"
damaged() {
    cp packed.ndjson.zst damaged.zst
    printf '\377' | dd of=damaged.zst bs=1 seek="$1" conv=notrunc status=none
    "$ASSAY" import damaged.zst --db bad.sqlite
}
check "a damaged one is refused" warns "damaged.zst: cannot be decompressed" damaged 200
check "its checksum too" exits 2 damaged $(($(stat -c %s packed.ndjson.zst) - 2))
check "what is only called so is read as it is" warns "plain.zst:1: not a JSON object" \
    "$ASSAY" import plain.zst --db bad.sqlite
check "what is compressed twice is no run" exits 2 "$ASSAY" import twice.zst --db bad.sqlite
head -c 2000000000 /dev/zero | zstd -q >bomb.zst
# No limit of the address space holds under AddressSanitizer, which reserves terabytes.
limited() { (ulimit -v 1000000 && "$@"); }
limited "$ASSAY" help >said.out 2>said.err || limited() { "$@"; }
bomb() { limited "$ASSAY" import bomb.zst --db bad.sqlite; }
check "what grows without measure is refused" warns "grows to more than 100 times its size" bomb
# 1 GiB without an end of a line, of random digits and what compresses well.
awk 'BEGIN {
    filling = sprintf("%500s", ""); gsub(/ /, "a", filling); srand(1)
    for (i = 0; i < 2000000; i++) printf "%.9f%.9f%s", rand(), rand(), filling
}' |
    zstd -q >bomb.zst
limited() { (ulimit -v 256000 && "$@"); }
limited "$ASSAY" help >said.out 2>said.err || limited() { "$@"; }
check "a line without end is, too, and is not held in memory" warns "bomb.zst:1: the line has 32 MiB or more" bomb
check "as is what is read as a whole" warns "bomb.json: it has 256 MiB or more" bash -c \
    '(printf "{\"benchmarks\": \""; head -c 300M /dev/zero | tr "\0" a) >bomb.json; "$0" import bomb.json --db bad.sqlite' "$ASSAY"
rm bomb.zst bomb.json

check "an unknown run is one line and exit 2" exits 2 "$ASSAY" export frist
check "with a suggestion" warns "did you mean 'first'?" "$ASSAY" export frist
check "and one line" one_line "$ASSAY" export frist
check "an unknown format gets a suggestion" warns "did you mean 'ndjson'?" \
    "$ASSAY" export --format ndjsn
check "an unknown option gets a suggestion" warns "--format" "$ASSAY" export --fromat csv
check "a second run is too many" exits 2 "$ASSAY" export first latest
check "no file to import is exit 2" exits 2 "$ASSAY" import
check "a file that is not there is named" warns "none.ndjson" "$ASSAY" import none.ndjson
check "no database is said" warns "there is no database" "$ASSAY" export --db none.sqlite

check "a database is merged, which import says" ends 2 "two.sqlite is a database: assay merge" \
    "$ASSAY" import two.sqlite --db bad.sqlite
head -4 run.ndjson | sed 's/"host"/"moon"/' >bad.ndjson
check "a bad line is named" warns "bad.ndjson:4:" "$ASSAY" import bad.ndjson --db bad.sqlite
check "and nothing is taken" gives 0 query bad.sqlite "SELECT count(*) FROM run"

if [ -w /dev/full ]; then
    check "a full disk under standard output is exit 2" \
        exits 2 bash -c '"$0" export >/dev/full' "$ASSAY"
    check "which the database is not blamed for" warns "export: cannot write the export: No space" \
        bash -c '"$0" export >/dev/full' "$ASSAY"
    ln -s /dev/full full.zst
    check "under a compressed file too" warns "No space left" "$ASSAY" export -o full.zst
fi
check "an output that cannot be written is exit 2" exits 2 "$ASSAY" export -o no/such/folder.csv
check "the help has an example" says "example:" "$ASSAY" export --help
check "that of import too" says "example:" "$ASSAY" import --help
