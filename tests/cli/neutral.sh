#!/usr/bin/env bash
# scripts/neutral.py: each operation's draw is a suite that the program takes, a seed always draws
# the same, and a table has a row for each shape.
. "$(dirname "$0")/lib.sh"

neutral() { python3 "$HERE/../scripts/neutral.py" "$@"; }

# draw SEED COUNT OPERATION: for whatever device there is, and with all its variants.
draw() { neutral draw "$@" | grep -v '^device\|^variants' >drawn.ini; }

neutral operations >operations
check "there are operations to draw" grep -qx linear operations
while read -r operation; do
    draw 5 3 "$operation"
    check "the draw of $operation is a suite" exits 0 "$ASSAY" run ./drawn.ini --dry-run
done <operations

neutral draw 23 >first.ini
neutral draw 23 60 linear >second.ini
check "60 shapes of linear are what is drawn unasked, the same each time" cmp -s first.ini second.ini
neutral draw 24 >second.ini
check "another seed draws others" exits 1 cmp -s first.ini second.ini
check "an operation that it does not know ends it" exits 1 neutral draw 5 3 nosuch
check "and it says how it is used" warns "scripts/neutral.py draw" neutral draw
check "so does a seed that is no number" exits 1 neutral draw five

draw 5 2 residual_add
"$ASSAY" run ./drawn.ini --device sim --db one.sqlite --no-ceilings >/dev/null 2>&1
"$ASSAY" show --db one.sqlite --format json >rows.json
check "a table" exits 0 neutral table <rows.json
check "has a row for each shape" says "| residual_add " neutral table <rows.json
check "and says how many have no time" says "without a time of best: 0" neutral table <rows.json
