#!/bin/sh
# ranks.sh SUITE OPTIONS-OF-MPIRUN: a suite on the GPUs of several machines, each process its share; then one database.
# In a folder of the job's own: what an earlier one left unfinished there would be missing from this one, too.
set -u
suite=$1 results=${RESULTS:-results/mpi-$(date +%Y%m%d-%H%M%S)}
shift
mkdir -p "$results" && rm -f "$results"/exit.* || exit
code=0
# Where a process ends with another code than 0, mpirun ends all others: the codes are kept instead.
mpirun "$@" sh -c 'assay run "$0" --db "$1/shares.sqlite" || echo $? >"$1/exit.$OMPI_COMM_WORLD_RANK"' \
    "$suite" "$results" >"$results/table.txt" || code=$?
assay merge "$results"/shares.[0-9]*.sqlite --db "$results/all.sqlite" || code=$?
for file in "$results"/exit.*; do [ ! -e "$file" ] || read -r code <"$file"; done
exit "$code"
