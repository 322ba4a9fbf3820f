# shellcheck shell=bash
# What the tests of gates of programs whose times are known share; sourced after lib.sh.

# build NAME SETTING...: a program that behaves so.
build() {
    local name=$1
    shift
    { echo '#!/bin/sh'; echo "exec env $* '$HERE/cli/gate/program.sh' \"\$@\""; } >"$name"
    chmod +x "$name"
}
export ASSAY

# gate BASE CANDIDATE OPTION...; what it says stays in g.out and g.err.
gate() {
    local base=$1 candidate=$2 ended=0
    shift 2
    "$ASSAY" gate tiny --base "./$base" --cand "./$candidate" --threshold 2 --device host "$@" \
        >g.out 2>g.err || ended=$?
    cat g.out
    cat g.err >&2
    return $ended
}

build plain
build slow SLOW=b PACE=105
build driver DRIVER=2
build fleeting FLEETING=b
build strangers VARIANTS='"x y"'
