#!/usr/bin/env bash
# What assay compare says of two runs as a whole: why nothing compares, which metric its
# ratios are of, and where a case ran when its name does not tell.
. "$(dirname "$0")/lib.sh"
export ASSAY ASSAY_DB=words.sqlite

# fake LABEL VARIABLE=VALUE...: a stored run of three cases.
fake() { env "${@:2}" "$HERE/cli/gate/program.sh" run smoke --db words.sqlite --label "$1"; }
fake plain
fake other_driver DRIVER=2
fake strangers VARIANTS="x y"
fake strangers_elsewhere VARIANTS="x y" DRIVER=2
fake redefined
query words.sqlite "UPDATE result SET read_bytes = 80 WHERE launch_id IN
    (SELECT launch.id FROM launch JOIN run ON run.id = run_id WHERE label = 'redefined')"

compare() { "$ASSAY" compare "$@"; }
check "another driver leaves nothing to compare" exits 4 compare plain other_driver
check "and is named as the cause" warns "can be compared: driver 1 and 2; --across compares them all the same" compare plain other_driver
check "in one line" one_line compare plain other_driver
check "runs without a common case do" exits 4 compare plain strangers
check "and are named so" warns "can be compared: the sides have no case in common" compare plain strangers
check "with what differs besides" warns \
    "no case in common, and they were not measured alike: driver 1 and 2" compare plain strangers_elsewhere
check "for which --across is no help" fails warns "--across" compare plain strangers_elsewhere
check "cases of another definition do" exits 4 compare plain redefined
check "and are named so" warns "can be compared: the definition of its work differs" compare plain redefined
check "also with --across, where the driver is no cause" warns "the definition of its work differs" \
    compare other_driver redefined --across
check "never the count of launches" fails warns "one launch on each side" compare plain redefined
check "what compares has nothing on standard error" silent compare plain plain

# ---------------------------------------------------------------------- the metric

for format in table md; do
    check "$format heads times as times" says "change of time" compare plain plain --format $format
    check "and ratios to the baseline as such" says "change of time/baseline" \
        compare plain plain --format $format --metric speedup
done

# ------------------------------------------------------------------------- places

fake both
query words.sqlite "INSERT INTO device SELECT 'g', 'cuda', simulated, name, uuid, vbios, compute_capability,
    multiprocessors, l1_bytes, cache_bytes, memory_bytes, sm_mhz_max, memory_mhz_max FROM device WHERE id = 'd';
    CREATE TEMP TABLE more AS SELECT * FROM result WHERE variant = 'b' AND launch_id IN
    (SELECT launch.id FROM launch JOIN run ON run.id = run_id WHERE label = 'both');
    UPDATE more SET id = 'of both', place = 'cuda', ordinal = 9; INSERT INTO result SELECT * FROM more"
for format in table md; do
    check "$format tells the two places of a variant apart" says "copy/b n=10 cold cuda" \
        compare both both --format $format
    check "on both sides" says "copy/b n=10 cold host" compare both both --format $format
    check "and has no word where there is one place" fails says "copy/a n=10 cold host" \
        compare both both --format $format
done
series() { "$ASSAY" history "$1" --format json | grep -c '"variant"'; }
check "without a word both places are taken" gives 2 series "copy/b n=10 cold"
check "with it the one" gives 1 series "copy/b n=10 cold cuda"
check "a word for the only place is no harm" gives 1 series "copy/a n=10 cold host"
check "another place has no such case" exits 4 "$ASSAY" history "copy/a n=10 cold cuda"

# -------------------------------------------------------------------------- rates

for rate in 50 99.5 200; do
    check "a rate of $rate false discoveries in a hundred is refused" exits 2 compare plain plain --fdr $rate
    check "with the reason" warns "below 50" compare plain plain --fdr $rate
done
check "one below is taken" exits 0 compare plain plain --fdr 49.9

# ----------------------------------------------------------------- a card's settings

published=$HERE/../results/h200/core.ndjson.zst
for side in a b c; do
    check "a published run comes in ($side)" exits 0 "$ASSAY" import "$published" --db $side.sqlite
done
check "and compares with itself elsewhere" exits 0 compare a.sqlite:latest b.sqlite:latest
# settings COLUMN=VALUE...: the same run of a card with other settings.
settings() {
    query c.sqlite "UPDATE launch SET power_limit_w = 700, ecc = 1, mig = 0; UPDATE launch SET $1"
    compare a.sqlite:latest c.sqlite:latest
}
check "not with another power limit" warns "compared: power limit 700 W and 350 W" settings power_limit_w=350
check "which is exit 4" exits 4 settings power_limit_w=350
check "not without ECC" warns "compared: ECC on and off" settings ecc=0
check "not with MIG" warns "compared: MIG off and on" settings mig=1
check "not where the limit is unknown" warns "compared: power limit 700 W and unknown" settings power_limit_w=NULL
check "but where it was asked for" says "compared because that was asked for" \
    compare a.sqlite:latest c.sqlite:latest --across --format md
query c.sqlite "UPDATE launch SET power_limit_w = 700; UPDATE device SET vbios = 'OTHER'"
check "not with another firmware" warns "compared: firmware 96.00.A5.00.1A and OTHER" \
    compare a.sqlite:latest c.sqlite:latest
