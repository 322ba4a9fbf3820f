#!/usr/bin/env bash
# Arguments that cannot be had, and outputs that cannot be written.
. "$(dirname "$0")/lib.sh"

printf '[suite]\nbudget = 0.02\n[group a]\noperation = int8_quantize\nvariants = host_omp\nn = 1000\n' >small.ini
many_groups 3 many.ini

# refused TEXT ARGUMENT...: assay run of the small suite with these is refused
# in one line that has the text, with exit 2, and makes nothing.
refused() {
    local text=$1
    shift
    run "$ASSAY" run small.ini "$@"
    [ "$code" -eq 2 ] && [ "$(wc -l <said.err)" -eq 1 ] && [ ! -s said.out ] &&
        grep -qF -- "$text" said.err && [ ! -e results ]
}
check "a GPU that is not there is named" refused "cuda:99" --device cuda:99
check "a GPU without a number is named" refused "cuda:x" --device cuda:x
check "a limit of a card that is none" refused "cuda:0,sm=banana" --device cuda:0,sm=banana
check "an unknown device names those there are" refused "cuda:N" --device nonsense
check "no launch at all" refused "--launches" --launches 0
check "half a launch" refused "--launches" --launches 1.5
check "a third of two shards" refused "--shard" --shard 3/2
check "a shard that is no fraction" refused "--shard" --shard 1
check "none of no shards" refused "--shard" --shard 0/0
check "a shard below the first" refused "--shard" --shard 0/2
check "a shard of letters" refused "--shard" --shard x/y
check "a shard of more than there is" refused "--shard" --shard 1/2/3
check "a job without a name" refused "--shard" --shard 1/2:
check "a seed that is no number" refused "--seed" --seed abc
check "a label too long to be stored whole" refused "--label" --label "$(printf 'x%.0s' {1..128})"
check "a label of two lines" refused "--label" --label $'two\nlines'
check "a budget of nothing" refused "--budget" --budget 0
check "a precision that is no number" refused "--precision" --precision good
check "an unknown format names those there are" refused "table" --format xml
check "an unknown clock" refused "--clock" --clock sundial
check "an unknown flush" refused "--flush" --flush burn
check "a filter that matches nothing" refused "matches the filter 'nosuch/*'" --device host --filter 'nosuch/*'
check "a filter nearly right gets a suggestion" refused "int8_quantize/*" --device host --filter 'int8_quantise/*'
check "an option without its value" refused "--device" --device

check "the event clock on the host is the host's" exits 0 "$ASSAY" run small.ini --device host \
    --no-ceilings --clock event --db clock.sqlite
check "and is stored as such" gives host query clock.sqlite "SELECT DISTINCT clock FROM result"
check "help is had wherever it is asked for" says "usage: assay run" "$ASSAY" run small.ini --help

if [ -w /dev/full ]; then
    check "a full disk under the table is not exit 0" \
        exits 2 bash -c '"$0" show --db clock.sqlite >/dev/full' "$ASSAY"
    check "and is said" warns "No space left" \
        bash -c '"$0" show --db clock.sqlite >/dev/full' "$ASSAY"
    check "so it is for a run" \
        exits 2 bash -c '"$0" run small.ini --device host --no-ceilings --db full.sqlite >/dev/full' "$ASSAY"
    onto_full() { bash -c '"$0" run small.ini --device host --no-ceilings --db full2.sqlite >/dev/full' "$ASSAY"; }
    check "with its reason" warns "No space left" onto_full
    check "which is stored all the same" gives complete query full.sqlite "SELECT status FROM run"
fi

# What is no file is written to and stays what it is, and a link stays a link.
for command in "export latest" "report latest --no-plots" "claims latest"; do
    mkfifo pipe
    cat pipe >piped &
    # shellcheck disable=SC2086 # a list of words
    run "$ASSAY" $command --db clock.sqlite -o pipe
    check "$command: a pipe is written to" wait $!
    check "and stays a pipe: $command" test -p pipe -a -s piped
    rm pipe
done
mkdir kept
echo old >kept/run.ndjson
chmod 640 kept/run.ndjson
check "a file is replaced" exits 0 "$ASSAY" export latest --db clock.sqlite -o kept/run.ndjson
check "and keeps its permissions" [ "$(stat -c %a kept/run.ndjson)" = 640 ]
check "with nothing beside it" [ "$(ls kept)" = run.ndjson ]
: >behind.ndjson
ln -s behind.ndjson link.ndjson
check "a link is followed" exits 0 "$ASSAY" export latest --db clock.sqlite -o link.ndjson
check "and stays one" test -L link.ndjson -a -s behind.ndjson
if [ -w /dev/full ]; then
    ln -s /dev/full full.html
    check "a full disk under a report" \
        warns "No space left" "$ASSAY" report latest --db clock.sqlite --no-plots -o full.html
    check "is exit 2" exits 2 "$ASSAY" report latest --db clock.sqlite --no-plots -o full.html
    check "and it is the device that it was" test -c full.html
fi
check "a reader that goes away does not hang a run" \
    timeout 20 bash -c '"$0" run many.ini --device host --no-ceilings --db pipe.sqlite | head -n 1' "$ASSAY"
check "nor show" timeout 20 bash -c '"$0" show --db pipe.sqlite | head -n 1' "$ASSAY"
check "what was measured is stored" gives complete query pipe.sqlite "SELECT status FROM run"
