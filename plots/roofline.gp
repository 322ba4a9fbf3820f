# roofline.gp - every case under the measured ceilings: operations per second against
# operations per byte. Cases that only move bytes have a separate panel.
#
# DATA has blocks, separated by two empty lines: settings (name, value); operations
# (name, cases); ceilings (h of operations, d of bytes, m of bytes in the second
# panel only; rate, label); cases (operation from 1, 1 when it only moves bytes,
# 1 when a baseline or bound, operations per byte or else bytes, rate, name); arrows (1
# slower, from x, y, to x, y).

data = ARG1; output = ARG2; columns = ARG3; frames = ARG4
load "style.gp"
array Family[64]; array Cases[64]
array Way[40]; array Rate[40]; array Label[40]
stats data index 1 using (Family[int($0) + 1] = strcol(1), Cases[int($0) + 1] = $2, 1) nooutput
families = STATS_records
stats data index 2 using (Way[int($0) + 1] = strcol(1), Rate[int($0) + 1] = $2, \
                          Label[int($0) + 1] = strcol(3), 1) nooutput
lines = STATS_records
rows = number("rows"); moving = number("moving")
both = rows > 0 && moving > 0
small = rows + moving > 200 ? 0.5 : 0.9

# Each operation has a colour and a shape of its own, 36 of them; baselines and bounds are hollow.
paint(f) = f > bright * bright ? grey : Colour[(f - 1) % bright + 1]
shape(f) = (f - 1 + (f - 1) / bright) % bright + 1
mark(f, base) = base ? Hollow[shape(f)] : Point[shape(f)]
hue(f) = ("0x" . paint(f)[2:*]) + 0
bytes(i) = Way[i] eq "d" || Way[i] eq "m"
dash(i) = i % 4 + 1
roof = 0
do for [i = 1:lines] { if (Way[i] eq "h" && Rate[i] > roof) { roof = Rate[i] } }
peak = roof > 0 ? roof : 1e300
slope = 0
do for [i = 1:lines] { if (Way[i] eq "d" && Rate[i] > slope) { slope = Rate[i] } }

# A key that is longer than the picture is high goes below it, in four columns of labels
# and arrows, because gnuplot breaks its own key where the axes end. The first panel draws
# it, in two hues that nobody can tell apart: the svg terminal joins arrows of one colour
# in one path, which has one dash.
below = text_only ? 0 : number("key_rows")
key_beside = below ? "unset key" \
    : "set key at screen 0.985, screen (text_only ? 0.8 : 0.9) right top vertical Left reverse samplen 2 spacing 1.1"
short(name) = strlen(name) > 24 ? name[1:21] . "..." : name
key_x(e) = 0.03 + 0.245 * ((e - 1) / below)
key_y(e) = (20.0 * (below - 1 - (e - 1) % below) + 14) / high
do for [i = 2:(below ? lines : 0)] {
    e = i - 1
    set label 100 + i Label[i] at screen key_x(e) + 0.035, screen key_y(e) textcolor rgb ink
    set arrow 100 + i from screen key_x(e), screen key_y(e) to screen key_x(e) + 0.03, screen key_y(e) \
        nohead linewidth 1.2 dashtype dash(i) linecolor rgb (Way[i] eq "h" ? 0x202020 : 0x606060) + i % 2
}
do for [f = 1:(below ? families : 0)] {
    e = lines - 1 + f
    set label 200 + f sprintf("%s (%d)", short(Family[f]), Cases[f]) at screen key_x(e) + 0.015, screen key_y(e) \
        point pointtype mark(f, 0) linecolor rgb paint(f) offset character 2.5, -0.15 textcolor rgb ink
}
if (below) {
    e = lines + families
    set label 300 "hollow: baselines, bounds" at screen key_x(e) + 0.015, screen key_y(e) \
        point pointtype 6 linecolor rgb dim offset character 2.5, -0.15 textcolor rgb ink
}
set logscale y
set format y "%.0s %c"
first = text_only ? 0.10 : 0.075
split = both ? 0.24 : 0
last = below ? 0.965 : text_only ? 1 - (number("right_chars") + 8) / (1.0 * across) : 1 - (number("right_chars") * 8.0 + 95) / wide
set tmargin at screen top_of
set bmargin at screen (text_only ? 5.0 / number("lines") : (76.0 + (below ? 12 + 20 * below : 0)) / high)

if (both) { set multiplot }
if (moving > 0) {
    set lmargin at screen first
    set rmargin at screen (both ? split - 0.02 : last)
    if (both) { unset title; unset key } else { eval key_beside }
    set xlabel both ? "bytes, no operations" : "bytes moved (cases that count no operations)"
    set logscale x
    if (both) { set xtics 1, 1000 }
    set format x "%.0s %cB"
    set ylabel "throughput (B/s)"
    set xrange [number("moving_left"):number("moving_right")]
    set yrange [number("moving_low"):number("moving_top")]
    plot for [i = 1:lines] (bytes(i) ? Rate[i] : NaN) with lines linewidth 1.2 \
             dashtype dash(i) linecolor rgb dim title (bytes(i) ? Label[i] : ""), \
         data index 3 using 4:($2 == 1 ? $5 : NaN):(mark(int($1), int($3))):(hue(int($1))) with points \
             pointtype variable pointsize small linecolor rgb variable notitle, \
         for [f = 1:families] keyentry with points pointtype mark(f, 0) linecolor rgb paint(f) \
             title sprintf("%s (%d)", Family[f], Cases[f]), \
         keyentry with points pointtype 6 linecolor rgb dim title "hollow: baselines, bounds"
    eval frame(1, 1, 1)
}
if (rows > 0) {
    set title heading noenhanced textcolor rgb ink
    eval key_beside
    if (both) { unset label; unset arrow }
    set lmargin at screen (both ? split + 0.06 : first)
    set rmargin at screen last
    set xlabel "operations per byte (least that the operation can read and write)"
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
         data index 3 using 4:($2 == 1 ? NaN : $5):(mark(int($1), int($3))):(hue(int($1))) with points \
             pointtype variable pointsize small linecolor rgb variable notitle, \
         for [f = 1:families] keyentry with points pointtype mark(f, 0) linecolor rgb paint(f) \
             title sprintf("%s (%d)", Family[f], Cases[f]), \
         keyentry with points pointtype 6 linecolor rgb dim title "hollow: baselines, bounds"
    eval frame(0, 1, 1)
}
if (both) { unset multiplot }
