#!/usr/bin/env bash
# README.md: a kernel of one's own begins as it says, and its recording is what a reader sees first.
. "$(dirname "$0")/lib.sh"
root=$(cd "$HERE/.." && pwd)
BUILD=$(dirname "$ASSAY")

# The block of the first screen.
quick=$(awk '/^## / { on = /in a minute/ } on && /^    / { print substr($0, 5) }' "$root/README.md")
mkdir quick && cd quick || exit 1
check "the first screen's block measures a kernel" bash -c "mkdir build && ln -s '$ASSAY' build/assay && RUN='--device host --no-ceilings --budget 0.01' bash -ec '$quick'"
check "and checks its answers" gives "ok" query softsign/results/assay.sqlite "SELECT DISTINCT status FROM result"
cd .. || exit 1

# The block below "Measure your own kernel", in a folder like the tree.
block=$(awk '/^## / { on = /Measure your own/ } on && /^    / { print substr($0, 5) }' "$root/README.md")
mkdir -p kernels/int8
cp "$root/kernels/int8/host_scalar.c" kernels/int8/
check "it begins with a file of its own" bash -c "$(head -n 1 <<<"$block")"
check "with a name of its own" grep -q '"host_mine"' kernels/int8/host_mine.c
compiles() {
    local compile
    compile=$(sed 's| [^ ]*nvcc .*||' "$BUILD/flags") # the flags may go on with the CUDA compiler
    (cd "$root" && bash -c "$compile -I kernels/int8 -c -o '$TMP/mine.o' '$TMP/kernels/int8/host_mine.c'")
}
check "that compiles" compiles
filter=$(sed -n "s/.*run int8 --filter '\([^']*\)'.*/\1/p" <<<"$block")
check "the filter is there" [ -n "$filter" ]
check "it measures" exits 0 "$ASSAY" run int8 --filter "$filter" --device host --no-ceilings --db one.sqlite
check "what the new one is copied from, in one group" gives "1|1" query one.sqlite \
    "SELECT sum(variant = 'host_scalar'), count(DISTINCT shape || temperature) FROM result"

# The recording, and the film that it is made by.
film=$root/docs/images/recording.svg
check "the recording is a picture" well_formed "$film"
check "of less than 100 kB" [ "$(wc -c <"$film")" -lt 100000 ]
check "in which the gate fails" grep -q REGRESSED "$film"
check "with 1" bash -c 'grep "<text" "$0" | tail -n 1 | grep -q ">1</text>"' "$film"
printf '\f1\n$ a\n\v2\nb <c>\n\f5\nd\n' | "$root/scripts/terminal-svg.sh" film >film.svg
check "a film is a picture" well_formed film.svg
check "whose parts appear in turn" grep -q '@keyframes k2{0%{visibility:hidden}12.50%{visibility:visible}37.50%{visibility:hidden}}' film.svg
check "and the last screen stays" grep -q '@keyframes k3{0%{visibility:hidden}37.50%{visibility:visible}}.k3{visibility:visible' film.svg
check "a still has no motion" bash -c 'echo x | "$0" still | { ! grep -q keyframes; }' "$root/scripts/terminal-svg.sh"
