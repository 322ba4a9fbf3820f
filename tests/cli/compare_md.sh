#!/usr/bin/env bash
# A comparison as a comment on a pull request: one screen, and folds below it.
. "$(dirname "$0")/lib.sh"
export ASSAY ASSAY_DB=md.sqlite

names=$(seq -f v%02g 1 40 | tr '\n' ' ')
# stored LABEL SLOWED...: a run of forty cases, some of which take half as much again.
stored() {
    VARIANTS=$names "$HERE/cli/gate/program.sh" run smoke --db md.sqlite --label "$1"
    for name in "${@:2}"; do
        query md.sqlite "UPDATE result SET time_ns = 1.5 * time_ns, lo_ns = 1.5 * lo_ns, hi_ns = 1.5 * hi_ns
            WHERE variant = '$name' AND launch_id IN (SELECT launch.id FROM launch JOIN run ON run.id = run_id
            WHERE label = '$1')"
    done
}
stored plain
stored slowed v07 v08
# shellcheck disable=SC2046
stored all_slowed $(seq -f v%02g 1 25)

md() { "$ASSAY" compare "$1" "$2" --format md >c.md; }
screen() { sed '/<details>/,$d' c.md; } # what is seen before a fold is opened
md plain slowed
check "the first line is the count of verdicts" grep -qE '^### assay: 2 SUSPECT, ' <(head -n 1 c.md)
check "what changed is seen" gives 2 sh -c "sed '/<details>/,\$d' c.md | grep -c '^| SUSPECT |.*copy/v0[78] '"
check "and nothing that is open" fails grep -q INCONCLUSIVE <(screen | tail -n +2)
check "in five columns" gives 7 sh -c "grep -m 1 '^| SUSPECT' c.md | awk -F'|' '{ print NF }'"
check "reasons and floors are folded" grep -q '| floor | finds | case | why |' <(sed '1,/<details>/d' c.md)
check "so is what was compared" grep -q '^| base | ' <(sed '1,/<details>/d' c.md)
check "and notes" grep -q '^> one launch on each side' <(sed '1,/<details>/d' c.md)
check "every fold ends" [ "$(grep -c '<details>' c.md)" -eq "$(grep -c '^</details>$' c.md)" ]
check "Markdown in a fold has a blank line before it" gives 0 sh -c "grep -A 1 '<summary>' c.md | grep -v 'summary\|^--' | grep -c ."
check "everything is there" [ "$(grep -c 'copy/v' c.md)" -eq 42 ]
md plain all_slowed
check "many changes are still one screen" [ "$(screen | wc -l)" -le 25 ]
check "which counts those that it leaves out" grep -q '^and 15 more, below\.$' c.md
md plain plain
check "where nothing changed, that is said" grep -q '^No case is shown to have changed\.$' c.md
stored elsewhere
query md.sqlite "UPDATE launch SET driver = 'other' WHERE run_id = (SELECT id FROM run WHERE label = 'elsewhere')"
md plain elsewhere
check "why nothing was compared is seen" grep -q 'nothing could be compared: driver' <(screen)
