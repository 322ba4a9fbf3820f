#!/usr/bin/env bash
# The proof of unchanged cases on a GPU: what is traced, that two passes trace the same, and what a
# gate makes of it. Prints what it found besides, as "# ...".
#
#   HOST     the program with another host file, CHANGED one with two other kernels, div1 and
#            token_twopass: what is measured of them is told too. Optional.
#
#   OUT      a folder: what was traced and decided is left there
#
#     ASSAY=$PWD/A HOST=$PWD/B CHANGED=$PWD/C TMP=$(mktemp -d) FAULTS=x bash tests/gpu/proof.sh
#
# Under two minutes: each gate that measures has an end (--max-time).
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/gpu/env.sh
. "$HERE/gpu/env.sh"
export ASSAY_DB=$TMP/proof.sqlite
# Of the lists of the tree, not of where a program was copied to.
export ASSAY_SUITES=${ASSAY_SUITES-$HERE/../suites}

seconds() { # COMMAND...: and how long it took, in `took`
    local start=$EPOCHREALTIME
    "$@"
    local code=$?
    took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    return $code
}
count() { grep -c "$1" "$2"; }
[ -z "${OUT-}" ] || trap 'cp -- *.txt *.json *.err "$OUT"; exit $((checks_failed > 0))' EXIT

# ------------------------------------------------------------------ traces

check "a pass over core" seconds exits 0 "$ASSAY" run core --device cuda --seed 1 --fingerprint one.txt --quiet
[ -s one.txt ] || { cat said.err; exit 1; }
echo "# a pass took $took s for $(count ^case one.txt) cases"
check "and once more" exits 0 "$ASSAY" run core --device cuda --seed 1 --fingerprint two.txt --quiet
check "traces the same cases" test "$(grep ^case one.txt)" = "$(grep ^case two.txt)"
paste -d '\n' <(awk '/^case/ {c = $0} /^end/ {print c "\t" $NF}' one.txt) \
    <(awk '/^case/ {c = $0} /^end/ {print c "\t" $NF}' two.txt) | sort | uniq -u >differ.txt
echo "# $(($(wc -l <differ.txt) / 2)) cases differ between the two passes:"
cut -f 2-4 differ.txt | sort -u | sed 's/^/#   /'
echo "# first lines in which they differ:"
diff one.txt two.txt | grep '^[<>]' | cut -c 1-300 | head -n 12 | sed 's/^/#   /'
check "nearly all of them alike" test "$(($(wc -l <differ.txt) / 2))" -le 8
awk -F '\t' '/^case/ {c = $2 "/" $3 " " $4} /^unknown/ && $2 {print c ": " $2}' one.txt >doubts.txt
echo "# $(wc -l <doubts.txt) cases are in doubt:"
head -n 20 doubts.txt | sed 's/^/#   /'
check "few are in doubt" test "$(wc -l <doubts.txt)" -le 8
echo "# $(grep -c '^program.*needed' one.txt) cases need the program to be the same"
check "launches of kernels are seen" test "$(grep -c '^fact.launch 1, step .*: kernel ' one.txt)" -gt 50
check "with the code of vendors" grep -q '^fact.launch 1, step .*: kernel .*\(cutlass\|gemm\|cublas\)' one.txt
echo "# one case:"
awk '/^case/ {n++} n == 1' one.txt | cut -c 1-260 | sed 's/^/#   /'

# ------------------------------------------------------------------- gates

tell() { # NAME
    echo "# $1: $took s, $(sqlite3 -batch :memory: "SELECT json_extract(readfile('$1.json'), '\$.counts')")"
    grep -E '^assay: ([0-9]+ of|[0-9]+ case|nothing|to measure|and [0-9]+ more)|^assay gate' "$1.err" | cut -c 1-220 | sed 's/^/#   /'
}
gate() { # NAME CANDIDATE OPTION...
    local name=$1 candidate=$2
    shift 2
    seconds "$ASSAY" gate core --base "$ASSAY" --cand "$candidate" --device cuda --json "$name.json" \
        --seed 2 "$@" >"$name.out" 2>"$name.err"
}
unchanged() { sqlite3 -batch :memory: "SELECT json_extract(readfile('$1.json'), '\$.counts.UNCHANGED')"; }

cp "$ASSAY" same
check "core against itself passes" gate same ./same --max-time 60
tell same
check "nearly all proven" test "$(unchanged same)" -ge 80
if [ -n "${HOST-}" ]; then
    gate host "$HOST" --max-time 30
    tell host
    check "another file of the host changes no case of the GPU's clock" test "$(unchanged host)" -ge 75
fi
if [ -n "${CHANGED-}" ]; then
    gate changed "$CHANGED" --max-time 40
    tell changed
    check "two other kernels are measured, and not much else" test "$(unchanged changed)" -ge 70
    check "neither of them proven" test 0 -eq "$(sqlite3 -batch :memory: "SELECT count(*)
        FROM json_each(readfile('changed.json'), '\$.rows') WHERE value ->> 'verdict' = 'UNCHANGED'
        AND value ->> 'variant' IN ('div1', 'token_twopass', 'twopass')")"
fi

# ---------------------------------------------------------------- counters

counters() { # NAME CANDIDATE FILTER
    gate "$1" "$2" --counters --no-proof --filter "$3"
}
check "counters of unchanged code pass" counters counted ./same 'int8_quantize/*,int8_quantize_token/*'
tell counted
if [ -n "${CHANGED-}" ]; then
    counters recounted "$CHANGED" 'int8_quantize/div1 cold,int8_quantize_token/token_twopass cold'
    tell recounted
    sqlite3 -batch :memory: "SELECT '#   ' || (value ->> 'variant') || ': ' || (value ->> 'verdict') || ' ' ||
        coalesce(value ->> 'reason', '') FROM json_each(readfile('recounted.json'), '\$.rows')"
fi
