#!/usr/bin/env bash
# assay plot: every kind is drawn or says why not; what is odd in names, runs and
# gnuplots ends with a message and the right exit code.
. "$(dirname "$0")/lib.sh"
command -v gnuplot >/dev/null || { check "gnuplot is there to be tested" false; exit; }
plots=$(cd "$HERE/.." && pwd)/plots
export ASSAY_DB=p.sqlite

# measure LABEL SUITE LAUNCHES [KEYS]: a simulated run into p.sqlite.
measure() {
    "$ASSAY" run "$2" --label "$1" --launches "$3" --device "sim:seed=1${4:-}" --seed 7 >/dev/null 2>&1
}
int8_suite few.ini 'variants = host_scalar, host_copy_r4w1, host_memcpy, host_omp' 'baseline = host_memcpy' \
    'n = 1M, 4M, 16M' 'input = fp32'
sed 's/^n = .*/n = 1Ki..64Mi*2/; s/input = .*/input = fp32, bf16/' few.ini >many.ini
cat >>many.ini <<END
[group t]
operation = int8_quantize_token
variants = host_scalar, host_copy_r4w1, host_memcpy, host_omp
tokens = 1Ki
hidden = 1Ki..40Ki+1Ki
END
measure few few.ini 1
measure slower few.ini 1 ',slow=int8_quantize/host_omp:20'
measure many many.ini 1
measure base many.ini 6 ',launch=0.5'
measure candidate many.ini 6 ',launch=0.5,slow=int8_quantize/host_omp:9'
# Stages, quality and noise are made up: no suite has them on this device.
query p.sqlite "INSERT OR REPLACE INTO metric
    SELECT id, 1, 'h2d_ns', time_ns * 0.7 FROM result WHERE time_ns > 0 UNION ALL
    SELECT id, 2, 'compute_ns', time_ns * 0.6 FROM result WHERE time_ns > 0 UNION ALL
    SELECT id, 3, 'sqnr_db', 20 + ordinal FROM result WHERE time_ns > 0;
    INSERT INTO noise SELECT lower(hex(randomblob(16))), l.comparability, 'made up', 'calibrate',
    operation, variant, kind, place, shape, temperature, 'time', 6, time_ns, 0.001, 0.002, ''
    FROM result r JOIN launch l ON l.id = r.launch_id JOIN run ON run.id = l.run_id
    WHERE run.label IN ('few', 'many') AND r.time_ns > 0
    GROUP BY operation, variant, shape, temperature, place"

plot() { "$ASSAY" plot "$@"; }
# plot_of KIND RUN ARGUMENTS...: what is drawn of RUN; a history is of all runs.
plot_of() {
    if [ "$1" = history ]; then plot history "${@:3}"; else plot "$@"; fi
}
# drawn KIND RUN ARGUMENTS...: exit 0, nothing said, KIND.svg is a picture.
drawn() {
    rm -f "$1.svg"
    run plot_of "$@" -o "$1.svg"
    [ "$code" -eq 0 ] && [ ! -s said.err ] && [ ! -s said.out ] && tail -n 3 "$1.svg" | grep -q '</svg>'
}
# inside FILE: where its texts begin, and roughly where they end, is in the picture.
inside() {
    awk '
        match($0, /viewBox="0 0 [0-9]+ [0-9]+"/) { split(substr($0, RSTART + 9, RLENGTH - 10), box, " ") }
        match($0, /translate\([0-9.-]+,[0-9.-]+\)/) {
            split(substr($0, RSTART + 10, RLENGTH - 11), at, ",")
            turned = /rotate/
            anchor = match($0, /text-anchor="[a-z]+"/) ? substr($0, RSTART + 13, RLENGTH - 14) : "start"
        }
        /<text>/ {
            text = $0; gsub(/<[^>]*>|\t/, "", text); gsub(/&[a-z#0-9]+;/, "x", text)
            wide = turned ? 0 : 5.5 * length(text)
            left = at[1] - (anchor == "end" ? wide : anchor == "middle" ? wide / 2 : 0)
            if (text != "" && (left < 0 || left + wide > box[3] || at[2] < 0 || at[2] > box[4])) {
                print "outside: " text " at " at[1] "," at[2] " of " box[3] " x " box[4]; bad = 1
            }
        }
        END { exit bad }' "$1"
}
kinds="roofline sweep bars speedup dist timeline history pareto pipeline noise"

# ------------------------------------------------------------- every kind
declare -A axis=([roofline]="FLOP/s" [sweep]="throughput (" [bars]="time (" [speedup]="times as fast"
    [dist]="time (" [timeline]="median of its case" [history]="time (" [pareto]="higher is better"
    [pipeline]="time (" [noise]=" %<")
declare -A below=([roofline]="operations per byte" [sweep]="bytes moved" [bars]="time (" [speedup]="times as fast"
    [dist]="time (" [timeline]="rounds of measuring" [history]="runs, oldest first" [pareto]="left is faster"
    [pipeline]="time (" [noise]="time per launch" [forest]="time against the base")
for kind in $kinds; do
    check "$kind of a few cases" drawn "$kind" few
    check "$kind is well-formed" well_formed "$kind.svg"
    check "its texts are in the picture" inside "$kind.svg"
    check "$kind says what its axis is" grep -qF "${axis[$kind]}" "$kind.svg"
    check "$kind has room for what stands below" grep -qF "${below[$kind]}" "$kind.svg"
    check "$kind names the device" grep -qF 'SIMULATED simulated device' "$kind.svg"
    check "$kind has a date" grep -qF "$(date -u +%Y)-" "$kind.svg"
    check "$kind of hundreds" drawn "$kind" many
    check "whose texts are in the picture, too" inside "$kind.svg"
    check "what stands below as well" grep -qF "${below[$kind]}" "$kind.svg"
done
check "forest of a few cases" drawn forest slower --against few
check "forest of hundreds" drawn forest candidate --against base
check "has its texts in the picture" inside forest.svg
check "and what stands below" grep -qF "${below[forest]}" forest.svg
check "it says what is not shown" grep -q 'worst first, and [0-9]* more: ' forest.svg
check "it has the worst" grep -q REGRESSED forest.svg
check "with no zero that has a sign" fails grep -qE '[+-]0(\.0)? ?%|[+-]0\.0[],]' forest.svg
improved() { drawn forest few --against slower && grep -q '>.*IMPROVED<\|>.*SUSPECT<' forest.svg; }
check "the other way round, too" improved
check "what got faster is blue, sure or not" grep -qE 'rgb\( *(0, 114, 178|127, 184, 216)\)' forest.svg
check "and nothing is slower" fails grep -qE 'rgb\( *(213,  94,   0|232, 168, 124)\)' forest.svg
check "roofline with arrows" drawn roofline slower --against few
check "it says from which run" grep -q 'arrows* from run' roofline.svg
plot_of roofline few --against candidate -o none.svg
check "a roofline says why cases have no arrow" grep -q 'not in it: [1-9]' none.svg
rm -f none.svg
check "sizes of memories stand above a sweep" drawn sweep few
check "the last-level cache with them" grep -q '>last-level cache: ' sweep.svg
# ends FILE.tsv: the share of its greatest that a density of a dist has at the ends of the axis.
ends() {
    awk -F'\t' '!NF { blank++; next }
        blank { if (last != "" && block > 1 + curves) print last; last = ""; block += blank / 2; blank = 0; n = 0 }
        block == 1 { curves++ }
        block > 1 + curves { if (!n++) print $2; last = $2 }
        END { if (block > 1 + curves) print last }' "$1"
}
drawn_inside() { drawn dist "$1" --keep-script && [ -n "$(ends dist.tsv)" ] && ! ends dist.tsv | awk '$1 > 0.02 { print }' | grep .; }
check "every violin ends inside the frame" drawn_inside few
check "time against size, when asked" drawn sweep few --metric time
check "its axis says so" grep -q '>time (us)<' sweep.svg
sqlite3 p.sqlite ".backup spans.sqlite"
query spans.sqlite "INSERT INTO span
    SELECT r.id, 3 * i.value + s.key + 1, s.key, s.value, 1e3 * (i.value + s.key), 1e3 * (i.value + s.key + 1)
    FROM result r, json_each('[0,1,2,3]') i, json_each('[\"h2d\",\"compute\",\"d2h\"]') s WHERE r.time_ns > 0"
check "stages with spans stand on a time axis" drawn pipeline few --db spans.sqlite
check "all of it, where there are few batches" fails grep -q 'a piece that repeats' pipeline.svg
check "from the launch on" grep -q 'time from the launch' pipeline.svg
query spans.sqlite "INSERT INTO span SELECT result_id, ordinal + 12 * i.value, lane, name,
    begin_ns + 6e3 * i.value, end_ns + 6e3 * i.value FROM span, json_each('[1,2]') i"
check "a pipeline of more is cut to a piece that repeats" drawn pipeline few --db spans.sqlite --keep-script
check "and says so" grep -q 'a piece that repeats' pipeline.svg
check "and for each case from which batch on" grep -q '; from batch 4<' pipeline.svg
at_once() { awk -F'\t' '!NF { blank++; next } blank { block += blank / 2; blank = 0 } block == 2 && $2 == 0 { print $1, $3 }' pipeline.tsv | sort -u; }
check "with the batches that began before" gives "$(printf '1 1\n2 1\n3 1')" at_once
check "and is well-formed" well_formed pipeline.svg

# In the time that a person waits, of the processor's: others may be at work here.
for kind in $kinds; do
    [ "$kind" = noise ] || check "$kind in under two seconds" takes_less_than 2 plot_of "$kind" candidate -o quick.svg
done
check "forest in under two seconds" takes_less_than 2 plot forest candidate --against base -o quick.svg

# ---------------------------------------------------------------- outputs
check "a PNG" exits 0 plot sweep few -o x.png
check "it is one" grep -qa PNG x.png
check "a PDF" exits 0 plot sweep few -o x.pdf
check "it is one" grep -qa '^%PDF' x.pdf
for kind in $kinds; do
    check "$kind in the terminal" says "simulated device" plot_of "$kind" few -o -
    check "with nothing on standard error" silent plot_of "$kind" few -o -
done
bars_of() { plot bars few -o - | grep -cE '^ *host_[a-z0-9_]+ \|\*+ +[0-9.]+ [mu]s '; }
check "each bar in the terminal has a line, its name and its time" gives 4 bars_of
check "the forest in the terminal" says REGRESSED plot forest candidate --against base -o -
check "a picture for a dark page" drawn sweep few --theme dark --title 'A < title' --width 900
check "is dark" grep -q 'fill="#1c1c20"' sweep.svg
check "has the title" grep -qF '>A &lt; title<' sweep.svg
check "and the width" grep -q 'width="900"' sweep.svg
check "and keeps the line with the device" grep -q 'SIMULATED simulated device' sweep.svg
check "the light one is white" eval 'drawn sweep few && grep -qi "fill=\"#ffffff\"" sweep.svg'
check "a theme that is none" exits 2 plot sweep few -o x.svg --theme pink
for kind in $kinds; do
    check "$kind in the least width" drawn "$kind" many --width 800
    check "has its texts in the picture, too" inside "$kind.svg"
done
check "a width that is none" exits 2 plot sweep few -o x.svg --width 10
if [ -w /dev/full ]; then
    check "a full disk under it is not exit 0" exits 2 bash -c '"$0" plot bars few -o - >/dev/full' "$ASSAY"
fi
check "the terminal has no theme" warns "takes no --theme" plot sweep few -o - --theme dark
check "nor a width in pixels" warns "takes no --width" plot sweep few -o - --width 900
check "an unknown ending is a usage error" exits 2 plot sweep few -o x.jpeg
check "and says which there are" warns ".svg, .png or .pdf" plot sweep few -o x.jpeg
check "no folder to write to" exits 2 plot sweep few -o nowhere/x.svg
check "says so" warns "cannot write nowhere/x.svg: No such file" plot sweep few -o nowhere/x.svg
mkdir -p x.d/taken.svg
check "a folder in the place of the file" exits 2 plot sweep few -o x.d/taken.svg
check "leaves nothing half done" gives taken.svg ls x.d
check "no output is a usage error" warns "where to?" plot sweep few

# ------------------------------------------------------------ kept scripts
check "--keep-script draws too" exits 0 plot speedup few -o kept.svg --keep-script
check "and leaves the data" grep -q "^title" kept.tsv
mkdir away && cp kept.gp kept.tsv away
again() { (cd away && gnuplot -d -c kept.gp kept.tsv again.svg); }
check "and a script that draws, anywhere" again
check "the same" cmp kept.svg away/again.svg
check "the terminal has no place for them" warns "--keep-script" plot speedup few -o - --keep-script
mkdir tmp
check "without it nothing is left" exits 0 env TMPDIR="$PWD/tmp" "$ASSAY" plot speedup few -o x.svg
check "in no folder" gives "" ls tmp

# ------------------------------------------------------------------ choice
check "an unknown kind is a usage error" exits 2 plot sweeep few -o x.svg
check "one that is near is named" warns "did you mean 'sweep'" plot sweeep few -o x.svg
check "a forest wants two runs" exits 2 plot forest few -o x.svg
check "and says so" warns "--against" plot forest few -o x.svg
check "no kind takes an option that it does not know" exits 2 plot dist few --against slower -o x.svg
check "and names it" warns "dist takes no --metric" plot dist few --metric mse -o x.svg
check "a history takes no run" exits 2 plot history few -o x.svg
check "not even the latest" exits 2 plot history latest -o x.svg
check "and says what chooses instead" warns "history takes no run, so not 'few'" plot history few -o x.svg
check "a case" warns "--filter GLOB" plot history few -o x.svg
check "in one line" one_line plot history few -o x.svg
check "a history names its runs" drawn history - --case '*/host_omp' --only 'n=1000000 *'
check "both, by day" gives 2 grep -cE '>[0-9]{4}-[0-9]{2}-[0-9]{2}<' history.svg
check "and by commit or id" gives 2 grep -cE '>[0-9a-f]{8}<' history.svg
check "a history of the cases chosen" drawn history - --case '*/host_omp'
check "of no other" fails grep -q host_scalar history.svg
check "a run that is not there" exits 2 plot sweep nosuch -o x.svg
check "an unknown metric of a sweep" exits 2 plot sweep few -o x.svg --metric furlongs
check "names those there are" warns "bytes, ops or time" plot sweep few -o x.svg --metric furlongs
sed 's/^n = .*/n = 1M/' few.ini >single.ini
ASSAY_DB=single.sqlite measure single single.ini 1
check "a sweep of one size is drawn as bars" drawn sweep single --db single.sqlite
check "which have no other metric than the time" \
    exits 4 plot sweep single --db single.sqlite --metric bytes -o x.svg
check "and say so" warns "no operation with two sizes for a --metric" \
    plot sweep single --db single.sqlite --metric bytes -o x.svg
check "an unknown metric is one there too" \
    exits 2 plot sweep single --db single.sqlite --metric furlongs -o x.svg
check "an operation that the run has not is exit 4" exits 4 plot speedup few -o x.svg --operation none
check "and is named" warns "operation none" plot speedup few -o x.svg --operation none
check "--case chooses" drawn speedup few --case '*/host_omp'
check "no other" fails grep -q host_scalar speedup.svg
check "--only chooses" drawn timeline few --only 'n=1000000 *'
check "as many" grep -q 'of 4 cases' timeline.svg
check "the help has the last kind too" says "noise  " plot --help

# -------------------------------------------------------- runs with little
variation() { query p.sqlite "VACUUM INTO '$1'" && query "$1" "$2"; }
variation skip.sqlite "UPDATE result SET status = 'skipped', time_ns = NULL, lo_ns = NULL, hi_ns = NULL"
variation empty.sqlite "DELETE FROM metric; DELETE FROM sample; DELETE FROM result; DELETE FROM noise"
variation one.sqlite "UPDATE sample SET time_ns = substr(time_ns, 1, 4), busy_ns = NULL, event_ns = NULL,
    round = substr(round, 1, 2), mark = substr(mark, 1, 1), wall_ns = NULL, wall_round = NULL;
    UPDATE result SET lo_ns = NULL, hi_ns = NULL"
variation long.sqlite "UPDATE result SET time_ns = time_ns * 1e4, lo_ns = lo_ns * 1e4, hi_ns = hi_ns * 1e4
    WHERE variant = 'host_scalar'"
check "a bar that dwarfs the others is drawn" drawn bars few --db long.sqlite
check "broken" grep -q 'bars too long to be drawn whole: 1' bars.svg
variation other.sqlite "INSERT INTO device SELECT 'other', place, simulated, name, 'GPU-other', vbios,
        compute_capability, multiprocessors, l1_bytes, cache_bytes, memory_bytes, sm_mhz_max, memory_mhz_max
        FROM device LIMIT 1;
    UPDATE launch SET device_id = 'other', comparability = 'other'
        WHERE run_id IN (SELECT id FROM run WHERE label = 'slower')"
check "a forest over two cards is exit 4" exits 4 plot forest slower --against few --db other.sqlite -o none.svg
check "and names what parts them" warns "INCOMPARABLE; most: device uuid" \
    plot forest slower --against few --db other.sqlite -o none.svg
variation limit.sqlite "UPDATE launch SET power_limit_w = 350;
    UPDATE launch SET power_limit_w = 700 WHERE run_id IN (SELECT id FROM run WHERE label = 'many')"
check "a history over two power limits is drawn" drawn history many --db limit.sqlite
check "with what its border is" grep -q 'power limit 700 W -> 350 W' history.svg
variation wide.sqlite "UPDATE result SET operation = 'operation_' || (ordinal % 30) WHERE time_ns > 0"
check "thirty operations have a roofline" drawn roofline many --db wide.sqlite
check "seven of them in its key" gives 7 grep -c ">operation_[0-9]* (" roofline.svg
check "and the others as one" gives 1 grep -c 'more operations* (' roofline.svg
variation bare.sqlite "DELETE FROM sample WHERE result_id IN (SELECT id FROM result WHERE purpose = 'ceiling');
    DELETE FROM result WHERE purpose = 'ceiling'"
check "a roofline without ceilings is drawn" drawn roofline few --db bare.sqlite
check "and says that there are none" grep -q 'ceilings were not measured' roofline.svg
for kind in roofline sweep bars speedup dist timeline history pareto pipeline; do
    check "$kind of skipped cases is exit 4" exits 4 plot_of "$kind" few --db skip.sqlite -o none.svg
    check "in one line" one_line plot_of "$kind" few --db skip.sqlite -o none.svg
    check "$kind of an empty run is exit 4" exits 4 plot_of "$kind" few --db empty.sqlite -o none.svg
    check "$kind of one sample a case" drawn "$kind" few --db one.sqlite
done
check "no noise is exit 4" exits 4 plot noise few --db empty.sqlite -o none.svg
check "and says how to get some" warns "assay calibrate" plot noise few --db empty.sqlite -o none.svg
check "a forest of skipped cases is exit 4" \
    exits 4 plot forest slower --against few --db skip.sqlite -o none.svg
check "no file was left" fails test -e none.svg

# --------------------------------------------------------------- odd names
odd="a\"b'c&d%s{e}_f^g#<h>\\n\`µ\`@i|j"
variation odd.sqlite "UPDATE result SET variant = '${odd//\'/\'\'}' WHERE variant = 'host_omp';
    UPDATE device SET name = '#1 ${odd//\'/\'\'}'"
for kind in roofline sweep bars speedup dist timeline history pareto pipeline; do
    check "$kind with an odd name" drawn "$kind" few --db odd.sqlite
    check "$kind is well-formed with it" well_formed "$kind.svg"
done
check "the forest with it" drawn forest slower --against few --db odd.sqlite
check "the forest is well-formed with it" well_formed forest.svg
for kind in sweep bars speedup dist forest pipeline; do
    check "$kind shows it as it is" grep -qF "b'c&amp;d%s{e}_f^g#&lt;h>∖n\`µ\`@i|j" "$kind.svg"
done

# ----------------------------------------------------------- other gnuplots
mkdir bin empty
real=$(command -v gnuplot)
# stub TEXT: a gnuplot that sees its script through this sed command.
stub() {
    printf '#!/bin/sh\nsed "%s" "$3" >stub.gp\nshift 3\nexec %s -d -c stub.gp "$@"\n' "$1" "$real" >bin/gnuplot
    chmod +x bin/gnuplot
}
with_stub() { PATH=$PWD/bin:$PATH "$@"; }
stub "s/GPVAL_TERMINALS/'dumb svg'/"
check "a gnuplot without PDF" exits 2 with_stub "$ASSAY" plot sweep few -o old.pdf
check "is told so" warns "built without pdfcairo" with_stub "$ASSAY" plot sweep few -o old.pdf
check "and leaves no file" fails test -e old.pdf
check "but draws what it can" exits 0 with_stub "$ASSAY" plot sweep few -o old.svg
stub 's/GPVAL_VERSION/5.2/'
check "an old gnuplot" exits 2 with_stub "$ASSAY" plot sweep few -o old2.svg
check "is told so" warns "5.4 or newer" with_stub "$ASSAY" plot sweep few -o old2.svg
printf '#!/bin/sh\nkill -9 $$\n' >bin/gnuplot
check "a gnuplot that dies" warns "died of signal 9" with_stub "$ASSAY" plot sweep few -o old2.svg
check "no gnuplot" exits 2 env PATH="$PWD/empty" "$ASSAY" plot sweep few -o none.svg
check "says how to get it" \
    warns "apt-get install gnuplot-nox" env PATH="$PWD/empty" "$ASSAY" plot sweep few -o none.svg

# Every script is some kind's, and a kind without its script would have failed above.
for script in "$plots"/*.gp; do
    name=$(basename "$script" .gp)
    [ "$name" = style ] || check "plots/$name.gp is a kind" says "  $name " plot --help
done

# -------------------------------------------------- whose scripts are run

mkdir plots
echo 'system "touch ran"' | tee plots/style.gp plots/sweep.gp >plots/speedup.gp
check "a plot is drawn" exits 0 "$ASSAY" plot sweep few -o own.svg
check "with the program's scripts, not with those of the current folder" fails test -e ran
check "a report, too" exits 0 "$ASSAY" report few -o own.html
check "runs none of them" fails test -e ran
check "ASSAY_PLOTS names others" fails exits 0 env ASSAY_PLOTS=plots "$ASSAY" plot sweep few -o own.svg
check "which are run" test -e ran

# --------------------------------------------------------- what is written to

echo mine >victim
for end in svg tsv gp; do ln -sf victim "linked.$end"; done
check "a plot in the place of a link" exits 0 "$ASSAY" plot sweep few -o linked.svg --keep-script
check "is not written through it" gives mine cat victim
check "nor are its data and script" fails test -h linked.svg -o -h linked.tsv -o -h linked.gp
(umask 077; mkdir shared; cd shared && sh -c 'for i in $(seq 0 400); do ln -s ../victim "x.partial-$(($$ + i)).svg"
    ln -s ../victim "x.svg.partial.$(($$ + i))"; done; exec "$0" plot sweep few -o x.svg --db ../p.sqlite' "$ASSAY") >/dev/null 2>&1
check "names that others could guess are written through by none" gives mine cat victim
check "though the plot is there" test -s shared/x.svg
check "alone" gives 0 sh -c 'find shared -type f ! -name x.svg | wc -l'
