#!/usr/bin/env bash
# What a GPU says of its health is what nvidia-smi says, and reaches assay fleet.
. "$(dirname "$0")/../cli/lib.sh"

check "a run on the GPU" exits 0 "$ASSAY" run smoke --device cuda:0 --launches 2 --db f.sqlite
said() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits -i 0; }
stored() { query f.sqlite "SELECT DISTINCT $1 FROM launch"; }
check "the lanes of its link" [ "$(stored link_width)" = "$(said pcie.link.width.current)" ]
check "the most that it could have" [ "$(stored link_width_max)" = "$(said pcie.link.width.max)" ]
check "its highest generation" [ "$(stored link_generation_max)" = "$(said pcie.link.gen.max)" ]
check "the generation, which is no higher" gives 1 query f.sqlite \
    "SELECT min(link_generation BETWEEN 1 AND link_generation_max) FROM launch"
check "errors that ECC could not correct, where there is ECC" [ "$(stored "coalesce(ecc_uncorrected, '[N/A]')")" = \
    "$(said ecc.errors.uncorrected.volatile.total)" ]
check "one GPU is not judged by its times" warns "on 6 or more of a model" "$ASSAY" fleet --db f.sqlite
check "but it is shown" says "$(said uuid)" "$ASSAY" fleet --db f.sqlite --all
"$ASSAY" fleet --db f.sqlite --all 2>/dev/null | sed 's/^/# /'
# The same card under six names: what it has in common with itself is healthy.
for i in 1 2 3 4 5 6; do
    cp f.sqlite g.sqlite
    query g.sqlite "PRAGMA foreign_keys = OFF; UPDATE environment SET id = '$i' || substr(id, 2), hostname = 'node$i';
        UPDATE run SET id = '$i' || substr(id, 2), environment_id = '$i' || substr(environment_id, 2);
        UPDATE launch SET id = '$i' || substr(id, 2), run_id = '$i' || substr(run_id, 2);
        UPDATE expected SET launch_id = '$i' || substr(launch_id, 2);
        UPDATE result SET id = '$i' || substr(id, 2), launch_id = '$i' || substr(launch_id, 2);
        UPDATE sample SET result_id = '$i' || substr(result_id, 2)"
    "$ASSAY" merge g.sqlite --db six.sqlite >/dev/null 2>&1
done
check "six times the same card has no finding by its times" fails says "slower in" "$ASSAY" fleet --db six.sqlite
check "and all six are judged" says "6 judged by their times" "$ASSAY" fleet --db six.sqlite --all
