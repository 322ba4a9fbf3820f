#!/usr/bin/env bash
# planted.sh - histories of COMMITS commits of the project beside it, of which one has a regression of
# plants.sh at a seeded place; `assay bisect` looks for each. Prints a line per history and what was right
# of how many, and ends with 0 where all were. $ASSAY is the program (build/assay), $PLANTS the kinds,
# $KEEP a folder where the histories and what bisect said stay.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/history/plants.sh
. "$HERE/plants.sh"
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
    1) echo "/* Remark $1. */" >>"$stage.c" && commit "$stage: remark $1" ;;
    2) printf 'int later_%s(int n);\nint later_%s(int n)\n{\n    return n * %s + 1;\n}\n' "$1" "$1" "$1" >"later_$1.c" &&
        commit "later: $1" ;;
    3) sed -i "1i/* $stage, revision $1. */" "$stage.c" && commit "$stage: head $1" ;;
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
    cp -r "$HERE/project" "$1" && cd "$1" || exit 2
    printf 'build/\n' >.gitignore
    git init -q . && git config user.email a@example.org && git config user.name a
    commit "the first"
    for ((number = 2; number <= COMMITS; number++)); do
        if [ "$number" -eq "$planted" ]; then
            plant "$2" && commit "planted: $number"
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

right_commits=0 right_causes=0 tried=0 slowest=0
for name in $PLANTS; do
    tried=$((tried + 1))
    folder=$where/$name
    # In the subshell, which else has random numbers of its own.
    (RANDOM=$((SEED * 1000 + $(printf %s "$name" | cksum | cut -d' ' -f1) % 1000)) && history "$folder" "$name") >"$where/$name.history" 2>&1 || { cat "$where/$name.history" >&2; exit 2; }
    before=$SECONDS
    (
        cd "$folder" || exit 2
        export HOME=$folder XDG_CACHE_HOME=$where/$name.cache ASSAY_DB=$where/$name.sqlite
        timeout 900 "$ASSAY" bisect ./filter.ini --good "HEAD~$((COMMITS - 1))" --bad HEAD --device host --seed "$SEED" \
            --make "make -s ASSAY='$ASSAY' ASSAY_INCLUDE='$HERE/../../harness'"
    ) >"$where/$name.out" 2>"$where/$name.err"
    code=$? took=$((SECONDS - before)) commit=wrong cause=wrong
    [ "$took" -le "$slowest" ] || slowest=$took
    found=$(sed -n 's/^the first slower commit: [0-9a-f]* //p' "$where/$name.out")
    case $found in "planted: "*) commit=right right_commits=$((right_commits + 1)) ;; esac
    read -r function says <<<"$(plant_cause "$name")"
    # Of all functions that the report names, the one that is slower is first, and says so.
    line=$(grep -m 1 -E '^  [A-Za-z_]+: ' "$where/$name.out")
    if [ "$commit" = right ] && grep -qE "^  $function: .*$says" <<<"$line"; then
        cause=right right_causes=$((right_causes + 1))
    fi
    printf '%-12s %4d s  exit %d  commit %s (%s)  cause %s (%s)\n' "$name" "$took" "$code" "$commit" "${found:-none}" \
        "$cause" "$(cut -c3-110 <<<"$line")"
done
echo "$right_commits right commits and $right_causes right causes of $tried, the longest search $slowest s"
[ "$right_commits" -eq "$tried" ] && [ "$right_causes" -eq "$tried" ]
