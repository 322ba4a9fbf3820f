# shellcheck shell=bash
# The doctor asks, answers and changes nothing.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

check "the host can always be measured" exits 0 "$ASSAY" doctor --device host
check "it says so" says "Can be measured: host" "$ASSAY" doctor --device host
check "it makes no database" [ ! -e results ]
check "no line is wider than a terminal of 80 columns" fits_terminal "$ASSAY" doctor --device host
broken_lines() { "$ASSAY" doctor --device host | grep -vE '^(ok|limited|missing|Can be measured|$| {29}(means:|do:))'; }
check "in a file no text is broken" fails broken_lines
check "a GPU that was not asked for is not judged" fails says "MIG" "$ASSAY" doctor --device host
check "json has its format" says '"format": 1' "$ASSAY" doctor --device host --format json
check "json has the exit code" says '"exit": 0' "$ASSAY" doctor --device host --format json
check "a database that cannot be made is told" \
    says "nowhere to keep its samples" "$ASSAY" doctor --device host --db "$ASSAY/assay.sqlite"
check "nor one whose folder is in none" says "its folder would be made, and not those above it" \
    "$ASSAY" doctor --device host --db no/folder/assay.sqlite
check "a folder is made for it" says "can be created" "$ASSAY" doctor --device host --db no/assay.sqlite

check "a GPU that is not there is exit 4" exits 4 "$ASSAY" doctor --device cuda:999
check "and nothing can be measured" \
    says "Can be measured: nothing" "$ASSAY" doctor --device cuda:999

check "a card's limit that is none is a usage error" exits 2 "$ASSAY" doctor --device cuda:0,sm=banana
check "an unknown device is a usage error" exits 2 "$ASSAY" doctor --device toaster
check "an unknown device is named" warns toaster "$ASSAY" doctor --device toaster
check "with what there is" warns "(auto, cuda:N, host)" "$ASSAY" doctor --device toaster
check "or what is near" warns "did you mean 'host'?" "$ASSAY" doctor --device hots
check "an unknown format is a usage error" exits 2 "$ASSAY" doctor --format xml
check "an argument is a usage error" exits 2 "$ASSAY" doctor now
check "a usage error is one line" one_line "$ASSAY" doctor now
