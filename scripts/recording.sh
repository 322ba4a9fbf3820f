#!/usr/bin/env bash
# The recording of the README: a suite is run, a kernel is made slower, the gate says so. The
# commands are run as they are shown, in a copy of the last commit.
#
#   scripts/recording.sh >docs/images/recording.svg
#
# It needs what building needs, git and script (util-linux), and takes a minute.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone -q --shared "$here/.." "$folder"
cd "$folder"
PATH=$folder/build:$PATH

cat >mine.ini <<'INI'
[suite]
title = one kernel beside a copy

[group quantise]
operation = int8_quantize
n = 20k
temperature = hot
variants = host_omp, host_copy_r4w1
INI

# What a command says on a terminal of 80 columns, with its colours and without its progress.
shown() { script -qec "stty cols 80; exec 2>/dev/null; $1" /dev/null | tr -d '\r'; }
prompt() { printf '\033[2m$\033[0m %s\n' "$1"; }
build() { make -s CUDA=0 -j"$(nproc)" build/assay >build.log 2>&1 || { cat build.log >&2; exit 2; }; }
run='assay run mine.ini --no-ceilings'
gate='assay gate mine.ini --base ./before --cand ./after'

build
cp build/assay before
table=$(shown "$run")
sed -i 's/"default", "avx2", "avx512f"/"default"/' kernels/int8/host_omp.c
changed=$(git diff --color=always -U0 kernels/int8/host_omp.c | grep WIDEST)
build
cp build/assay after
verdict=$(shown "$gate; echo \$? >code")
[ "$(cat code)" = 1 ] || { printf 'the gate ended with %s:\n%s\n' "$(cat code)" "$verdict" >&2; exit 1; }

{
    printf '\f1.2\n'
    prompt "$run"
    printf '\v5\n%s\n' "$table"
    printf '\f1.2\n'
    prompt 'cp build/assay before'
    prompt 'vi kernels/int8/host_omp.c     # a clean-up'
    printf '\v2.5\n\n%s\n\n' "$changed"
    printf '\v1\n'
    prompt 'make -s && cp build/assay after'
    prompt "$gate"
    printf '\v1\n%s\n\v7\n' "$verdict"
    prompt 'echo $?'
    cat code
} | scripts/terminal-svg.sh 'a suite is run, a kernel made slower, and the gate fails'
