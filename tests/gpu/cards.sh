#!/usr/bin/env bash
# Other cards, tried on the one at hand: each suite checked (no times) as six classes of card would
# run it, by limits on what the card shows and by code that was built for less.
#
#   ASSAY=build/90/assay ASSAY_PTX=build/80ptx/assay TMP=FOLDER tests/gpu/cards.sh [SUITE ...]
#
# ASSAY is built with ARCH=90, ASSAY_PTX with ARCH="80 ptx", which the driver compiles in each process,
# or with GENCODE="-gencode arch=compute_80,code=sm_90" besides. Without the second, its classes run on
# ASSAY with the same limits: then the host's choices are tried, not the code. CARD picks another GPU
# than cuda:0, CLASSES some of the classes below, JOBS how many suites are checked at a time
# (default 1): references are the host's work, but processes share a GPU by time slices.
#
# One line for each class and suite; exit 1 on any row that is wrong, crashed or timed out, and on a
# suite that does not end with its tally. Skipped is fine: the plan says what is missing.
#
# What it cannot show: machine code of sm_86, sm_89, sm_100 and sm_120, which no other card runs;
# how many blocks a multiprocessor holds, and its registers and threads; anything about times.
set -u
: "${ASSAY:?}" "${TMP:?}"
card=${CARD:-cuda:0} jobs=${JOBS:-1}
if [ $# -eq 0 ]; then
    set -- smoke core # with one program, as in make check-gpu: minutes
    [ -z "${ASSAY_PTX:-}" ] || set -- "$@" int8 fp8 lattice lut decode gpt norms gpt-models codec codec-long ceilings copies transfers
fi

# Name, program, limits. From sm=90 without its own code: TMA and clusters, no wgmma, which is what
# PTX of compute_90 is to later cards.
classes='
A100  ptx  sm=80,shared=163Ki
3090  ptx  sm=86,shared=99Ki
4090  own  sm=89,shared=99Ki
H200  own
B200  own  sm=90
5090  own  sm=90,shared=99Ki
'

# The tally of a run, "86 ok, 12 skipped", and among its words the count of one.
tally() { grep -E '^[0-9]+ (ok|skipped|wrong|unstable|crashed|timeout)' "$1" | tail -n 1; }
count() { grep -oE "[0-9]+ $1" <<<"$2" | grep -oE '[0-9]+' || echo 0; }

check() { # CLASS PROGRAM LIMITS SUITE
    local out=$TMP/$1-${4##*/}.out err=$TMP/$1-${4##*/}.err line said missing lost code=0
    "$2" run "$4" --check --device "$card${3:+,$3}" --no-ceilings --db "$out.sqlite" \
        >"$out" 2>"$err" || code=$?
    line=$(tally "$out")
    lost=$(($(count crashed "$line") + $(count timeout "$line")))
    missing=$(grep -cE 'skipped: (needs (code|compute|[0-9]+ KiB of shared)|for compute)' "$out")
    rm -f "$out.sqlite"*
    said="$1 $4: $(count ok "$line") ok, $(count skipped "$line") skipped ($missing by the card)"
    # The exit code knows which rows the suite expects to be wrong.
    if [ -n "$line" ] && [ "$lost" -eq 0 ] && [ "$code" -eq 0 ]; then
        echo "ok - $said, 0 wrong, 0 crashed"
        return 0
    fi
    echo "not ok - $said, $(count wrong "$line") wrong, $lost crashed, exit $code"
    grep -E ' (wrong|crashed|timeout): ' "$out" | sed 's/^/#/' | head -n 40
    [ -n "$line" ] || tail -n 3 "$err" | sed 's/^/# /'
    return 1
}

# Its lines at once, though others run beside it.
tell() { local said=$TMP/$1-${4##*/}.said; check "$@" >"$said"; cat "$said"; }

rm -f "$TMP"/*.said
[ -n "${ASSAY_PTX:-}" ] || echo "# skipped: code by PTX of compute_80 (ASSAY_PTX names no program)"
while read -r name program limits; do
    [ -n "$name" ] || continue
    case " ${CLASSES:-$name} " in *" $name "*) ;; *) continue ;; esac
    [ "$program" = ptx ] && program=${ASSAY_PTX:-$ASSAY} || program=$ASSAY
    for suite in "$@"; do
        [ "$(jobs -rp | wc -l)" -lt "$jobs" ] || wait -n
        tell "$name" "$program" "$limits" "$suite" </dev/null &
    done
done <<<"$classes"
wait
! grep -q '^not ok' "$TMP"/*.said
