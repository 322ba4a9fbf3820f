#!/usr/bin/env bash
# Slurm itself, with four nodes on this machine: shares by srun, by an array job, by mpirun, and a rank that is killed.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/launchers/cluster.sh
. "$HERE/cli/launchers/cluster.sh"

examples=$HERE/../examples/slurm
for script in "$examples"/*.sbatch; do check "$(basename "$script") is a script" bash -n "$script"; done
has_programs slurmctld slurmd srun sbatch sinfo munged || exit 0
sockets=$(mktemp -d /tmp/assay-slurm-XXXXXX) # a socket's path has 107 bytes at most
trap 'cluster_stop; rm -rf "$sockets"; exit $((checks_failed > 0 ? 1 : $?))' EXIT
cluster_start "$sockets"
check "Slurm has four idle nodes" cluster_is_idle || exit 1

many_groups 12 twelve.ini
mkdir bin
ln -s "$ASSAY" bin/assay
export PATH=$PWD/bin:$PATH
# all_of DATABASE: jobs, shares, cases, and different ones of them.
all_of() {
    query "$1" "SELECT (SELECT count(DISTINCT shard_group) FROM run), (SELECT count(DISTINCT shard_index) FROM run),
        count(*), count(DISTINCT shape || variant) FROM result"
}

run_on() { srun --quiet -N4 "$@" assay run twelve.ini --device sim --no-ceilings --db "$db"; }

db=four.sqlite
check "srun starts four" exits 0 run_on
check "each into a database of its own" gives "$(printf 'four.000%d.sqlite\n' 1 2 3 4)" ls four.*.sqlite
check "merged they are all cases, each once, of one job" exits 0 assay merge four.*.sqlite --db four.all
check "of one job" gives "1|4|24|24" all_of four.all
check "named after its step" gives 1 query four.all "SELECT DISTINCT shard_group GLOB 'slurm-[0-9]*.0' FROM run"

# What it would measure more is killed: the second rank's process, in the middle.
db=dead.sqlite
killed() {
    # shellcheck disable=SC2016
    srun --quiet -N4 bash -c '[ "$SLURM_PROCID" != 1 ] || { assay run "$@" --device sim:hang=int8_quantize/host_scalar & sleep 0.7; kill -KILL $!; exit 1; }
        exec assay run "$@" --device sim' - twelve.ini --no-ceilings --db dead.sqlite
}
check "a rank is killed, which srun says" fails exits 0 killed
check "its share is missing" ends 5 "share 2 of 4 of slurm-" assay merge dead.*.sqlite --db dead.all
job=$(query dead.all "SELECT shard_group FROM run LIMIT 1")
check "it is measured later" exits 0 assay run twelve.ini --device sim --no-ceilings --db dead.all --shard "2/4:$job"
check "and then all is there" exits 0 assay merge dead.0001.sqlite --db dead.all

check "more ranks on a node than it has GPUs are refused" ends 2 "process 3 of the job on this machine has no GPU of its own: there are 2" \
    srun --quiet -N1 -n3 --overcommit assay run twelve.ini --device sim:gpus=2 --no-ceilings --db gpus.sqlite
check "more groups of ranks than there are groups" exits 0 srun --quiet -N4 -n16 --overcommit assay run twelve.ini \
    --device sim --no-ceilings --db many.sqlite
check "leave shares empty, and none missing" exits 0 assay merge many.*.sqlite --db many.all
check "all there" gives "1|16|24|24" all_of many.all
check "a batch script measures all by itself" exits 0 sbatch --quiet --wait -o batch.out --wrap \
    "assay run twelve.ini --device sim --no-ceilings --db batch.sqlite"
check "into the database that it names" gives 24 cases batch.sqlite

# ------------------------------------------------------------------- arrays --

# The examples, less what asks for the GPUs that are not here.
for script in array ranks merge; do sed '/gpus/{s/--gpus[^ ]*//g;s/--ntasks-per-node=8//;}' "$examples/$script.sbatch" >$script; done
array=$(sbatch --parsable --array=3-9:2 -o array.%a.out array twelve.ini --device sim --no-ceilings)
has_ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
check "an array job ends" wait_for 20 has_ended "$array"
check "its tasks are shares" ends 0 "new rows" sh merge "results/$array"
check "of one job, by its name" gives "1|4|24|24|slurm-$array" query "results/$array/all.sqlite" \
    "SELECT (SELECT count(DISTINCT shard_group) FROM run), (SELECT count(DISTINCT shard_index) FROM run),
     count(*), count(DISTINCT shape || variant), (SELECT min(shard_group) FROM run) FROM result"
ranks=$(sbatch --parsable -o ranks.out ranks twelve.ini --device sim --no-ceilings)
check "the script for all nodes at once ends" wait_for 20 has_ended "$ranks"
check "with all cases in one database" gives "1|4|24|24" all_of "results/$ranks/all.sqlite"

# ------------------------------------------------------------------- mpirun --

has_programs mpirun || exit $((checks_failed > 0))
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
check "mpirun on Slurm's nodes" exits 0 salloc --quiet -N4 mpirun -n 4 assay run twelve.ini --device sim --no-ceilings --db mpi.sqlite
check "has its own ranks" exits 0 assay merge mpi.*.sqlite --db mpi.all
check "and no other" gives "1|4|24|24" all_of mpi.all
