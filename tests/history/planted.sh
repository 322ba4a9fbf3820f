#!/usr/bin/env bash
# planted.sh - histories of COMMITS commits of the project beside it, one of them with a regression of
# plants.sh at a seeded place; `assay bisect` looks for each. Prints a line per history and what was right
# of how many, and ends with 0 where all were. $ASSAY is the program (build/assay), $PLANTS the kinds,
# $DEVICE where it is measured: on a GPU (cuda:0) the stages are kernels (project_cuda/, plants_cuda.sh),
# which nvcc builds for $ARCH (native). $JOBS searches run at a time (1), $KEEP is a folder where the
# histories and what bisect said stay.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
DEVICE=${DEVICE:-host} JOBS=${JOBS:-1}
case $DEVICE in
host*) language=c options=() table=plants.sh project=("$HERE/project/.") ;;
# Both builds in one process, since a launch takes seconds on a GPU; each plant is beyond the threshold, and
# searches beside each other are noise.
*) language=cu options=(--twin --threshold 10) table=plants_cuda.sh
    project=("$HERE/project/operation.c" "$HERE/project/filter.h" "$HERE/project_cuda/.") ;;
esac
# shellcheck source=tests/history/plants.sh
. "$HERE/$table"
ASSAY=$(realpath "${ASSAY:-$HERE/../../build/assay}") || exit 2
COMMITS=${COMMITS:-64} SEED=${SEED:-1} PLANTS=${PLANTS:-$plant_names}
export ASSAY OMP_NUM_THREADS=1
where=${KEEP:-$(mktemp -d)}
mkdir -p "$where" || exit 2
[ -n "${KEEP:-}" ] || trap 'rm -rf "$where"' EXIT

commit() { git add -A && git commit -qm "$1"; }

# What happens in a history beside the regression: notes, remarks, and functions that nobody calls yet.
ordinary() { # NUMBER
    local stages=(smooth scale clamp blend)
    local stage=${stages[$((RANDOM % 4))]}
    case $((RANDOM % 4)) in
    0) echo "Note $1." >>NOTES && commit "notes: $1" ;;
    1) echo "/* Remark $1. */" >>"$stage.$language" && commit "$stage: remark $1" ;;
    2) printf 'int later_%s(int n);\nint later_%s(int n)\n{\n    return n * %s + 1;\n}\n' "$1" "$1" "$1" >"later_$1.c" &&
        commit "later: $1" ;;
    3) sed -i "1i/* $stage, revision $1. */" "$stage.$language" && commit "$stage: head $1" ;;
    esac
}

place_away_from() { # PLANTED: $place is not beside it
    place=$1
    while [ $((place - $1)) -ge -2 ] && [ $((place - $1)) -le 2 ]; do
        place=$((RANDOM % (COMMITS - 2) + 2))
    done
}

# One commit does not build and one crashes when it is loaded. The plant's is not beside them: what is
# between skipped ones nobody can tell. A short history has no room for them.
history() { # FOLDER PLANT
    local planted broken crashes number
    planted=$((RANDOM % (COMMITS - 1) + 2))
    broken=0 crashes=0
    if [ "$COMMITS" -ge 12 ]; then
        place_away_from "$planted" && broken=$place
        place_away_from "$planted" && crashes=$place
    fi
    mkdir "$1" && cp -r "${project[@]}" "$1" && cd "$1" || exit 2
    printf 'build/\n' >.gitignore
    git init -q . && git config user.email a@example.org && git config user.name a
    commit "the first"
    for ((number = 2; number <= COMMITS; number++)); do
        if [ "$number" -eq "$planted" ]; then
            plant "$2" && commit "planted: $number" || exit 2
        elif [ "$number" -eq "$broken" ]; then
            echo 'this is not C' >broken.c && commit "broken: $number"
        elif [ "$number" -eq "$crashes" ]; then
            echo '__attribute__((constructor)) static void dies(void) { __builtin_trap(); }' >crashes.c &&
                commit "crashes: $number"
        else
            rm -f broken.c crashes.c
            ordinary "$number"
        fi
    done
}

# Make the history of a plant and search it. Prints its line, and adds it to those of all.
search() { # PLANT
    local name=$1 folder=$where/$1 before code took commit=wrong cause=wrong found function says line
    # In the subshell, which else has random numbers of its own.
    (RANDOM=$((SEED * 1000 + $(printf %s "$name" | cksum | cut -d' ' -f1) % 1000)) && history "$folder" "$name") >"$folder.history" 2>&1 || { cat "$folder.history" >&2; return 1; }
    before=$SECONDS
    (
        cd "$folder" || exit 2
        export HOME=$folder XDG_CACHE_HOME=$folder.cache ASSAY_DB=$folder.sqlite
        timeout --foreground 900 "$ASSAY" bisect ./filter.ini --good "HEAD~$((COMMITS - 1))" --bad HEAD --device "$DEVICE" --seed "$SEED" \
            ${options[@]+"${options[@]}"} --make "make -s -j4 ASSAY='$ASSAY' ASSAY_INCLUDE='$HERE/../../harness'"
    ) >"$folder.out" 2>"$folder.err"
    code=$? took=$((SECONDS - before))
    found=$(sed -n 's/^the first slower commit: [0-9a-f]* //p' "$folder.out")
    case $found in "planted: "*) commit=right ;; esac
    read -r function says <<<"$(plant_cause "$name")"
    # The function that is slower is the first that the report names, and its line says so.
    line=$(grep -m 1 -E '^  [A-Za-z_]+( \(sm_[0-9]+\))?: ' "$folder.out")
    if [ "$commit" = right ] && grep -qE "^  $function( \(sm_[0-9]+\))?: .*$says" <<<"$line"; then cause=right; fi
    printf '%-12s %4d s  exit %d  commit %s (%s)  cause %s (%s)\n' "$name" "$took" "$code" "$commit" "${found:-none}" \
        "$cause" "$(cut -c3-110 <<<"$line")" | tee -a "$where/lines"
}

tried=0
: >"$where/lines"
for name in $PLANTS; do
    while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
    search "$name" &
    tried=$((tried + 1))
done
wait
right_commits=$(grep -c '  commit right (' "$where/lines") right_causes=$(grep -c '  cause right (' "$where/lines")
slowest=$(awk '$2 > most { most = $2 } END { print most + 0 }' "$where/lines")
echo "$right_commits right commits and $right_causes right causes of $tried, the longest search $slowest s"
[ "$right_commits" -eq "$tried" ] && [ "$right_causes" -eq "$tried" ]
