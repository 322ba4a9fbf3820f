#!/usr/bin/env bash
# All GPUs of a machine at once, or those that CUDA_VISIBLE_DEVICES names, and a GPU for each process of a job.
. "$(dirname "$0")/../cli/lib.sh"
visible=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd,)}
gpus=$(tr , '\n' <<<"$visible" | wc -l)

# ends CODE TEXT COMMAND...: with this exit code, and the text in standard error.
ends() {
    local wanted=$1 text=$2
    shift 2
    exits "$wanted" "$@" && grep -qF -- "$text" said.err
}
# rank INDEX COUNT OPTION...: as srun would start it.
rank() {
    local index=$1 count=$2
    shift 2
    SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_PROCID=$index SLURM_LOCALID=$index SLURM_STEP_NUM_TASKS=$count \
        "$ASSAY" run copies --no-ceilings "$@"
}

if [ "$gpus" -gt 1 ]; then
    for ((i = 0; i < gpus; i++)); do
        check "rank $i has a GPU" exits 0 rank "$i" "$gpus" --db ranks.sqlite
        check "the one of its number" gives "cuda:$i" query "$(printf 'ranks.%04d.sqlite' $((i + 1)))" \
            "SELECT DISTINCT spec FROM launch"
    done
    check "their shares are the suite" exits 0 "$ASSAY" merge ranks.*.sqlite --db ranks.all
    check "one rank more has none" ends 2 "has no GPU of its own: there are $gpus" rank "$gpus" $((gpus + 1)) --db more.sqlite
fi
# Two ranks that are shown one GPU, which each may have to itself: one of them does not.
export CUDA_VISIBLE_DEVICES=${visible%%,*}
rank 0 2 --shard none --db one.sqlite >first.out 2>&1 &
code=0
rank 1 2 --shard none --db one.sqlite >second.out 2>&1 || code=$?
wait $! || code=$((code + $?))
check "of two ranks on one GPU one is refused" [ "$code" -eq 2 ]
check "which says why" grep -qF "another process of a job measures on this GPU" first.out second.out
check "a GPU that is named is shared" exits 0 rank 1 2 --device cuda:0 --db named.sqlite
check "all of one GPU are it" exits 0 "$ASSAY" run copies --no-ceilings --device cuda:all --db single.sqlite
check "and nothing is divided" gives "1|cuda:0" query single.sqlite "SELECT count(*), spec FROM launch"
export CUDA_VISIBLE_DEVICES=$visible

[ "$gpus" -gt 1 ] || { skipped "one GPU: what several do at once"; exit $((checks_failed > 0)); }

# seconds NAME OPTION...: how long a run of core takes, start and ceilings included.
seconds() {
    local name=$1 begin=$EPOCHREALTIME
    shift
    "$ASSAY" run core --seed 1 --db "$name.sqlite" "$@" >"$name.out" 2>"$name.err" || echo "# exit $?" >&2
    awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", b - a }'
}
one=$(seconds one_gpu --device cuda:0)
all=$(seconds all_gpus --device cuda:all)
echo "# core: $one s on one GPU, $all s on $gpus"
check "two GPUs or more take at most 0.6 of the time" awk -v a="$one" -v b="$all" 'BEGIN { exit !(b <= 0.6 * a) }'
check "each case is measured once" gives "1" query all_gpus.sqlite \
    "SELECT max(n) FROM (SELECT count(*) AS n FROM result GROUP BY purpose, operation, shape, temperature, variant)"
check "what crosses the link is beside nothing" gives 0 query all_gpus.sqlite \
    "SELECT count(*) FROM beside JOIN result ON id = result_id WHERE operation IN ('link', 'transfer')"
query all_gpus.sqlite "ATTACH 'one_gpu.sqlite' AS one; SELECT spec, operation, variant, shape, temperature,
    round(100 * (two.time_ns / single.time_ns - 1), 2) FROM result AS two JOIN launch ON launch.id = two.launch_id
    JOIN one.result AS single USING (purpose, operation, variant, shape, temperature)
    WHERE purpose = 'case' AND two.status = 'ok' AND single.status = 'ok'" >differences
echo "# cases by their difference of medians in %, GPU 0 alone and in the run of all:"
awk -F'|' '$1 == "cuda:0" { d = $6 < 0 ? -$6 : $6; n++; ok += d <= 0.5; if (d > most) { most = d; what = $0 } }
    END { printf "# %d cases on cuda:0 in both, %d within 0.5 %%, most %s\n", n, ok, what }' differences
awk -F'|' '{ d = $6 < 0 ? -$6 : $6; n++; ok += d <= 0.5; if (d > 2) print "# " $0 }
    END { printf "# %d cases on all GPUs, %d within 0.5 %% of the one\n", n, ok }' differences
check "the median case is within 0.5 % on the same GPU" [ "$(awk -F'|' '$1 == "cuda:0" { print $6 < 0 ? -$6 : $6 }' differences |
    sort -g | awk '{ v[NR] = $1 } END { print (NR > 0 && v[int((NR + 1) / 2)] <= 0.5) }')" = 1 ]
