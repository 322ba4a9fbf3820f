#!/usr/bin/env bash
# docs/tutorial.md: its files are saved and its commands typed, in order, in a folder that looks
# like the tree. A command ends with 0, or with what the page says below `echo $?`, and its table
# ends as on the page ("1 wrong"). Two things are replaced to keep it short: `make` compiles the
# one new file and links it with the objects of this build, and the suite smoke is a small one.
. "$(dirname "$0")/lib.sh"

ROOT=$(dirname "$HERE")
BUILD=$(dirname "$ASSAY")
export CUDA_VISIBLE_DEVICES="" # the host, also where there is a GPU
mkdir -p build suites results kernels/int8
export ASSAY_SUITES=$PWD/suites ASSAY_PLOTS=$PWD/plots
ln -s "$ROOT/suites/ceilings.ini" suites/
ln -s "$ROOT/plots" plots
cat >suites/smoke.ini <<'END'
[suite]
title = stands in for the suite of this name
budget = 0.01
[group small]
operation = int8_quantize
n = 100k
END

# block LANGUAGE: the page's first block of that language.
block() {
    awk -v open="\`\`\`$1" '$0 == "```" && on { exit } on { print } $0 == open { on = 1 }' \
        "$ROOT/docs/tutorial.md"
}
# save c|ini: as the page says. No change of the host's times counts here.
save() {
    case $1 in
        c) block c >kernels/int8/host_mine.c ;;
        ini) block ini | sed 's/^threshold = .*/threshold = 900/' >mine.ini ;;
    esac
}

# The flags file may go on with the CUDA compiler; the sources file holds objects and libraries.
make() {
    local compile objects own=$TMP/kernels/int8/host_mine.c
    compile=$(sed 's| [^ ]*nvcc .*||' "$BUILD/flags")
    objects=$(tr ' ' '\n' <"$BUILD/sources" | grep -v tests/faults)
    # shellcheck disable=SC2086 # words on purpose
    cd "$ROOT" || return
    if [ -f "$own" ]; then
        $compile -Ikernels/int8 -c -o "$TMP/own.o" "$own" && cc -o "$TMP/build/assay" "$TMP/own.o" $objects
    else
        cp "$ASSAY" "$TMP/build/assay"
    fi
    code=$?
    cd "$TMP" && return $code
}

# "exit code, last line of the output, command" of each command, tabs between.
awk '
    function flush() { if (command != "") print code "\t" last "\t" command; command = "" }
    /^```(c|ini)$/ { print "0\t-\tsave " substr($0, 4) }
    /^```/ { flush(); console = /^```console$/; asked = 0; next }
    !console { next }
    $0 == "$ echo $?" { asked = 1; next }
    asked { code = $0; asked = 0; next }
    /^\$ / { flush(); command = substr($0, 3); code = 0; last = "-"; next }
    /^[0-9]+ [a-z]+$/ { last = $0 }
' "$ROOT/docs/tutorial.md" >commands
check "the page has a kernel, a suite and commands" [ "$(wc -l <commands)" -gt 12 ]
while IFS=$'\t' read -r code_wanted last command <&3; do
    check "$command" exits "$code_wanted" eval "$command"
    cp said.out said.kept
    [ "$last" = - ] || check "  ... ends with: $last" grep -qx "$last" said.kept
done 3<commands
check "the plot and the report were written" [ -s bars.svg -a -s report.html ]
