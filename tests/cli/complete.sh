#!/usr/bin/env bash
# What the shells are told when somebody presses tab: from the tables of commands and
# options, the suites, the registry and the database.
. "$(dirname "$0")/lib.sh"
root=$HERE/..
export ASSAY_DB=$TMP/done.sqlite

printf '[suite]\nbudget = 0.01\n[group a]\noperation = int8_quantize\nn = 1000\nvariants = host_memcpy\n' >one.ini
"$ASSAY" run ./one.ini --device host --no-ceilings --label 'my run' >/dev/null 2>&1
"$ASSAY" baseline set shipped latest >/dev/null 2>&1

# offers WORD WORDS...: so typed, WORD is among what is offered. The last of WORDS is
# the one that is begun.
offers() {
    local wanted=$1
    shift
    run "$ASSAY" complete assay "$@"
    [ "$code" -eq 0 ] && [ ! -s said.err ] && grep -qxF -- "$wanted" said.out
}
check "commands" offers compare com
check "and not what they do not begin with" fails offers run com
check "nor the hidden ones" fails offers worker ""
check "suites" offers int8 run ""
check "files of suites" offers :files run ""
check "a second suite" offers smoke run int8 sm
check "options" offers --launches run int8 --la
check "commands as what help explains" offers plot help p
check "kinds of plots" offers roofline plot r
check "after them runs" offers latest plot roofline l
check "but not after a kind that takes none" fails offers latest plot history l
check "runs by label" offers "my run" show m
check "by baseline" offers shipped compare latest ""
check "by id" offers "$(query done.sqlite "SELECT substr(id, 1, 8) FROM run")" export ""
check "runs of another database" fails offers "my run" show --db none.sqlite m
check "which is not made for that" fails test -e none.sqlite
check "cases that were measured" offers int8_quantize/host_memcpy plot dist --case int8
check "and no other" fails offers int8_quantize/host_omp plot dist --case int8
check "those that could be, in a filter" offers int8_quantize/host_omp run int8 --filter int8
check "and in a history of nothing" \
    env ASSAY_DB=none.sqlite "$BASH" -c '"$0" complete assay history int8 | grep -qx int8_quantize/host_omp' "$ASSAY"
check "operations" offers int8_quantize plot sweep --operation int
check "devices" offers host run core --device h
check "a value typed to its option" offers --format=json show --format=j
check "all that an option takes" offers lines run core --flush l
check "the words of an option's own command" fails offers html show --format h
check "nothing after an option that takes a number" gives "" "$ASSAY" complete assay run int8 --seed ""
check "nothing of a command that is not there" gives "" "$ASSAY" complete assay frobnicate ""
check "nothing of nothing" gives "" "$ASSAY" complete

# Help and options are one: each option is explained, and what is explained is there.
"$ASSAY" complete assay "" | grep -v -- - >commands
while read -r command <&3; do
    "$ASSAY" complete assay "$command" -- | grep -vxE -- "--(help|quiet|color)" | sort >has
    "$ASSAY" help "$command" | grep -oE -- '--[a-z][a-z-]*' | sort -u >said
    "$ASSAY" help "$command" | grep -oE -- '^  (-o, )?--[a-z][a-z-]*' | grep -oE -- '--.*' | sort -u >explained
    check "$command: each option is in its help" [ -z "$(comm -23 has said)" ]
    check "$command: each that its help explains is an option" [ -z "$(comm -13 has explained)" ]
    # What is offered for --format is what the command takes: it complains of something else.
    for format in $("$ASSAY" complete assay "$command" --format ""); do
        check "$command: takes --format $format" \
            fails warns "unknown format" "$ASSAY" "$command" latest latest --format "$format" --db none.sqlite
    done
done 3<commands
check "there were commands" [ "$(wc -l <commands)" -gt 10 ]

for words in 'show ""' 'run ""' 'run core --filter int8' 'history ""'; do
    check "under 100 ms: $words" takes_less_than 0.1 eval "$ASSAY complete assay $words"
done

# ------------------------------------------------------------------- shells
mkdir bin
ln -s "$ASSAY" bin/assay
PATH=$TMP/bin:$PATH

# bash_offers LINE: what bash would show for it, one a line.
bash_offers() {
    bash --norc -c 'compopt() { :; }; . "$0/completions/assay.bash"
        COMP_LINE=$1 COMP_POINT=${#1}; _assay; printf "%s\n" "${COMPREPLY[@]}"' "$root" "$1"
}
check "bash: commands" gives compare bash_offers 'assay comp'
check "bash: it is announced" says "_assay assay" \
    bash --norc -c '. "$0/completions/assay.bash"; complete -p assay' "$root"
check "bash: a label with a blank is quoted" says 'my\ run' bash_offers 'assay show m'
check "bash: what stands behind a colon" gives one.ini bash_offers 'assay merge x:on'
check "bash: what stands behind =" gives json bash_offers 'assay show --format=j'
check "bash: files" says one.ini bash_offers 'assay run on'
if command -v zsh >/dev/null; then
    # zsh_offers CURRENT WORD...: with what it has of zsh's completion stood in for.
    zsh_offers() {
        zsh -f -c 'compadd() { print -rl -- ${(P)2} }; _files() { print :files }
            CURRENT=$1; shift; words=("$@"); PREFIX=${words[CURRENT]}; . "'"$root"'/completions/_assay"' zsh "$@"
    }
    check "zsh: it can be read" zsh -n "$root/completions/_assay"
    check "zsh: commands" says compare zsh_offers 2 assay comp
    check "zsh: a label with a blank is one" says "my run" zsh_offers 3 assay show m
    check "zsh: files too" says :files zsh_offers 3 assay run ""
else
    skipped "what zsh makes of it: there is no zsh (apt-get install zsh)"
fi
