#!/usr/bin/env bash
# assay gate with programs that lie, change or break: none of it makes the gate say yes.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/fake.sh
. "$HERE/cli/gate/fake.sh"

# ------------------------------------------------- work that is restated

build restated SLOW=b PACE=120 RESTATED=b
check "a case that the candidate redefines is no yes: 4" exits 4 gate plain restated --junit j.xml
check "it cannot be compared" grep -qF "1 INCOMPARABLE" g.out
check "what changed is said" grep -qF "the definition of its work differs (80 bytes, 0 operations; now 81, 0)" g.err
check "in JUnit, too" grep -q '<error message="1 of 3 cases cannot be compared by the candidate' j.xml
check "with its tag" grep -qF "REDEFINED" g.out
check "who knows of it acknowledges it" exits 0 "$ASSAY" ack 'copy/b *' --reason "counts the index" --until 2099-01-01
check "then it is no reason to fail" exits 0 gate plain restated
check "but an ack of a slowdown is none of this" exits 0 "$ASSAY" ack 'copy/b *' --reason "x" --up-to 5 --until 2099-01-01
check "so that it fails" exits 4 gate plain restated
