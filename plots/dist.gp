# dist.gp - how times are distributed: above, the share of them up to each time;
# below, a violin per variant (its density, mirrored), with the median as a tick.
#
# DATA has blocks, separated by two empty lines: settings (name, value); curves (name,
# kind, values, median); one block per curve: time, share; one block per curve: time,
# density (the largest is 1).

data = ARG1; output = ARG2; columns = ARG3
load "style.gp"
array Curve[16]; array Kind[16]; array Count[16]; array Middle[16]
stats data index 1 using (Curve[int($0) + 1] = strcol(1), Kind[int($0) + 1] = strcol(2), \
                          Count[int($0) + 1] = $3, Middle[int($0) + 1] = $4, 1) nooutput
curves = STATS_records

array Paint[16]; array Dash[16]
rank = 0; base = 0
do for [i = 1:curves] {
    if (Kind[i] eq "baseline" || Kind[i] eq "bound") {
        base = base + 1; Paint[i] = base == 1 ? ink : grey; Dash[i] = base + 1
    } else {
        rank = rank + 1
        Paint[i] = rank > bright ? grey : Colour[rank]; Dash[i] = rank % 4 == 0 ? 3 : 1
    }
}
name(i) = Curve[i] . (Kind[i] eq "baseline" || Kind[i] eq "bound" ? " (" . Kind[i] . ")" : "")

left_of = left_of > 10 ? left_of : 10
set lmargin left_of
set rmargin 34
set xrange [number("left"):number("right")]
bottom = text_only ? 0.45 : (44.0 * curves + 86) / high
set multiplot

set tmargin at screen top_of
set bmargin at screen bottom + 0.06
set ylabel "share of values"
set yrange [0:1.02]
set format x ""
set key outside right top vertical Left reverse samplen 3.5 spacing 1.15
plot for [i = 1:curves] data index i + 1 using 1:2 with steps linewidth 1.8 dashtype Dash[i] \
         linecolor rgb Paint[i] title sprintf("%s, %d", name(i), Count[i])

unset title; unset label 9999; unset key; unset ylabel; unset ytics
set tmargin at screen bottom
set bmargin at screen (text_only ? 0.12 : 76.0 / high)
set format x "%g"
set xlabel "time (" . find("unit") . ")"
set yrange [curves + 0.5:0.5]
set style fill solid 0.55 noborder
do for [i = 1:curves] {
    set label i Curve[i] at graph 0, first i right offset character -1, 0 textcolor rgb ink
}
plot for [i = 1:curves] data index i + 1 + curves using 1:(i - 0.45 * $2):(i + 0.45 * $2) \
         with filledcurves fillcolor rgb Paint[i], \
     for [i = 1:curves] data index 1 every ::(i - 1)::(i - 1) using 4:(i):(0):(0.3) with vectors \
         nohead linewidth 2 linecolor rgb ink, \
     for [i = 1:curves] data index 1 every ::(i - 1)::(i - 1) using 4:(i):(0):(-0.3) with vectors \
         nohead linewidth 2 linecolor rgb ink
unset multiplot
