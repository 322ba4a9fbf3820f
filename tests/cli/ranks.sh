#!/usr/bin/env bash
# Processes of a job, as the environment of their launcher says: shares, databases, GPUs of their own,
# what is missing. tests/cli/slurm.sh and mpi.sh have the launchers themselves.
. "$(dirname "$0")/lib.sh"

int8_suite ten.ini 'variants = host_scalar, host_memcpy' 'n = 1k, 2k, 3k, 4k, 5k, 100M, 110M, 120M, 130M, 140M' \
    'temperature = hot'
# rank INDEX COUNT [OPTION...]: as srun would start it, in the job JOB.
JOB=77
rank() {
    local index=$1 count=$2
    shift 2
    SLURM_JOB_ID=$JOB SLURM_STEP_ID=0 SLURM_PROCID=$index SLURM_LOCALID=$index \
        SLURM_STEP_NUM_TASKS=$count "$ASSAY" run ten.ini --device sim:gpus=4 --no-ceilings "$@"
}
# of DATABASE: share, count and job of its runs.
of() { query "$1" "SELECT shard_index, shard_count, shard_group FROM run"; }

for i in 0 1 2 3; do check "rank $i of 4 is fine" exits 0 rank $i 4 --db job.sqlite; done
check "it says what it does" warns "rank 3 of 4 of Slurm: its share, into job.0004.sqlite" rank 3 4 --db job.sqlite --dry-run
check "the path that was named is nobody's" fails test -e job.sqlite
check "each has a database of its own, which says which share it is" gives "3|4|slurm-77.0" of job.0003.sqlite
check "and a GPU of its own" gives SIM-2 query job.0003.sqlite "SELECT uuid FROM device"
check "as the table says" says "share 3 of 4 of slurm-77.0" "$ASSAY" show --db job.0003.sqlite
check "three are merged, and the fourth is missing" ends 5 "assay merge: share 2 of 4 of slurm-77.0 is missing (suite ten)" \
    "$ASSAY" merge job.0001.sqlite job.0004.sqlite job.0003.sqlite --db all.sqlite
cp all.sqlite filled.sqlite
check "a comparison with one of them says so too" ends 5 "assay compare: share 2 of 4 of slurm-77.0 is missing" \
    "$ASSAY" compare latest latest --db all.sqlite
"$ASSAY" baseline set one latest --db all.sqlite
check "the shares that are there are one run" ends 5 "assay: share 2 of 4 of slurm-77.0 is missing" "$ASSAY" show slurm-77.0 --db all.sqlite
check "a job with a typo gets a suggestion" warns "did you mean 'slurm-77.0'?" "$ASSAY" show slurm-77.1 --db all.sqlite
check "what takes one run says that a job is none" warns "'slurm-77.0' is a job: this takes one run" \
    "$ASSAY" export slurm-77.0 --db all.sqlite
sqlite3 all.sqlite "VACUUM INTO 'none.whole'"
query none.whole "UPDATE run SET status = 'running'"
check "a job without a complete share is told" warns "no share of the job 'slurm-77.0' is complete" "$ASSAY" show slurm-77.0 --db none.whole
check "a gate does not take a share for the suite" ends 2 "is 1 share of 4: the cases of the others would go unjudged" \
    "$ASSAY" gate ten.ini --baseline one --device sim --allow-simulated --db all.sqlite
check "the fourth makes it whole" exits 0 "$ASSAY" merge job.0002.sqlite --db all.sqlite
check "the job is a run of all cases" says "20 ok" "$ASSAY" show slurm-77.0 --db all.sqlite
check "as its head says" says "4 of 4 shares of slurm-77.0" "$ASSAY" show slurm-77.0 --db all.sqlite
check "which is fine" exits 0 "$ASSAY" show slurm-77.0 --db all.sqlite --format json
check "it is compared as one" exits 0 "$ASSAY" compare slurm-77.0 slurm-77.0 --db all.sqlite
check "all of them with all" gives 20 bash -c '"$0" compare slurm-77.0 slurm-77.0 --db all.sqlite --format json |
    grep -c "\"verdict\":"' "$ASSAY"
check "a share by itself is what it was" says "share 4 of 4" "$ASSAY" show latest --db all.sqlite
check "all cases are there, each once" gives "20|20|4" query all.sqlite \
    "SELECT count(*), count(DISTINCT shape || variant), count(DISTINCT launch_id) FROM result"
check "no share has two of the large groups more than another" gives "1|2" query all.sqlite \
    "SELECT min(n), max(n) FROM (SELECT count(DISTINCT shape) AS n FROM result JOIN launch
     ON launch.id = launch_id WHERE read_bytes > 1e8 GROUP BY run_id)"

# ------------------------------------------------------- what is left out --

fill() { "$ASSAY" run ten.ini --device sim:gpus=4 --no-ceilings --db filled.sqlite --shard "$1:slurm-77.0"; }
check "what a job left out is measured into the merged database" exits 0 fill 2/4
check "with the same cut" gives "1|0" query filled.sqlite "SELECT count(DISTINCT shard_cut),
    (SELECT count(*) FROM (SELECT shape, variant FROM result GROUP BY 1, 2 HAVING count(*) > 1)) FROM run"
check "and is then no longer missing" exits 0 "$ASSAY" merge job.0001.sqlite --db filled.sqlite

# A rank that is killed: its run is there, and did not end.
query job.0002.sqlite "UPDATE run SET status = 'running', ended_at = NULL"
check "a share whose rank was killed is missing" ends 5 "share 2 of 4 of slurm-77.0 is missing" \
    "$ASSAY" merge job.000*.sqlite --db killed.sqlite
query job.0002.sqlite "PRAGMA foreign_keys = ON; CREATE TEMP TABLE gone AS SELECT id FROM result WHERE ordinal > 2;
    DELETE FROM sample WHERE result_id IN gone; DELETE FROM metric WHERE result_id IN gone; DELETE FROM result WHERE id IN gone"
JOB=78 # it is started again, as a job of its own
check "it goes on where it was" exits 0 rank 1 4 --db job.sqlite --resume
check "as the share that it was" gives "2|4|slurm-77.0" of job.0002.sqlite
check "another share is not resumed" warns "is share 2 of 4, and not share 2 of 3" \
    bash -c "$(declare -f rank); sqlite3 job.0002.sqlite \"UPDATE run SET status = 'running'\"; JOB=78 rank 1 3 --db job.sqlite --resume"
cp job.0002.sqlite whole.0002.sqlite
query whole.0002.sqlite "UPDATE run SET shard_index = NULL, shard_count = NULL"
check "nor a run of all as a share" ends 2 "is the whole suite, and not share 2 of 4: resume it with --shard none" \
    rank 1 4 --db whole.sqlite --resume

# ------------------------------------------------------------- stored times --

# By what a whole run took: one small group took as long as all others together.
check "a whole run" exits 0 "$ASSAY" run ten.ini --device sim --no-ceilings --db timed.sqlite
query timed.sqlite "UPDATE result SET begun_at = '2026-11-23T00:00:00.000Z', measured_at =
    CASE WHEN shape LIKE 'n=2000 %' THEN '2026-11-23T00:00:09.000Z' ELSE '2026-11-23T00:00:01.000Z' END"
JOB=79
for i in 0 1; do check "rank $i of 2 is fine" exits 0 rank $i 2 --db timed.sqlite; done
check "divides the suite by it" gives "1,9" bash -c 'for i in 1 2; do sqlite3 timed.000$i.sqlite \
    "SELECT count(DISTINCT shape) FROM result"; done | sort -n | paste -sd,'
check "and both agree" exits 0 "$ASSAY" merge timed.000[12].sqlite --db timed_all.sqlite
query timed.sqlite "DELETE FROM sample; DELETE FROM metric; DELETE FROM result"
check "another rank finds other times" exits 0 rank 2 3 --db timed.sqlite
JOB=80
check "ranks" exits 0 rank 0 2 --db cut.sqlite
cp timed.0001.sqlite apart.sqlite
query apart.sqlite "UPDATE run SET shard_index = 2, shard_group = 'slurm-80.0'"
check "shares of different plans are told from those that fit" ends 5 "shares of slurm-80.0 do not fit together" \
    "$ASSAY" merge cut.0001.sqlite apart.sqlite --db both.sqlite
check "nor is one measured beside another plan's" ends 2 "was cut from another plan than share 2" \
    "$ASSAY" run ten.ini --device sim --no-ceilings --db apart.sqlite --shard 1/2:slurm-80.0

${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" "$HERE/object/kernel.c" -o own.so
JOB=82
check "a rank" exits 0 rank 0 2 --db builds.sqlite
check "and one that has other kernels loaded" exits 0 rank 1 2 --db builds.sqlite --load ./own.so
check "do not fit, whatever they measured" ends 5 "shares of slurm-82.0 do not fit together" \
    "$ASSAY" merge builds.000*.sqlite --db builds.all

# ------------------------------------------------------------------- choices --

JOB=81
check "--shard none measures all in each" exits 0 rank 2 4 --db none.sqlite --shard none
check "into a database of its own" gives "20|||" query none.0003.sqlite \
    "SELECT (SELECT count(*) FROM result), shard_index, shard_count, shard_group FROM run"
check "--shard I/N is what it says, where it says" exits 0 rank 2 4 --db said.sqlite --shard 1/5
check "of the job" gives "1|5|slurm-81.0" of said.sqlite
query said.sqlite "UPDATE run SET status = 'running'"
check "two ranks with one path are refused" ends 2 \
    "share 1 of slurm-81.0 is being written to it: each process of a job needs a path of its own" \
    rank 1 4 --db said.sqlite --shard 2/5
check "a share without groups is fine" exits 0 rank 3 4 --db few.sqlite --filter 'int8_quantize n=1000'
check "and not missing" gives "4|complete" query few.0004.sqlite "SELECT shard_index, status FROM run"
check "a process that its launcher started alone is no share" exits 0 rank 0 1 --db alone.sqlite
check "and writes where it was told" gives "||" of alone.sqlite

# ---------------------------------------------------------------- bad input --

check "more ranks than GPUs are refused" ends 2 "process 5 of the job on this machine has no GPU of its own: there are 4" \
    rank 4 5 --db many.sqlite
check "unless one is named" exits 0 rank 4 5 --db many.sqlite --device sim:gpus=4,gpu=1
# Ranks that see one GPU: each may be its own, so the second that takes it is refused.
printf '[suite]\ntitle=t\n[group g]\noperation=memory\nmix=copy\nbytes=1Mi\n' >hang.ini
hold=(env SLURM_JOB_ID=$$ SLURM_STEP_NUM_TASKS=2 "$ASSAY" run hang.ini --shard none --no-ceilings --db hold.sqlite
    --device "sim:gpus=1,hang=memory/memcpy")
SLURM_PROCID=0 SLURM_LOCALID=0 "${hold[@]}" >/dev/null 2>&1 &
check "the first of two has the GPU" wait_for 20 test -s hold.0001.sqlite
check "the second is refused" ends 2 "another process of a job measures on this GPU" \
    env SLURM_PROCID=1 SLURM_LOCALID=1 "${hold[@]}"
kill -INT $!
wait
index() { JOB_COMPLETION_INDEX=$1 ASSAY_SHARDS=$2 "$ASSAY" run ten.ini --device sim --no-ceilings --db k8s.sqlite; }
check "an indexed job of Kubernetes" exits 0 index 1 2
check "has shares without a name" gives "2|2|" of k8s.0002.sqlite
check "and must say how many there are" ends 2 "ASSAY_SHARDS=N in the environment" index 1 ""
check "more than there are" exits 2 index 2 2

# A clock that is an hour ahead on one host: what is missing does not depend on it.
query all.sqlite "UPDATE run SET started_at = strftime('%Y-%m-%dT%H:%M:%fZ', started_at, '+1 hour') WHERE shard_index = 3"
check "a clock that is wrong makes no share missing" exits 0 "$ASSAY" merge job.0001.sqlite --db all.sqlite
query all.sqlite "DELETE FROM sample; DELETE FROM metric; DELETE FROM result; DELETE FROM expected; DELETE FROM launch;
    DELETE FROM run WHERE shard_index = 1"
check "nor hides one" ends 5 "share 1 of 4 of slurm-77.0 is missing" "$ASSAY" merge job.0004.sqlite --db all.sqlite
