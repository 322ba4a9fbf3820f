#!/usr/bin/env bash
# `assay watch`: build on save, and compare with the program as it was.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/gate/paced.sh
. "$HERE/cli/gate/paced.sh"
export ASSAY_DB=w.sqlite OMP_NUM_THREADS=1 TMPDIR=$PWD/tmp # its folders alone
mkdir tmp

paced_suite few.ini
mkdir -p kernels baselines build
cat >make.sh <<END
grep -q broken kernels/pace && { echo "kernels/pace: error: broken" >&2; exit 2; }
FAULTS='$FAULTS'
. '$HERE/cli/gate/paced.sh'
paced_program build/new "\$(cat kernels/pace)" && mv build/new build/assay
END
echo 200 >kernels/pace && sh make.sh

"$ASSAY" watch few.ini --device host --make 'sh make.sh' >>watch.out 2>watch.err &
watcher=$!
tells() { grep -q -- "$1" watch.err; }
check "it says what it watches" wait_for 30 tells '1 file below kernels baselines'
# judged VERDICT PACE: the pace is saved, and the gate has this verdict. A busy machine may leave a case
# undecided: then it is saved again.
judged() {
    local try
    for try in 1 2 3; do
        : >watch.out
        echo "$2" >kernels/pace
        wait_for 60 [ -s watch.out ] || return 1
        ! grep -q "$1" watch.out || return 0
        sed "s/^/# save $try: /" watch.out
    done
    return 1
}
check "a save that slows a case is REGRESSED" judged REGRESSED 400
echo broken >kernels/pace
check "what does not build is said" wait_for 30 tells 'it does not build'
check "with what make said" tells 'error: broken'
check "it goes on" kill -0 "$watcher"
echo 200 >kernels/pace
check "the program as it was is no change" wait_for 30 tells 'the program is as it was'
check "a faster one is IMPROVED" judged IMPROVED 100
kill -INT "$watcher"
ended=0
wait "$watcher" || ended=$?
check "Ctrl-C ends it with 130" [ "$ended" -eq 130 ]
check "and leaves no folder" gives "" sh -c "ls tmp"

# In a folder of one's own with all in it: what a gate writes there is no save.
own=a_folder_with_a_name_that_is_longer_than_any_name_of_a_variant_may_be
mkdir "$own" "$own/.git" && cp few.ini "$own" && echo 250 >"$own/pace"
printf '%s\n' "FAULTS='$FAULTS'" ". '$HERE/cli/gate/paced.sh'" 'paced_program new "$(cat pace)" && mv new program.so' \
    >"$own/make.sh"
(cd "$own" && sh make.sh)
: >watch.err
(cd "$own" && exec "$ASSAY" watch few.ini --device host --make 'sh make.sh; echo made >.git/made' --program ./program.so \
    --on "$PWD" --db own.sqlite -o gate.txt >>../watch.out 2>../watch.err) &
watcher=$!
check "a folder has a long path" wait_for 30 tells '3 files below'
echo 100 >"$own/pace"
check "a gate in a watched folder" wait_for 60 tells 'round 6'
sleep 3
check "is followed by no other" [ "$(grep -c 'round 1, base' watch.err)" -eq 1 ]
kill -INT "$watcher"
wait "$watcher"

check "a suite must be named" exits 2 "$ASSAY" watch
check "the program must be there" ends 2 "there is no nowhere to begin with" "$ASSAY" watch few.ini --device host --program nowhere
check "a suite that is not there is refused at the start" ends 2 "cannot read nowhere.ini" \
    timeout 9 "$ASSAY" watch nowhere.ini --device host
check "so is a filter" ends 2 "matches the filter 'none/*'" timeout 9 "$ASSAY" watch few.ini --device host --filter 'none/*'
check "a device" ends 2 "did you mean 'host'?" timeout 9 "$ASSAY" watch few.ini --device hots
check "a database" ends 2 "few.ini is not a database" timeout 9 "$ASSAY" watch few.ini --device host --db few.ini
check "so must files" exits 2 "$ASSAY" watch few.ini --device host --on nowhere
objects() { "$ASSAY" watch few.ini --device host --on kernels "$@"; }
check "what is no shared object is not watched" warns "x.bench.ini: only a shared object" objects --load x.bench.ini
check "two of one name are not" warns "two objects are called x.so" objects --load a/x.so --load b/x.so
