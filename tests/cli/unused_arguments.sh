#!/usr/bin/env bash
# What a command cannot use is refused, not passed over: exit 2 and one line that names it.
. "$(dirname "$0")/lib.sh"
export ASSAY_DB=u.sqlite

printf '[suite]\nbudget = 0.02\n[group a]\noperation = int8_quantize\nn = 1000\nvariants = host_memcpy\n' >one.ini
"$ASSAY" run ./one.ini --device host --no-ceilings --label one >/dev/null 2>&1
"$ASSAY" baseline set shipped one >/dev/null 2>&1
"$ASSAY" ack 'int8*' --reason known --until 2999-01-01 >/dev/null 2>&1

# unused TEXT ARGUMENT...: assay with these is refused in one line that has the text.
unused() {
    local text=$1
    shift
    exits 2 "$ASSAY" "$@" && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] &&
        grep -qF -- "$text" said.err
}
for what in suites operations variants devices; do
    check "list $what has no database" unused "--db is of runs alone" list "$what" --db u.sqlite
    check "list $what has always all" unused "--all is of runs alone" list "$what" --all
done
check "list runs has both" exits 0 "$ASSAY" list runs --all --db u.sqlite

check "only a baseline that is set has a note" unused "--note is for set alone" baseline list --note why
check "not one that is dropped" unused "--note is for set alone" baseline drop shipped --note why
check "which is still there" says shipped "$ASSAY" baseline list

for given in "--reason why" "--until 2999-01-01" "--up-to 3" "--commit abc"; do
    option=${given%% *}
    # shellcheck disable=SC2086 # an option and its value
    check "ack --list takes no $option" unused "$option is for a new ack" ack --list $given
    # shellcheck disable=SC2086 # the same
    check "ack --drop takes no $option" unused "$option is for a new ack" ack 'int8*' --drop $given
done
check "acks are listed or dropped" unused "--list or --drop" ack --list --drop
check "what was refused dropped nothing" says "int8*" "$ASSAY" ack --list

check "a profile has no rows of ceilings" unused "--ceilings or --profile" show --profile --ceilings

for given in "--blocks 2" "--rounds 6" "--limit 9" "--device host" "--filter x/*" "--budget 1" \
    "--precision 1" "--metric time" "--timeout 9" --resume --allow-simulated; do
    # shellcheck disable=SC2086 # an option and its value
    check "calibrate --show takes no ${given%% *}" unused "not ${given%% *}" calibrate --show $given
done

against_stored=(gate ./one.ini --baseline one --device host)
check "a stored base has no device" unused "--base-device is for --base" "${against_stored[@]}" --base-device host
check "and no extension to leave out" unused "--no-extension is for --base" "${against_stored[@]}" --no-extension

for words in "history latest" "history one" "history u.sqlite:one"; do
    # shellcheck disable=SC2086 # two words
    check "plot $words: a history takes no run" unused "history takes no run" plot $words -o x.svg
done
check "and nothing is drawn" fails test -e x.svg
