# roofline.gp - every case under the measured ceilings: operations a second against
# operations a byte. Cases that only move bytes have a panel of their own.
#
#   gnuplot -c roofline.gp DATA.tsv OUTPUT.svg|png|pdf
#
# DATA has blocks, parted by two empty lines: settings (name, value); operations
# (name, cases); ceilings (h of operations, d of bytes, m of bytes in the second
# panel only; rate, label); cases (operation from 1, 1 when it only moves bytes,
# 1 when a baseline, operations a byte or else bytes, rate, name); arrows (1
# slower, from x, y, to x, y).

data = ARG1; output = ARG2; columns = ARG3; frames = ARG4
load "style.gp"
array Family[32]; array Cases[32]
array Way[40]; array Rate[40]; array Label[40]
stats data index 1 using (Family[int($0) + 1] = strcol(1), Cases[int($0) + 1] = $2, 1) nooutput
families = STATS_records
stats data index 2 using (Way[int($0) + 1] = strcol(1), Rate[int($0) + 1] = $2, \
                          Label[int($0) + 1] = strcol(3), 1) nooutput
lines = STATS_records
rows = number("rows"); moving = number("moving")
both = rows > 0 && moving > 0
small = rows + moving > 200 ? 0.5 : 0.9

# Six operations have colours, the rest is grey; baselines are hollow.
paint(f) = f > bright ? grey : Colour[f]
mark(f, base) = base ? Hollow[(f - 1) % bright + 1] : Point[(f - 1) % bright + 1]
pick(f, base, where) = $1 == f && $3 == base && $2 == where ? $5 : NaN
bytes(i) = Way[i] eq "d" || Way[i] eq "m"
dash(i) = i % 4 + 1
roof = 0
do for [i = 1:lines] { if (Way[i] eq "h" && Rate[i] > roof) { roof = Rate[i] } }
peak = roof > 0 ? roof : 1e300
slope = 0
do for [i = 1:lines] { if (Way[i] eq "d" && Rate[i] > slope) { slope = Rate[i] } }

set key at screen 0.985, screen (text_only ? 0.8 : 0.9) right top vertical Left reverse samplen 2 spacing 1.1
set logscale y
set format y "%.0s %c"
first = text_only ? 0.10 : 0.075
split = both ? 0.24 : 0
last = text_only ? 1 - (number("right_chars") + 8) / (1.0 * across) : 1 - (number("right_chars") * 8.0 + 95) / wide
set tmargin at screen top_of
set bmargin at screen (text_only ? 0.14 : 76.0 / high)

if (both) { set multiplot }
if (moving > 0) {
    set lmargin at screen first
    set rmargin at screen (both ? split - 0.02 : last)
    if (both) { unset title; unset key }
    set xlabel both ? "bytes, no operations" : "bytes moved (cases that count no operations)"
    set logscale x
    if (both) { set xtics 1, 1000 }
    set format x "%.0s %cB"
    set ylabel "throughput (B/s)"
    set xrange [number("moving_left"):number("moving_right")]
    set yrange [number("moving_low"):number("moving_top")]
    plot for [i = 1:lines] (bytes(i) ? Rate[i] : NaN) with lines linewidth 1.2 \
             dashtype dash(i) linecolor rgb dim title (bytes(i) ? Label[i] : ""), \
         for [f = 1:families] data index 3 using 4:(pick(f, 0, 1)) with points \
             pointtype mark(f, 0) pointsize small linecolor rgb paint(f) notitle, \
         for [f = 1:families] data index 3 using 4:(pick(f, 1, 1)) with points \
             pointtype mark(f, 1) pointsize small linecolor rgb paint(f) notitle, \
         for [f = 1:families] keyentry with points pointtype mark(f, 0) linecolor rgb paint(f) \
             title sprintf("%s (%d)", Family[f], Cases[f]), \
         keyentry with points pointtype 6 linecolor rgb dim title "hollow: baselines"
    eval frame(1, 1, 1)
}
if (rows > 0) {
    set title heading noenhanced textcolor rgb ink
    set key at screen 0.985, screen (text_only ? 0.8 : 0.9) right top vertical Left reverse samplen 2 spacing 1.1
    set lmargin at screen (both ? split + 0.06 : first)
    set rmargin at screen last
    set xlabel "operations a byte (least that the operation can read and write)"
    set ylabel "rate (FLOP/s; integer operations OP/s)"
    set logscale x
    set xtics autofreq out nomirror
    set format x "%g"
    left = number("left"); right = number("right")
    set xrange [left:right]
    set yrange [number("low"):number("top")]
    under(rate, x) = rate * x > peak ? NaN : rate * x
    set samples 400
    plot for [i = 1:lines] (Way[i] eq "h" ? (slope > 0 && x * slope < Rate[i] ? NaN : Rate[i]) : Way[i] eq "d" ? under(Rate[i], x) : NaN) \
             with lines linewidth 1.2 dashtype dash(i) linecolor rgb (Way[i] eq "h" ? ink : dim) \
             title (Way[i] eq "-" || (Way[i] eq "m" && !both) ? "" : Label[i]), \
         data index 4 using 2:($1 == 0 ? $3 : NaN):($4 - $2):($5 - $3) with vectors \
             head filled size screen 0.008, 20 linewidth 1 linecolor rgb "#0072B2" notitle, \
         data index 4 using 2:($1 == 1 ? $3 : NaN):($4 - $2):($5 - $3) with vectors \
             head filled size screen 0.008, 20 linewidth 1 linecolor rgb "#D55E00" notitle, \
         for [f = 1:families] data index 3 using 4:(pick(f, 0, 0)) with points \
             pointtype mark(f, 0) pointsize small linecolor rgb paint(f) notitle, \
         for [f = 1:families] data index 3 using 4:(pick(f, 1, 0)) with points \
             pointtype mark(f, 1) pointsize small linecolor rgb paint(f) notitle, \
         for [f = 1:families] keyentry with points pointtype mark(f, 0) linecolor rgb paint(f) \
             title sprintf("%s (%d)", Family[f], Cases[f]), \
         keyentry with points pointtype 6 linecolor rgb dim title "hollow: baselines"
    eval frame(0, 1, 1)
}
if (both) { unset multiplot }
