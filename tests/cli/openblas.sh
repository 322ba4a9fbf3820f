# shellcheck shell=bash
# OpenBLAS is loaded where it is used, and nowhere else: it starts a thread a core.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if "$ASSAY" --version | grep -q '^OpenBLAS: built without'; then
    check "without it the doctor says so" says "not built in" "$ASSAY" doctor --device host
    skipped "OpenBLAS: the program was built without it"
    exit
fi

cat >one.ini <<'END'
[suite]
budget = 0.01
[group a]
operation = gemm
variants = blocked, openblas
m = 32
n = 32
k = 32
type = fp32
END
measure() { # DATABASE [OPTION...]
    local database=$1
    shift
    "$ASSAY" run one.ini --device host --no-ceilings --db "$database" "$@"
}

# started COMMAND...: it is fine, and the loader has told what it and its processes loaded.
started() {
    rm -f loader.*
    run env LD_DEBUG=libs LD_DEBUG_OUTPUT=loader "$@"
    [ "$code" -eq 0 ] && grep -q 'calling init:.*/libsqlite3' loader.*
}
loads() { started "$@" && grep -q 'calling init:.*/libopenblas' loader.*; }
does_without() { started "$@" && ! grep -q 'libopenblas' loader.*; }

check "--version loads it" loads "$ASSAY" --version
check "and says which" says "OpenBLAS 0." "$ASSAY" --version
for what in suites operations variants devices; do
    check "list $what does without it" does_without "$ASSAY" list $what
done
check "so does the help" does_without "$ASSAY" help run
check "and a dry run" does_without \
    "$ASSAY" run one.ini --device host --no-ceilings --dry-run

export ASSAY_DB=here.sqlite
check "a run of a variant that calls it loads it" loads \
    "$ASSAY" run one.ini --device host --no-ceilings --filter '*/openblas'
check "and stores its version" [ "$(query here.sqlite "SELECT library LIKE 'OpenBLAS 0.%' FROM launch")" = 1 ]
check "to show it does without" does_without "$ASSAY" show
export ASSAY_DB=without.sqlite
check "a run of others does without" does_without \
    "$ASSAY" run one.ini --device host --no-ceilings --filter '*/blocked'
check "and stores none" gives "|ok" query without.sqlite \
    "SELECT library, status FROM launch, result"
unset ASSAY_DB

export ASSAY_OPENBLAS=/nowhere/libopenblas.so.0
check "without the library a run is fine" exits 0 measure missing.sqlite
check "its variant is skipped with the file's name" gives \
    "blocked|ok|
openblas|skipped|$ASSAY_OPENBLAS" query missing.sqlite \
    "SELECT variant, status, substr(reason, instr(reason, '/nowhere'), length('$ASSAY_OPENBLAS'))
     FROM result ORDER BY variant"
check "and the others are compared with another baseline" \
    [ "$(query missing.sqlite "SELECT is_baseline FROM result WHERE variant = 'blocked'")" = 1 ]
check "with nothing else to run nothing is measured" exits 4 measure none.sqlite --filter '*/openblas'
check "--version is fine" exits 0 "$ASSAY" --version
check "and says that it is not there" \
    says "OpenBLAS cannot be loaded: $ASSAY_OPENBLAS" "$ASSAY" --version
check "so does the doctor" says "OpenBLAS cannot be loaded" "$ASSAY" doctor --device host
check "who tells what to install" says "libopenblas0" "$ASSAY" doctor --device host
unset ASSAY_OPENBLAS
check "where it is there the doctor says which" \
    says '"found": "OpenBLAS 0.' "$ASSAY" doctor --device host --format json
