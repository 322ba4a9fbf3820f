#!/usr/bin/env bash
# A program that the gate can run, without measuring: `run SUITE --db FILE ...`
# stores one launch whose times are drawn from a noise of its own. Behaviour by
# environment, so that a copy that sets it is another build. Starts no program but
# the import, since the tests launch it hundreds of times:
#
#   ASSAY      the program that imports the rows
#   PACE       per cent of their times that the cases of SLOW take (default 100)
#   SLOW       variant (default none); NOISE: half width in parts of 10000 (20)
#   LOUD       variant of which one arm of a round takes twice its time, by turns (none):
#              no draw, as one in twenty of those would show that it is not slower
#   DRIVER     driver's version (1)
#   VARIANTS   names (a b c); CRASHED, WRONG: variants with these outcomes,
#              FLEETING: one that is there in round 1 of a gate and lost in all others
#   SIMULATED  1: says so; COMMIT: what it was built from,
#              CODE: hash of its machine code (both default unknown)
#   RESTATED   variant that states one byte more of work (none)
#   THRESHOLD  what its suite says, a fraction (none); TEXT: the suite's text
#   ENDS       exit code (0)
#   GPU        1: its cases are timed by the timestamps of a GPU's kernels
set -u
: "${ASSAY:?}" "${CODE:=}" "${COMMIT:=}" "${PACE:=100}" "${SLOW:=}" "${NOISE:=20}" "${DRIVER:=1}"
VARIANTS=${VARIANTS-a b c}
: "${LOUD:=}" "${RESTATED:=}" "${THRESHOLD:=null}" "${TEXT:=}" "${ENDS:=0}"
: "${CRASHED:=}" "${WRONG:=}" "${SIMULATED:=0}" "${GPU:=0}" "${FLEETING:=}"
place=host clock=host
[ "$GPU" = 1 ] && place=cuda clock=cupti
db='' label='' filter='' suite=${2-}
[ "${1-}" = run ] || { echo "fake: unknown command" >&2; exit 2; }
shift 2
while [ $# -gt 0 ]; do
    case $1 in
        --db) db=$2; shift ;;
        --label) label=$2; shift ;;
        --filter) filter=$2; shift ;;
        --dry-run) exit 0 ;; # any filter is understood
        --device | --format | --budget | --precision | --seed) shift ;;
    esac
    shift
done

# id VARIABLE: a random one.
id() { printf -v "$1" '%08x%08x%08x%08x' "$SRANDOM" "$SRANDOM" "$SRANDOM" "$SRANDOM"; }
run_id='' launch_id='' result_id=''
id run_id
id launch_id

{
    echo '{"assay_ndjson":1,"table":"header","schema":1}'
    echo '{"assay_ndjson":1,"table":"environment","id":"e'"$COMMIT"'","version":"1","git_commit":"'"$COMMIT"'","diff_hash":"","compiler":"","flags":"","nvcc":"","nvcc_flags":"","hostname":"","cpu":"","kernel":"","os":"","container":"","cores":null,"memory_bytes":null}'
    echo "{\"assay_ndjson\":1,\"table\":\"run\",\"id\":\"$run_id\",\"environment_id\":\"e$COMMIT\",\"suite\":\"$suite\",\"label\":\"$label\",\"command\":\"\",\"suite_text\":\"$TEXT\",\"simulated\":$SIMULATED,\"status\":\"complete\",\"started_at\":\"2026-01-01T00:00:00.000Z\",\"ended_at\":\"2026-01-01T00:00:01.000Z\"}"
    echo '{"assay_ndjson":1,"table":"device","id":"d'"$place"'","place":"'"$place"'","simulated":0,"name":"cpu","uuid":"","vbios":"","compute_capability":0,"multiprocessors":2,"l1_bytes":null,"cache_bytes":null,"memory_bytes":null,"sm_mhz_max":null,"memory_mhz_max":null}'
    echo "{\"assay_ndjson\":1,\"table\":\"launch\",\"id\":\"$launch_id\",\"run_id\":\"$run_id\",\"number\":1,\"device_id\":\"d$place\",\"comparability\":\"key$DRIVER\",\"seed\":1,\"flush_by_write\":0,\"spec\":\"host\",\"driver\":\"$DRIVER\",\"runtime\":\"\",\"library\":\"\",\"lost\":\"\",\"power_limit_w\":null,\"ecc\":null,\"mig\":null,\"clock\":\"$clock\",\"event_floor_ns\":null,\"kernel_floor_ns\":null,\"clock_step_ns\":null,\"started_at\":\"2026-01-01T00:00:00.000Z\",\"start_sm_mhz\":null,\"start_memory_mhz\":null,\"start_temperature_c\":null,\"start_power_w\":null,\"start_energy_mj\":null,\"start_clock_reasons\":0,\"ended_at\":null,\"end_sm_mhz\":null,\"end_memory_mhz\":null,\"end_temperature_c\":null,\"end_power_w\":null,\"end_energy_mj\":null,\"end_clock_reasons\":null}"
    ordinal=0
    for variant in $VARIANTS; do
        case ",$filter," in ",," | *",copy/$variant,"* | *",copy/$variant n=10 cold,"*) ;; *) continue ;; esac
        [ "$variant" = "$FLEETING" ] && [[ $label != *"round 1, "* ]] && continue
        ordinal=$((ordinal + 1))
        status=ok pace=100 noise=$NOISE
        [ "$variant" = "$SLOW" ] && pace=$PACE
        [ "$variant" = "$LOUD" ] && [[ $label =~ [02468],\ candidate|[13579],\ base ]] && pace=200
        [ "$variant" = "$CRASHED" ] && status=crashed
        [ "$variant" = "$WRONG" ] && status=wrong
        bytes=40.0
        [ "$variant" = "$RESTATED" ] && bytes=41.0
        picoseconds=$((500000 * pace)) # of 50 us
        picoseconds=$((picoseconds + picoseconds * noise * (2 * (SRANDOM & 32767) - 32768) / 32768 / 10000))
        printf -v time '%d.%03d' $((picoseconds / 1000)) $((picoseconds % 1000))
        id result_id
        [ $status = ok ] || time=null
        echo "{\"assay_ndjson\":1,\"table\":\"result\",\"id\":\"$result_id\",\"launch_id\":\"$launch_id\",\"ordinal\":$ordinal,\"measured_at\":\"\",\"purpose\":\"case\",\"group_label\":\"g\",\"operation\":\"copy\",\"variant\":\"$variant\",\"kind\":\"kernel\",\"place\":\"$place\",\"shape\":\"n=10\",\"temperature\":\"cold\",\"status\":\"$status\",\"reason\":\"\",\"note\":\"\",\"clock\":\"$clock\",\"is_baseline\":$((ordinal == 1)),\"time_ns\":$time,\"lo_ns\":$time,\"hi_ns\":$time,\"busy_ns\":null,\"event_ns\":null,\"wall_ns\":null,\"first_call_ns\":null,\"threshold\":$THRESHOLD,\"read_bytes\":$bytes,\"write_bytes\":40.0,\"ops_fp32\":0.0,\"ops_tf32\":0.0,\"ops_bf16\":0.0,\"ops_fp16\":0.0,\"ops_int8\":0.0,\"ops_fp64\":0.0,\"workspace_bytes\":0,\"kernels\":1,\"energy_mj\":null,\"power_w\":null,\"sm_mhz\":null,\"temperature_c\":null,\"clock_reasons\":0,\"outputs\":10,\"checked\":10,\"max_abs_error\":0.0,\"max_rel_error\":0.0,\"near_share\":0.0,\"code_hash\":\"$CODE\",\"registers\":null,\"shared_bytes\":null,\"local_bytes\":null}"
    done
} | "$ASSAY" import - --db "$db" 2>/dev/null
exit "$ENDS"
