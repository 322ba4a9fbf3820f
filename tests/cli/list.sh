#!/usr/bin/env bash
# What assay list says, and how it refuses.
. "$(dirname "$0")/lib.sh"

# is_json COMMAND...: standard output is one JSON document with something in it.
is_json() {
    run "$@"
    [ "$code" -eq 0 ] && [ "$(sqlite3 :memory: "select json_array_length(readfile('said.out')) > 0")" = 1 ]
}

check "list devices fits a terminal" fits_terminal "$ASSAY" list devices
for what in suites operations variants; do
    check "list $what fits a terminal" fits_terminal "$ASSAY" list "$what"
    check "list $what writes nothing to standard error" silent "$ASSAY" list "$what"
    check "list $what has JSON" is_json "$ASSAY" list "$what" --format json
done

for suite in smoke ceilings int8 core full; do
    check "the suite $suite is found" says "$suite" "$ASSAY" list suites
done
# all_in_full: every suite beside full.ini is among those that it includes.
all_in_full() {
    local suites=$HERE/../suites suite included missing=
    included=$(sed -n '/^include/,$p' "$suites/full.ini" | tr -c 'a-z0-9_-' '\n')
    for suite in "$suites"/*.ini; do
        suite=$(basename "$suite" .ini)
        [ "$suite" = full ] || grep -qxF -- "$suite" <<<"$included" || missing+=" $suite"
    done
    [ -z "$missing" ]
}
check "the suite full has every other one" all_in_full
check "every suite that is shipped can be read" fails says "error:" "$ASSAY" list suites
check "an operation is listed with its choices" says "fp32|bf16" "$ASSAY" list operations
check "a variant is listed with its kind" says "baseline" "$ASSAY" list variants

mkdir own
printf '[suite]\ntitle = a suite of my own\n[group a]\noperation = int8_quantize\n' >own/mine.ini
printf '[group a]\noperation = int8_quantise\n' >own/broken.ini
check "ASSAY_SUITES names another folder" \
    says "a suite of my own" env ASSAY_SUITES=own "$ASSAY" list suites
check "a suite with a mistake is listed with it" \
    says "own/broken.ini:2:" env ASSAY_SUITES=own "$ASSAY" list suites

mkdir suites
printf '[suite]\ntitle = not the smoke you know\n[group a]\noperation = int8_quantize\n' >suites/smoke.ini
printf '[suite]\ntitle = one of this folder\n[group a]\noperation = int8_quantize\n' >suites/local.ini
check "a suite of the current folder does not stand for the program's own" \
    fails says "not the smoke you know" "$ASSAY" list suites
check "one of another name is found there" says "one of this folder" "$ASSAY" list suites
check "a path says which one is meant" fails says "int8_quantize_token" \
    "$ASSAY" run ./suites/smoke.ini --dry-run --device host

check "a list that is not there is a usage error" exits 2 "$ASSAY" list suits
check "it suggests one that is near" warns "did you mean 'suites'?" "$ASSAY" list suits
check "an unknown format is a usage error" exits 2 "$ASSAY" list suites --format yaml
check "an unknown option gets a suggestion" warns "did you mean --format?" "$ASSAY" list suites --fromat json
check "a second list is refused" exits 2 "$ASSAY" list suites runs
check "no list at all is refused" exits 2 "$ASSAY" list
check "runs of a database that is not there are an error" exits 2 "$ASSAY" list runs --db none.sqlite
check "of which nothing is printed" quiet "$ASSAY" list runs --db none.sqlite --format json

# What list runs counts is what show has rows of.
export ASSAY_DB=counts.sqlite
"$ASSAY" run smoke --device sim --launches 2 --label launched >/dev/null 2>&1
"$ASSAY" run ceilings --device sim --label limits >/dev/null 2>&1
"$FAULTS" run "$HERE/faults/faults.ini" --device sim:wrong=*/right --label faulty >/dev/null 2>&1
query counts.sqlite "UPDATE result SET status = 'wrong' WHERE rowid = (SELECT max(result.rowid) FROM result JOIN launch
    ON launch.id = launch_id JOIN run ON run.id = run_id WHERE run.label = 'launched' AND purpose = 'case')"
for label in launched limits faulty; do
    "$ASSAY" show $label --format json >shown.json 2>/dev/null
    "$ASSAY" list runs --format json >listed.json
    check "list and show count $label alike" gives 1 query :memory: "SELECT count(*) > 0
        AND count(*) = value ->> 'cases' AND sum(status = 'ok') = value ->> 'ok' AND sum(status = 'wrong') = value ->> 'wrong'
        FROM (SELECT r.value ->> 'status' AS status FROM json_each(readfile('shown.json'), '\$.rows') r),
        (SELECT value FROM json_each(readfile('listed.json')) WHERE value ->> 'label' = '$label')"
done
check "a case that was wrong in one launch is wrong" gives 1 query :memory: "SELECT value ->> 'wrong'
    FROM json_each(readfile('listed.json')) WHERE value ->> 'label' = 'launched'"

# Long names fold in their column.
long=$(printf 'a-suite-of-a-very-long-name-%.0s' 1 2)
cp "$HERE/../suites/smoke.ini" "$long.ini"
"$ASSAY" run "./$long.ini" --device sim --label "a label of many words that goes on and on, as those of a branch do, to the end" >/dev/null 2>&1
check "list runs fits a terminal with long names" fits_terminal "$ASSAY" list runs
