# sweep.gp - throughput against size: a curve a variant, the device's ceilings
# and caches as lines.
#
#   gnuplot -c sweep.gp DATA.tsv OUTPUT.svg|png|pdf
#
# DATA has blocks, parted by two empty lines: settings (name, value), curves
# (name, kind), lines (v or h, position, label), then a block a curve: bytes,
# throughput, its low and high end, time in ns, its low and high end.

set datafile separator "\t"
array Name[64]; array Value[64]
array Curve[64]; array Kind[64]
array Way[32]; array At[32]; array Label[32]
stats ARG1 index 0 using (Name[int($0) + 1] = strcol(1), Value[int($0) + 1] = strcol(2), 1) nooutput
settings = STATS_records
stats ARG1 index 1 using (Curve[int($0) + 1] = strcol(1), Kind[int($0) + 1] = strcol(2), 1) nooutput
curves = STATS_records
stats ARG1 index 2 using (Way[int($0) + 1] = strcol(1), At[int($0) + 1] = $2, \
                          Label[int($0) + 1] = strcol(3), 1) nooutput
lines = STATS_records

do for [i = 1:settings] {
    if (Name[i] eq "title") { title = Value[i] }
    if (Name[i] eq "subtitle") { subtitle = Value[i] }
    if (Name[i] eq "unit") { unit = Value[i] }
    if (Name[i] eq "top") { top = Value[i] + 0 }
    if (Name[i] eq "left") { left = Value[i] + 0 }
    if (Name[i] eq "right") { right = Value[i] + 0 }
}

# A white card in every format: the colours are chosen against white.
high = 540 + 22 * (curves > 16 ? curves - 16 : 0)
ending = ARG2[strlen(ARG2) - 2:]
if (ending eq "png") {
    set terminal pngcairo noenhanced size 1100, high background "#ffffff" font "sans,11"
} else { if (ending eq "pdf") {
    set terminal pdfcairo noenhanced size 11in, high / 100.0 in background "#ffffff" font "sans,11"
} else {
    set terminal svg noenhanced size 1100, high background "#ffffff" font "sans-serif,13"
}}
set output ARG2

# Okabe and Ito's palette, which the colour-blind can tell apart (Color Universal
# Design, 2008), without its yellow, which is too light for a line on white; the
# dash and the point repeat the distinction for print without colour.
array Colour[6] = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
array Point[6] = [7, 5, 9, 13, 11, 15]
array Hollow[6] = [6, 4, 8, 12, 10, 14]
bright = 6
rank = 0; base = 0
array Paint[64]; array Width[64]; array Dash[64]; array Mark[64]
do for [i = 1:curves] {
    if (Kind[i] eq "baseline") {
        base = base + 1
        Paint[i] = "#000000"; Width[i] = 2; Dash[i] = base + 1; Mark[i] = base == 1 ? 2 : 1
    } else {
        rank = rank + 1
        k = (rank - 1) % bright + 1
        Paint[i] = rank > bright ? "#a0a0a0" : Colour[k]
        Mark[i] = rank > bright ? Hollow[k] : Point[k]
        Width[i] = rank > bright ? 1 : 2; Dash[i] = 1
    }
}

# A long title would run out of the picture: its panel goes on a line of its own.
panel = strstrt(title, "  (")
if (strlen(title) > 80 && panel > 0) { title = title[1:panel-1] . "\n" . title[panel+2:*] }
set title title . "\n" . subtitle noenhanced
set border 3 linecolor "#606060"
set tics out nomirror textcolor "#202020"
set grid xtics ytics linetype 1 linewidth 0.5 linecolor "#e8e8e8"
set key outside right top vertical Left reverse samplen 2 spacing 1.15 noenhanced
set xlabel "bytes moved (least that the operation can read and write)"
set ylabel "throughput (" . unit . ")" noenhanced
set logscale x 2
set xrange [left:right]
set yrange [0:top]
set format x "%.0b %BB"

do for [i = 1:lines] {
    if (Way[i] eq "v" && At[i] > left && At[i] < right) {
        set arrow from At[i], graph 0 to At[i], graph 1 nohead linewidth 1 dashtype 3 linecolor "#808080"
        set label Label[i] at At[i], graph 0.02 rotate by 90 left offset character -1.1, 0 \
            front textcolor "#606060" noenhanced
    }
}

# Drawn from the last to the first, so that the best lie on top and the baseline
# over them; the key has them in order.
plot for [i = 1:lines] (Way[i] eq "h" ? At[i] : NaN) with lines linewidth 1.5 dashtype 4 \
         linecolor "#606060" title (Way[i] eq "h" ? Label[i] : ""), \
     for [i = curves:1:-1] ARG1 index i + 2 using 1:2:3:4 with yerrorbars pointtype 0 \
         linewidth 1 linecolor rgb Paint[i] notitle, \
     for [i = curves:1:-1] ARG1 index i + 2 using 1:2 with linespoints linewidth Width[i] \
         dashtype Dash[i] pointtype Mark[i] pointsize 0.8 linecolor rgb Paint[i] notitle, \
     for [i = 1:curves] keyentry with linespoints linewidth Width[i] dashtype Dash[i] \
         pointtype Mark[i] pointsize 0.8 linecolor rgb Paint[i] \
         title Curve[i] . (Kind[i] eq "baseline" ? " (baseline)" : "")
