#!/bin/sh
# Write the ledger of the published run of the claims into docs/claims.md, between its two marks:
#
#   scripts/claims-doc.sh [PROGRAM]     default: build/assay
#
# Reads suites/claims.ini and results/h200/claims.ndjson.zst, which has every case of every claim; measures
# nothing. It is to be one of `assay run claims --launches 5`: of fewer, a verdict near an edge is one
# launch's luck, and the script says so.
set -eu
cd "$(dirname "$0")/.."
assay=${1:-build/assay}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$assay" import --db "$scratch/h200.sqlite" results/h200/claims.ndjson.zst >&2
launches=$("$assay" export --db "$scratch/h200.sqlite" | grep -c '"table":"launch"' || true)
[ "$launches" -ge 5 ] || echo "claims-doc.sh: the run has $launches launches, and not 5" >&2
"$assay" claims --db "$scratch/h200.sqlite" --format md -o "$scratch/ledger.md"
awk -v ledger="$scratch/ledger.md" '
    /^<!-- ledger ends -->$/ { inside = 0 }
    !inside { print }
    /^<!-- ledger begins/ { inside = 1; while ((getline line < ledger) > 0) print line }
' docs/claims.md >"$scratch/claims.md"
mv "$scratch/claims.md" docs/claims.md
