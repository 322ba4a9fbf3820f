#!/usr/bin/env bash
# Open MPI itself: shares of a suite by mpirun.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/launchers/cluster.sh
. "$HERE/cli/launchers/cluster.sh"

example=$HERE/../examples/mpi/ranks.sh
check "the example is a script" bash -n "$example"
has_programs mpirun || exit 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in this shell alone
many_groups 6 six.ini
int8_suite wrong.ini 'variants = host_scalar, host_omp' 'n = 1000..1002+1' 'temperature = hot'
mkdir bin
cat >bin/assay <<END
#!/bin/sh
# The example, on simulated GPUs; ranks of one machine have as many as there are of them.
[ "\$1" != run ] || set -- "\$@" --device "sim:gpus=\${GPUS:-3}\$RULE" --no-ceilings
exec "$ASSAY" "\$@"
END
chmod +x bin/assay
export PATH=$PWD/bin:$PATH
all_of() {
    query "$1" "SELECT (SELECT count(DISTINCT shard_group) FROM run), (SELECT count(DISTINCT shard_index) FROM run),
        (SELECT count(DISTINCT uuid) FROM device), count(*), count(DISTINCT shape || variant) FROM result"
}

check "three ranks measure a suite" exits 0 env RESULTS=three sh "$example" six.ini -n 3 --oversubscribe
check "each its share, on a GPU of its own" gives "1|3|3|12|12" all_of three/all.sqlite
check "more ranks than GPUs are refused" ends 2 "process 3 of the job on this machine has no GPU of its own: there are 2" \
    env RESULTS=two GPUS=2 sh "$example" six.ini -n 3 --oversubscribe
check "and the share is missing" ends 5 "share 3 of 3 of mpi-" assay merge two/shares.*.sqlite --db two/again.sqlite
check "a wrong answer in one rank is told by the exit code" exits 1 env RESULTS=wrong RULE=,wrong=int8_quantize/host_omp \
    sh "$example" wrong.ini -n 3 --oversubscribe
check "and ends no other" gives "1|3|3|6|6" all_of wrong/all.sqlite
