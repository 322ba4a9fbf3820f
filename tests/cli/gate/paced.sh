# shellcheck shell=bash
# A program that is slower or faster by a switch, as two builds of a kernel are: the suite few.ini
# of one case of assay-faults, and programs that measure it at a pace.

paced_suite() { # FILE
    cat >"$1" <<'END'
[suite]
title = one case that a switch slows
budget = 0.02
[group q]
operation = fault_double
n = 20000
variants = right
END
}

# paced_program FILE PACE: the case takes about 2 * PACE us more.
paced_program() {
    printf '#!/bin/sh\nFAULT_PACE=%s exec "%s" "$@"\n' "$2" "$FAULTS" >"$1"
    chmod +x "$1"
}
